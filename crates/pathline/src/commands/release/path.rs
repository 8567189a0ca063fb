//! `pathline release path`: a path for releases, which is a part of the binary.

use crate::cli::ReleasePathArgs;
use crate::terminal::output::print_bytes;
use crate::terminal::report::{CommandError, Exit};

const PROCESS: &str = include_str!("../../../../../examples/release/process/path.yaml");
const DEPLOYMENT: &str = include_str!("../../../../../examples/release/deployment/path.yaml");

pub(super) fn run(args: &ReleasePathArgs) -> Result<Exit, CommandError> {
    let path = if args.cluster { DEPLOYMENT } else { PROCESS };
    print_bytes(path.as_bytes())?;
    Ok(Exit::Yes)
}
