//! `pathline lineage simulate`: what would Pathline conclude from a history?

use std::io::{self, Write};

use pathline_lineage::simulate::{self, Invalid, Report};

use crate::cli::SimulateArgs;
use crate::terminal::input;
use crate::terminal::output::print_data;
use crate::terminal::report::{CommandError, Exit, Hint};

/// A document from which nothing can be concluded.
#[derive(Debug, thiserror::Error)]
#[error("{name} is not a history")]
struct HistoryError {
    name: String,
    source: Invalid,
}

pub(super) fn run(args: &SimulateArgs) -> Result<Exit, CommandError> {
    let history = input::json(&args.file)?;
    let report = simulate::simulate(&history).map_err(|source| HistoryError {
        name: args.file.display().to_string(),
        source,
    })?;
    print_data(args.output.format, &report, |out| show(&report, out))?;
    Ok(Exit::Yes)
}

fn show(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    for output in &report.outputs {
        writeln!(out, "{}  {} {}", output.resource, output.name, output.value)?;
        for input in &output.from {
            writeln!(
                out,
                "  from {} {}  {}",
                input.name, input.value, input.evidence
            )?;
        }
    }
    for input in &report.inputs {
        let state = match (input.unused, input.mixed, input.arrived) {
            (true, _, _) => "unused",
            (_, true, _) => "mixed",
            (_, _, true) => "arrived",
            (false, false, false) => "on its way",
        };
        writeln!(out, "{} {}  {state}", input.name, input.value)?;
    }
    Ok(())
}

impl Hint for HistoryError {
    fn hint(&self) -> Option<String> {
        Some("`pathline lineage simulate --help` shows a history".to_owned())
    }

    fn exit(&self) -> Exit {
        Exit::Unknown
    }
}
