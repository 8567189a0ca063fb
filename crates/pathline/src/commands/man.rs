//! `pathline man`: manual pages, made from the same definition as `--help`.

use std::path::Path;

use anyhow::Context;
use clap::CommandFactory;
use clap_mangen::Man;

use crate::cli::{Cli, ManArgs};
use crate::terminal::output::{print_bytes, say};
use crate::terminal::report::{CommandError, Exit};

pub(crate) fn run(args: &ManArgs) -> Result<Exit, CommandError> {
    match &args.dir {
        Some(dir) => write_all(dir)?,
        None => {
            let mut page = Vec::new();
            Man::new(Cli::command()).render(&mut page)?;
            print_bytes(&page)?;
        }
    }
    Ok(Exit::Yes)
}

fn write_all(dir: &Path) -> anyhow::Result<()> {
    let cannot_write = || format!("cannot write manual pages to {}", dir.display());
    std::fs::create_dir_all(dir).with_context(cannot_write)?;
    // A page for `pathline help` would only repeat the others.
    let command = Cli::command().disable_help_subcommand(true);
    clap_mangen::generate_to(command, dir).with_context(cannot_write)?;
    say(&format!("wrote the manual pages to {}", dir.display()));
    Ok(())
}
