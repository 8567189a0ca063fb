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

    use jiff::{SignedDuration, Timestamp};
    use pathline_release::queue::{Flow, Live};
    use pathline_testkit::postgres::Server;
    use sqlx::{Connection, PgConnection, SqliteConnection};

    use super::*;
    use crate::ledger::Ledger;
    use crate::location::Location;
    use crate::releases::{ActOutcome, By, QueueAction, TrackerRef, What};

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

    /// Rows as the seventh version wrote them: a release that is deployed, and the change that told of it.
    const ROWS: &str = "
        insert into tracker (uid, name, name_key, source, token_version, generation, version, state,
          created, created_by, updated, updated_by)
        values ('uid', 'shop.web', 'shop.web', '{}', 1, 1, 1, '{}', 0, 'ci', 0, 'ci');
        insert into release (id, tracker_uid, number, config_hash, config_commit, image_repository,
          image_tag, image_digest, is_described, cause, time, body)
        values ('id', 'uid', 1, 'hash', 'commit', 'registry.example/shop/web', 'main', 'sha256:1',
          false, 'initial', 0, '{\"number\":1,\"configuration\":{\"configHash\":\"hash\",
          \"label\":\"main\",\"repository\":\"registry.example/shop/web\",\"commit\":\"commit\",
          \"blob\":\"blob\"},\"image\":{\"repository\":\"registry.example/shop/web\",\"tag\":\"main\",
          \"digest\":\"sha256:1\"},\"cause\":\"initial\",\"previous\":null,
          \"at\":\"1970-01-01T00:00:00Z\"}');
        insert into entry (tracker_uid, number, environment, state, since, attempt, is_promoted)
        values ('uid', 1, 'dev', 'deployed', 60000000, 0, false);
        insert into change (topic, subject, time, what) values ('releases', 'id', 0,
          '{\"formed\":{\"tracker\":\"shop.web\",\"trackerUid\":\"uid\",\"number\":1,
          \"cause\":\"initial\",\"repository\":\"registry.example/shop/web\",\"tag\":\"main\",
          \"digest\":\"sha256:1\"}}');
    ";

    /// Returns the first seven versions.
    fn first_seven(all: &Migrator) -> Migrator {
        let first = all.iter().filter(|it| it.version <= 7).cloned();
        Migrator::with_migrations(first.collect())
    }

    /// Fails unless the rows of the seventh version are read, and go on.
    async fn assert_goes_on(location: &Location) {
        let ledger = Ledger::open(location).await.unwrap();
        let releases = ledger.releases();
        let found = releases.numbered("uid", 1).await.unwrap().unwrap();
        assert_eq!((found.by, found.reason), (None, None));
        let entry = &found.entries["dev"];
        assert_eq!(
            (entry.live.clone(), &entry.restore),
            (Live::default(), &None)
        );
        let changes = releases.changes(0, 10).await.unwrap();
        let [change] = &changes[..] else {
            panic!("there is one: {changes:?}");
        };
        assert!(
            matches!(&change.what, What::Formed(it) if it.number == 1 && it.by.is_none()),
            "{change:?}"
        );
        // What was deployed before environments followed each other goes on to the next one.
        let tracker = TrackerRef::Uid("uid".to_owned());
        let by = By::new("engine", None);
        let at = Timestamp::UNIX_EPOCH + SignedDuration::from_secs(120);
        let acted = releases
            .act(tracker, &Flow::usual(), QueueAction::Advance, &by, at)
            .await
            .unwrap();
        let ActOutcome::Done { transitions, .. } = acted else {
            panic!("it was refused: {acted:?}");
        };
        let [entered] = &transitions[..] else {
            panic!("it is entered once: {transitions:?}");
        };
        assert_eq!(entered.environment, "ha");
        ledger.close().await;
    }

    #[tokio::test]
    async fn releases_of_the_version_before_go_on_in_sqlite() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("ledger.db");
        let url = format!("sqlite://{}?mode=rwc", path.display());
        let mut connection = SqliteConnection::connect(&url).await.unwrap();
        first_seven(&sqlite()).run(&mut connection).await.unwrap();
        let rows = sqlx::raw_sql(ROWS).execute(&mut connection).await;
        rows.unwrap();
        connection.close().await.unwrap();
        assert_goes_on(&Location::File(path)).await;
    }

    #[tokio::test]
    async fn releases_of_the_version_before_go_on_in_postgres() {
        let Some(server) = Server::shared("an earlier ledger on PostgreSQL") else {
            return;
        };
        let url = server.database();
        let mut connection = PgConnection::connect(&url).await.unwrap();
        first_seven(&postgres()).run(&mut connection).await.unwrap();
        let rows = sqlx::raw_sql(ROWS).execute(&mut connection).await;
        rows.unwrap();
        connection.close().await.unwrap();
        assert_goes_on(&Location::Postgres(url.clone())).await;
        server.drop_database(&url);
    }
}
