//! `pathline completions`: a script that teaches a shell our commands.

use clap::CommandFactory;

use crate::cli::{Cli, CompletionsArgs};
use crate::terminal::output::print_bytes;
use crate::terminal::report::{CommandError, Exit};

pub(crate) fn run(args: &CompletionsArgs) -> Result<Exit, CommandError> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "pathline", &mut script);
    print_bytes(&script)?;
    Ok(Exit::Yes)
}
