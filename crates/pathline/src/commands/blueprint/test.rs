//! `pathline blueprint test`: path tests an author keeps with a blueprint.

mod expectation;
mod file;

use std::io::{self, Write};
use std::path::Path;

use anstyle::{AnsiColor, Style};
use pathline_blueprint::selection::Plan;
use serde::Serialize;

use self::file::{PathTest, TestFile};
use super::path::PathReport;
use super::source::{self, Error};
use crate::cli::TestArgs;
use crate::terminal::output::print_data;
use crate::terminal::report::{CommandError, Exit};

/// The endings of the names of test files.
const ENDINGS: [&str; 2] = [".test.yaml", ".test.yml"];

const PASSED: Style = AnsiColor::Green.on_default();
const FAILED: Style = AnsiColor::Red.on_default().bold();

/// The results of all tests.
#[derive(Debug, Serialize)]
struct TestReport {
    tests: Vec<Outcome>,
    passed: usize,
    failed: usize,
}

/// The result of one test.
#[derive(Debug, Serialize)]
struct Outcome {
    file: String,
    line: usize,
    name: String,
    passed: bool,
    differences: Vec<Difference>,
}

/// Something that is not as the test expects.
#[derive(Debug, Serialize)]
struct Difference {
    /// The resource; none if it is about the blueprint's own selector.
    resource: Option<String>,
    expected: String,
    found: String,
    reason: Option<String>,
}

pub(super) fn run(args: &TestArgs) -> Result<Exit, CommandError> {
    // All files are read before any test runs, so that a broken one is not found half way.
    let files = read(&args.dir)?;
    let mut tests = Vec::new();
    for file in &files {
        let plan = source::plan(&file.blueprint_path, &file.blueprint)?;
        tests.extend(file.tests.iter().map(|test| judge(file, &plan, test)));
    }
    let failed = tests.iter().filter(|test| !test.passed).count();
    let report = TestReport {
        passed: tests.len() - failed,
        failed,
        tests,
    };
    print_data(args.output.format, &report, |out| report.write(out))?;
    Ok(if failed > 0 { Exit::No } else { Exit::Yes })
}

fn read(dir: &Path) -> Result<Vec<TestFile>, CommandError> {
    let paths = source::files_below(dir, &ENDINGS).map_err(Error::from)?;
    let files = paths.iter().map(|path| TestFile::read(path));
    let files: Vec<TestFile> = files.collect::<Result<_, Error>>()?;
    if files.iter().all(|file| file.tests.is_empty()) {
        let message = format!("there are no path tests in {}", dir.display());
        return Err(CommandError::new(message)
            .with_hint("tests are in files whose names end in `.test.yaml`; `pathline blueprint test --help` shows one")
            .with_exit(Exit::Usage));
    }
    Ok(files)
}

fn judge(file: &TestFile, plan: &Plan, test: &PathTest) -> Outcome {
    let path = PathReport::new(plan, &file.blueprint, &test.owner);
    let mut differences = Vec::new();
    if let Some(expected) = test.matches.filter(|expected| *expected != path.matches) {
        let word = |matches| if matches { "matches" } else { "does not match" };
        differences.push(Difference {
            resource: None,
            expected: format!("the blueprint's selector {}", word(expected)),
            found: word(path.matches).to_owned(),
            reason: None,
        });
    }
    for (resource, expectation) in &test.path {
        let found = &path.resources[*resource];
        if !expectation.holds(found) {
            differences.push(Difference {
                resource: Some(found.name.clone()),
                expected: expectation.to_string(),
                found: expectation::describe(found),
                reason: Some(found.reason.clone()),
            });
        }
    }
    Outcome {
        file: file.name.clone(),
        line: test.line,
        name: test.name.clone(),
        passed: differences.is_empty(),
        differences,
    }
}

impl TestReport {
    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        for test in &self.tests {
            test.write(out)?;
        }
        let style = if self.failed > 0 { FAILED } else { PASSED };
        writeln!(
            out,
            "{style}{} passed, {} failed{style:#}",
            self.passed, self.failed
        )
    }
}

impl Outcome {
    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let Self {
            file, line, name, ..
        } = self;
        if self.passed {
            return writeln!(out, "{PASSED}ok{PASSED:#}    {file}: {name}");
        }
        writeln!(out, "{FAILED}FAIL{FAILED:#}  {file}:{line}: {name}")?;
        for difference in &self.differences {
            let Difference {
                expected, found, ..
            } = difference;
            let subject = difference.resource.iter().map(|name| format!("{name}: "));
            let reason = difference
                .reason
                .iter()
                .map(|reason| format!(" ({reason})"));
            let (subject, reason): (String, String) = (subject.collect(), reason.collect());
            writeln!(
                out,
                "        {subject}expected {expected}, found {found}{reason}"
            )?;
        }
        Ok(())
    }
}
