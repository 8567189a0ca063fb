//! The location of the ledger of a test.

use std::path::PathBuf;

use pathline_ledger::{Ledger, Location};
use pathline_testkit::postgres::Server;
use sqlx::Connection;
use tempfile::TempDir;

/// An empty place for a ledger, which every test has for itself.
pub(crate) enum Home {
    File(TempDir),
    Postgres {
        server: &'static Server,
        url: String,
    },
}

impl Home {
    /// Makes a place for a file.
    pub(crate) fn file() -> Self {
        Self::File(tempfile::tempdir().unwrap())
    }

    /// Makes an empty database; nothing where PostgreSQL is not installed.
    pub(crate) fn postgres() -> Option<Self> {
        let server = Server::shared("the ledger on PostgreSQL")?;
        let url = server.database();
        Some(Self::Postgres { server, url })
    }

    /// Returns where the ledger is.
    pub(crate) fn location(&self) -> Location {
        match self {
            Self::File(directory) => Location::File(path(directory)),
            Self::Postgres { url, .. } => Location::Postgres(url.clone()),
        }
    }

    /// Opens the ledger as another process would: with connections of its own.
    pub(crate) async fn open(&self) -> anyhow::Result<Ledger> {
        Ok(Ledger::open(&self.location()).await?)
    }

    /// Counts the rows of a table, behind the ledger's back.
    pub(crate) async fn count(&self, table: &str) -> i64 {
        let counted = self.run(&format!("select count(*) from {table}")).await;
        counted.expect("a count")
    }

    /// Does something behind the ledger's back; returns the number it gives, if it does.
    pub(crate) async fn run(&self, text: &str) -> Option<i64> {
        match self {
            Self::File(directory) => {
                let url = format!("sqlite://{}", path(directory).display());
                let mut connection = sqlx::SqliteConnection::connect(&url).await.unwrap();
                let run = sqlx::query_scalar(sqlx::AssertSqlSafe(text));
                let number = run.fetch_optional(&mut connection).await.unwrap();
                connection.close().await.unwrap();
                number
            }
            Self::Postgres { server, url } => server.sql(url, text).unwrap().trim().parse().ok(),
        }
    }
}

fn path(directory: &TempDir) -> PathBuf {
    directory.path().join("ledger.db")
}
