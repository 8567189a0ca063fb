//! Knowledge of hosts that speak git over HTTP.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::git::smart::Capabilities;
use crate::http::Moved;

/// The most hosts, and the most repositories, of which something is remembered.
const MAX_KNOWN: usize = 20_000;

/// The hosts that list references on demand, and the repositories that are elsewhere; cheap to clone.
#[derive(Clone, Debug, Default)]
pub(super) struct Hosts(Arc<Mutex<Found>>);

#[derive(Debug, Default)]
struct Found {
    /// By scheme, host and port.
    capabilities: HashMap<String, Capabilities>,
    /// By URL.
    places: HashMap<String, Place>,
}

/// The place at which a repository answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// The URL, without a slash at its end.
    pub(super) base: String,
    /// The note for whoever has the old URL.
    pub(super) moved: Option<Moved>,
}

impl Hosts {
    pub(super) fn capabilities(&self, origin: &str) -> Option<Capabilities> {
        self.0.lock().capabilities.get(origin).cloned()
    }

    /// Returns the place of a repository: its URL, unless it was found elsewhere.
    pub(super) fn place(&self, url: &str) -> Place {
        let known = self.0.lock().places.get(url).cloned();
        known.unwrap_or_else(|| Place {
            base: url.trim_end_matches('/').to_owned(),
            moved: None,
        })
    }

    pub(super) fn learn_capabilities(&self, origin: String, capabilities: Capabilities) {
        let mut found = self.0.lock();
        if found.capabilities.len() >= MAX_KNOWN {
            found.capabilities.clear();
        }
        found.capabilities.insert(origin, capabilities);
    }

    pub(super) fn learn_place(&self, url: &str, place: Place) {
        let mut found = self.0.lock();
        if found.places.len() >= MAX_KNOWN {
            found.places.clear();
        }
        found.places.insert(url.to_owned(), place);
    }

    /// Forgets what a host could do.
    pub(super) fn forget_capabilities(&self, origin: &str) {
        self.0.lock().capabilities.remove(origin);
    }

    /// Forgets where a repository was found.
    pub(super) fn forget_place(&self, url: &str) {
        self.0.lock().places.remove(url);
    }
}
