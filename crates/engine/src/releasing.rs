//! Releases: the environments that they go to, and the loop that brings them there.
//!
//! The fate of a release is decided by `pathline_release::queue`, and written down in the ledger before anything is done.
//! [`releaser`] follows the ledger and the clock; [`deployment`] carries out one deployment, whose end is what the rule of
//! waits says ([`judge`]).

mod deployment;
pub(crate) mod environments;
mod judge;
mod metrics;
mod parts;
mod releaser;
mod reporter;
mod soak;
mod tasks;
mod ticks;
mod tidy;
mod tools;
mod write;

use std::sync::Arc;

use crate::runtime::clients::Clients;
use crate::runtime::env::Env;
use crate::runtime::part::Part;
use environments::EnvironmentWatch;
pub use metrics::ReleasingMetrics;
pub use parts::present_parts;
use releaser::Releaser;
use tools::Tools;

/// The command that installs a path on a cluster with the workers of Pathline.
const LAPTOP_PATH: &str = "pathline release path | pathline apply -f -";
/// The command that installs a path on any other cluster.
const CLUSTER_PATH: &str = "pathline release path --cluster | kubectl apply -f -";

/// Returns the loops of releases; `has_processes` says whether the cluster keeps commands running by itself.
pub(crate) fn parts(
    env: &Env,
    environments: &EnvironmentWatch,
    metrics: &ReleasingMetrics,
    has_processes: bool,
) -> Vec<Part> {
    let tools = Arc::new(Tools {
        client: env.client.clone(),
        clients: Clients::new(env),
        ledger: env.ledger.clone(),
        clock: env.clock.clone(),
        path_command: match has_processes {
            true => LAPTOP_PATH,
            false => CLUSTER_PATH,
        },
    });
    let releaser = Releaser::new(tools, environments.subscribe(), metrics.clone());
    let stop = env.stop.clone();
    let mut parts = environments.parts(env);
    parts.push(Part::new("releases", async move {
        Box::pin(releaser.run(stop)).await;
    }));
    parts
}
