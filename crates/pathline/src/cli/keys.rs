//! Arguments of `pathline keys`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};
use pathline_keys::Name;

use super::OutputArgs;
use crate::terminal::output::Format;

pub(super) const EXAMPLES: &str = "\
Examples:
  pathline keys diff old.yaml new.yaml
  pathline keys diff HEAD~1:deploy/values.yaml deploy/values.yaml --below user:/image
  pathline keys diff old.toml new.json -o json > changes.json
  pathline keys compose monday.json tuesday.json
  pathline keys apply --reverse changes.json keys.json
  printf '%s\\n' 'user://a/./b' '/%' | pathline keys canon

Exit codes: 0 done, 1 changed (with --exit-code) or refused, 2 wrong usage, 3 something cannot be read.";

/// Arguments of `keys`.
#[derive(Args, Debug)]
pub(crate) struct KeysArgs {
    #[command(subcommand)]
    pub(crate) command: KeysCommand,
}

/// Subcommands of `pathline keys`.
#[derive(Debug, Subcommand)]
pub(crate) enum KeysCommand {
    /// Print the canonical form of names, one a line of the standard input
    ///
    /// Prints one line for each: the canonical name, or `INVALID` and a reason. Only a line feed ends a line; an empty
    /// line is the empty name.
    Canon(CanonArgs),

    /// Print what changed from one document to another
    ///
    /// A document is a file (YAML, JSON or TOML by its extension, YAML otherwise) or `REV:PATH`, a file at a revision
    /// of the git repository around the current directory.
    Diff(DiffArgs),

    /// Print the one change set that does what two do, one after the other
    ///
    /// Reads what `diff -o json` prints. Change sets that cannot follow each other are refused, by the name of the key.
    Compose(ComposeArgs),

    /// Print a key set with changes made, or undone
    ///
    /// Reads what `diff -o json` prints and a key set as `diff --keys` takes it. Refused, by the name of the key, if a
    /// key to add is there already, or one to remove or modify is not.
    Apply(ApplyArgs),
}

/// Arguments of `keys canon`.
#[derive(Args, Debug)]
pub(crate) struct CanonArgs {
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Arguments of `keys diff`.
#[derive(Args, Debug)]
pub(crate) struct DiffArgs {
    /// The document before
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) old: String,

    /// The document after
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) new: String,

    /// Only what is at or below this name, such as `user:/app`; `/app` means in all namespaces
    #[arg(long, value_name = "NAME")]
    pub(crate) below: Option<Name>,

    /// The documents are key sets: a JSON array of {"n": name, "v": text or null, "m": {metadata}}, bytes as "bin" in
    /// hexadecimal
    #[arg(long)]
    pub(crate) keys: bool,

    /// Exit with 1 if something changed
    #[arg(long)]
    pub(crate) exit_code: bool,

    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Arguments of `keys compose`.
#[derive(Args, Debug)]
pub(crate) struct ComposeArgs {
    /// The first change set
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) first: PathBuf,

    /// The second change set
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) second: PathBuf,

    #[command(flatten)]
    pub(crate) output: JsonOutputArgs,
}

/// Arguments of `keys apply`.
#[derive(Args, Debug)]
pub(crate) struct ApplyArgs {
    /// Undo the changes instead
    #[arg(long)]
    pub(crate) reverse: bool,

    /// The changes
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) changes: PathBuf,

    /// The key set
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) keys: PathBuf,

    #[command(flatten)]
    pub(crate) output: JsonOutputArgs,
}

/// The output format of what is mostly read by another program.
#[derive(Args, Debug)]
pub(crate) struct JsonOutputArgs {
    /// The format of the result
    #[arg(
        short = 'o',
        long = "output",
        value_enum,
        default_value = "json",
        value_name = "FORMAT"
    )]
    pub(crate) format: Format,
}
