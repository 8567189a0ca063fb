//! Rollouts, as far as they are rules: which object a path ends with, and what the watches below it say.
//!
//! The engine watches, and asks the API server once more before something is said to run; what is known of a
//! namespace it hands in as [`Below`](pathline_lineage::rollout::Below). Read on in this order: `target` (how the
//! rollout of an object is followed), the kinds of targets: `inventory` and `selected` (objects that the stamped one
//! does not control), `revisions` (of daemon sets) and `runnable_run` (runs of Runnables), `writer` (commits); `configs` (pods that run
//! must have read the ConfigMaps and Secrets as they are) and `retiring` (what was stamped before must be gone).

mod configs;
mod inventory;
mod retiring;
mod revisions;
mod runnable_run;
mod selected;
mod target;
mod writer;

pub use self::configs::Configs;
pub use self::inventory::is_as_known;
pub use self::retiring::{Candidate, candidates};
pub use self::revisions::{DaemonSet, Versions};
pub use self::runnable_run::RunnableRun;
pub use self::selected::SelectedObjects;
pub use self::target::{CommitTarget, RolloutTarget, RunTarget};
pub use self::writer::Writer;
