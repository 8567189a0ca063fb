//! `pathline lineage`: what is it made of, has it arrived?
//!
//! [`ask`] gets the answers of a Pathline that runs; [`owner`], [`object`], [`artifact`] and
//! [`carriers`] put them into words, purely; [`tree`] draws them.

mod artifact;
mod ask;
mod carriers;
mod object;
mod owner;
#[cfg(test)]
mod samples;
mod simulate;
mod style;
mod tree;

use crate::cli::{LineageArgs, LineageCommand};
use crate::terminal::report::{CommandError, Exit};

pub(crate) async fn run(args: LineageArgs) -> Result<Exit, CommandError> {
    match args.command {
        Some(LineageCommand::Simulate(args)) => simulate::run(&args),
        None => ask::run(&args.ask).await,
    }
}
