//! The command line: commands and their arguments. What they mean together is decided in [`crate::cli::settings`].

mod address;
mod apply;
mod blueprint;
mod controller;
mod keys;
mod ledger;
mod lineage;
mod read;
mod release;
mod seal;
mod server;
pub(crate) mod settings;
mod subject;
mod template;
mod timeout;
mod token;
mod tracker;
mod wait;

use std::path::PathBuf;

use clap::builder::styling::{AnsiColor, Styles};
use clap::{ArgAction, Args, Parser, Subcommand, ValueHint};
use clap_complete::Shell;
use jiff::SignedDuration;

use crate::terminal::output::Format;
use crate::wiring::admission::Mode;

pub(crate) use self::address::Address;
pub(crate) use self::apply::ApplyObjectsArgs;
pub(crate) use self::blueprint::{
    BlueprintArgs, BlueprintCommand, BlueprintFileArgs, GraphArgs, GraphFormat, LintArgs,
    LintFormat, PathArgs, PathsArgs, TestArgs,
};
pub(crate) use self::controller::ControllerArgs;
pub(crate) use self::keys::{ApplyArgs, CanonArgs, ComposeArgs, DiffArgs, KeysArgs, KeysCommand};
pub(crate) use self::ledger::LedgerArgs;
pub(crate) use self::lineage::{AskArgs, LineageArgs, LineageCommand, SimulateArgs};
pub(crate) use self::read::read;
pub(crate) use self::release::{
    BoardArgs, HoldArgs, ListReleasesArgs, NowArgs, PromoteArgs, ReleaseArgs, ReleaseCommand,
    ReleaseCommitArgs, ReleasePathArgs, RollbackArgs, ShowReleaseArgs, WaitReleaseArgs, WhyArgs,
};
pub(crate) use self::seal::{ResetArgs, RotateArgs, SealArgs, SealCommand, SealKeyArgs};
pub(crate) use self::server::ServerArgs;
pub(crate) use self::subject::{ArtifactName, ObjectName, OwnerName, Subject};
pub(crate) use self::template::{TemplateArgs, TemplateCommand, TemplateTestArgs};
pub(crate) use self::token::{
    CreateTokenArgs, ListTokensArgs, RevokeTokenArgs, TokenArgs, TokenCommand,
};
pub(crate) use self::tracker::{
    AddTrackerArgs, LabelArgs, ListTrackersArgs, NamedTrackerArgs, SetTrackerArgs,
    SimulateCasesArgs, SourceArgs, TrackerArgs, TrackerCommand,
};
pub(crate) use self::wait::WaitArgs;

const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().bold())
    .usage(AnsiColor::Green.on_default().bold())
    .literal(AnsiColor::Cyan.on_default().bold())
    .placeholder(AnsiColor::Cyan.on_default());

const MAIN_EXAMPLES: &str = "\
Examples:
  pathline demo                see a commit flow, from a git repository to a running site
  pathline up                  start Pathline here, with its own Kubernetes API
  pathline lineage --help      what is it made of, and where has it got to
  pathline help up             everything about one command

Exit codes: 0 yes, 1 no or failed, 2 wrong usage, 3 could not find out, 124 timed out.";

const UP_EXAMPLES: &str = "\
Examples:
  pathline up
  pathline up --data-dir /var/lib/pathline --config /etc/pathline.yaml
  pathline up --listen 127.0.0.1:0 --kube-listen 127.0.0.1:0 -o json
  kubectl --kubeconfig .pathline/kubeconfig get crds

The configuration file is YAML, every key is optional, and a flag or variable wins over it:
  dataDir: data                # relative to the file
  listen: 127.0.0.1:7700
  kubeListen: 127.0.0.1:7443
  ledger: /var/lib/ledger.db   # or postgres://USER:PASSWORD@HOST:PORT/DATABASE
  admission: enforce
  ytt: /opt/carvel/ytt
  log: info
  trackers: trackers           # a directory, as --trackers
  hosts: []                    # of repositories; with registries, ingest and polling: docs/trackers.md";

const CRDS_EXAMPLES: &str = "\
Examples:
  pathline crds | kubectl apply --server-side -f -
  pathline crds -o json | jq -r '.items[].metadata.name'";

const DEMO_EXAMPLES: &str = "\
Examples:
  pathline demo                runs until Ctrl-C, then removes what it made
  pathline demo --dir hello    keeps everything in ./hello
  pathline demo --once         ends as soon as the second commit is running";

const SITE_EXAMPLES: &str = "\
Examples:
  pathline site --manifest site.yaml
  pathline site --manifest site.yaml --listen 127.0.0.1:8080
  pathline site --text 'hello' --listen 127.0.0.1:7801

The manifest names the archive to serve, the commit it was built from, and its content:
  image: file:///var/lib/pathline/artifacts/site.tar.gz:8f1c2e7d@sha256:DIGEST";

const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  source <(pathline completions bash)
  pathline completions zsh > ~/.zfunc/_pathline
  pathline completions fish > ~/.config/fish/completions/pathline.fish";

