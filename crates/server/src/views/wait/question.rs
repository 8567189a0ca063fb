//! The question of a wait.

use pathline_lineage::wait::{Applied, Options, Setting, WaitFor, Waiter};

use super::id::{self, WaitId};
use crate::views::concern::ObjectVersion;

/// A question that is answered when it is decided: is an owner made of this, does it run?
#[derive(Debug)]
pub(crate) struct WaitQuestion {
    /// The things that are waited for.
    pub(crate) awaited: Vec<WaitFor>,
    /// The values that an apply has set.
    pub(crate) applied: Vec<Setting>,
    /// The inputs that an apply has removed, as `param:NAME` or `field:PATH`.
    pub(crate) removed: Vec<String>,
    /// The generation that an apply has made.
    pub(crate) generation: Option<i64>,
    /// The uid of the owner that was applied.
    pub(crate) uid: Option<String>,
    /// The blueprints and templates that the owner must have been reconciled with.
    pub(crate) seen: Vec<ObjectVersion>,
    /// True if to have arrived is not enough: it has to run.
    pub(crate) live: bool,
    /// True if edges that nothing proves are good enough.
    pub(crate) accept_assumed: bool,
    /// The state of the wait that this one goes on with.
    pub(crate) before: Option<WaitId>,
}

impl WaitQuestion {
    /// Returns what is waited for, as it was asked.
    pub(super) fn asked(&self) -> impl Iterator<Item = String> {
        let awaited = self.awaited.iter().map(ToString::to_string);
        awaited.chain(self.applied.iter().map(ToString::to_string))
    }

    /// Begins to wait for it; `generation` is what the owner has now. Returns the generation that
    /// counts, too.
    pub(super) fn waiter(&self, generation: i64) -> (Waiter, i64) {
        let before = self.since().map(|since| since.min(generation));
        let since = before.or(self.generation).unwrap_or(generation);
        let options = Options {
            live: self.live,
            accept_assumed: self.accept_assumed,
            since_generation: Some(since),
        };
        let mut waiter = Waiter::new(self.awaited.clone(), options).remembering(self.carried());
        if self.is_after_apply() {
            let (applied, removed) = (self.applied.clone(), self.removed.clone());
            waiter = waiter.with_applied(Applied::new(applied, removed));
        }
        if !self.seen.is_empty() {
            waiter = waiter.with_stamping();
        }
        (waiter, since)
    }

    /// Tells whether it has to run.
    pub(super) fn is_live(&self) -> bool {
        self.live
    }

    /// Returns the blueprints and templates that the owner must have been looked at with.
    pub(super) fn seen(&self) -> &[ObjectVersion] {
        &self.seen
    }

    /// Tells whether something was applied or removed that is waited for.
    pub(super) fn is_after_apply(&self) -> bool {
        !self.applied.is_empty() || !self.removed.is_empty()
    }

    /// Returns the names of what an apply has removed.
    pub(super) fn removed(&self) -> &[String] {
        &self.removed
    }

    /// Returns the generation that the owner had when the waiting began, if it was there before the
    /// waiting was broken off.
    pub(super) fn since(&self) -> Option<i64> {
        let before = self.before.as_ref().map(|before| before.generation);
        before.filter(|generation| *generation > 0)
    }

    /// Tells whether the owner was there before, because it was applied or seen.
    pub(super) fn has_seen_owner(&self) -> bool {
        self.since().is_some() || self.uid.is_some()
    }

    /// Tells whether an owner is the one that was applied, or that was there before.
    pub(super) fn is_same(&self, uid: &str) -> bool {
        let before = self.before.as_ref();
        let before = before.and_then(|before| before.owner.as_ref());
        let applied = self.uid.as_ref();
        before.is_none_or(|before| *before == id::digest(uid)) && applied.is_none_or(|it| it == uid)
    }

    /// Returns what is known without having seen the owner.
    pub(super) fn id(&self) -> String {
        let before = self.before.clone();
        before.unwrap_or_else(WaitId::unmet).to_string()
    }

    /// Returns which of the things waited for had been carried when the waiting was broken off.
    fn carried(&self) -> &[bool] {
        let before = self.before.as_ref();
        before.map_or(&[], |before| before.carried.as_slice())
    }
}
