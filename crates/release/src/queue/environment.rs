//! Environments: the places that releases go to.

use jiff::{SignedDuration, Timestamp};

use crate::name::TrackerName;
use crate::timeline::Timeline;
use crate::version::Level;
use crate::vetos::{Vetos, bans};

/// The time in which a deployment has to become ready, unless its environment says otherwise.
pub const READY_TIMEOUT: SignedDuration = SignedDuration::from_mins(15);

/// A place that releases go to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Environment {
    /// The name.
    pub name: String,
    /// The type, such as `prod`.
    pub of_type: Option<String>,
    /// The position in the flow; several environments may share one.
    pub position: u32,
    /// Whether it takes releases by itself.
    pub promotion: Promotion,
    /// The highest level that it takes without being told to; nothing for any.
    pub accepts: Option<Level>,
    /// The time for which a release has to be live in all environments of the position before.
    pub soak: SignedDuration,
    /// The times in which it takes nothing.
    pub freezes: Vec<Freeze>,
    /// The instants at which it takes something.
    pub timeline: Timeline,
    /// The applications that it does not take: `group`, `*.name` or `group.name`.
    pub omits: Vec<String>,
    /// The time in which a deployment has to become ready.
    pub ready_timeout: SignedDuration,
    /// The end of a deployment that has failed.
    pub on_failure: OnFailure,
}

/// Says whether an environment takes releases by itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Promotion {
    /// It takes them at its ticks.
    #[default]
    Auto,
    /// They are held until somebody promotes them.
    Manual,
}

/// A time in which an environment takes nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Freeze {
    /// The first instant of it.
    pub from: Timestamp,
    /// The first instant after it.
    pub until: Timestamp,
    /// The reason, as somebody gave it.
    pub reason: String,
}

/// Says what an environment does when a deployment has failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum OnFailure {
    /// It keeps what has failed.
    #[default]
    Keep,
    /// It deploys again what was deployed before.
    Restore,
}

impl Environment {
    /// Returns an environment that takes everything, each minute.
    pub fn new(name: &str, position: u32) -> Self {
        Self {
            name: name.to_owned(),
            of_type: None,
            position,
            promotion: Promotion::Auto,
            accepts: None,
            soak: SignedDuration::ZERO,
            freezes: Vec::new(),
            timeline: Timeline::default(),
            omits: Vec::new(),
            ready_timeout: READY_TIMEOUT,
            on_failure: OnFailure::Keep,
        }
    }

    /// Tells whether an application is not deployed here, by the environment's word or by its own.
    pub(super) fn omits(&self, tracker: &TrackerName, vetos: &Vetos) -> bool {
        let is_banned = self.omits.iter().any(|rule| bans(rule, tracker));
        is_banned || vetos.omits(&self.name, self.of_type.as_deref())
    }
}
