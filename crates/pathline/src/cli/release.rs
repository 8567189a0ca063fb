//! Arguments of `pathline release`.

mod by_hand;

use clap::{Args, Subcommand};
use jiff::SignedDuration;

pub(crate) use self::by_hand::{HoldArgs, NowArgs, PromoteArgs, ReleaseCommitArgs, RollbackArgs};
use super::{OutputArgs, ServerArgs, timeout};

pub(super) const EXAMPLES: &str = "\
Examples:
  pathline release list --tracker shop.web
  pathline release list --commit 4f0c1d2
  pathline release show 9b1d4c7
  pathline release show shop.web@41 --env prod -o yaml
  pathline release board -w
  pathline release why shop.web --env prod
  pathline release wait shop.web --commit 4f0c1d2 --in prod --timeout 1h
  pathline release promote prod shop.web --reason 'approved by QA'
  pathline release hold prod --reason 'stock-taking'
  pathline release rollback prod shop.web
  pathline release path | pathline apply -f -

Exit codes: 0 done, 1 there is no such release or it is refused, 2 wrong usage, 3 could not find out,
124 timed out.";

const WHY_EXAMPLES: &str = "\
Examples:
  pathline release why shop.web
  pathline release why shop.web --env prod
  pathline release why shop.web --commit 4f0c1d2 -o json

The time is the earliest one at which the environment takes the release, if nobody does anything and
nothing new is released.

Exit codes: 0 answered, 1 there is no such tracker, release or environment, 2 wrong usage, 3 could not
find out.";

const WAIT_EXAMPLES: &str = "\
Examples:
  pathline release wait shop.web --commit 4f0c1d2 --in prod
  pathline release wait shop.web --release 41 --in dev --timeout 10m

COMMIT is that of the application file, or the one that the image says it was built from: 7 digits or
more. A commit that is not released yet is waited for.

Exit codes: 0 it is deployed there, 1 it can't happen any more (it has failed, was superseded, or keeps
out of the environment), 2 wrong usage, 3 could not find out, 124 timed out.";

const BOARD_EXAMPLES: &str = "\
Examples:
  pathline release board
  pathline release board --env prod
  pathline release board -w            redrawn when something changes, until Ctrl-C
  pathline release board -o json

Exit codes: 0 shown, 1 there is no such environment, 2 wrong usage, 3 could not find out.";

const PATH_EXAMPLES: &str = "\
Examples:
  pathline release path | pathline apply -f -
  pathline release path --cluster | kubectl apply --server-side -f -";

const SHOW_EXAMPLES: &str = "\
Examples:
  pathline release show 9b1d4c7
  pathline release show shop.web@41
  pathline release show shop.web@41 --env prod -o yaml      the objects, as `kubectl` reads them

Exit codes: 0 shown, 1 there is no such release or environment, 2 wrong usage, 3 could not find out.";

/// Arguments of `release`.
#[derive(Args, Debug)]
pub(crate) struct ReleaseArgs {
    #[command(subcommand)]
    pub(crate) command: ReleaseCommand,
}

/// Subcommands of `pathline release`.
#[derive(Debug, Subcommand)]
pub(crate) enum ReleaseCommand {
    /// List releases, the newest first
    List(ListReleasesArgs),

    /// Show a release, and what its configuration changes
    ///
    /// Compares with the release before, key by key. Of secrets it is only said that they change. With `--env`, shows the
    /// objects that were written there, or that would be.
    #[command(after_help = SHOW_EXAMPLES)]
    Show(ShowReleaseArgs),

    /// Show where the releases of all applications are, and why they are not further
    #[command(after_help = BOARD_EXAMPLES)]
    Board(BoardArgs),

    /// Say why a release is not in an environment yet, and when it can be
    ///
    /// Speaks of the newest release, for each environment in turn. Where there is no release it says what it waits for.
    #[command(after_help = WHY_EXAMPLES)]
    Why(WhyArgs),

    /// Wait until a release, or a commit, is deployed in an environment
    #[command(after_help = WAIT_EXAMPLES)]
    Wait(WaitReleaseArgs),

    /// Release a configuration that waits, with the image that is released
    ///
    /// Does not wait for a new image. If the version of the configuration selects another image than the one that is
    /// released, nothing is released, and the image it waits for is named.
    #[command(after_help = by_hand::NOW_EXAMPLES)]
    Now(NowArgs),

    /// Let an environment take a release that is held, or that has failed
    ///
    /// It is taken at the next tick; with `--now`, at once, whether it has soaked or not.
    #[command(after_help = by_hand::PROMOTE_EXAMPLES)]
    Promote(PromoteArgs),

    /// Let an environment take nothing, or nothing of one application, until it is resumed
    ///
    /// A deployment under way goes on. Rollbacks are taken all the same.
    #[command(after_help = by_hand::HOLD_EXAMPLES)]
    Hold(HoldArgs),

