//! Arguments of `pathline tracker`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};

use super::OutputArgs;

pub(super) const EXAMPLES: &str = "\
Examples:
  pathline tracker simulate case.json -o json
  printf '%s\\n' 1.0.0 1.1.0 2.0.0 | pathline tracker label --label 1.x

Exit codes: 0 answered, 2 wrong usage, 3 something cannot be read.";

const SIMULATE_EXAMPLES: &str = "\
A case has steps, and may have options and an id; a list of cases has a list of answers:
  {\"id\": \"mine\", \"options\": {\"omit\": [\"ha\"]}, \"steps\": [
     \"p r=latest:D1 g=C1@latest\",  a cycle: tags with digests, and the configuration with its label
     \"p r=! g==\",                  !: an error, 0: not found, ?: not valid, = or absent: as before
     \"t dev ha\",                   ticks, all at the same instant
     \"k dev\", \"x dev\",             what is deploying there is ready, or has failed
     \"promote dev\",                what is held there, or has failed, is queued
     \"restart\", \"del\"]}

Options: omit (environments), autoDeploy (true or false), accepts (a level by environment), environments.";

/// Arguments of `tracker`.
#[derive(Args, Debug)]
pub(crate) struct TrackerArgs {
    #[command(subcommand)]
    pub(crate) command: TrackerCommand,
}

/// Subcommands of `pathline tracker`.
#[derive(Debug, Subcommand)]
pub(crate) enum TrackerCommand {
    /// Say what a tracker would do, step by step
    ///
    /// Prints the releases, the configuration that waits, the conditions and the queues after the last step, in the
    /// notation of the steps.
    #[command(after_help = SIMULATE_EXAMPLES)]
    Simulate(SimulateCasesArgs),

    /// Say which tag a label chooses, among those of the standard input
    ///
    /// Reads one tag a line. Prints the tag, `none` if the label chooses none of them, or `reject` if it is no label: an
    /// application file with it would be refused.
    Label(LabelArgs),
}

/// Arguments of `tracker simulate`.
#[derive(Args, Debug)]
pub(crate) struct SimulateCasesArgs {
    /// The case, or a list of cases, a JSON document; `-` is the standard input
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,

    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Arguments of `tracker label`.
#[derive(Args, Debug)]
pub(crate) struct LabelArgs {
    /// The label: a tag, a range of versions such as `1.x`, or a digest
    #[arg(long, value_name = "LABEL", allow_hyphen_values = true)]
    pub(crate) label: String,

    /// The tag that is released now; it wins against another spelling of its version
    #[arg(long, value_name = "TAG", allow_hyphen_values = true)]
    pub(crate) released: Option<String>,
}
