//! Reports that are remembered of owners between two reconciles.

use std::collections::HashMap;

use kube::ResourceExt;
use kube::api::DynamicObject;
use parking_lot::Mutex;
use pathline_blueprint::owner::Owner;
use pathline_blueprint::service_account::Account;

use crate::runtime::queue::Key;
use crate::runtime::store::key_of;

/// Remembers what was last reported of owners, and under which account. Forgotten with the owner.
#[derive(Default)]
pub(super) struct Reports {
    known: Mutex<HashMap<Key, Report>>,
}

#[derive(Default)]
struct Report {
    /// The version of the owner that our last report made.
    version: Option<u64>,
    account: Option<Account>,
}

impl Reports {
    /// Tells whether we reported something that this state of the owner does not show yet.
    pub(super) fn is_ahead_of(&self, owner: &DynamicObject) -> bool {
        let known = self.known.lock();
        let ours = known.get(&key_of(owner)).and_then(|report| report.version);
        ours.is_some_and(|ours| version(owner).is_some_and(|theirs| theirs < ours))
    }

    /// Notes the version that a report made.
    pub(super) fn note(&self, owner: &DynamicObject, version: Option<String>) {
        let version = version.and_then(|version| version.parse().ok());
        if version.is_some() {
            self.known.lock().entry(key_of(owner)).or_default().version = version;
        }
    }

    /// Notes the account under which the objects of an owner are written.
    pub(super) fn remember(&self, owner: &Owner, account: &Account) {
        let key = Key::new(&owner.namespace, &owner.name);
        self.known.lock().entry(key).or_default().account = Some(account.clone());
    }

    /// Returns the account of an owner that no blueprint picks up: the last one, else the nearest.
    pub(super) fn account(&self, owner: &Owner) -> Account {
        let key = Key::new(&owner.namespace, &owner.name);
        let known = self.known.lock();
        let known = known.get(&key).and_then(|report| report.account.clone());
        known.unwrap_or_else(|| Account::without_blueprint(owner))
    }

    /// Forgets an owner that is gone.
    pub(super) fn forget(&self, key: &Key) {
        self.known.lock().remove(key);
    }
}

fn version(owner: &DynamicObject) -> Option<u64> {
    owner.resource_version()?.parse().ok()
}
