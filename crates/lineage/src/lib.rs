//! What is it made of, has it arrived?

pub mod arrival;
mod artifact;
mod canonical;
pub mod chain;
mod clauses;
mod derivation;
mod evidence;
pub mod kinds;
mod made_of;
mod memory;
mod mixed;
mod origin;
pub mod revision;
pub mod simulate;
mod snapshot;
mod stamp;
mod state;
mod tracing;

pub use self::arrival::{Arrival, Missing};
pub use self::artifact::{Artifact, ArtifactId, Kind, NotAnId};
pub use self::chain::Chain;
pub use self::derivation::{Derivation, Edge};
pub use self::evidence::Evidence;
pub use self::made_of::MadeOf;
pub use self::origin::{NotAnOrigin, Origin};
pub use self::snapshot::{Health, Snapshot};
pub use self::stamp::{Applied, Inputs, InputsId, Stamp, Template};
pub use self::state::{NotOnPath, State};
pub use self::tracing::{Tracing, Trust};

#[cfg(test)]
mod model;
