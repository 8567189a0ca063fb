//! `pathline lineage simulate`: what would Pathline conclude from a history?

use std::io::{self, Write};

use pathline_lineage::simulate::{self, Report};

use super::source::{self, Unreadable};
use crate::cli::SimulateArgs;
use crate::output::print_data;
use crate::report::{Exit, Failure, Hint};

pub(super) fn run(args: &SimulateArgs) -> Result<Exit, Failure> {
    let history = source::json(&args.file)?;
    let report = simulate::simulate(&history).map_err(|source| Unreadable::History {
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

impl Hint for Unreadable {
    fn hint(&self) -> Option<String> {
        let history = matches!(self, Self::History { .. });
        history.then(|| "`pathline lineage simulate --help` shows a history".to_owned())
    }

    fn exit(&self) -> Exit {
        Exit::Unknown
    }
}
