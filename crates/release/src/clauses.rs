//! The clauses of the rules of trackers and queues, by name.
//!
//! Every condition of the rules that the model tries is asked through [`Clauses::holds`], which is the condition
//! itself. The model in `tests/it/model.rs` drops one clause at a time and shows that something goes wrong without
//! it. It lives outside of the crate, so it needs a way in: the feature `clauses`, which nothing but the crate's own
//! tests enables. All that it opens is in this file; with the feature off, none of it is compiled.
#![cfg_attr(
    not(feature = "clauses"),
    expect(
        unreachable_pub,
        reason = "public for the model, by the feature `clauses`"
    )
)]

#[cfg(feature = "clauses")]
use crate::queue::Queues;
#[cfg(feature = "clauses")]
use crate::tracker::Tracker;

/// One clause of the rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clause {
    /// Answers count only for the state that they were asked for.
    Basis,
    /// A release needs a good answer of the repository.
    SourceRead,
    /// A release needs a good answer of the registry.
    RegistryRead,
    /// A configuration is released only with an image that its own label selects.
    OwnLabel,
    /// A configuration alone is not released.
    ImageMoved,
    /// A label that did not change leads to no lower version.
    NoDowngrade,
    /// A configuration that says what is released waits no longer.
    Reverted,
    /// A queued release makes room for a newer one.
    Supersede,
    /// An environment deploys one release at a time.
    OneDeploying,
    /// Reports about what is settled are not heard.
    Settled,
    /// A release goes on from where it is deployed, and from nowhere else.
    DeployedFirst,
    /// A release that arrives behind a newer one is not queued.
    Overtaken,
    /// A release that was vetoed waits to be promoted.
    Veto,
    /// A release above the level that an environment accepts waits to be promoted.
    Accepts,
    /// A deleted tracker's releases go no further.
    Deleted,
    /// Nothing is promoted behind a newer release.
    PromoteNewest,
    /// An environment that is omitted is passed over.
    Omit,
    /// A release waits in an environment only as long as it would be let in.
    StillThrough,
    /// Nothing of a tracker is taken where the tracker is held.
    Hold,
    /// Nothing is taken where the environment is held as a whole.
    Halt,
    /// Nothing is taken where the environment is frozen.
    Freeze,
    /// An environment of manual promotion takes what was promoted, and nothing else.
    Manual,
    /// A release has to be live for as long as the next environment wants.
    Soak,
    /// Time counts only while a release is live.
    OnlyLive,
    /// Time in which nobody watched does not count.
    Watched,
    /// A release that is taken ends the count of the one that was live there.
    Replaced,
    /// A release goes on when all environments of a position have it.
    Siblings,
    /// A release that was replaced where it was does not go on.
    Current,
    /// Nothing waits in an environment that is gone.
    Removed,
    /// An environment that is made again takes what was cancelled as a new attempt.
    Again,
    /// Nothing is promoted at once into an environment that takes nothing.
    NowStopped,
    /// Nothing is promoted at once into an environment that deploys something.
    NowAlone,
    /// A rollback goes nowhere else.
    Alone,
    /// A rollback holds the tracker in its environment.
    RollbackHolds,
    /// Rollbacks have numbers of their own.
    Numbers,
    /// Nothing is compared with a rollback.
    Measure,
    /// A configuration is released on request only if its own label selects the released image.
    Present,
    /// Nothing is restored any more where another release is taken.
    RestoreEnds,
}

/// The clauses that are asked: all of them, unless the model drops one.
pub(crate) type Clauses = pathline_clauses::Clauses<Clause>;

/// The model's way in.
#[cfg(feature = "clauses")]
impl Tracker {
    /// Asks one clause less from now on, or all of them. What is written as JSON does not say so.
    #[must_use]
    pub fn without(mut self, dropped: Option<Clause>) -> Self {
        *self.clauses_mut() = Clauses::without(dropped);
        self
    }
}

/// The model's way in.
#[cfg(feature = "clauses")]
impl Queues {
    /// Asks one clause less from now on, or all of them. What is written as JSON does not say so.
    #[must_use]
    pub fn without(mut self, dropped: Option<Clause>) -> Self {
        *self.clauses_mut() = Clauses::without(dropped);
        self
    }
}
