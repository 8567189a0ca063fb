//! The lineage of an owner: what is it made of, has it arrived?
//!
//! [`State`] knows one owner. It is fed with what was stamped ([`Stamp`]) and what was seen
//! ([`Snapshot`]), and says what each resource makes and from what ([`State::current`]), what the
//! path makes as a tree ([`State::outputs`]), and how far a value has come ([`State::arrival`]).
//! Every edge carries its [`Evidence`]. Nothing here does I/O or looks at a clock.
//!
//! Read on in this order: `evidence` (the rule), `resource_history` (what is remembered of a resource),
//! [`arrival`] (what counts as arrived), [`simulate`] (the rule, to be tried by hand), and `tests/it/model.rs`
//! (the rule, tried against controllers that know the truth).

pub mod arrival;
mod arrived;
mod artifact;
mod back;
mod canonical;
pub mod chain;
#[cfg(not(feature = "clauses"))]
mod clauses;
#[cfg(feature = "clauses")]
pub mod clauses;
mod delivered;
mod derivation;
mod entry_points;
mod evidence;
mod former;
mod in_metadata;
pub mod kinds;
mod made_of;
mod mixed;
mod origin;
pub mod owner_lineage;
mod passed_over;
mod repository;
mod resource_history;
pub mod revision;
pub mod rollout;
pub mod running;
pub mod simulate;
mod snapshot;
mod stamp;
mod state;
mod touched;
mod tracing;
pub mod used;
pub mod wait;
mod written;

pub use self::arrival::{Arrival, Missing};
pub use self::arrived::Arrived;
pub use self::artifact::{Artifact, ArtifactId, Kind, NotAnId};
pub use self::chain::Chain;
pub use self::delivered::Delivered;
pub use self::derivation::{Derivation, Edge};
pub use self::evidence::Evidence;
pub use self::made_of::MadeOf;
pub use self::origin::{NotAnOrigin, Origin};
pub use self::owner_lineage::{Live, OwnerLineage, Retiring, Unstamped};
pub use self::repository::RepositoryId;
pub use self::rollout::{Rollout, Stage};
pub use self::snapshot::{Health, Snapshot};
pub use self::stamp::{Applied, Inputs, InputsId, Stamp, Template};
pub use self::state::{NotOnPath, State};
pub use self::tracing::{Tracing, Trust};
pub use self::written::Written;
