//! `pathline tracker`: the applications that are followed, and the rules by which they are, to be tried.

pub(super) mod server;

use std::io::{self, Write};
use std::path::Path;

use pathline_release::label::Label;
use pathline_release::simulate::{Answer, InvalidCase, simulate};
use pathline_workers::causes;
use serde_json::Value;

use crate::cli::{LabelArgs, SimulateCasesArgs, TrackerCommand};
use crate::terminal::input;
use crate::terminal::output::{print_bytes, print_data, say};
use crate::terminal::report::{CommandError, Exit, Hint};

/// A document that is no case.
#[derive(Debug, thiserror::Error)]
#[error("{name} cannot be simulated")]
struct CaseError {
    name: String,
    source: InvalidCase,
}

impl Hint for CaseError {
    fn hint(&self) -> Option<String> {
        Some("`pathline tracker simulate --help` shows a case".to_owned())
    }

    fn exit(&self) -> Exit {
        Exit::Unknown
    }
}

pub(crate) async fn run(command: &TrackerCommand) -> Result<Exit, CommandError> {
    match command {
        TrackerCommand::Add(args) => server::add(args).await,
        TrackerCommand::List(args) => server::list(args).await,
        TrackerCommand::Get(args) => server::get(args).await,
        TrackerCommand::Set(args) => server::set(args).await,
        TrackerCommand::Rm(args) => server::rm(args).await,
        TrackerCommand::Poll(args) => server::poll(args).await,
        TrackerCommand::Simulate(args) => run_cases(args),
        TrackerCommand::Label(args) => choose(args),
    }
}

fn run_cases(args: &SimulateCasesArgs) -> Result<Exit, CommandError> {
    let document = input::json(&args.file)?;
    let failed = |source| CaseError {
        name: args.file.display().to_string(),
        source,
    };
    let format = args.output.format;
    if let Value::Array(cases) = &document {
        let of_one = |(index, case)| {
            let answer: Result<Answer, InvalidCase> = simulate(case);
            answer.map_err(|mut invalid| {
                invalid.path = format!("[{index}].{}", invalid.path);
                invalid
            })
        };
        let answers: Result<Vec<_>, _> = cases.iter().enumerate().map(of_one).collect();
        let answers = answers.map_err(failed)?;
        print_data(format, &answers, |out| {
            answers.iter().try_for_each(|answer| show(answer, out))
        })?;
    } else {
        let answer = simulate(&document).map_err(failed)?;
        print_data(format, &answer, |out| show(&answer, out))?;
    }
    Ok(Exit::Yes)
}

fn show(answer: &Answer, out: &mut dyn Write) -> io::Result<()> {
    if let Some(id) = &answer.id {
        writeln!(out, "{id}")?;
    }
    writeln!(out, "releases      {}", answer.releases)?;
    writeln!(out, "pending       {}", answer.pending)?;
    writeln!(out, "conditions    {}", answer.conditions)?;
    writeln!(out, "environments  {}", answer.environments)
}

fn choose(args: &LabelArgs) -> Result<Exit, CommandError> {
    let tags = input::text(Path::new("-"))?;
    let chosen = match Label::parse(&args.label) {
        Err(invalid) => {
            say(&causes(&invalid).join(": "));
            "reject"
        }
        Ok(label) => {
            let chosen = label.choose(tags.lines(), args.released.as_deref());
            chosen.unwrap_or("none")
        }
    };
    print_bytes(format!("{chosen}\n").as_bytes())?;
    Ok(Exit::Yes)
}
