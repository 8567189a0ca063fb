//! Arguments of what somebody does to releases by hand.

use clap::Args;

use crate::cli::{OutputArgs, ServerArgs};

pub(super) const NOW_EXAMPLES: &str = "\
Examples:
  pathline release now shop.web
  pathline release now shop.web --reason 'the new settings cannot wait'

Exit codes: 0 released, 1 nothing waits or it waits for another image, 2 wrong usage, 3 could not find out.";

pub(super) const PROMOTE_EXAMPLES: &str = "\
Examples:
  pathline release promote prod shop.web
  pathline release promote prod shop.web --release 41 --now --reason 'hotfix'

Exit codes: 0 promoted, 1 refused (the reason is told), 2 wrong usage, 3 could not find out.";

pub(super) const HOLD_EXAMPLES: &str = "\
Examples:
  pathline release hold prod --reason 'stock-taking'
  pathline release hold prod shop.web

Exit codes: 0 held, 1 there is no such environment or tracker, 2 wrong usage, 3 could not find out.";

pub(super) const RESUME_EXAMPLES: &str = "\
Examples:
  pathline release resume prod
  pathline release resume prod shop.web

Exit codes: 0 resumed, 1 it was not held, 2 wrong usage, 3 could not find out.";

pub(super) const ROLLBACK_EXAMPLES: &str = "\
Examples:
  pathline release rollback prod shop.web                  to what was deployed before
  pathline release rollback prod shop.web --release 39
  pathline release resume prod shop.web                    when it is mended

Exit codes: 0 a release was formed, 1 refused (the reason is told), 2 wrong usage, 3 could not find out.";

/// Arguments that name a release of a tracker, by its number or by a commit.
#[derive(Args, Debug)]
pub(crate) struct ReleaseCommitArgs {
    /// The number of the release [default: the newest one]
    #[arg(long, value_name = "NUMBER", conflicts_with = "commit")]
    pub(crate) release: Option<u64>,

    /// The newest release whose configuration, or whose image, is of this commit: 7 digits or more
    #[arg(long, value_name = "COMMIT")]
    pub(crate) commit: Option<String>,
}

/// Arguments of `release now`.
#[derive(Args, Debug)]
pub(crate) struct NowArgs {
    /// The tracker, GROUP.NAME
    pub(crate) tracker: String,

    #[command(flatten)]
    pub(crate) reason: ReasonArgs,

    #[command(flatten)]
    pub(crate) output: OutputArgs,

    #[command(flatten)]
    pub(crate) server: ServerArgs,
}

/// Arguments of `release promote`.
#[derive(Args, Debug)]
pub(crate) struct PromoteArgs {
    /// The environment
    pub(crate) environment: String,

    /// The tracker, GROUP.NAME
    pub(crate) tracker: String,

    /// The number of the release [default: the newest one that waits there, or has failed]
    #[arg(long, value_name = "NUMBER")]
    pub(crate) release: Option<u64>,

    /// Deploy it at once, without waiting for a tick or for the end of a soak
    #[arg(long)]
    pub(crate) now: bool,

    #[command(flatten)]
    pub(crate) reason: ReasonArgs,

    #[command(flatten)]
    pub(crate) output: OutputArgs,

    #[command(flatten)]
    pub(crate) server: ServerArgs,
}

/// Arguments of `release hold` and `release resume`.
#[derive(Args, Debug)]
pub(crate) struct HoldArgs {
    /// The environment
    pub(crate) environment: String,

    /// The tracker, GROUP.NAME [default: the whole environment]
    pub(crate) tracker: Option<String>,

    #[command(flatten)]
    pub(crate) reason: ReasonArgs,

    #[command(flatten)]
    pub(crate) output: OutputArgs,

    #[command(flatten)]
    pub(crate) server: ServerArgs,
}

/// Arguments of `release rollback`.
#[derive(Args, Debug)]
pub(crate) struct RollbackArgs {
    /// The environment
    pub(crate) environment: String,

    /// The tracker, GROUP.NAME
    pub(crate) tracker: String,

    /// The number of the release whose content is deployed [default: the one that was deployed before]
    #[arg(long, value_name = "NUMBER")]
    pub(crate) release: Option<u64>,

    #[command(flatten)]
    pub(crate) reason: ReasonArgs,

    #[command(flatten)]
    pub(crate) output: OutputArgs,

    #[command(flatten)]
    pub(crate) server: ServerArgs,
}

/// The reason for which somebody does something.
#[derive(Args, Debug)]
pub(crate) struct ReasonArgs {
    /// The reason, which is recorded, and told by the stream of changes
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: Option<String>,
}
