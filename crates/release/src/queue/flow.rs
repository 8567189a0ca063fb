//! The flow: environments, and the order in which a release goes through them.

use super::Environment;

/// The names of the environments that are there unless somebody makes others.
const USUAL: [&str; 4] = ["dev", "ha", "preprod", "prod"];

/// All environments, in the order in which a release goes through them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Flow {
    environments: Vec<Environment>,
}

/// Two environments of one name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there are two environments `{0}`")]
pub struct InvalidFlow(pub String);

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

    /// Returns an environment.
    pub fn get(&self, name: &str) -> Option<&Environment> {
        self.environments.iter().find(|it| it.name == name)
    }

    /// Returns the environments at a position.
    pub(super) fn at(&self, position: u32) -> impl Iterator<Item = &Environment> {
        let environments = self.environments.iter();
        environments.filter(move |it| it.position == position)
    }

    /// Returns the last position before one.
    pub(super) fn before(&self, position: u32) -> Option<u32> {
        let mut positions = self.environments.iter().rev().map(|it| it.position);
        positions.find(|it| *it < position)
    }
}
