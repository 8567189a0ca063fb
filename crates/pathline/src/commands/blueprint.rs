//! `pathline blueprint`: which path does a change take? Asked before anything runs.

mod graph;
mod lint;
mod path;
mod paths;
mod source;
mod table;
mod test;

use crate::cli::BlueprintCommand;
use crate::terminal::report::{CommandError, Exit};

pub(crate) fn run(command: &BlueprintCommand) -> Result<Exit, CommandError> {
    match command {
        BlueprintCommand::Path(args) => path::run(args),
        BlueprintCommand::Paths(args) => paths::run(args),
        BlueprintCommand::Lint(args) => lint::run(args),
        BlueprintCommand::Graph(args) => graph::run(args),
        BlueprintCommand::Test(args) => test::run(args),
    }
}
