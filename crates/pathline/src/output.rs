//! What goes to stdout (data) and to stderr (everything else).

use std::io::{self, Write};

use clap::ValueEnum;
use serde::Serialize;

/// The form in which a command prints its data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people.
    #[default]
    Text,
    /// One JSON document.
    Json,
    /// One YAML document.
    Yaml,
}

/// Prints data to stdout; `text` writes the form for people.
pub(crate) fn print_data<T: Serialize>(
    format: Format,
    data: &T,
    text: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> anyhow::Result<()> {
    let mut out = anstream::stdout().lock();
    let written = match format {
        Format::Text => text(&mut out),
        Format::Json => writeln!(out, "{}", serde_json::to_string(data)?),
        Format::Yaml => write!(out, "{}", serde_saphyr::to_string(data)?),
    };
    Ok(tolerate_closed_pipe(written.and_then(|()| out.flush()))?)
}

/// Prints text for people that has no other form; colours are for terminals.
pub(crate) fn print_text(text: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut out = anstream::stdout().lock();
    tolerate_closed_pipe(text(&mut out).and_then(|()| out.flush()))
}

/// Prints text that is data in itself, such as a completion script.
pub(crate) fn print_bytes(bytes: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    tolerate_closed_pipe(out.write_all(bytes).and_then(|()| out.flush()))
}

/// Tells the user something that is not data.
pub(crate) fn say(line: &str) {
    // When stderr is gone there is nobody left to tell.
    let _ = writeln!(anstream::stderr().lock(), "{line}");
}

/// A reader such as `head` that has seen enough is no failure.
fn tolerate_closed_pipe(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}
