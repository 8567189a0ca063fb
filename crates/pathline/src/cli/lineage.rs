//! Arguments of `pathline lineage`.

use std::path::PathBuf;

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, Subcommand, ValueHint};

use super::{ArtifactName, OutputArgs, ServerArgs, Subject};

pub(super) const EXAMPLES: &str = "\
Examples:
  pathline lineage workload/hello                  what is it made of, down to its inputs
  pathline lineage deliverable/hello -n production
  pathline lineage pod/hello-7d4b9c-x2xql          what is this very pod made of
  pathline lineage --contains source=8f1c2e7       where has this commit got to, everywhere
  pathline lineage registry.example/app@sha256:... what is it made of; who uses it
  pathline lineage image=registry.example/app:1    the same, by any reference
  pathline lineage simulate history.json           what would Pathline conclude?

Exit codes: 0 found, 1 there is no such thing, 2 wrong usage, 3 could not find out.";

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
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    arg_required_else_help = true
)]
pub(crate) struct LineageArgs {
    #[command(subcommand)]
    pub(crate) command: Option<LineageCommand>,

    #[command(flatten)]
    pub(crate) ask: AskArgs,
}

/// Arguments of a question to a Pathline that runs.
#[derive(Args, Debug)]
pub(crate) struct AskArgs {
    /// The subject to explain: workload/NAME, deliverable/NAME, pod/NAME or another KIND/NAME of
    /// the cluster, image=REF, source=REV, a reference with a digest, or an artifact id
    #[arg(value_name = "WHAT", required_unless_present = "contains")]
    pub(crate) subject: Option<Subject>,

    /// List everything that is made of this, directly or not: source=REV or image=REF
    ///
    /// REV is a whole revision, the part of it after the last colon, or at least 7 digits of that.
    #[arg(long, value_name = "KIND=VALUE", conflicts_with = "subject")]
    pub(crate) contains: Option<ArtifactName>,

    /// The namespace of the workload, deliverable or other object
    #[arg(short, long, value_name = "NAMESPACE", default_value = "default", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) namespace: String,

    #[command(flatten)]
    pub(crate) output: OutputArgs,

    #[command(flatten)]
    pub(crate) server: ServerArgs,
}

/// Subcommands, which need no Pathline that runs.
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
