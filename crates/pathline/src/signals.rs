//! SIGINT and SIGTERM: once to stop in order, twice to stop at once.

use std::future::Future;
use std::io;
use std::time::Duration;

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::report::Failure;

/// How long an orderly stop may take.
pub(crate) const GRACE: Duration = Duration::from_secs(20);

/// Listens for the signals that ask for a stop.
pub(crate) struct Signals {
    interrupt: Signal,
    terminate: Signal,
}

impl Signals {
    /// Starts to listen; from here on the signals no longer end the process by themselves.
    pub(crate) fn listen() -> io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
        })
    }

    /// Waits for the next signal and returns its name.
    pub(crate) async fn next(&mut self) -> &'static str {
        tokio::select! {
            _ = self.interrupt.recv() => "SIGINT",
            _ = self.terminate.recv() => "SIGTERM",
        }
    }

    /// Waits for an orderly stop, but no longer than [`GRACE`] and not past the next signal.
    pub(crate) async fn bound(&mut self, stop: impl Future<Output = ()>) -> Result<(), Failure> {
        tokio::select! {
            () = stop => Ok(()),
            name = self.next() => Err(Failure::new(format!("stopped at once, on a second signal ({name})"))),
            () = tokio::time::sleep(GRACE) => {
                Err(Failure::new(format!("gave up on an orderly stop after {} seconds", GRACE.as_secs())))
            }
        }
    }
}
