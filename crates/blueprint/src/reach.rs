//! Reachability: the options that no owner can choose, and the paths that there are, over all
//! owners at once.
//!
//! The answers are exact: the rules of selection, and what is known about owners, become one formula
//! (see `circuit` and `facts`), and each question about all owners is a question whether that formula can
//! be true. Every question has an answer or, if it takes too much effort, the verdict [`Unknown`];
//! nothing is guessed.
//!
//! ```
//! use pathline_blueprint::blueprint::Blueprint;
//! use pathline_blueprint::reach::{self, Budget, Verdict};
//! use serde_json::json;
//!
//! let blueprint = Blueprint::read(json!({
//!     "apiVersion": "carto.run/v1alpha1",
//!     "kind": "ClusterSupplyChain",
//!     "metadata": {"name": "chain"},
//!     "spec": {"resources": [{
//!         "name": "build",
//!         "templateRef": {"kind": "ClusterImageTemplate", "options": [
//!             {"name": "always"},
//!             {"name": "never", "selector": {"matchLabels": {"type": "web"}}},
//!         ]},
//!     }]},
//! }))?;
//! let analysis = reach::analyse(&blueprint, Budget::default())?;
//! let Verdict::Unreachable(why) = &analysis.resources[0].options[1] else { panic!() };
//! assert_eq!(why.message, "always shadowed by option 0");
//! assert_eq!(reach::paths(&blueprint, None, Budget::default())?.paths.len(), 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`Unknown`]: Verdict::Unknown

mod circuit;
mod example;
mod facts;
mod gates;
mod minimal;
mod order;
mod requirement;
mod sat;
mod schema;
mod verdicts;
mod walk;
mod why;

use serde_json::Value;

use crate::blueprint::Blueprint;
use crate::graph::Fault;
use crate::selection::{Plan, Step};
use circuit::Circuit;
use facts::Facts;
use gates::Gates;
use sat::{Answer, Fuel, Literal};

/// The effort that an analysis may take before it says that it does not know.
///
/// Effort is counted, not timed, so that the same blueprint always gets the same answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    steps: u64,
}

impl Budget {
    /// Allows this many steps; some 30 to 60 million of them take a second.
    pub fn of_steps(steps: u64) -> Self {
        Self { steps }
    }

    /// Allows to list thousands of paths, each with an example, for some seconds.
    pub fn for_paths() -> Self {
        Self::of_steps(300_000_000)
    }
}

/// Allows to analyse blueprints that are larger than anybody writes.
impl Default for Budget {
    fn default() -> Self {
        Self::of_steps(50_000_000)
    }
}

/// The result of an analysis of a blueprint.
#[derive(Debug, Clone, PartialEq)]
pub struct Analysis {
    /// The resources, in declared order.
    pub resources: Vec<Reach>,
    /// The resources in which the order of options matters, in declared order.
    pub order_decides: Vec<OrderDecides>,
    /// The resources of which it is not known whether the order of options matters.
    pub order_unknown: Vec<usize>,
}

/// The reachability of a resource, and of each of its options.
#[derive(Debug, Clone, PartialEq)]
pub struct Reach {
    /// The verdict on whether any owner selects the resource.
    pub resource: Verdict,
    /// For each option, whether any owner chooses it.
    pub options: Vec<Verdict>,
}

/// The verdict on whether there is an owner, among those the blueprint's own selector admits, that
/// selects something.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// There is one.
    Reachable,
    /// There is none.
    Unreachable(Why),
    /// The effort ran out.
    Unknown,
}

/// Says why nothing can be reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Why {
    /// The reason, such as "always shadowed by option 0".
    pub message: String,
    /// The keys with a filter, a wildcard or an index that it rests on. They are taken to lead to
    /// anything, independent of all other keys.
    pub free_keys: Vec<String>,
}

/// A resource for which the first option that is selected is not the one with the best score.
#[derive(Debug, Clone, PartialEq)]
pub struct OrderDecides {
    /// The resource, by its index.
    pub resource: usize,
    /// The option that is chosen because it comes first.
    pub first: usize,
    /// The options with the best score. Several are a tie, which the first may be part of.
    pub best: Vec<usize>,
    /// An owner for which this is so, from which nothing can be dropped.
    pub workload: Value,
}