    /// End a hold
    #[command(after_help = by_hand::RESUME_EXAMPLES)]
    Resume(HoldArgs),

    /// Bring the content of an older release back, in one environment
    ///
    /// Forms a new release with the old image and configuration and deploys it at once, in spite of holds and freezes. The
    /// application is held there until it is resumed.
    #[command(after_help = by_hand::ROLLBACK_EXAMPLES)]
    Rollback(RollbackArgs),

    /// Print a path for releases, to be applied
    ///
    /// A supply chain with its templates, for every Workload that a release is written to: a Process, which a laptop runs,
    /// or with `--cluster` a Deployment and a Service. It needs nothing but Pathline. It is that of examples/release; take it
    /// as a beginning for one of your own.
    #[command(after_help = PATH_EXAMPLES)]
    Path(ReleasePathArgs),
}

/// Arguments of `release path`.
#[derive(Args, Debug)]
pub(crate) struct ReleasePathArgs {
    /// The one for a cluster that runs pods
    #[arg(long)]
    pub(crate) cluster: bool,
}

/// Arguments of `release list`.
#[derive(Args, Debug)]
pub(crate) struct ListReleasesArgs {
    /// Only those of one tracker, GROUP.NAME
    #[arg(long, value_name = "NAME")]
    pub(crate) tracker: Option<String>,

    /// Only those whose configuration, or whose image, is of this commit: 7 digits or more
    #[arg(long, value_name = "COMMIT")]
    pub(crate) commit: Option<String>,

    /// Only those that have got to an environment, whatever became of them there
    #[arg(long = "env", value_name = "ENVIRONMENT")]
    pub(crate) environment: Option<String>,

    /// At most so many
    #[arg(long, value_name = "NUMBER", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=500))]
    pub(crate) limit: u32,

    #[command(flatten)]
    pub(crate) output: OutputArgs,

    #[command(flatten)]
    pub(crate) server: ServerArgs,
}

/// Arguments of `release show`.
#[derive(Args, Debug)]
pub(crate) struct ShowReleaseArgs {
    /// The id, or 7 of its first digits or more; or TRACKER@NUMBER
    #[arg(value_name = "RELEASE")]
    pub(crate) id: String,

    /// Show the objects that were written there, or that would be
    #[arg(long = "env", value_name = "ENVIRONMENT")]
    pub(crate) environment: Option<String>,

    #[command(flatten)]
    pub(crate) output: OutputArgs,

    #[command(flatten)]
    pub(crate) server: ServerArgs,
}

/// Arguments of `release board`.
#[derive(Args, Debug)]
pub(crate) struct BoardArgs {
    /// Only one environment
    #[arg(long = "env", value_name = "ENVIRONMENT")]
    pub(crate) environment: Option<String>,

    /// Only one tracker, GROUP.NAME
    #[arg(long, value_name = "NAME")]
    pub(crate) tracker: Option<String>,

    /// Show it again whenever something changes, until Ctrl-C
    #[arg(short, long)]
    pub(crate) watch: bool,

    #[command(flatten)]
    pub(crate) output: OutputArgs,

    #[command(flatten)]
    pub(crate) server: ServerArgs,
}

/// Arguments of `release why`.
#[derive(Args, Debug)]
pub(crate) struct WhyArgs {
    /// The tracker, GROUP.NAME
    pub(crate) tracker: String,

    #[command(flatten)]
    pub(crate) release: ReleaseCommitArgs,

    /// Only one environment
    #[arg(long = "env", value_name = "ENVIRONMENT")]
    pub(crate) environment: Option<String>,

    #[command(flatten)]
    pub(crate) output: OutputArgs,

    #[command(flatten)]
    pub(crate) server: ServerArgs,
}

/// Arguments of `release wait`.
#[derive(Args, Debug)]
pub(crate) struct WaitReleaseArgs {
    /// The tracker, GROUP.NAME
    pub(crate) tracker: String,

    /// The commit of the application file, or of the image: 7 digits or more
    #[arg(
        long,
        value_name = "COMMIT",
        conflicts_with = "release",
        required_unless_present = "release"
    )]
    pub(crate) commit: Option<String>,

    /// The number of the release
    #[arg(long, value_name = "NUMBER", required_unless_present = "commit")]
    pub(crate) release: Option<u64>,

    /// The environment
    #[arg(long = "in", value_name = "ENVIRONMENT")]
    pub(crate) environment: String,

    /// Give up after this time
    #[arg(long, value_name = "TIME", default_value = "30m", value_parser = timeout::parse)]
    pub(crate) timeout: SignedDuration,

    #[command(flatten)]
    pub(crate) output: OutputArgs,

    #[command(flatten)]
    pub(crate) server: ServerArgs,
}
