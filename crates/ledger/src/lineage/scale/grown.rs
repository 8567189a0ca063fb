//! A ledger as it is after years, made by the database itself.

use std::path::Path;

use sqlx::{AssertSqlSafe, Connection, PgConnection, SqliteConnection};

/// The size of a ledger.
#[derive(Clone, Copy)]
pub(super) struct Grown {
    pub(super) workloads: usize,
}

const REVISIONS: usize = 100;

/// `item.i` counts artifacts: for every revision, every workload and every resource one. They are
/// written in that order, as time would.
const ROWS: &str = "
    insert into owner (id, uid, kind, namespace, name, lineage, known, changed)
    with recursive item (i) as (select 0 union all select i + 1 from item where i + 1 < $W)
    select i + 1, 'uid-' || i, 'Workload', 'ns-' || (i % 100), 'app-' || i, '{}', 0, 0 from item;

    insert into artifact (id, digest, kind, shown, url, mutable, lookup, first_seen)
    with recursive item (i) as (select 0 union all select i + 1 from item where i + 1 < $N)
    select i + 1, '$ZEROS' || (100000000000000000 + i),
      case when i % 10 = 0 then 'source' else 'config' end,
      'main@sha1:' || $COMMIT || '0000000000000000000000',
      'https://git.example/app', false,
      $COMMIT || '0000000000000000000000', i
    from item;
    insert into artifact (id, digest, kind, name, shown, mutable, lookup, first_seen)
    values ($N + 1, 'shared', 'param', 'debug', 'on', false, 'on', 0);

    insert into derivation
      (id, owner, resource, template, object_uid, output, identity, since, known, until)
    with recursive item (i) as (select 0 union all select i + 1 from item where i + 1 < $N)
    select i + 1, i / 10 % $W + 1, 'resource-' || (i % 10), 'ClusterTemplate/x', 'uid', i + 1, i,
      i, i, case when i / 10 / $W < 99 then i + 10 * $W end
    from item;

    insert into edge (derivation, origin, input, scope, evidence, offered, known)
    with recursive item (i) as (select 0 union all select i + 1 from item where i + 1 < $N)
    select i + 1,
      case when i % 10 = 0 then 'owner source' else 'resource resource-' || (i % 10 - 1) end,
      case when i % 10 = 0 then i + 1 else i end,
      case when i % 10 = 0 then 0 else i / 10 % $W + 1 end, 'generation', false, i
    from item;
    insert into edge (derivation, origin, input, scope, evidence, offered, known)
    with recursive item (i) as (select 0 union all select i + 10 from item where i + 10 < $N)
    select i + 6, 'owner param:debug', $N + 1, 0, 'generation', false, i from item;
    insert into edge (derivation, origin, input, scope, evidence, offered, known)
    with recursive item (i) as (select 0 union all select i + 10 from item where i + 10 < $N)
    select i + 9, 'resource resource-3', i + 4, i / 10 % $W + 1, 'generation', false, i from item;
";

/// A number for each artifact, spread as hashes are.
const COMMIT: &str = "(100000000000000000 + i * 99999999977 % 100000000000000000)";

/// Indexes are made when the rows are there, which is faster; they are the ones of the migrations.
const INDEXES: [&str; 6] = [
    "artifact_lookup",
    "owner_name",
    "derivation_current",
    "derivation_history",
    "derivation_output",
    "edge_input",
];

impl Grown {
    /// Returns the commit of some source.
    pub(super) fn revision(self, question: usize) -> String {
        let sources = self.workloads * REVISIONS;
        let i = question * 7919 % sources * 10;
        let spread = 100_000_000_000_000_000 + i as u64 * 99_999_999_977 % 100_000_000_000_000_000;
        format!("{spread}0000000000000000000000")
    }

    /// Fills a file that nobody has open.
    pub(super) async fn fill_file(self, path: &Path) {
        let url = format!("sqlite://{}", path.display());
        let mut connection = SqliteConnection::connect(&url).await.unwrap();
        let script = format!(
            "pragma journal_mode = off; pragma synchronous = off; pragma foreign_keys = off; \
             pragma cache_size = -500000; {} {} {}",
            dropping_indexes(),
            self.rows(),
            indexes(include_str!("../../../migrations/sqlite/0001_lineage.sql")),
        );
        let run = sqlx::raw_sql(AssertSqlSafe(script));
        run.execute(&mut connection).await.unwrap();
        connection.close().await.unwrap();
    }

    /// Fills a database of PostgreSQL.
    pub(super) async fn fill_postgres(self, url: &str) {
        let mut connection = PgConnection::connect(url).await.unwrap();
        let script = format!(
            "set session_replication_role = replica; set synchronous_commit = off; {} {} {} analyze;",
            dropping_indexes(),
            self.rows(),
            indexes(include_str!(
                "../../../migrations/postgres/0001_lineage.sql"
            )),
        );
        let run = sqlx::raw_sql(AssertSqlSafe(script));
        run.execute(&mut connection).await.unwrap();
        connection.close().await.unwrap();
    }

    fn rows(self) -> String {
        ROWS.replace("$ZEROS", &"0".repeat(46))
            .replace("$COMMIT", COMMIT)
            .replace("$W", &self.workloads.to_string())
            .replace("$N", &(self.workloads * REVISIONS * 10).to_string())
    }
}

fn dropping_indexes() -> String {
    INDEXES.map(|name| format!("drop index {name};")).concat()
}

/// Picks the statements that make the indexes.
fn indexes(migration: &str) -> String {
    let made: Vec<&str> = migration
        .lines()
        .filter(|line| line.starts_with("create index"))
        .collect();
    assert_eq!(made.len(), INDEXES.len(), "{made:?}");
    made.join("\n")
}
