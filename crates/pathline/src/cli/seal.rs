//! Arguments of `pathline seal`, and of the key by every command that needs one.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};
use pathline_client::Secret;

use super::{LedgerArgs, OutputArgs};

pub(super) const EXAMPLES: &str = "\
Examples:
  pathline seal new > seal.key && chmod 600 seal.key
  pathline seal rotate
  pathline seal rotate --ledger postgres://pathline@db/pathline --seal-key seal.key
  pathline seal reset --forget-secrets

Secrets are sealed in the ledger: tokens of repositories, logins of registries and secret files. With a ledger in a file
`up` makes a key and keeps it as seal.key in the data directory. With PostgreSQL, which others share, the key is given.

Exit codes: 0 done, 1 failed, 2 wrong usage, 3 something cannot be read.";

/// Arguments of `seal`.
#[derive(Args, Debug)]
pub(crate) struct SealArgs {
    #[command(subcommand)]
    pub(crate) command: SealCommand,
}

/// Subcommands of `pathline seal`.
#[derive(Debug, Subcommand)]
pub(crate) enum SealCommand {
    /// Print a new key
    New,

    /// Seal everything with a new key
    ///
    /// Pathline has to be stopped: it would go on with the old key. The new key takes the place of the old one; if this is
    /// interrupted, nothing is lost, and the next call goes on.
    Rotate(RotateArgs),

    /// Begin anew where the key is lost
    ///
    /// Forgets everything that is sealed, which nobody can open any more; trackers, releases and lineage stay. Trackers that had
    /// a token read nothing until it is given again; secrets of application files are read from their repositories. Pathline has
    /// to be stopped. Without --forget-secrets this only says what would be forgotten.
    Reset(ResetArgs),
}

/// Arguments of `seal rotate`.
#[derive(Args, Debug)]
pub(crate) struct RotateArgs {
    /// The data directory [default: .pathline]
    #[arg(long, env = "PATHLINE_DATA_DIR", hide_env_values = true, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) data_dir: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) ledger: LedgerArgs,

    /// The file of the key, which the new one replaces [default: seal.key in the data directory]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) seal_key: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Arguments of `seal reset`.
#[derive(Args, Debug)]
pub(crate) struct ResetArgs {
    /// Forget them, for good
    #[arg(long)]
    pub(crate) forget_secrets: bool,

    #[command(flatten)]
    pub(crate) at: RotateArgs,
}

/// Arguments that give the key by which secrets are sealed.
#[derive(Args, Debug, Default)]
pub(crate) struct SealKeyArgs {
    /// Read the key that seals secrets from this file [default: the variable PATHLINE_SEAL_KEY, or
    /// seal.key in the data directory]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) seal_key: Option<PathBuf>,

    // Hidden, for other users of the machine can read the arguments of a process, but not its
    // variables.
    #[arg(
        long,
        env = "PATHLINE_SEAL_KEY",
        hide_env_values = true,
        hide = true,
        value_name = "KEY"
    )]
    pub(crate) seal_key_text: Option<Secret>,
}
