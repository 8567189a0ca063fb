//! `pathline keys`: what exactly changed, and what to do with it.

mod canon;
mod show;
mod source;

use anyhow::Context as _;
use pathline_keys::change::{ApplyError, ComposeError};
use pathline_keys::notation::{
    change_set_from_json, change_set_to_json, key_set_from_json, key_set_to_json,
};
use pathline_keys::{ChangeSet, KeySet};

use self::source::KeysError;
use crate::cli::{ApplyArgs, ComposeArgs, DiffArgs, KeysCommand};
use crate::terminal::output::{Format, print_data};
use crate::terminal::report::{CommandError, Exit, Hint};

pub(crate) fn run(command: &KeysCommand) -> Result<Exit, CommandError> {
    match command {
        KeysCommand::Canon(args) => canon::run(args),
        KeysCommand::Diff(args) => diff(args),
        KeysCommand::Compose(args) => compose(args),
        KeysCommand::Apply(args) => apply(args),
    }
}

fn diff(args: &DiffArgs) -> Result<Exit, CommandError> {
    let read = |name: &str| {
        if args.keys {
            source::key_set(name)
        } else {
            source::document(name)
        }
    };
    let changes = KeySet::diff(&read(&args.old)?, &read(&args.new)?, args.below.as_ref());
    print_changes(args.output.format, &changes)?;
    let changed = args.exit_code && !changes.is_empty();
    Ok(if changed { Exit::No } else { Exit::Yes })
}

fn compose(args: &ComposeArgs) -> Result<Exit, CommandError> {
    let first = source::notation(&args.first, change_set_from_json)?;
    let second = source::notation(&args.second, change_set_from_json)?;
    print_changes(args.output.format, &first.compose(&second)?)?;
    Ok(Exit::Yes)
}

fn apply(args: &ApplyArgs) -> Result<Exit, CommandError> {
    let changes = source::notation(&args.changes, change_set_from_json)?;
    let keys = source::notation(&args.keys, key_set_from_json)?;
    let changes = if args.reverse {
        changes.reverse()
    } else {
        changes
    };
    let result = changes.apply(&keys)?;
    let json = key_set_to_json(&result).context("the result cannot be printed")?;
    print_data(args.output.format, &json, |out| show::keys(&result, out))?;
    Ok(Exit::Yes)
}

fn print_changes(format: Format, changes: &ChangeSet) -> anyhow::Result<()> {
    let json = change_set_to_json(changes).context("the changes cannot be printed")?;
    print_data(format, &json, |out| show::changes(changes, out))
}

impl Hint for ComposeError {
    fn hint(&self) -> Option<String> {
        Some("the second change has to start where the first one ends".to_owned())
    }
}

impl Hint for ApplyError {
    fn hint(&self) -> Option<String> {
        Some("the changes were made for another key set; `--reverse` undoes them".to_owned())
    }
}

impl Hint for KeysError {
    fn hint(&self) -> Option<String> {
        let notation = "`pathline keys diff -o json` prints change sets; a key set is a JSON array, as \
                        `pathline keys diff --help` says";
        matches!(self, Self::Notation { .. }).then(|| notation.to_owned())
    }

    fn exit(&self) -> Exit {
        Exit::Unknown
    }
}
