//! The tokens that are valid, in memory only.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use jiff::Timestamp;
use parking_lot::Mutex;
use pathline_release::poll::{Fingerprint, FingerprintKey};

use super::token::Token;
use super::{ImageRepository, RegistryLogin};
use crate::Secret;

/// The most repositories of which a token is kept.
const MAX_SLOTS: usize = 20_000;

/// The way in that has worked last.
#[derive(Clone, Debug)]
pub(super) enum Pass {
    /// A token, until it ends.
    Bearer(Token),
    /// User and password, each time.
    Basic,
}

impl Pass {
    pub(super) fn is_valid(&self, now: Timestamp) -> bool {
        match self {
            Self::Bearer(token) => now < token.expires,
            Self::Basic => true,
        }
    }

    /// Tells whether it is the same token.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Bearer(one), Self::Bearer(other)) => one.secret == other.secret,
            (Self::Basic, Self::Basic) => true,
            _ => false,
        }
    }
}

/// The ways into repositories; cheap to clone.
#[derive(Clone)]
pub(super) struct Tokens {
    /// Random; without one nothing is kept.
    key: Option<FingerprintKey>,
    slots: Arc<Mutex<HashMap<Key, Slot>>>,
}

/// A registry, a repository, and the fingerprint of the login.
type Key = (String, String, Option<Fingerprint>);

/// The way into one repository. Held while a token is asked for, so that it is asked for once.
pub(super) type Slot = Arc<tokio::sync::Mutex<Option<Pass>>>;

impl Tokens {
    pub(super) fn new() -> Self {
        let mut bytes = [0; 32];
        let filled = getrandom::fill(&mut bytes);
        Self {
            key: filled.is_ok().then(|| FingerprintKey::new(bytes)),
            slots: Arc::default(),
        }
    }

    /// Returns the place for the way into a repository.
    pub(super) fn slot(&self, image: &ImageRepository, login: Option<&RegistryLogin>) -> Slot {
        let Some(key) = &self.key else {
            return Slot::default();
        };
        let login = login.and_then(|it| key.fingerprint(text(it).reveal()));
        let key = (image.host().to_owned(), image.name(), login);
        let mut slots = self.slots.lock();
        if slots.len() >= MAX_SLOTS && !slots.contains_key(&key) {
            slots.clear();
        }
        slots.entry(key).or_default().clone()
    }
}

/// Returns a login as one text; no two have the same.
fn text(login: &RegistryLogin) -> Secret {
    match login {
        RegistryLogin::Basic { username, password } => {
            let length = username.len();
            Secret::new(format!("basic {length} {username} {}", password.reveal()))
        }
        RegistryLogin::Identity(token) => Secret::new(format!("identity {}", token.reveal())),
    }
}

impl fmt::Debug for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tokens(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slot_is_for_one_registry_repository_and_login() {
        let tokens = Tokens::new();
        let image = |registry: &str, repository: &str| ImageRepository {
            registry: registry.to_owned(),
            repository: repository.to_owned(),
        };
        let login = |username: &str, password: &str| RegistryLogin::Basic {
            username: username.to_owned(),
            password: Secret::new(password),
        };
        let (a, b) = (login("bot", "a"), login("bot", "b"));
        let (split, joined) = (
            login("bot a", "b"),
            RegistryLogin::Identity(Secret::new("a")),
        );
        let mut slots = vec![tokens.slot(&image("x", "app"), None)];
        for login in [&a, &b, &split, &joined] {
            slots.push(tokens.slot(&image("x", "app"), Some(login)));
        }
        slots.push(tokens.slot(&image("x", "other"), Some(&a)));
        slots.push(tokens.slot(&image("y", "app"), Some(&a)));
        for (place, slot) in slots.iter().enumerate() {
            let same = slots.iter().filter(|it| Arc::ptr_eq(it, slot)).count();
            assert_eq!(same, 1, "slot {place} is its own");
        }
        let again = tokens.slot(&image("x", "app"), Some(&a));
        assert!(Arc::ptr_eq(&again, &slots[1]));
        assert_eq!(format!("{tokens:?}"), "Tokens(..)");
    }
}
