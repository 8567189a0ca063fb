//! The ledger of a running Pathline, and the files by which the user of this machine gets access to it.

use std::fs;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use anyhow::Context;
use jiff::Timestamp;
use pathline_client::api::ServerFile;
use pathline_clock::Clock;
use pathline_ledger::{Ledger, Location};
use pathline_server::{FirstToken, Secret};

use crate::terminal::report::CommandError;
use crate::wiring::private;

/// The file name of the ledger in the data directory.
const FILE: &str = "ledger.db";

/// The open ledger, and the data directory with the files that say how to reach it.
pub(crate) struct LedgerHome {
    ledger: Ledger,
    data_dir: PathBuf,
}

impl LedgerHome {
    /// Opens the ledger, by default the one in the data directory, and makes sure that there is
    /// an admin token.
    pub(crate) async fn open(
        location: Option<&Location>,
        data_dir: &Path,
        clock: &Clock,
    ) -> Result<Self, CommandError> {
        let own = Location::File(data_dir.join(FILE));
        let location = location.unwrap_or(&own);
        let ledger = Ledger::open(location).await.map_err(|error| {
            CommandError::from(anyhow::Error::new(error)).with_hint(
                "`--ledger` (or PATHLINE_LEDGER) names another: a file, or \
                 postgres://USER:PASSWORD@HOST:PORT/DATABASE",
            )
        })?;
        let shared = matches!(location, Location::Postgres(_));
        ensure_admin_token(&ledger, shared, data_dir, clock.now()).await?;
        Ok(Self {
            ledger,
            data_dir: data_dir.to_owned(),
        })
    }

    /// Returns the ledger.
    pub(crate) fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// Writes down where Pathline listens, for programs on this machine.
    pub(crate) fn announce(&self, listen: SocketAddr) -> anyhow::Result<()> {
        let file = ServerFile {
            url: format!("http://{listen}"),
        };
        let text = serde_json::to_string(&file)?;
        private::write(&ServerFile::path(&self.data_dir), &format!("{text}\n"))
            .context("cannot write down the address of Pathline")?;
        Ok(())
    }

    /// Closes the ledger, and takes back the address.
    pub(crate) async fn close(self) {
        // Whoever still finds it is told that nobody answers there.
        let _ = fs::remove_file(ServerFile::path(&self.data_dir));
        self.ledger.close().await;
    }
}

/// Makes the first admin token if there is none, and keeps its secret in the data directory.
async fn ensure_admin_token(
    ledger: &Ledger,
    shared: bool,
    data_dir: &Path,
    now: Timestamp,
) -> Result<(), CommandError> {
    let path = ServerFile::token_path(data_dir);
    let kept = read_secret(&path)
        .with_context(|| format!("cannot read the admin token {}", path.display()))?;
    let keep = |secret: &Secret| private::write(&path, &format!("{}\n", secret.reveal()));
    let first = pathline_server::first_admin(ledger, shared, kept.as_ref(), now, keep);
    match first.await.map_err(anyhow::Error::new)? {
        FirstToken::Kept => {}
        FirstToken::Made(token) => tracing::info!(
            "made the admin token `{}`; its secret is in {}",
            token.name,
            path.display()
        ),
        FirstToken::Elsewhere => {
            tracing::info!("the ledger has an admin token already, whose secret is not kept here");
            // A secret that opens nothing would only mislead.
            let _ = fs::remove_file(&path);
        }
    }
    Ok(())
}

fn read_secret(path: &Path) -> io::Result<Option<Secret>> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Secret::read(text.trim())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}
