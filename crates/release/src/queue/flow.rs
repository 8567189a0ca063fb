//! The flow: environments, and the order in which a release goes through them.

use jiff::SignedDuration;

use crate::name::TrackerName;
use crate::version::Level;
use crate::vetos::{Vetos, bans};

/// The time in which a deployment has to become ready, unless its environment says otherwise.
pub const READY_TIMEOUT: SignedDuration = SignedDuration::from_mins(15);

/// The names of the environments that are there unless somebody makes others.
const USUAL: [&str; 4] = ["dev", "ha", "preprod", "prod"];

/// A place that releases go to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Environment {
    /// The name.
    pub name: String,
    /// The type, such as `prod`.
    pub of_type: Option<String>,
    /// The position in the flow; several environments may share one.
    pub position: u32,
    /// The highest level that it takes without being told to; nothing for any.
    pub accepts: Option<Level>,
    /// The applications that it does not take: `group`, `*.name` or `group.name`.
    pub omits: Vec<String>,
    /// The time in which a deployment has to become ready.
    pub ready_timeout: SignedDuration,
}

/// All environments, in the order in which a release goes through them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Flow {
    environments: Vec<Environment>,
}

/// Two environments of one name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there are two environments `{0}`")]
pub struct InvalidFlow(pub String);

impl Environment {
    /// Returns an environment that takes everything.
    pub fn new(name: &str, position: u32) -> Self {
        Self {
            name: name.to_owned(),
            of_type: None,
            position,
            accepts: None,
            omits: Vec::new(),
            ready_timeout: READY_TIMEOUT,
        }
    }

    /// Tells whether an application is not deployed here, by the environment's word or by its own.
    pub(super) fn omits(&self, tracker: &TrackerName, vetos: &Vetos) -> bool {
        let is_banned = self.omits.iter().any(|rule| bans(rule, tracker));
        is_banned || vetos.omits(&self.name, self.of_type.as_deref())
    }
}

impl Flow {
    /// Returns the environments that are there unless somebody makes others: dev, ha, preprod and prod.
    pub fn usual() -> Self {
        let environments = USUAL.iter().zip(0..);
        let environment = |(name, position): (&&str, u32)| Environment::new(name, position);
        Self {
            environments: environments.map(environment).collect(),
        }
    }

    /// Puts environments in order.
    ///
    /// # Errors
    /// If two of them have one name.
    pub fn new(mut environments: Vec<Environment>) -> Result<Self, InvalidFlow> {
        environments.sort_by(|one, other| {
            let order = one.position.cmp(&other.position);
            order.then_with(|| one.name.cmp(&other.name))
        });
        let mut names: Vec<_> = environments.iter().map(|it| &it.name).collect();
        names.sort_unstable();
        match names.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(InvalidFlow(pair[0].clone())),
            None => Ok(Self { environments }),
        }
    }

    /// Returns the environments, the first one first.
    pub fn environments(&self) -> &[Environment] {
        &self.environments
    }

    /// Returns the environments at a position.
    pub(super) fn at(&self, position: u32) -> impl Iterator<Item = &Environment> {
        let environments = self.environments.iter();
        environments.filter(move |it| it.position == position)
    }

    pub(super) fn first(&self) -> Option<u32> {
        self.environments.first().map(|it| it.position)
    }

    pub(super) fn after(&self, position: u32) -> Option<u32> {
        let mut positions = self.environments.iter().map(|it| it.position);
        positions.find(|it| *it > position)
    }

    pub(super) fn position_of(&self, name: &str) -> Option<u32> {
        let found = self.environments.iter().find(|it| it.name == name);
        found.map(|it| it.position)
    }
}
