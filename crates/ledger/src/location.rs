//! Locations of ledgers.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use sqlx::postgres::PgConnectOptions;

/// The location of a ledger: a file, or a PostgreSQL database.
///
/// A URL may hold a password, so neither `Debug` nor `Display` shows one.
#[derive(Clone, Eq, PartialEq)]
pub enum Location {
    /// An SQLite file; it is made if it is not there.
    File(PathBuf),
    /// The URL of a PostgreSQL database, `postgres://USER:PASSWORD@HOST:PORT/DATABASE`.
    Postgres(String),
}

/// A URL that leads to no PostgreSQL database. It is not repeated, for it may hold a password.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error(
    "this is no URL of a PostgreSQL database; \
     postgres://USER:PASSWORD@HOST:PORT/DATABASE is expected, with special characters as %XX"
)]
pub struct NotAUrl;

impl Location {
    /// Reads how to connect to the database of a URL.
    pub(crate) fn connect_options(url: &str) -> Result<PgConnectOptions, NotAUrl> {
        url.parse().map_err(|_| NotAUrl)
    }
}

impl FromStr for Location {
    type Err = NotAUrl;

    fn from_str(text: &str) -> Result<Self, NotAUrl> {
        if !text.starts_with("postgres://") && !text.starts_with("postgresql://") {
            return Ok(Self::File(text.into()));
        }
        Self::connect_options(text)?;
        Ok(Self::Postgres(text.to_owned()))
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => write!(f, "{}", path.display()),
            Self::Postgres(url) => match Self::connect_options(url) {
                Ok(options) => write!(
                    f,
                    "postgres://{}@{}:{}/{}",
                    options.get_username(),
                    options.get_host(),
                    options.get_port(),
                    options.get_database().unwrap_or_default()
                ),
                Err(NotAUrl) => f.write_str("postgres://"),
            },
        }
    }
}

impl fmt::Debug for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Location({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_not_shown() {
        let url = "postgres://pathline:s3cret@db.example:5433/ledger?sslmode=disable";
        let location: Location = url.parse().unwrap();
        assert_eq!(
            location.to_string(),
            "postgres://pathline@db.example:5433/ledger"
        );
        let with_parameter = "postgres://db.example/ledger?password=s3cret&user=pathline";
        let other: Location = with_parameter.parse().unwrap();
        for shown in [format!("{location:?}"), format!("{other:?} {other}")] {
            assert!(!shown.contains("s3cret"), "{shown}");
        }
    }

    #[test]
    fn url_that_cannot_be_read_is_refused_without_repeating_it() {
        let refused = "postgres://pathline:s3cret@host:notaport/db".parse::<Location>();
        let message = refused.unwrap_err().to_string();
        assert!(!message.contains("s3cret"), "{message}");
    }

    #[test]
    fn whatever_is_no_url_is_a_path() {
        let location: Location = "/var/lib/pathline/ledger.db".parse().unwrap();
        assert_eq!(
            location,
            Location::File("/var/lib/pathline/ledger.db".into())
        );
    }
}
