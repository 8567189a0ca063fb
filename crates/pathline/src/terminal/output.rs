//! Output: data to stdout, everything else to stderr.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::FileTypeExt;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::ValueEnum;
use pathline_client::api::Problem;
use serde::Serialize;

/// Whether stdout holds something already: a second document would make both unreadable.
static HAS_PRINTED: AtomicBool = AtomicBool::new(false);

/// The error of a write to a terminal that is gone, on every Unix.
const EIO: i32 = 5;

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
    HAS_PRINTED.store(true, Ordering::Relaxed);
    let mut out = anstream::stdout().lock();
    let written = match format {
        Format::Text => text(&mut out),
        Format::Json => writeln!(out, "{}", serde_json::to_string(data)?),
        Format::Yaml => write!(out, "{}", serde_saphyr::to_string(data)?),
    };
    Ok(tolerate_closed_pipe(written.and_then(|()| out.flush()))?)
}

/// Prints why there is no data, in the form in which the data would have come, unless there was some.
pub(crate) fn print_problem(format: Format, problem: &Problem) {
    if format != Format::Text && !HAS_PRINTED.load(Ordering::Relaxed) {
        // When stdout is gone there is nobody left to tell; stderr has it in words.
        let _ = print_data(format, problem, |_| Ok(()));
    }
}

/// Prints text for people that has no other form; colours are for terminals.
pub(crate) fn print_text(text: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut out = anstream::stdout().lock();
    tolerate_closed_pipe(text(&mut out).and_then(|()| out.flush()))
}

/// Prints text that is data in itself, such as a completion script.
pub(crate) fn print_bytes(bytes: &[u8]) -> io::Result<()> {
    HAS_PRINTED.store(true, Ordering::Relaxed);
    let mut out = io::stdout().lock();
    tolerate_closed_pipe(out.write_all(bytes).and_then(|()| out.flush()))
}

/// Tells the user something that is not data.
pub(crate) fn say(line: &str) {
    // When stderr is gone there is nobody left to tell.
    let _ = writeln!(anstream::stderr().lock(), "{line}");
}

/// A reader such as `head` that has seen enough is no failure, and neither is a terminal that was
/// closed.
fn tolerate_closed_pipe(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        Err(error) if error.raw_os_error() == Some(EIO) && is_device() => Ok(()),
        other => other,
    }
}

/// Returns whether stdout is a device, such as a terminal, and no file on a disk that fails.
fn is_device() -> bool {
    let stdout = io::stdout().as_fd().try_clone_to_owned().map(File::from);
    let metadata = stdout.and_then(|stdout| stdout.metadata());
    metadata.is_ok_and(|metadata| metadata.file_type().is_char_device())
}
