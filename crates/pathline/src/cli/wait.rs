//! Arguments of `pathline wait`.

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use jiff::SignedDuration;
use pathline_lineage::wait::WaitFor;

use super::{OutputArgs, OwnerName, ServerArgs, timeout};

pub(super) const EXAMPLES: &str = "\
Examples:
  pathline wait workload/hello --for source=8f1c2e7 --for param:debug=on --live
  pathline wait workload/hello --for current       everything the workload says now
  pathline wait deliverable/hello -n production --for image=sha256:... --timeout 10m

All of it must be true in one state. REV is a whole revision, the part of it after the last colon,
or at least 7 digits of that. docs/waiting.md tells more.

Exit codes: 0 it has arrived (with --live: it runs), 1 it can't happen any more, 2 wrong usage,
3 could not find out (the template to mend is named), 124 timed out.";

/// Arguments of `wait`.
#[derive(Args, Debug)]
pub(crate) struct WaitArgs {
    /// The owner to wait for: workload/NAME or deliverable/NAME
    #[arg(value_name = "OWNER")]
    pub(crate) owner: OwnerName,

    /// The namespace of the workload or deliverable
    #[arg(short, long, value_name = "NAMESPACE", default_value = "default", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) namespace: String,

    /// The value it should be made of: source=REV, image=REF, param:NAME=VALUE, field:PATH=VALUE,
    /// or current for everything it says now; repeat it for more
    #[arg(long = "for", value_name = "INPUT=VALUE", default_value = "current")]
    pub(crate) awaited: Vec<WaitFor>,

    #[command(flatten)]
    pub(crate) enough: EnoughArgs,

    #[command(flatten)]
    pub(crate) output: OutputArgs,

    #[command(flatten)]
    pub(crate) server: ServerArgs,
}

/// The state at which waiting ends.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct EnoughArgs {
    /// Wait until it runs, not only until it has arrived
    #[arg(long)]
    pub(crate) live: bool,

    /// Count what is only assumed, too
    #[arg(long)]
    pub(crate) accept_assumed: bool,

    /// Give up after this time
    #[arg(long, value_name = "TIME", default_value = "5m", value_parser = timeout::parse)]
    pub(crate) timeout: SignedDuration,
}
