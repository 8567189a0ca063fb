//! Errors of the ledger.

use std::sync::Arc;

use crate::cluster::ClusterRef;

/// An error of the ledger. Nothing was written then.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Error {
    /// It cannot be opened.
    #[error("cannot open the ledger {location}: {hint}")]
    Open {
        /// The location of the ledger.
        location: Arc<str>,
        /// A hint at what to look at.
        hint: &'static str,
        /// The cause.
        #[source]
        source: Arc<dyn std::error::Error + Send + Sync>,
    },
    /// It was written by a later version of this program.
    #[error(
        "the ledger {location} was written by a newer Pathline (its migration {found} is not known \
         here); use that version, or another ledger"
    )]
    Newer {
        /// The location of the ledger.
        location: Arc<str>,
        /// The migration that is not known.
        found: i64,
    },
    /// The file is no ledger, or no longer one.
    #[error(
        "the ledger {location} is damaged ({what}); stop Pathline, then restore a copy of the file, \
         or move it away so that a new one is begun"
    )]
    Damaged {
        /// The location of the ledger.
        location: Arc<str>,
        /// The damage that was found.
        what: String,
    },
    /// There is no room left.
    #[error(
        "there is no room for the ledger {location}; make room on its disk, then it goes on by \
         itself; nothing that was acknowledged is lost"
    )]
    Full {
        /// The location of the ledger.
        location: Arc<str>,
    },
    /// The database does not answer. A later call may succeed.
    #[error("the ledger {location} does not answer; is its database running and reachable?")]
    Unreachable {
        /// The location of the ledger.
        location: Arc<str>,
        /// The cause, as far as it was seen.
        #[source]
        source: Option<Arc<sqlx::Error>>,
    },
    /// Another process has kept the file to itself for too long. A later call may succeed.
    #[error(
        "the ledger {location} is held by another process; is a backup, or a second Pathline, \
         working on it?"
    )]
    Busy {
        /// The location of the ledger.
        location: Arc<str>,
    },
    /// The database refused.
    #[error("the ledger {location} refused")]
    Refused {
        /// The location of the ledger.
        location: Arc<str>,
        /// The answer of the database.
        #[source]
        source: Arc<sqlx::Error>,
    },
    /// Something in it cannot be read.
    #[error("the ledger {location} holds a {what} that cannot be read; was it edited by hand?")]
    Unreadable {
        /// The location of the ledger.
        location: Arc<str>,
        /// The kind of thing that it is.
        what: &'static str,
    },
    /// It has the owners of another cluster.
    #[error(
        "the ledger {location} belongs to another cluster, {}; two clusters in one ledger would be taken \
         for one",
        .cluster.name
    )]
    OfAnother {
        /// The location of the ledger.
        location: Arc<str>,
        /// The cluster that it belongs to.
        cluster: ClusterRef,
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
    /// The asked change is none of this ledger, which was begun anew or restored since.
    #[error(
        "there is no change {after} yet, the newest is {newest}; the ledger was begun anew, or restored"
    )]
    Ahead {
        /// The sequence that was asked for.
        after: i64,
        /// The newest sequence.
        newest: i64,
    },
    /// More was made of it than can be told.
    #[error("more than {most} things were made of it; ask for something narrower")]
    TooMuch {
        /// The most that can be told.
        most: i64,
    },
    /// There is no key to seal a secret with, or to open one.
    #[error(
        "the ledger {location} has no key to seal secrets with; give it one, and keep that safe"
    )]
    NoSealKey {
        /// The location of the ledger.
        location: Arc<str>,
    },
    /// Secrets are sealed with another key than this one.
    #[error(
        "the secrets in the ledger {location} are sealed with another key; give it the key that it was used with \
         before, or the new one if it was rotated"
    )]
    WrongSealKey {
        /// The location of the ledger.
        location: Arc<str>,
    },
    /// The system has no random numbers to give. A later call may succeed.
    #[error("the system has no random numbers to give")]
    NoRandomness,
    /// Several releases have an id that begins so.
    #[error("several releases have an id that begins with `{0}`; give more of its digits")]
    AmbiguousId(String),
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
    pub(crate) fn of(location: &Arc<str>, source: sqlx::Error) -> Self {
        let location = Arc::clone(location);
        let code = source
            .as_database_error()
            .and_then(|error| error.code().map(|code| code.into_owned()));
        if let Some(code) = code {
            return Self::of_code(location, &code, source);
        }
        match source {
            sqlx::Error::PoolClosed => Self::Closed,
            sqlx::Error::Io(_)
            | sqlx::Error::Tls(_)
            | sqlx::Error::PoolTimedOut
            | sqlx::Error::WorkerCrashed => Self::Unreachable {
                location,
                source: Some(Arc::new(source)),
            },
            _ => Self::Refused {
                location,
                source: Arc::new(source),
            },
        }
    }

    fn of_code(location: Arc<str>, code: &str, source: sqlx::Error) -> Self {
        let is_sqlite = is_of_sqlite(code);
        let plain = plain(code).map(|plain| plain.to_string());
        let is = |codes: &[&str]| codes.contains(&plain.as_deref().unwrap_or(code));
        if is(&FULL) {
            return Self::Full { location };
        }
        if is_sqlite && is(&BUSY) {
            return Self::Busy { location };
        }
        if is_sqlite && is(&DAMAGED) {
            let what = source.to_string();
            return Self::Damaged { location, what };
        }
        // PostgreSQL: connections fail, it is shut down or starting up, a statement took too long, or this process stood
        // still within a transaction.
        let away = code.starts_with("08") || code.starts_with("57") || code == "25P03";
        let source = Arc::new(source);
        if away && !is_sqlite {
            let source = Some(source);
            return Self::Unreachable { location, source };
        }
        Self::Refused { location, source }
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;
    use std::error::Error as StdError;
    use std::fmt;

    use sqlx::error::{DatabaseError, ErrorKind};

    use super::*;

    /// An error of a database, with nothing but a code.
    #[derive(Debug)]
    struct Coded(&'static str);

    impl fmt::Display for Coded {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "code {}", self.0)
        }
    }

    impl StdError for Coded {}

    impl DatabaseError for Coded {
        fn message(&self) -> &str {
            self.0
        }

        fn code(&self) -> Option<Cow<'_, str>> {
            Some(self.0.into())
        }

        fn as_error(&self) -> &(dyn StdError + Send + Sync + 'static) {
            self
        }

        fn as_error_mut(&mut self) -> &mut (dyn StdError + Send + Sync + 'static) {
            self
        }

        fn into_error(self: Box<Self>) -> Box<dyn StdError + Send + Sync + 'static> {
            self
        }

        fn kind(&self) -> ErrorKind {
            ErrorKind::Other
        }
    }

    fn of_code(code: &'static str) -> Error {
        let source = sqlx::Error::Database(Box::new(Coded(code)));
        Error::of(&Arc::from("ledger.db"), source)
    }

    fn name(error: &Error) -> String {
        let shown = format!("{error:?}");
        let end = shown.find(|it: char| !it.is_alphanumeric());
        shown[..end.unwrap_or(shown.len())].to_owned()
    }

    #[test]
    fn codes_of_sqlite_are_understood_also_in_their_extended_form() {
        let expected = [
            ("5", "Busy"),
            ("6", "Busy"),
            ("261", "Busy"),
            ("517", "Busy"),
            ("11", "Damaged"),
            ("267", "Damaged"),
            ("26", "Damaged"),
            ("13", "Full"),
            ("10", "Refused"),
            ("19", "Refused"),
            ("2067", "Refused"),
        ];
        let found = expected.map(|(code, _)| (code, name(&of_code(code))));
        assert_eq!(found, expected.map(|(code, name)| (code, name.to_owned())));
    }

    #[test]
    fn codes_of_postgres_are_understood() {
        let expected = [
            ("08006", "Unreachable"),
            ("57P01", "Unreachable"),
            ("57P03", "Unreachable"),
            ("57014", "Unreachable"),
            ("25P03", "Unreachable"),
            ("25P02", "Refused"),
            ("53100", "Full"),
            ("23505", "Refused"),
            ("42703", "Refused"),
            ("11000", "Refused"),
        ];
        let found = expected.map(|(code, _)| (code, name(&of_code(code))));
        assert_eq!(found, expected.map(|(code, name)| (code, name.to_owned())));
    }

    #[test]
    fn only_what_may_pass_by_itself_is_temporary() {
        for code in ["5", "13", "53100", "08006", "57014"] {
            assert!(of_code(code).is_temporary(), "{code}");
        }
        for code in ["11", "26", "10", "8", "19", "23505"] {
            assert!(!of_code(code).is_temporary(), "{code}");
        }
        assert!(!Error::Closed.is_temporary());
    }

    #[test]
    fn disk_is_to_blame_for_what_it_does_not_take() {
        for code in ["13", "53100", "8", "10", "14", "778", "1032", "1544"] {
            assert!(of_code(code).is_of_the_disk(), "{code}");
        }
        for code in ["5", "11", "19", "23505", "08006", "57P01", "10000"] {
            assert!(!of_code(code).is_of_the_disk(), "{code}");
        }
    }

    #[test]
    fn connection_that_is_lost_may_come_back_and_a_closed_pool_does_not() {
        let of = |source| name(&Error::of(&Arc::from("ledger.db"), source));
        let lost = std::io::Error::from(std::io::ErrorKind::ConnectionReset);
        assert_eq!(of(sqlx::Error::Io(lost)), "Unreachable");
        assert_eq!(of(sqlx::Error::PoolTimedOut), "Unreachable");
        assert_eq!(of(sqlx::Error::PoolClosed), "Closed");
        assert_eq!(of(sqlx::Error::RowNotFound), "Refused");
    }
}