/// The paths through a blueprint.
#[derive(Debug, Clone, PartialEq)]
pub struct Paths {
    /// Each path once; those on which earlier options are chosen come first.
    pub paths: Vec<Path>,
    /// Whether these are all.
    pub complete: bool,
}

/// One path: what becomes of every resource.
#[derive(Debug, Clone, PartialEq)]
pub struct Path {
    /// The resources, in declared order.
    pub states: Vec<State>,
    /// An owner that takes this path, or why there is none to show.
    pub example: Result<Example, NoExample>,
}

/// The state of a resource on a path. Two paths are the same if all their states are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum State {
    /// It is stamped, or hands an input on.
    Selected {
        /// The option that is chosen, if there are several.
        option: Option<usize>,
    },
    /// It is not on the path.
    Skipped,
    /// No choice can be made.
    Failed,
}

/// An owner that takes a path.
#[derive(Debug, Clone, PartialEq)]
pub struct Example {
    /// The owner. No label and no field of it can be dropped without leaving the path.
    pub workload: Value,
    /// The decision for each resource.
    pub steps: Vec<Step>,
}

/// Says why a path has no example.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoExample {
    /// The path rests on keys with a filter, a wildcard or an index, which may exclude each other.
    #[error("no example could be made that has what these keys ask for: {}", .keys.join(", "))]
    FreeKeys {
        /// The keys.
        keys: Vec<String>,
    },
    /// To leave out everything that is not needed took more effort than allowed.
    #[error("to make a small example took more effort than allowed")]
    Effort,
}

impl From<&Step> for State {
    fn from(step: &Step) -> Self {
        match step {
            Step::Selected { option } => Self::Selected { option: *option },
            Step::Skipped(_) => Self::Skipped,
            Step::Failed(_) => Self::Failed,
        }
    }
}

/// Finds out which resources and options no owner can reach, and where the order of options matters.
///
/// # Errors
///
/// Fails if the blueprint cannot be realized for any owner.
pub fn analyse(blueprint: &Blueprint, budget: Budget) -> Result<Analysis, Fault> {
    let mut question = Question::new(blueprint, budget)?;
    Ok(verdicts::analyse(&mut question))
}

/// Lists the distinct paths that owners take which the blueprint's own selector admits.
///
/// No more than `limit` are listed.
///
/// # Errors
///
/// Fails if the blueprint cannot be realized for any owner.
pub fn paths(blueprint: &Blueprint, limit: Option<usize>, budget: Budget) -> Result<Paths, Fault> {
    let mut question = Question::new(blueprint, budget)?;
    Ok(walk::paths(&mut question, limit))
}

/// A blueprint that can be asked about all owners at once.
struct Question<'b> {
    blueprint: &'b Blueprint,
    plan: Plan,
    gates: Gates,
    facts: Facts,
    circuit: Circuit,
    /// By resource: why no owner selects it, once that is known.
    dead: Vec<Option<Why>>,
    fuel: Fuel,
}

impl<'b> Question<'b> {
    fn new(blueprint: &'b Blueprint, budget: Budget) -> Result<Self, Fault> {
        let plan = Plan::new(blueprint)?;
        let mut gates = Gates::new();
        let (circuit, facts) = Circuit::new(blueprint, plan.order(), &mut gates);
        Ok(Self {
            blueprint,
            plan,
            gates,
            facts,
            circuit,
            dead: vec![None; blueprint.resources.len()],
            fuel: Fuel(budget.steps),
        })
    }

    /// Asks whether all of these can be true together for some owner.
    fn ask(&mut self, assumptions: &[Literal]) -> Answer {
        self.gates.solve(assumptions, &mut self.fuel)
    }

    /// Returns the effort of looking at an example once: it is read, and every selector is evaluated.
    fn cost_of(&self, workload: &Value) -> u64 {
        let choices = self.circuit.resources.iter();
        let selectors: u64 = choices.map(|choice| 1 + choice.chosen.len() as u64).sum();
        2 * selectors + workload.to_string().len() as u64
    }
}
