//! Releases: the environments that they go to.

pub(crate) mod environments;

use crate::runtime::env::Env;
use crate::runtime::part::Part;
use environments::EnvironmentWatch;

/// Returns the loops of releases.
pub(crate) fn parts(env: &Env, environments: &EnvironmentWatch) -> Vec<Part> {
    environments.parts(env)
}
