//! Arguments of `pathline controller`.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::{Address, LedgerArgs, OutputArgs, ProgramArgs, SealKeyArgs};
use crate::wiring::admission::Mode;
use crate::wiring::webhook::Target;

pub(super) const EXAMPLES: &str = "\
Examples:
  pathline controller --kubeconfig ~/.kube/config --install-crds
  pathline controller --webhook pathline-system/pathline-webhook --listen 0.0.0.0:7700
  pathline controller --admission warn --webhook https://192.0.2.7:9443 --webhook-listen 192.0.2.7:9443

Without --webhook the cluster is not told about the webhook, and stores whatever its schemas allow.";

/// Arguments of `controller`.
#[derive(Args, Debug)]
pub(crate) struct ControllerArgs {
    /// The kubeconfig of the cluster [default: $KUBECONFIG, ~/.kube/config, or the cluster this
    /// runs in]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) kubeconfig: Option<PathBuf>,

    /// The context of the kubeconfig to use [default: the current one]
    #[arg(long, value_name = "NAME", requires = "kubeconfig")]
    pub(crate) context: Option<String>,

    /// The namespace of what Pathline shares with its replicas [default: that of the context, or of
    /// the pod]
    #[arg(
        long,
        env = "PATHLINE_NAMESPACE",
        hide_env_values = true,
        value_name = "NAMESPACE"
    )]
    pub(crate) namespace: Option<String>,

    /// Install or update the kinds of `pathline crds` first
    #[arg(long)]
    pub(crate) install_crds: bool,

    /// The treatment of blueprints, templates and Environments that break a rule
    #[arg(
        long,
        env = "PATHLINE_ADMISSION",
        hide_env_values = true,
        value_enum,
        default_value_t,
        value_name = "MODE"
    )]
    pub(crate) admission: Mode,

    /// The address at which the cluster reaches the webhook: a Service as NAMESPACE/NAME, or
    /// https://HOST:PORT, with port 0 for the one it listens on
    #[arg(long, value_name = "TARGET")]
    pub(crate) webhook: Option<Target>,

    /// Address the webhook listens on; port 0 means any free one
    #[arg(long, value_name = "HOST:PORT", default_value = "0.0.0.0:9443")]
    pub(crate) webhook_listen: Address,

    #[command(flatten)]
    pub(crate) ledger: LedgerArgs,

    /// Take over a ledger that belongs to another cluster, as after a move; that one must not run any more
    #[arg(long)]
    pub(crate) adopt: bool,

    /// Address of Pathline itself; port 0 means any free one
    #[arg(
        long,
        env = "PATHLINE_LISTEN",
        hide_env_values = true,
        value_name = "HOST:PORT",
        default_value = "127.0.0.1:7700"
    )]
    pub(crate) listen: Address,

    /// The directory in which checkouts and logs of workers are kept, and the ledger if it is a
    /// file
    #[arg(long, env = "PATHLINE_DATA_DIR", hide_env_values = true, value_name = "DIR", value_hint = ValueHint::DirPath, default_value = ".pathline")]
    pub(crate) data_dir: PathBuf,

    #[command(flatten)]
    pub(crate) seal_key: SealKeyArgs,

    /// Begin with the trackers and Environments in this directory, while there has never been one
    #[arg(long, env = "PATHLINE_TRACKERS", hide_env_values = true, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) trackers: Option<PathBuf>,

    /// Read what is about trackers from this YAML file: hosts, registries, ingest and polling
    #[arg(long, env = "PATHLINE_CONFIG", hide_env_values = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) config: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) programs: ProgramArgs,

    #[command(flatten)]
    pub(crate) output: OutputArgs,
}
