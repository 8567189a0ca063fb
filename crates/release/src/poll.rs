//! Polling: when registries and repositories are asked, and by whom.
//!
//! A [`Schedule`] says when a tracker is looked at next, the [`Agenda`] which trackers are, and with whom. What hosts say about too many requests raises [`Floors`], which
//! hold for everybody who asks the host with the same credentials. Trackers that ask the same question share a poll:
//! see [`SourceKey`] and [`ImageKey`]. The [`Load`] says how many requests that makes, and the [`Budget`] of a host
//! whether they fit into an interval. Randomness is drawn from a seed ([`Jitter`]), so that all of it can be repeated.

mod agenda;
mod budget;
mod jitter;
mod limits;
mod load;
mod schedule;
mod sharing;

pub use self::agenda::{Agenda, Begin, Ending, Round};
pub use self::budget::{Budget, Stretch};
pub use self::jitter::Jitter;
pub use self::limits::{Floors, HostKey, Quota, retry_after};
pub use self::load::{Load, Question, Requests};
pub use self::schedule::{Failure, INTERVAL, MIN_INTERVAL, Schedule};
pub use self::sharing::{Fingerprint, FingerprintKey, ImageKey, SourceKey, may_pair};
