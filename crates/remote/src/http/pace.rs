//! The pace of requests: whoever sends many of them to a host says when each one goes.

use std::fmt;
use std::pin::Pin;

use jiff::Timestamp;
use reqwest::Url;

use super::Signs;

/// A wait for the turn of a request; see [`Pace::turn`].
pub type Turn<'a> = Pin<Box<dyn Future<Output = Result<(), Timestamp>> + Send + 'a>>;

/// Says when requests go, each of them: also the next page, the one to a token service, and the one after a redirect.
///
/// A host is named as URLs name it: with its port unless that is the usual one, and by the empty text if it is this
/// machine.
pub trait Pace: fmt::Debug + Send + Sync {
    /// Waits until a host may be sent a request. No time-out counts that wait.
    ///
    /// # Errors
    ///
    /// With the time before which the host does not want to be asked: then nothing is sent.
    fn turn<'a>(&'a self, host: &'a str) -> Turn<'a>;

    /// Takes in what a host says beside an answer; called before anything else is sent for the same question.
    fn heed(&self, host: &str, signs: &Signs);
}

/// Returns the name of the host of a URL.
pub(crate) fn host_of(url: &Url) -> String {
    match (url.host_str().unwrap_or_default(), url.port()) {
        (host, Some(port)) => format!("{host}:{port}"),
        (host, None) => host.to_owned(),
    }
}
