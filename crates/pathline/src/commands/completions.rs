//! `pathline completions`: a script that teaches a shell our commands.

use clap::CommandFactory;

use crate::cli::{Cli, CompletionsArgs};
use crate::output::print_bytes;
use crate::report::{Exit, Failure};

pub(crate) fn run(args: &CompletionsArgs) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "pathline", &mut script);
    print_bytes(&script)?;
    Ok(Exit::Yes)
}
