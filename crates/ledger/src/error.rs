//! Why the ledger could not do what it was asked.

use std::sync::Arc;

use sqlx::error::ErrorKind;

/// Why the ledger could not do what it was asked. Nothing was written then.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Error {
    /// It cannot be opened.
    #[error("cannot open the ledger {place}: {hint}")]
    Open {
        /// Where it is.
        place: Arc<str>,
        /// What to look at.
        hint: &'static str,
        /// What went wrong.
        #[source]
        source: Arc<dyn std::error::Error + Send + Sync>,
    },
    /// It was written by a later version of this program.
    #[error(
        "the ledger {place} was written by a newer Pathline (its migration {found} is not known \
         here); use that version, or another ledger"
    )]
    Newer {
        /// Where it is.
        place: Arc<str>,
        /// The migration that is not known.
        found: i64,
    },
    /// The file is no ledger, or no longer one.
    #[error(
        "the ledger {place} is damaged ({what}); stop Pathline, then restore a copy of the file, \
         or move it away so that a new one is begun"
    )]
    Damaged {
        /// Where it is.
        place: Arc<str>,
        /// What is wrong.
        what: String,
    },
    /// There is no room left.
    #[error(
        "there is no room for the ledger {place}; make room on its disk, then it goes on by \
         itself; nothing that was acknowledged is lost"
    )]
    Full {
        /// Where it is.
        place: Arc<str>,
    },
    /// The database does not answer. A later call may succeed.
    #[error("the ledger {place} does not answer; is its database running and reachable?")]
    Unreachable {
        /// Where it is.
        place: Arc<str>,
        /// What was seen of it.
        #[source]
        source: Option<Arc<sqlx::Error>>,
    },
    /// Another process has kept the file to itself for too long. A later call may succeed.
    #[error(
        "the ledger {place} is held by another process; is a backup, or a second Pathline, \
         working on it?"
    )]
    Busy {
        /// Where it is.
        place: Arc<str>,
    },
    /// The database refused.
    #[error("the ledger {place} refused")]
    Refused {
        /// Where it is.
        place: Arc<str>,
        /// What it said.
        #[source]
        source: Arc<sqlx::Error>,
    },
    /// Something in it cannot be read.
    #[error("the ledger {place} holds a {what} that cannot be read; was it edited by hand?")]
    Unreadable {
        /// Where it is.
        place: Arc<str>,
        /// What kind of thing it is.
        what: &'static str,
    },
    /// It was closed.
    #[error("the ledger is closed")]
    Closed,
    /// A token of that name exists, or existed.
    #[error("the name `{0}` has been given to a token already; names are never used again")]
    NameTaken(String),
    /// Changes after the asked one are no longer kept.
    #[error("changes are kept from {oldest} on; begin again after that one")]
    Forgotten {
        /// The oldest sequence that is kept.
        oldest: i64,
    },
    /// More was made of it than can be told.
    #[error("more than {most} things were made of it; ask for something narrower")]
    TooMuch {
        /// How much can be told.
        most: i64,
    },
    /// The text is no cursor that a page ended with.
    #[error("`{0}` is no cursor; take the one that came with the page before, or none")]
    BadCursor(String),
}

/// Results of SQLite that tell of a damaged file: corrupt, and not a database.
const DAMAGED: [&str; 2] = ["11", "26"];
/// Results of SQLite that tell of another process at work: busy, and locked.
const BUSY: [&str; 2] = ["5", "6"];
/// The result of SQLite that tells of a full disk, and PostgreSQL's classes for it.
const FULL: [&str; 2] = ["13", "53100"];

/// The results of SQLite that tell of a disk which can't be written to: read-only, I/O error, and a
/// file that can't be opened.
const DISK: [u32; 3] = [8, 10, 14];

/// Returns whether it is a result of SQLite; the codes of PostgreSQL have five characters.
fn is_of_sqlite(code: &str) -> bool {
    code.len() < 5
}

/// Returns the plain result of SQLite, which extended ones hold in their lowest byte.
fn plain(code: &str) -> Option<u32> {
    let number = code.parse::<u32>().ok().filter(|_| is_of_sqlite(code));
    number.map(|number| number & 0xff)
}

impl Error {
    /// Tells whether a later call may succeed without anybody changing anything in Pathline.
    pub fn is_temporary(&self) -> bool {
        matches!(
            self,
            Self::Unreachable { .. } | Self::Full { .. } | Self::Busy { .. }
        )
    }

    /// Tells whether the disk does not take what is written, be it full, broken or read-only.
    pub(crate) fn is_of_the_disk(&self) -> bool {
        let Self::Refused { source, .. } = self else {
            return matches!(self, Self::Full { .. });
        };
        let code = source.as_database_error().and_then(|error| error.code());
        code.is_some_and(|code| plain(&code).is_some_and(|plain| DISK.contains(&plain)))
    }

    /// Says what an error of the database means.
    pub(crate) fn of(place: &Arc<str>, source: sqlx::Error) -> Self {
        let place = Arc::clone(place);
        let code = source
            .as_database_error()
            .and_then(|error| error.code().map(|code| code.into_owned()));
        if let Some(code) = code {
            return Self::of_code(place, &code, source);
        }
        match source {
            sqlx::Error::PoolClosed => Self::Closed,
            sqlx::Error::Io(_)
            | sqlx::Error::Tls(_)
            | sqlx::Error::PoolTimedOut
            | sqlx::Error::WorkerCrashed => Self::Unreachable {
                place,
                source: Some(Arc::new(source)),
            },
            _ => Self::Refused {
                place,
                source: Arc::new(source),
            },
        }
    }

    fn of_code(place: Arc<str>, code: &str, source: sqlx::Error) -> Self {
        let is_sqlite = is_of_sqlite(code);
        let plain = plain(code).map(|plain| plain.to_string());
        let is = |codes: &[&str]| codes.contains(&plain.as_deref().unwrap_or(code));
        if is(&FULL) {
            return Self::Full { place };
        }
        if is_sqlite && is(&BUSY) {
            return Self::Busy { place };
        }
        if is_sqlite && is(&DAMAGED) {
            let what = source.to_string();
            return Self::Damaged { place, what };
        }
        // PostgreSQL: connections fail, it is shut down or starting up, or a statement took too long.
        let away = code.starts_with("08") || code.starts_with("57");
        let source = Arc::new(source);
        if away && !is_sqlite {
            let source = Some(source);
            return Self::Unreachable { place, source };
        }
        Self::Refused { place, source }
    }

    /// Tells whether the database refused because a name or a hash is there already.
    pub(crate) fn is_duplicate(&self) -> bool {
        let Self::Refused { source, .. } = self else {
            return false;
        };
        let kind = source.as_database_error().map(|error| error.kind());
        matches!(kind, Some(ErrorKind::UniqueViolation))
    }
}
