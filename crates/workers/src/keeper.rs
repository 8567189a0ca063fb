//! Keepers: one small process above every command, below which everything the command starts stays.
//!
//! A process may leave its group, its session and its environment behind, but not its ancestors: when its
//! parent ends, it goes to the nearest ancestor that takes orphans in. The keeper is that ancestor. What
//! is below it belongs to the command, and it ends all of it when the command exits, when it is told to,
//! and when the Pathline that started it is gone for whatever reason.
//!
//! Pathline and a keeper talk over a socket, one line of JSON at a time: [`Order`]s down, [`Report`]s up.
//! The decision is `docs/decisions/0003-a-keeper-above-every-command.md`.

mod keep;

use std::ffi::OsString;
use std::io::{self, BufRead, Write};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use rustix::process::{Resource, getrlimit};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::child::Exit;
pub use keep::keep;

/// Marks every keeper with the data directory it belongs to.
pub(super) const KEEPER_MARK: &str = "PATHLINE_KEEPER";
/// The name under which a keeper is listed: other than that of Pathline, so that who kills Pathline by
/// name does not kill those who clean up after it.
const LISTED_AS: &str = "command-keeper";

/// The program that calls [`keep`], and its arguments.
#[derive(Clone, Debug)]
pub struct Keeper {
    /// The program.
    pub program: PathBuf,
    /// The arguments that make it call [`keep`].
    pub arguments: Vec<OsString>,
    /// The soft limit of open files of a command; without one it is the hard limit.
    pub descriptors: Option<u64>,
}

impl Keeper {
    /// The one argument by which an executable knows that it is to call [`keep`].
    pub const ARGUMENT: &str = "keep-command";

    /// Starts a keeper. What the command prints goes to `output`.
    pub(super) fn start(
        &self,
        instance: &str,
        output: io::PipeWriter,
    ) -> io::Result<(Child, UnixStream)> {
        let (ours, theirs) = UnixStream::pair()?;
        let keeper = Command::new(&self.program)
            .arg0(LISTED_AS)
            .args(&self.arguments)
            .env_clear()
            .env(KEEPER_MARK, instance)
            .current_dir("/")
            // A terminal that interrupts Pathline must not reach it.
            .process_group(0)
            .stdin(Stdio::from(std::os::fd::OwnedFd::from(theirs)))
            .stdout(Stdio::null())
            .stderr(output)
            .spawn();
        let keeper = keeper.map_err(|error| self.explain(error))?;
        Ok((keeper, ours))
    }
}

impl Keeper {
    /// Says what is missing where a system has no `/proc`, by which this very executable is found.
    fn explain(&self, error: io::Error) -> io::Error {
        let is_own = self.program.starts_with("/proc");
        if is_own && error.kind() == io::ErrorKind::NotFound {
            let message = "there is no /proc here, by which commands are started; mount it";
            return io::Error::new(io::ErrorKind::NotFound, message);
        }
        error
    }
}

impl Default for Keeper {
    /// This very executable, also when its file was replaced since, and the limit of open files that it has now:
    /// one that raises its own later raises it for itself alone.
    fn default() -> Self {
        let own = if cfg!(target_os = "linux") {
            "/proc/self/exe".into()
        } else {
            std::env::current_exe().unwrap_or_else(|_| "pathline".into())
        };
        Self {
            program: own,
            arguments: vec![Self::ARGUMENT.into()],
            descriptors: getrlimit(Resource::Nofile).current,
        }
    }
}

/// A message from Pathline to a keeper. The end of orders is an order, too: to end everything.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Order {
    /// The first, and only once.
    Start(Box<Start>),
    /// Ask the group of the command to end.
    Terminate,
    /// End everything.
    Kill,
}

/// The command to start.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Start {
    pub(super) command: Vec<String>,
    /// The whole environment.
    pub(super) environment: Vec<(OsString, OsString)>,
    pub(super) directory: OsString,
    /// The soft limit of open files.
    pub(super) descriptors: Option<u64>,
}

/// A message from a keeper to Pathline. Its own end says that nothing is left.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Report {
    /// The command runs under this number.
    Started(i32),
    /// The command cannot be run.
    Refused { code: Option<i32>, message: String },
    /// The command has ended, and what it left behind is being ended.
    Exited(Exit),
}

/// Sends a message as one line of JSON.
pub(super) fn send(socket: &UnixStream, message: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    let mut socket = socket;
    socket.write_all(&line)
}

/// Receives one line; nothing when the other end is gone.
pub(super) fn receive<T: DeserializeOwned>(lines: &mut impl BufRead) -> io::Result<Option<T>> {
    let mut line = String::new();
    if lines.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    Ok(Some(serde_json::from_str(&line)?))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// In a process that other tests start it is a keeper; in any other it is refused.
    #[test]
    fn nobody_but_pathline_starts_a_keeper() {
        let is_started = std::env::var_os(KEEPER_MARK).is_some();
        assert_eq!(keep().is_ok(), is_started);
    }

    /// Returns a keeper that is this test executable.
    pub(crate) fn keeper() -> Keeper {
        let test = "keeper::tests::nobody_but_pathline_starts_a_keeper";
        let arguments = ["--exact", test];
        Keeper {
            arguments: arguments.map(Into::into).to_vec(),
            ..Keeper::default()
        }
    }
}
