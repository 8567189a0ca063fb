//! Values that rows of every topic hold.

use std::sync::Arc;

use jiff::Timestamp;
use serde::de::DeserializeOwned;

use crate::error::Error;

/// Reads a time from the microseconds that a column holds.
pub(crate) fn time(location: &Arc<str>, microseconds: i64) -> Result<Timestamp, Error> {
    Timestamp::from_microsecond(microseconds).map_err(|_| unreadable(location, "time"))
}

/// Reads a time that may not be there.
pub(crate) fn some_time(
    location: &Arc<str>,
    microseconds: Option<i64>,
) -> Result<Option<Timestamp>, Error> {
    microseconds.map(|it| time(location, it)).transpose()
}

/// Reads JSON that this program wrote.
pub(crate) fn from_json<T: DeserializeOwned>(
    location: &Arc<str>,
    what: &'static str,
    text: &str,
) -> Result<T, Error> {
    serde_json::from_str(text).map_err(|_| unreadable(location, what))
}

/// Reads a word, such as a kind of evidence, as JSON would have it.
pub(crate) fn from_word<T: DeserializeOwned>(
    location: &Arc<str>,
    what: &'static str,
    word: &str,
) -> Result<T, Error> {
    serde_json::from_value(word.into()).map_err(|_| unreadable(location, what))
}

/// Returns the error for a value that this program can't have written.
pub(crate) fn unreadable(location: &Arc<str>, what: &'static str) -> Error {
    Error::Unreadable {
        location: Arc::clone(location),
        what,
    }
}
