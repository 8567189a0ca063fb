//! The `pathline` command line.
//!
//! [`cli`] reads what was typed and decides what holds when flags, environment and files disagree;
//! [`commands`] does it, and [`terminal`] prints it. [`wiring`] starts the cluster, the ledger, the
//! engine and the server as one Pathline; [`demo`] shows all of it on a laptop.

#![cfg_attr(
    test,
    expect(
        clippy::disallowed_methods,
        reason = "the clock and the tasks of a test are the real ones"
    )
)]

mod cli;
mod commands;
mod demo;
mod terminal;
mod wiring;

use std::ffi::OsString;
use std::process::ExitCode;
use std::time::Duration;

use pathline_workers::{Keeper, keep};

use crate::cli::Cli;
use crate::terminal::output::{Format, print_problem};
use crate::terminal::report::{CommandError, Exit};

/// The time that blocking work, such as a write to a slow disk, may hold up the exit.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(2);

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    // What Pathline starts above every command is no command of its own, and is to be there quickly.
    if arguments.get(1).is_some_and(|it| it == Keeper::ARGUMENT) {
        return keep().map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS);
    }
    let (cli, format) = match cli::read(arguments) {
        Ok(read) => read,
        Err((error, format)) => return answer_without_running(&error, format),
    };
    match run(cli) {
        Ok(exit) => exit.into(),
        Err(failure) => {
            failure.print();
            print_problem(format, &failure.problem());
            failure.exit().into()
        }
    }
}

fn run(cli: Cli) -> Result<Exit, CommandError> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    let outcome = runtime.block_on(Box::pin(commands::run(cli)));
    runtime.shutdown_timeout(SHUTDOWN_TIMEOUT);
    outcome
}

/// Prints help, the version or what is wrong with the arguments.
fn answer_without_running(answer: &clap::Error, format: Format) -> ExitCode {
    // A reader who has seen enough and closed the pipe is no failure.
    let _ = answer.print();
    if answer.use_stderr() {
        let said = answer.to_string();
        let first = said.split("\n\n").next().unwrap_or_default();
        let first = first.strip_prefix("error: ").unwrap_or(first).trim_end();
        let failure = CommandError::new(first).with_exit(Exit::Usage);
        print_problem(format, &failure.problem());
        Exit::Usage.into()
    } else {
        Exit::Yes.into()
    }
}
