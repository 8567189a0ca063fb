//! Arguments of `pathline tracker`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};

use super::{OutputArgs, ServerArgs};

pub(super) const EXAMPLES: &str = "\
Examples:
  pathline tracker add shop.web --repo https://github.com/shop/web --path deploy --branch main
  pathline tracker add shop.web --repo shop/web --source-token-file token.txt
  pathline tracker list
  pathline tracker get shop.web
  pathline tracker set shop.web --branch release
  pathline tracker poll shop.web
  pathline tracker rm shop.web
  pathline tracker simulate case.json -o json
  printf '%s\\n' 1.0.0 1.1.0 2.0.0 | pathline tracker label --label 1.x

`simulate` and `label` need no Pathline that runs. docs/trackers.md says what is tracked, and how.

Exit codes: 0 done, 1 there is no such tracker or there is one already, 2 wrong usage, 3 could not find out.";

const SIMULATE_EXAMPLES: &str = "\
A case has steps, and may have options and an id; a list of cases has a list of answers:
  {\"id\": \"mine\", \"options\": {\"omit\": [\"ha\"]}, \"steps\": [
     \"p r=latest:D1 g=C1@latest\",  a cycle: tags with digests, and the configuration with its label
     \"p r=! g==\",                  !: an error, 0: not found, ?: not valid, = or absent: as before
     \"t dev ha\",                   ticks, all at the same instant
     \"k dev\", \"x dev\",             what is deploying there is ready, or has failed
     \"promote dev\",                what is held there, or has failed, is queued
     \"restart\", \"del\"]}

Options: omit (environments), autoDeploy (true or false), vetos (as in the application file),
accepts (a level by environment), environments.";

/// Arguments of `tracker`.
#[derive(Args, Debug)]
pub(crate) struct TrackerArgs {
    #[command(subcommand)]
    pub(crate) command: TrackerCommand,
}

/// Subcommands of `pathline tracker`.
#[derive(Debug, Subcommand)]
pub(crate) enum TrackerCommand {
    /// Follow an application: its file in a repository, and its image in a registry
    ///
    /// From then on both are polled. A configuration that changes waits for the image that belongs to it; what is ready
    /// becomes a release.
    Add(AddTrackerArgs),

    /// List the applications that are followed
    List(ListTrackersArgs),

    /// Show what is known of an application, and what it waits for
    Get(NamedTrackerArgs),

    /// Point a tracker to another repository, path or reference, or give it another secret
    ///
    /// Values that are left out remain. A stored secret is not sent to another repository, so that has to be given anew.
    Set(SetTrackerArgs),

    /// Follow an application no longer; its releases stay
    Rm(NamedTrackerArgs),

    /// Look at repository and registry now
    Poll(NamedTrackerArgs),

    /// Say what a tracker would do, step by step
    ///
    /// Prints the releases, the configuration that waits, the conditions and the queues after the last step, in the
    /// notation of the steps.
    #[command(after_help = SIMULATE_EXAMPLES)]
    Simulate(SimulateCasesArgs),

    /// Say which tag a label chooses, among those of the standard input
    ///
    /// Reads one tag a line. Prints the tag, `none` if the label chooses none of them, or `reject` if it is no label: an
    /// application file with it would be refused. The standard error says why.
    Label(LabelArgs),
}

/// Arguments of `tracker add`.
#[derive(Args, Debug)]
pub(crate) struct AddTrackerArgs {
    /// The name, GROUP.NAME, by which the application file calls the application
    pub(crate) name: String,

    /// The repository: https://HOST/OWNER/NAME, or OWNER/NAME on github.com
    #[arg(long, value_name = "URL")]
    pub(crate) repo: String,

    #[command(flatten)]
    pub(crate) source: SourceArgs,

    #[command(flatten)]
    pub(crate) output: OutputArgs,

    #[command(flatten)]
    pub(crate) server: ServerArgs,
}

/// Arguments of `tracker set`.
#[derive(Args, Debug)]
pub(crate) struct SetTrackerArgs {
    /// The name, GROUP.NAME
    pub(crate) name: String,

    /// The repository: https://HOST/OWNER/NAME, or OWNER/NAME on github.com
    #[arg(long, value_name = "URL")]
    pub(crate) repo: Option<String>,

    /// Follow the default branch
    #[arg(long, conflicts_with_all = ["branch", "tag", "commit"])]
    pub(crate) default_branch: bool,

    /// Forget the secret for the repository, and read it without one
    #[arg(long, conflicts_with = "source_token_file")]
    pub(crate) no_source_token: bool,

    #[command(flatten)]
    pub(crate) source: SourceArgs,

    #[command(flatten)]
    pub(crate) output: OutputArgs,

    #[command(flatten)]
    pub(crate) server: ServerArgs,
}

/// Arguments that say what a tracker reads, and with which secret.
#[derive(Args, Debug)]
pub(crate) struct SourceArgs {
    /// The application file, or the directory of fathomable.yaml [default: the top of the repository]
    #[arg(long, value_name = "PATH")]
    pub(crate) path: Option<String>,

    /// Follow a branch [default: the default branch]
    #[arg(long, value_name = "NAME", conflicts_with_all = ["tag", "commit"])]
    pub(crate) branch: Option<String>,

    /// Follow a tag
    #[arg(long, value_name = "NAME", conflicts_with = "commit")]
    pub(crate) tag: Option<String>,

    /// Read one commit, by its 40 digits
    #[arg(long, value_name = "COMMIT")]
    pub(crate) commit: Option<String>,

    /// Read the secret for the repository from this file; `-` is the standard input [default: none]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) source_token_file: Option<PathBuf>,
}

/// Arguments of `tracker list`.
#[derive(Args, Debug)]
pub(crate) struct ListTrackersArgs {
    #[command(flatten)]
    pub(crate) output: OutputArgs,

    #[command(flatten)]
    pub(crate) server: ServerArgs,
}

/// Arguments of commands about one tracker.
#[derive(Args, Debug)]
pub(crate) struct NamedTrackerArgs {
    /// The name, GROUP.NAME
    pub(crate) name: String,

    #[command(flatten)]
    pub(crate) output: OutputArgs,

    #[command(flatten)]
    pub(crate) server: ServerArgs,
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
