//! What can be typed after `pathline lineage`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};

use super::OutputArgs;

pub(super) const EXAMPLES: &str = "\
Examples:
  pathline lineage simulate history.json
  pathline lineage simulate history.json -o json
  generate-history | pathline lineage simulate - -o json

Exit codes: 0 done, 2 wrong usage, 3 the history cannot be read.";

const SIMULATE_EXAMPLES: &str = "\
A history has resources and steps; unknown numbers are null:
  {\"resources\": [{\"name\": \"build\", \"inputs\": [], \"reads\": [\"param:debug\"], \"tracing\": \"declared\"}],
   \"steps\": [
     {\"owner\": {\"param:debug\": \"on\"}},
     {\"applied\": {\"resource\": \"build\", \"uid\": \"u1\", \"generation\": 1, \"inputs\": {\"param:debug\": \"on\"}}},
     {\"seen\": {\"resource\": \"build\", \"uid\": \"u1\", \"generation\": 1, \"observed\": 1, \"healthy\": true,
               \"outputs\": {\"image\": \"i1\"}}}]}";

/// Arguments of `lineage`.
#[derive(Args, Debug)]
pub(crate) struct LineageArgs {
    #[command(subcommand)]
    pub(crate) command: LineageCommand,
}

/// What to ask.
#[derive(Debug, Subcommand)]
pub(crate) enum LineageCommand {
    /// Say what Pathline would conclude from a history
    ///
    /// For authors of templates: is an output traced to its inputs, and by which evidence? Nothing is stamped and no
    /// cluster is asked; docs/lineage.md says what each field means.
    #[command(after_help = SIMULATE_EXAMPLES)]
    Simulate(SimulateArgs),
}

/// Arguments of `lineage simulate`.
#[derive(Args, Debug)]
pub(crate) struct SimulateArgs {
    /// The history, a JSON document; `-` is the standard input
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,

    #[command(flatten)]
    pub(crate) output: OutputArgs,
}
