//! `pathline template test`: offline tests that an author keeps with templates.

mod compare;
mod info;
mod preprocess;
mod render;
mod suite;

use std::io::{self, Write};
use std::path::PathBuf;

use anstyle::{AnsiColor, Style};
use pathline_engine::Renderer;
use serde::Serialize;

use self::suite::Case;
use crate::cli::{TemplateCommand, TemplateTestArgs};
use crate::terminal::output::print_data;
use crate::terminal::report::{CommandError, Exit};

const PASSED: Style = AnsiColor::Green.on_default();
const FAILED: Style = AnsiColor::Red.on_default().bold();

/// The results of all tests.
#[derive(Debug, Serialize)]
struct Report {
    tests: Vec<Outcome>,
    passed: usize,
    failed: usize,
}

/// The result of one test.
#[derive(Debug, Serialize)]
struct Outcome {
    name: String,
    passed: bool,
    differences: Vec<String>,
}

/// The surroundings of tests.
struct Tools {
    renderer: Renderer,
    ytt: PathBuf,
}

pub(crate) async fn run(command: &TemplateCommand) -> Result<Exit, CommandError> {
    match command {
        TemplateCommand::Test(args) => test(args).await,
    }
}

async fn test(args: &TemplateTestArgs) -> Result<Exit, CommandError> {
    let cases = suite::read(&args.dir);
    let cases = cases.map_err(|error| CommandError::from(error).with_exit(Exit::Unknown))?;
    let tools = Tools {
        renderer: Renderer::new(args.ytt.clone()),
        ytt: args.ytt.clone().unwrap_or_else(|| "ytt".into()),
    };
    let mut tests = Vec::new();
    for case in &cases {
        tests.push(judge(case, &tools).await);
    }
    let failed = tests.iter().filter(|test| !test.passed).count();
    let report = Report {
        passed: tests.len() - failed,
        failed,
        tests,
    };
    print_data(args.output.format, &report, |out| report.write(out))?;
    Ok(if failed > 0 { Exit::No } else { Exit::Yes })
}

/// Runs one test. What keeps it from being run is a failure of that test, not of the others.
async fn judge(case: &Case, tools: &Tools) -> Outcome {
    let differences = match render::render(case, tools).await {
        Ok(found) => case
            .expected()
            .map(|expected| compare::differences(expected, found, &case.compare)),
        Err(error) => Err(error),
    };
    let differences = differences.unwrap_or_else(|error| vec![format!("{error:#}")]);
    Outcome {
        name: case.name.clone(),
        passed: differences.is_empty(),
        differences,
    }
}

impl Report {
    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        for test in &self.tests {
            let (style, word) = if test.passed {
                (PASSED, "ok")
            } else {
                (FAILED, "FAILED")
            };
            writeln!(out, "{style}{word}{style:#}  {}", test.name)?;
            for difference in &test.differences {
                writeln!(out, "    {difference}")?;
            }
        }
        writeln!(out, "{} passed, {} failed", self.passed, self.failed)
    }
}
