//! The migrations: what has been made of the tables, version by version.
//!
//! They are listed here, for sqlx's macro that reads the directories would compile the drivers and
//! SQLite a second time, for the compiler.

use sqlx::SqlSafeStr;
use sqlx::migrate::{Migration, MigrationType, Migrator};

/// Lists the migrations of a database. Both have the same.
macro_rules! migrator {
    ($database:literal) => {
        Migrator::with_migrations(vec![
            migration!($database, 1, "lineage", "0001_lineage"),
            migration!($database, 2, "owner lineage", "0002_owner_lineage"),
            migration!($database, 3, "change by topic", "0003_change_by_topic"),
            migration!($database, 4, "permissions", "0004_permissions"),
            migration!($database, 5, "cluster", "0005_cluster"),
            migration!($database, 6, "trackers", "0006_trackers"),
            migration!($database, 7, "descriptions", "0007_descriptions"),
            migration!($database, 8, "releases", "0008_releases"),
        ])
    };
}

macro_rules! migration {
    ($database:literal, $version:literal, $description:literal, $file:literal) => {
        Migration::new(
            $version,
            $description.into(),
            MigrationType::Simple,
            include_str!(concat!("../../migrations/", $database, "/", $file, ".sql"))
                .into_sql_str(),
            false,
        )
    };
}

/// Returns the migrations of SQLite.
pub(super) fn sqlite() -> Migrator {
    migrator!("sqlite")
}

/// Returns the migrations of PostgreSQL.
pub(super) fn postgres() -> Migrator {
    migrator!("postgres")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    /// Fails unless the list is what sqlx reads from the directory, and would have from the macro:
    /// databases remember versions and checksums.
    async fn assert_are_the_files(listed: &Migrator, database: &str) {
        let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations");
        let files = Migrator::new(directory.join(database)).await.unwrap();
        let remembered = |migrator: &Migrator| {
            let all = migrator.iter();
            all.map(|it| {
                (
                    it.version,
                    it.description.clone(),
                    it.checksum.clone(),
                    it.no_tx,
                )
            })
            .collect::<Vec<_>>()
        };
        assert_eq!(remembered(listed), remembered(&files));
    }

    #[tokio::test]
    async fn all_files_of_sqlite_are_listed() {
        assert_are_the_files(&sqlite(), "sqlite").await;
    }

    #[tokio::test]
    async fn all_files_of_postgres_are_listed() {
        assert_are_the_files(&postgres(), "postgres").await;
    }
}
