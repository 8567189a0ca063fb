//! Simulates what Pathline would conclude from a history, for template authors and for tests.
//!
//! ```
//! use serde_json::json;
//!
//! let history = json!({
//!     "resources": [{"name": "build", "reads": ["param:debug"], "tracing": "declared"}],
//!     "steps": [
//!         {"owner": {"param:debug": "on"}},
//!         {"applied": {"resource": "build", "uid": "u", "generation": 1,
//!                      "inputs": {"param:debug": "on"}}},
//!         {"seen": {"resource": "build", "uid": "u", "generation": 1, "observed": 1,
//!                   "healthy": true, "outputs": {"image": "i1"}}},
//!     ],
//! });
//! let report = pathline_lineage::simulate::simulate(&history)?;
//! assert!(report.inputs[0].arrived);
//! # Ok::<(), pathline_lineage::simulate::Invalid>(())
//! ```

mod history;
mod reader;
mod run;

use serde::Serialize;
use serde_json::Value;

pub use self::reader::Invalid;
use crate::evidence::Evidence;

/// The conclusions after the last step.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// The output of each resource, in declared order.
    pub outputs: Vec<Output>,
    /// The inputs that the owner has, by name.
    pub inputs: Vec<Input>,
}

/// The output of a resource.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Output {
    /// The resource.
    pub resource: String,
    /// The name of the output.
    pub name: String,
    /// The output.
    pub value: Value,
    /// The inputs that it was made from directly, by name.
    pub from: Vec<DirectInput>,
}

/// One direct input of an output.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DirectInput {
    /// The owner's input, or the resource that produced it.
    pub name: String,
    /// The value.
    pub value: Value,
    /// The evidence for that.
    pub evidence: Evidence,
}

/// The progress of an input of the owner.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Input {
    /// The name.
    pub name: String,
    /// The value the owner has now.
    pub value: Value,
    /// Whether every final resource it flows into is made from that value on all ways.
    pub arrived: bool,
    /// Whether some resource is made from two values of one upstream.
    pub mixed: bool,
    /// Whether nothing reads it.
    pub unused: bool,
}

/// Runs a history and tells what is known after its last step.
pub fn simulate(history: &Value) -> Result<Report, Invalid> {
    let history = history::read(history)?;
    Ok(run::run(&history)?.report())
}
