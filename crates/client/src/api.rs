//! The wire types of the REST API: the bodies of all requests and answers.
//!
//! Servers write these types and clients read them, so both agree by construction; the schemas of
//! `/openapi.json` come from them too. Names are in camel case, absent is left out.

mod artifact;
mod board;
mod by_hand;
mod change;
mod concern;
mod environment;
mod files;
mod input;
mod made;
mod object;
mod owner;
mod path;
mod problem;
mod release;
mod release_objects;
mod running;
#[cfg(feature = "openapi")]
mod schemas;
mod scope;
mod token;
mod tracker;
mod wait;
mod why;

pub use self::artifact::{Artifact, ArtifactEntry, Carrier, Contains, Edge, Making, Use};
pub use self::board::{Board, BoardCell, BoardRow};
pub use self::by_hand::{
    HeldPlace, HoldRequest, PromoteRequest, Promoted, ReleaseRequest, ReleaseTransition,
    RollbackRequest,
};
pub use self::change::{
    ArrivedNow, Begin, Change, HoldEvent, MadeNow, MoveEvent, ReleaseEvent, TrackerEvent,
};
pub use self::concern::{Concerned, ConcernedOwner};
pub use self::environment::{
    Environment, EnvironmentCounts, EnvironmentFreeze, EnvironmentHold, EnvironmentRefusal,
    TrackerHold,
};
pub use self::files::ServerFile;
pub use self::input::{Missing, OwnerInput};
pub use self::made::{Derivation, Made, TemplateVersion};
pub use self::object::{ObjectLineage, RevisionState};
pub use self::owner::{NearestBlueprint, Owner, OwnerPage, OwnerRef, OwnerSummary};
pub use self::path::{ObjectName, PathStep, Ready};
pub use self::problem::{FieldProblem, Problem, ProblemDetail};
pub use self::release::{
    KeyChange, Release, ReleaseDetail, ReleaseEntry, ReleaseImage, ReleasePage, ReleaseSource,
};
pub use self::release_objects::ReleaseObjects;
pub use self::running::{ContainerPort, RunningContainer, RunningObject};
pub use self::scope::{ParseScopeError, Scope};
pub use self::token::{CreatedToken, NewToken, Token, TokenList};
pub use self::tracker::{
    ImageState, PendingConfiguration, PollState, QueueState, ReleaseRef, SourceState, Tracker,
    TrackerCondition, TrackerRequest, TrackerStatus, TrackerWarning,
};
pub use self::wait::{
    AtWork, Impossible, MissingProof, Progress, ReplacedBy, WaitResult, WaitState,
};
pub use self::why::{EnvironmentWhy, ReleaseWait, TrackerWhy};
