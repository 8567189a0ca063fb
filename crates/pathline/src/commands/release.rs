//! `pathline release`: what was released, where it is, and what somebody does about it.

mod board;
mod hold;
mod list;
mod now;
mod path;
mod promote;
mod rollback;
mod show;
mod table;
mod wait;
mod why;

use crate::cli::ReleaseCommand;
use crate::terminal::report::{CommandError, Exit};

pub(crate) async fn run(command: &ReleaseCommand) -> Result<Exit, CommandError> {
    match command {
        ReleaseCommand::List(args) => list::list(args).await,
        ReleaseCommand::Show(args) => show::show(args).await,
        ReleaseCommand::Board(args) => board::board(args).await,
        ReleaseCommand::Why(args) => why::why(args).await,
        ReleaseCommand::Wait(args) => wait::wait(args).await,
        ReleaseCommand::Now(args) => now::now(args).await,
        ReleaseCommand::Promote(args) => promote::promote(args).await,
        ReleaseCommand::Hold(args) => hold::hold(args).await,
        ReleaseCommand::Resume(args) => hold::resume(args).await,
        ReleaseCommand::Rollback(args) => rollback::rollback(args).await,
        ReleaseCommand::Path(args) => path::run(args),
    }
}
