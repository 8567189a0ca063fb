//! Arguments of `pathline apply`.

use std::path::PathBuf;

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, ValueHint};
use pathline_lineage::wait::WaitFor;

use super::{OutputArgs, ServerArgs, timeout};

pub(super) const EXAMPLES: &str = "\
Examples:
  pathline apply -f workload.yaml --wait           returns when exactly this runs
  pathline apply -f examples/hello -n dev
  pathline apply -f workload.yaml --wait --for source=8f1c2e7
  generate | pathline apply -f - --wait --timeout 10m

Exit codes: 0 applied (with --wait: it runs), 1 refused, or it can't run any more, 2 wrong usage,
3 could not find out, 124 timed out.";

/// Arguments of `apply`.
#[derive(Args, Debug)]
pub(crate) struct ApplyObjectsArgs {
    /// Files with objects, or directories of such; `-` is the standard input
    #[arg(short, long = "file", value_name = "FILE", required = true, value_hint = ValueHint::AnyPath)]
    pub(crate) files: Vec<PathBuf>,

    /// The namespace of objects that name none [default: that of the kubeconfig]
    #[arg(short, long, value_name = "NAMESPACE", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) namespace: Option<String>,

    /// The kubeconfig of the cluster [default: the one of the data directory, else $KUBECONFIG,
    /// ~/.kube/config, or the cluster this runs in]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) kubeconfig: Option<PathBuf>,

    /// Take fields over that somebody else has set
    #[arg(long)]
    pub(crate) force_conflicts: bool,

    /// Wait until every workload and deliverable among them runs with the values that were applied
    #[arg(long)]
    pub(crate) wait: bool,

    /// With --wait: what the workloads among them, or the deliverables if there is none, should be made of besides, as
    /// for `pathline wait`; repeat it for more
    #[arg(long = "for", value_name = "INPUT=VALUE", requires = "wait")]
    pub(crate) awaited: Vec<WaitFor>,

    /// With --wait: count what is only assumed, too
    #[arg(long, requires = "wait")]
    pub(crate) accept_assumed: bool,

    /// With --wait: give up after this time
    #[arg(long, value_name = "TIME", default_value = "5m", value_parser = timeout::parse, requires = "wait")]
    pub(crate) timeout: jiff::SignedDuration,

    #[command(flatten)]
    pub(crate) output: OutputArgs,

    #[command(flatten)]
    pub(crate) server: ServerArgs,
}
