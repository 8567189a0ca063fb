//! Arguments of `pathline release`.

use clap::{Args, Subcommand};

use super::{OutputArgs, ServerArgs};

pub(super) const EXAMPLES: &str = "\
Examples:
  pathline release list --tracker shop.web
  pathline release list --commit 4f0c1d2
  pathline release show 9b1d4c7

Exit codes: 0 done, 1 there is no such release, 2 wrong usage, 3 could not find out.";

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
    /// Compares with the release before, key by key. Of secrets it is only said that they change.
    Show(ShowReleaseArgs),
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
    /// The id, or 7 of its first digits or more
    pub(crate) id: String,

    #[command(flatten)]
    pub(crate) output: OutputArgs,

    #[command(flatten)]
    pub(crate) server: ServerArgs,
}
