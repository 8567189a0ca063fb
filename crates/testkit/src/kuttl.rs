//! A runner for tests in kuttl's format: steps of YAML files that apply objects, then wait for others.
//!
//! It follows kuttl 0.13 file by file and word by word, down to what it compares and when it gives
//! up; of its own kinds (`TestStep`, `TestAssert`) and commands it knows nothing and says so.

mod case;
mod cluster;
mod definitions;
mod document;
mod run;
mod subset;

pub use case::{Case, find};
pub use definitions::install_definitions;
pub use run::Runner;
