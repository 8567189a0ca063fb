//! One module for each command.

mod apply;
mod blueprint;
mod completions;
mod controller;
mod crds;
mod demo;
mod keys;
mod lineage;
mod man;
mod release;
mod seal;
mod site;
mod template;
mod token;
mod tracker;
mod up;
pub(crate) mod wait;

use crate::cli::{Cli, Command};
use crate::terminal::report::{CommandError, Exit};

/// Runs the command that was typed.
pub(crate) async fn run(cli: Cli) -> Result<Exit, CommandError> {
    match cli.command {
        Command::Up(args) => up::run(&args, &cli.log).await,
        Command::Controller(args) => controller::run(&args, &cli.log).await,
        Command::Crds(args) => crds::run(&args),
        Command::Demo(args) => demo::run(&args, &cli.log).await,
        Command::Site(args) => site::run(&args, &cli.log).await,
        Command::Blueprint(args) => blueprint::run(&args.command),
        Command::Template(args) => template::run(&args.command).await,
        Command::Keys(args) => keys::run(&args.command),
        Command::Apply(args) => apply::run(&args).await,
        Command::Wait(args) => wait::run(&args).await,
        Command::Lineage(args) => lineage::run(args).await,
        Command::Tracker(args) => tracker::run(&args.command).await,
        Command::Release(args) => release::run(&args.command).await,
        Command::Seal(args) => seal::run(&args.command).await,
        Command::Token(args) => token::run(&args.command).await,
        Command::Completions(args) => completions::run(&args),
        Command::Man(args) => man::run(&args),
    }
}