const MAN_EXAMPLES: &str = "\
Examples:
  pathline man | man -l -
  pathline man ~/.local/share/man/man1";

/// Follows every change from where it is made to where it runs.
///
/// Pathline takes a commit along the path you describe (fetch, test, build, write a manifest, deliver, run) and can
/// say at any moment how far it has come. It brings its own Kubernetes API, so nothing else has to be installed.
#[derive(Debug, Parser)]
#[command(
    name = "pathline",
    version,
    styles = STYLES,
    max_term_width = 100,
    arg_required_else_help = true,
    after_help = MAIN_EXAMPLES
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) log: LogArgs,

    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Arguments of the log. Logs always go to stderr (those of the demo to a file).
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Logging")]
pub(crate) struct LogArgs {
    /// Log more; twice for everything
    #[arg(short, long, global = true, action = ArgAction::Count)]
    pub(crate) verbose: u8,

    /// Log errors only
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub(crate) quiet: bool,

    /// Log what this filter says, such as `debug` or `pathline_engine=trace,warn`
    #[arg(
        long = "log",
        global = true,
        env = "PATHLINE_LOG",
        hide_env_values = true,
        value_name = "FILTER"
    )]
    pub(crate) filter: Option<String>,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Start Pathline with its own Kubernetes API
    ///
    /// Opens (or makes) the data directory, installs the kinds Pathline works with, writes a kubeconfig for you, and
    /// prints `ready` with the addresses. Stops in order on Ctrl-C or SIGTERM; a second signal stops it at once.
    #[command(after_help = UP_EXAMPLES)]
    Up(UpArgs),

    /// Run Pathline on a Kubernetes cluster that is there already
    ///
    /// Reconciles supply chains, deliveries and runnables of the cluster, and answers its questions about blueprints and
    /// templates before they are stored. Installs nothing unless told to; prints `ready` when it runs.
    #[command(after_help = controller::EXAMPLES)]
    Controller(ControllerArgs),

    /// Print the kinds Pathline brings to a cluster
    ///
    /// All kinds of `carto.run`, and `GitCommit`, as YAML documents or one JSON list of CustomResourceDefinitions.
    #[command(after_help = CRDS_EXAMPLES)]
    Crds(OutputArgs),

    /// See a commit flow from a git repository to a running site
    ///
    /// Sets up everything in a fresh directory: a sample repository, a manifest repository, and a Pathline of its own
    /// on free ports. Shows how a commit is fetched, tested, built, written to the manifest repository, delivered and
    /// running; then makes a second one and waits for it with `pathline wait`.
    #[command(after_help = DEMO_EXAMPLES)]
    Demo(DemoArgs),

    /// Serve a built site, as the sample application does
    ///
    /// Reads the archive that the manifest names into memory and serves it. Every answer carries the commit in the
    /// header `x-pathline-commit`; `/healthz` answers as soon as the site is served. With `--text` it serves that text, as
    /// the program of a release on a laptop does unless the application names one.
    #[command(after_help = SITE_EXAMPLES)]
    Site(SiteArgs),

    /// Ask, check and draw the paths through a blueprint
    ///
    /// A blueprint (a ClusterSupplyChain or a ClusterDelivery) and an owner (a Workload or a Deliverable) decide alone
    /// which resources are stamped. These commands need no cluster.
    #[command(after_help = blueprint::EXAMPLES)]
    Blueprint(BlueprintArgs),

    /// Check templates before anything is stamped from them
    #[command(after_help = template::EXAMPLES)]
    Template(TemplateArgs),

    /// Say what exactly changed in a configuration, key by key
    ///
    /// A configuration is a set of keys: a name such as `user:/app/replicas`, a value, and metadata such as its type.
    /// Two documents differ exactly where their parsed values and types differ, however they are written.
    #[command(after_help = keys::EXAMPLES)]
    Keys(KeysArgs),

    /// Apply objects to the cluster and, if asked, wait until they run
    ///
    /// Server-side apply, as `kubectl apply --server-side` does it. With `--wait` it returns when every workload and
    /// deliverable among the objects runs with exactly what they say now.
    #[command(after_help = apply::EXAMPLES)]
    Apply(ApplyObjectsArgs),

    /// Wait until something is made of exactly these inputs, or runs with them
    ///
    /// Follows the path as things happen, and ends as soon as it is true, or can't become true any more. You need to know
    /// nothing of supply chains: name the workload, and what it should be made of.
    #[command(after_help = wait::EXAMPLES)]
    Wait(WaitArgs),

    /// Say what a thing is made of, and whether a change has arrived
    ///
    /// Pathline follows every input (a param, a field, a revision) through what was made from it, and keeps apart what
    /// is proven and what is only assumed.
    #[command(after_help = lineage::EXAMPLES)]
    Lineage(LineageArgs),

    /// Follow applications: the configuration and the image of each
    ///
    /// A tracker watches the configuration in a repository and the image in a registry, by their hashes, and forms a
    /// release when both are ready: a configuration that changes waits for the image that belongs to it.
    #[command(after_help = tracker::EXAMPLES)]
    Tracker(TrackerArgs),

    /// Show what was released, where it is and why not further; approve it, roll it back
    ///
    /// A release is an image by its digest, with the configuration that belongs to it. It goes from one environment to the
    /// next, at the times of each.
    #[command(after_help = release::EXAMPLES)]
    Release(ReleaseArgs),

    /// Make and rotate the key that seals secrets in the ledger
    #[command(after_help = seal::EXAMPLES)]
    Seal(SealArgs),

    /// Make, list and revoke tokens, by which a running Pathline knows who asks
    ///
    /// Everything that is asked over REST needs a token. The first one is made by `up` and by `controller`, and kept in
    /// the data directory, where commands on the same machine find it.
    #[command(after_help = token::EXAMPLES)]
    Token(TokenArgs),

    /// Print a completion script for a shell
    #[command(after_help = COMPLETIONS_EXAMPLES)]
    Completions(CompletionsArgs),

    /// Print the manual page, or write those of all commands
    #[command(after_help = MAN_EXAMPLES)]
    Man(ManArgs),
}

