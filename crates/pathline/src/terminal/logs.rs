//! The log: its level and its destination.

use std::fs::File;
use std::io::{self, IsTerminal};

use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::writer::BoxMakeWriter;

use crate::terminal::report::{CommandError, Exit};

/// The level of the log, in the language of `tracing`: `info`, `pathline_engine=debug,warn`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Verbosity(String);

impl Verbosity {
    /// Returns what holds: `-v` and `-q` are the most direct and win, then `wished` (a flag, the
    /// environment or a file), then the default.
    pub(crate) fn resolve(verbose: u8, quiet: bool, wished: Option<&str>) -> Self {
        let directives = match (quiet, verbose, wished) {
            (true, ..) => "error",
            (false, 0, Some(wished)) => wished,
            (false, 0, None) => "warn,pathline=info",
            (false, 1, _) => "info,pathline=debug",
            (false, ..) => "debug,pathline=trace",
        };
        Self(directives.to_owned())
    }

    fn filter(&self) -> Result<EnvFilter, CommandError> {
        EnvFilter::try_new(&self.0).map_err(|error| {
            CommandError::from(
                anyhow::Error::new(error).context(format!("`{}` is no log filter", self.0)),
            )
            .with_hint("a level (`debug`) or a list such as `pathline_engine=debug,warn`")
            .with_exit(Exit::Usage)
        })
    }
}

/// The destination of log lines.
pub(crate) enum Sink {
    /// Standard error, in colour on a terminal.
    Stderr,
    /// A file, so that a live display stays readable.
    File(File),
}

/// Starts to log. Call it once, after the settings are known.
pub(crate) fn start(verbosity: &Verbosity, sink: Sink) -> Result<(), CommandError> {
    let filter = verbosity.filter()?;
    let colour = matches!(sink, Sink::Stderr) && io::stderr().is_terminal();
    let writer = match sink {
        Sink::Stderr => BoxMakeWriter::new(io::stderr),
        Sink::File(file) => BoxMakeWriter::new(std::sync::Arc::new(file)),
    };
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(writer)
        .with_ansi(
            colour && anstream::AutoStream::choice(&io::stderr()) != anstream::ColorChoice::Never,
        )
        // Telling a closed stderr that it is closed would panic.
        .log_internal_errors(false)
        .init();
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolved(verbose: u8, quiet: bool, wished: Option<&str>) -> String {
        Verbosity::resolve(verbose, quiet, wished).0
    }

    #[test]
    fn counted_flags_win_over_a_filter() {
        assert_eq!(resolved(0, false, None), "warn,pathline=info");
        assert_eq!(resolved(0, false, Some("trace")), "trace");
        assert_eq!(resolved(1, false, Some("error")), "info,pathline=debug");
        assert_eq!(resolved(3, false, None), "debug,pathline=trace");
        assert_eq!(resolved(0, true, Some("trace")), "error");
    }

    #[test]
    fn malformed_filter_is_a_usage_error() {
        let failure = Verbosity::resolve(0, false, Some("pathline=loud"))
            .filter()
            .unwrap_err();
        assert_eq!(failure.exit(), Exit::Usage);
    }
}
