//! SIGINT, SIGTERM and SIGHUP: once to stop in order, twice to stop at once.

use std::fs;
use std::future::Future;
use std::io;
use std::time::Duration;

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::terminal::report::CommandError;

/// The signal of a file that exceeds `ulimit -f`; its default is to end the process.
const FILE_TOO_LARGE: rustix::process::Signal = rustix::process::Signal::XFSZ;

/// The time that an orderly stop may take.
pub(crate) const GRACE_PERIOD: Duration = Duration::from_secs(20);

/// Listens for the signals that ask for a stop.
pub(crate) struct Signals {
    interrupt: Signal,
    terminate: Signal,
    /// A terminal that is closed; nobody listens if `nohup` said so.
    hangup: Option<Signal>,
    /// A file that has reached the limit of `ulimit -f`: only caught, so that the write fails instead.
    _too_large: Signal,
}

impl Signals {
    /// Starts to listen; from here on the signals no longer end the process by themselves.
    pub(crate) fn listen() -> io::Result<Self> {
        let hangup = !ignores_hangup();
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hangup: hangup.then(|| signal(SignalKind::hangup())).transpose()?,
            _too_large: signal(SignalKind::from_raw(FILE_TOO_LARGE.as_raw()))?,
        })
    }

    /// Waits for the next signal and returns its name.
    pub(crate) async fn next(&mut self) -> &'static str {
        let hangup = async {
            match &mut self.hangup {
                Some(hangup) => hangup.recv().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = self.interrupt.recv() => "SIGINT",
            _ = self.terminate.recv() => "SIGTERM",
            _ = hangup => "SIGHUP",
        }
    }

    /// Waits for an orderly stop, but no longer than [`GRACE_PERIOD`] and not past the next signal. A hangup
    /// does not count there: a terminal that is closed sends several, and nobody means it.
    pub(crate) async fn bound(
        &mut self,
        stop: impl Future<Output = ()>,
    ) -> Result<(), CommandError> {
        let again = async {
            tokio::select! {
                _ = self.interrupt.recv() => "SIGINT",
                _ = self.terminate.recv() => "SIGTERM",
            }
        };
        tokio::select! {
            () = stop => Ok(()),
            name = again => Err(CommandError::new(format!("stopped at once, on a second signal ({name})"))),
            () = tokio::time::sleep(GRACE_PERIOD) => {
                Err(CommandError::new(format!("gave up on an orderly stop after {} seconds", GRACE_PERIOD.as_secs())))
            }
        }
    }
}

/// Returns whether whoever started us wants hangups to be ignored, as `nohup` does. Only Linux tells.
fn ignores_hangup() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    // The lowest bit is signal 1, which is the hangup.
    ignored.is_some_and(|mask| mask & 1 == 1)
}