/// Arguments of `up`.
#[derive(Args, Debug)]
pub(crate) struct UpArgs {
    /// The directory in which everything is kept [default: .pathline]
    #[arg(long, env = "PATHLINE_DATA_DIR", hide_env_values = true, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) data_dir: Option<PathBuf>,

    /// Push the GitCommits of a data directory that is a copy of another, from now on, and take over a ledger that
    /// belongs to another cluster, which must not run any more
    #[arg(long)]
    pub(crate) adopt: bool,

    /// Address of Pathline itself; port 0 means any free one [default: 127.0.0.1:7700]
    #[arg(
        long,
        env = "PATHLINE_LISTEN",
        hide_env_values = true,
        value_name = "HOST:PORT"
    )]
    pub(crate) listen: Option<Address>,

    /// Address of the Kubernetes API; port 0 means any free one [default: 127.0.0.1:7443]
    #[arg(
        long,
        env = "PATHLINE_KUBE_LISTEN",
        hide_env_values = true,
        value_name = "HOST:PORT"
    )]
    pub(crate) kube_listen: Option<Address>,

    #[command(flatten)]
    pub(crate) ledger: LedgerArgs,

    /// The treatment of blueprints, templates and Environments that break a rule [default: enforce]
    #[arg(
        long,
        env = "PATHLINE_ADMISSION",
        hide_env_values = true,
        value_enum,
        value_name = "MODE"
    )]
    pub(crate) admission: Option<Mode>,

    #[command(flatten)]
    pub(crate) seal_key: SealKeyArgs,

    /// Begin with the trackers and Environments in this directory, while there has never been one
    #[arg(long, env = "PATHLINE_TRACKERS", hide_env_values = true, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) trackers: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) programs: ProgramArgs,

    /// Read settings from this YAML file
    #[arg(long, env = "PATHLINE_CONFIG", hide_env_values = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) config: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Arguments that locate the programs which Pathline runs; for every command that reconciles.
#[derive(Args, Debug)]
pub(crate) struct ProgramArgs {
    /// The ytt program, for templates that are written for it [default: the one on the PATH]
    #[arg(long, env = "PATHLINE_YTT", hide_env_values = true, value_name = "FILE", value_hint = ValueHint::ExecutablePath)]
    pub(crate) ytt: Option<PathBuf>,
}

/// Arguments of `demo`.
#[derive(Args, Debug)]
pub(crate) struct DemoArgs {
    /// End when the second commit is running, instead of at Ctrl-C
    #[arg(long)]
    pub(crate) once: bool,

    /// Keep everything in this directory, which must be empty or new [default: a temporary one]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) dir: Option<PathBuf>,

    /// Give up if the two commits have not arrived after this time
    #[arg(long, value_name = "TIME", default_value = "3m", value_parser = timeout::parse)]
    pub(crate) timeout: SignedDuration,

    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Arguments of `site`.
#[derive(Args, Debug)]
pub(crate) struct SiteArgs {
    /// The file that says what to serve
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, required_unless_present = "text")]
    pub(crate) manifest: Option<PathBuf>,

    /// Serve this text instead
    #[arg(long, value_name = "TEXT", conflicts_with = "manifest")]
    pub(crate) text: Option<String>,

    /// Address to serve on; port 0 means any free one
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:0")]
    pub(crate) listen: Address,
}

/// Arguments of `completions`.
#[derive(Args, Debug)]
pub(crate) struct CompletionsArgs {
    /// The shell
    pub(crate) shell: Shell,
}

/// Arguments of `man`.
#[derive(Args, Debug)]
pub(crate) struct ManArgs {
    /// Write one page for each command into this directory
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) dir: Option<PathBuf>,
}

/// Arguments of the output format; for every command that prints some.
#[derive(Args, Debug)]
pub(crate) struct OutputArgs {
    /// The format of the result; with `json`, stdout holds nothing but JSON
    #[arg(
        short = 'o',
        long = "output",
        value_enum,
        default_value_t,
        value_name = "FORMAT"
    )]
    pub(crate) format: Format,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn definition_is_consistent() {
        Cli::command().debug_assert();
    }
}
