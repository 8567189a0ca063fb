//! The credentials that a server has accepted.
//!
//! A cached repository is named by its URL and user, and never by a password or token: from a name one could find out
//! what it was. So that nobody reads from a cache what the server would not give them, credentials that are new to this
//! process are shown to the server before the cache is used.

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use parking_lot::Mutex;
use pathline_release::poll::{Fingerprint, FingerprintKey};

use super::session::Session;
use super::wire::Service;
use super::{Credentials, Error, Remote};

/// The caches that were used, each with the fingerprint of the credentials.
type Accepted = HashSet<(String, Fingerprint)>;

/// Remembers which credentials were accepted for which cache; cheap to clone.
#[derive(Clone)]
pub(super) struct LetIn {
    /// Random; without one nothing is remembered.
    key: Option<FingerprintKey>,
    accepted: Arc<Mutex<Accepted>>,
}

impl LetIn {
    pub(super) fn new() -> Self {
        let mut bytes = [0; 32];
        let filled = getrandom::fill(&mut bytes);
        Self {
            key: filled.is_ok().then(|| FingerprintKey::new(bytes)),
            accepted: Arc::default(),
        }
    }

    /// Returns what is still to be shown before a cache is used.
    pub(super) fn unproven(&self, cache: &str, remote: &Remote) -> Unproven {
        let Some(Credentials { password, .. }) = remote.credentials() else {
            return Unproven::Nothing;
        };
        let fingerprint = self.key.as_ref().and_then(|it| it.fingerprint(password));
        let entry = fingerprint.map(|it| (cache.to_owned(), it));
        match entry {
            Some(entry) if self.accepted.lock().contains(&entry) => Unproven::Nothing,
            entry => Unproven::Credentials(entry, self.accepted.clone()),
        }
    }
}

impl fmt::Debug for LetIn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LetIn(..)")
    }
}

/// Credentials that the server has not seen from this process yet.
pub(super) enum Unproven {
    Nothing,
    Credentials(Option<(String, Fingerprint)>, Arc<Mutex<Accepted>>),
}

impl Unproven {
    /// Shows the credentials to the server, which lets them in or not.
    pub(super) fn prove(self, session: &Session) -> Result<(), Error> {
        if let Self::Credentials(entry, accepted) = self {
            let (connection, _) = session.connect(Service::UploadPack, "HEAD")?;
            connection.finish();
            accepted.lock().extend(entry);
        }
        Ok(())
    }
}
