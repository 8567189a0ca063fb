//! The end of a command: exit codes, and errors that say what to do next.

use std::io::{self, Write};
use std::process::ExitCode;

use anstyle::{AnsiColor, Style};
use pathline_client::api::{FieldProblem, Problem, ProblemDetail};
use pathline_workers::causes;

const ERROR: Style = AnsiColor::Red.on_default().bold();
const HINT: Style = AnsiColor::Cyan.on_default().bold();

/// The exit code of the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// It is done, or the answer is yes.
    Yes = 0,
    /// It failed, or the answer is no.
    No = 1,
    /// The command line or a configuration file is wrong.
    Usage = 2,
    /// The answer is not known, since something needed for it cannot be read.
    Unknown = 3,
    /// It did not happen in time.
    TimedOut = 124,
}

impl Exit {
    /// Returns the word by which programs know errors that have none of their own.
    fn code(self) -> &'static str {
        match self {
            Self::Yes | Self::No => "failed",
            Self::Usage => "bad-request",
            Self::Unknown => "unavailable",
            Self::TimedOut => "timed-out",
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// An error that knows what the user can do about it.
pub(crate) trait Hint: std::error::Error {
    /// Returns what to try next, if there is something.
    fn hint(&self) -> Option<String>;

    /// Returns the word for programs, where REST has one for it; see [`Exit::code`].
    fn code(&self) -> Option<&str> {
        None
    }

    /// Returns the fields of a request that are wrong.
    fn details(&self) -> &[FieldProblem] {
        &[]
    }

    /// Returns the exit code this error ends the process with.
    fn exit(&self) -> Exit {
        Exit::No
    }
}

/// The error of a command, ready to be shown.
#[derive(Debug)]
pub(crate) struct CommandError {
    error: anyhow::Error,
    hint: Option<String>,
    exit: Exit,
    code: Option<String>,
    details: Vec<FieldProblem>,
}

impl CommandError {
    /// Returns a failure without an underlying cause.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self::from(anyhow::Error::msg(message.into()))
    }

    /// Adds what to try next.
    pub(crate) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Sets the exit code.
    pub(crate) fn with_exit(mut self, exit: Exit) -> Self {
        self.exit = exit;
        self
    }

    /// Sets the word for programs; without, the exit code says it.
    pub(crate) fn with_code(mut self, code: impl Into<String>) -> Self {
        self.code = Some(code.into());
        self
    }

    /// Returns the same for programs, as REST says it.
    pub(crate) fn problem(&self) -> Problem {
        let code = self.code.clone();
        Problem {
            error: ProblemDetail {
                code: code.unwrap_or_else(|| self.exit.code().to_owned()),
                message: causes(self.error.as_ref()).join(": "),
                hint: self.hint.clone(),
                details: self.details.clone(),
            },
        }
    }

    /// Says what was being done; what is known so far becomes its cause.
    pub(crate) fn within(mut self, doing: impl Into<String>) -> Self {
        self.error = self.error.context(doing.into());
        self
    }

    pub(crate) fn exit(&self) -> Exit {
        self.exit
    }

    /// Prints the error, its causes and the hint to stderr.
    pub(crate) fn print(&self) {
        // When stderr is gone there is nobody left to tell.
        let _ = self.write_to(&mut anstream::stderr().lock());
    }

    fn write_to(&self, out: &mut dyn Write) -> io::Result<()> {
        let causes = causes(self.error.as_ref());
        let mut causes = causes.iter();
        let error = causes.next().map_or("", String::as_str);
        writeln!(out, "{ERROR}error:{ERROR:#} {error}")?;
        for cause in causes {
            writeln!(out, "  caused by: {}", indented(cause))?;
        }
        for detail in &self.details {
            writeln!(out, "  {}: {}", detail.field, detail.message)?;
        }
        if let Some(hint) = &self.hint {
            writeln!(out, "\n{HINT}hint:{HINT:#} {hint}")?;
        }
        Ok(())
    }
}

impl<E: Hint + Send + Sync + 'static> From<E> for CommandError {
    fn from(error: E) -> Self {
        let (hint, exit) = (error.hint(), error.exit());
        let code = error.code().map(str::to_owned);
        let details = error.details().to_vec();
        Self {
            error: error.into(),
            hint,
            exit,
            code,
            details,
        }
    }
}

impl From<anyhow::Error> for CommandError {
    fn from(error: anyhow::Error) -> Self {
        Self {
            error,
            hint: None,
            exit: Exit::No,
            code: None,
            details: Vec::new(),
        }
    }
}

impl From<io::Error> for CommandError {
    fn from(error: io::Error) -> Self {
        Self::from(anyhow::Error::from(error))
    }
}

impl Hint for pathline_server::BindError {
    fn hint(&self) -> Option<String> {
        Some(self.hint())
    }
}

impl Hint for pathline_cluster::OpenError {
    fn hint(&self) -> Option<String> {
        matches!(self, Self::Lock(_)).then(|| "`--data-dir DIR` names another directory".to_owned())
    }
}

fn indented(text: &str) -> String {
    text.trim_end().replace('\n', "\n    ")
}

#[cfg(test)]
mod tests {
    use anyhow::Context;

    use super::*;

    fn printed(failure: &CommandError) -> String {
        let mut plain = anstream::StripStream::new(Vec::new());
        failure.write_to(&mut plain).unwrap();
        String::from_utf8(plain.into_inner()).unwrap()
    }

    #[test]
    fn failure_prints_its_causes_and_its_hint() {
        let error = io::Error::other("line one\nline two");
        let failure =
            CommandError::from(Err::<(), _>(error).context("cannot read it").unwrap_err())
                .with_hint("look elsewhere");
        assert_eq!(
            printed(&failure),
            "error: cannot read it\n  caused by: line one\n    line two\n\nhint: look elsewhere\n"
        );
    }

    #[test]
    fn error_with_a_hint_brings_hint_and_exit_code_along() {
        #[derive(Debug, thiserror::Error)]
        #[error("wrong")]
        struct Wrong;
        impl Hint for Wrong {
            fn hint(&self) -> Option<String> {
                Some("do it right".to_owned())
            }
            fn exit(&self) -> Exit {
                Exit::Usage
            }
        }
        let failure = CommandError::from(Wrong);
        assert_eq!(printed(&failure), "error: wrong\n\nhint: do it right\n");
        assert_eq!(failure.exit(), Exit::Usage);
    }
}
