//! A program at the other end: the server's side of git, on this machine or behind ssh.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::rc::Rc;
use std::time::{Duration, Instant};

use gix::url::{ArgumentSafety, Scheme};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, kill_process_group};

use super::guard::{Guard, timed_out};
use super::{Service, Version};

/// As much of what the program says as helps.
const MAX_SAID: usize = 2000;
/// The bytes that a pipe takes at once when it takes any (`PIPE_BUF` of POSIX is 512 or more).
const PIPE_BYTES: usize = 512;
/// The time-out for a program to exit by itself when its output is not wanted any more.
const GRACE: Duration = Duration::from_secs(2);

/// The variables that tell git where a repository is: those of this program are not meant.
const LOCAL_VARIABLES: [&str; 13] = [
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_CONFIG",
    "GIT_CONFIG_COUNT",
    "GIT_CONFIG_PARAMETERS",
    "GIT_DIR",
    "GIT_GRAFT_FILE",
    "GIT_INDEX_FILE",
    "GIT_NAMESPACE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PROTOCOL",
    "GIT_SHALLOW_FILE",
    "GIT_WORK_TREE",
];

/// A running program, with all that it started. It is ended when this is dropped.
pub(in crate::git) struct Process {
    pipes: BufReader<Pipes>,
    child: Child,
}

impl Process {
    /// Starts the service for a `file://` or `ssh://` URL.
    pub(super) fn start(
        url: &gix::Url,
        service: Service,
        version: Version,
        guard: Rc<Guard>,
    ) -> io::Result<Self> {
        let mut command = match url.scheme {
            Scheme::Ssh => over_ssh(url, service)?,
            _ => on_this_machine(url, service),
        };
        for name in LOCAL_VARIABLES {
            command.env_remove(name);
        }
        if version == Version::V2 {
            command.env("GIT_PROTOCOL", "version=2");
        }
        // A group of its own, so that what it starts ends with it.
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()
            .map_err(|failed| {
                let program = command.get_program().display();
                io::Error::new(failed.kind(), format!("cannot start `{program}`: {failed}"))
            })?;
        let pipes = Pipes {
            input: child.stdin.take(),
            output: child.stdout.take().expect("it is piped"),
            complaints: child.stderr.take(),
            said: Vec::new(),
            guard,
        };
        let pipes = BufReader::with_capacity(64 << 10, pipes);
        Ok(Self { pipes, child })
    }

    /// Gives the program a moment to end by itself.
    pub(super) fn finish(mut self) {
        self.pipes.get_mut().close();
    }

    /// Sends a request.
    pub(super) fn send(&mut self, request: &[u8]) -> io::Result<()> {
        self.pipes.get_mut().write_all(request)
    }
}

impl Read for Process {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.pipes.read(buffer)
    }
}

impl BufRead for Process {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.pipes.fill_buf()
    }

    fn consume(&mut self, count: usize) {
        self.pipes.consume(count);
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It was not waited for yet, so its number cannot be another one's.
        if let Some(group) = Pid::from_raw(self.child.id().cast_signed()) {
            // It may have ended by itself.
            let _ = kill_process_group(group, Signal::KILL);
        }
        let _ = self.child.wait();
    }
}

/// The three pipes of a program. None of them is ever waited for beyond the deadline.
struct Pipes {
    input: Option<ChildStdin>,
    output: ChildStdout,
    complaints: Option<ChildStderr>,
    said: Vec<u8>,
    guard: Rc<Guard>,
}

impl Pipes {
    /// Ends the input and waits for the end of the output, for a moment.
    fn close(&mut self) {
        self.input = None;
        let mut rest = [0; 4096];
        let end = Instant::now() + self.guard.remaining().unwrap_or_default().min(GRACE);
        while let Some(left) = end.checked_duration_since(Instant::now())
            && let Ok(true) = wait_for(&[(self.output.as_fd(), PollFlags::IN)], left)
            && let Ok(1..) = self.output.read(&mut rest)
        {}
    }

    /// Keeps the beginning of what the program complains about.
    fn listen(&mut self) -> io::Result<()> {
        let Some(complaints) = &mut self.complaints else {
            return Ok(());
        };
        if !wait_for(&[(complaints.as_fd(), PollFlags::IN)], Duration::ZERO)? {
            return Ok(());
        }
        let mut buffer = [0; 4096];
        let count = complaints.read(&mut buffer)?;
        let room = MAX_SAID - self.said.len();
        self.said.extend_from_slice(&buffer[..count.min(room)]);
        if count == 0 {
            self.complaints = None;
        }
        Ok(())
    }

    /// Explains why there is no more to read.
    fn ended(&mut self) -> io::Error {
        let end = Instant::now() + self.guard.remaining().unwrap_or_default().min(GRACE);
        while let Some(left) = end.checked_duration_since(Instant::now())
            && let Some(complaints) = &self.complaints
            && let Ok(true) = wait_for(&[(complaints.as_fd(), PollFlags::IN)], left)
            && self.listen().is_ok()
            && self.said.len() < MAX_SAID
        {}
        let said = String::from_utf8_lossy(&self.said);
        let said = said.trim().replace('\n', "; ");
        let told = match said.as_str() {
            "" => "the connection was closed".to_owned(),
            said => format!("the connection was closed: {said}"),
        };
        io::Error::new(io::ErrorKind::UnexpectedEof, told)
    }
}

impl Read for Pipes {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let left = self.guard.remaining()?;
            let mut wanted = vec![(self.output.as_fd(), PollFlags::IN)];
            wanted.extend(self.complaints.iter().map(|it| (it.as_fd(), PollFlags::IN)));
            if !wait_for(&wanted, left)? {
                return Err(timed_out());
            }
            self.listen()?;
            if wait_for(&[(self.output.as_fd(), PollFlags::IN)], Duration::ZERO)? {
                let count = self.output.read(buffer)?;
                self.guard.spend(count)?;
                return if count > 0 {
                    Ok(count)
                } else {
                    Err(self.ended())
                };
            }
        }
    }
}

impl Write for Pipes {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        loop {
            let left = self.guard.remaining()?;
            let Some(input) = &self.input else {
                return Err(io::ErrorKind::BrokenPipe.into());
            };
            let mut wanted = vec![(input.as_fd(), PollFlags::OUT)];
            wanted.extend(self.complaints.iter().map(|it| (it.as_fd(), PollFlags::IN)));
            if !wait_for(&wanted, left)? {
                return Err(timed_out());
            }
            if wait_for(&[(input.as_fd(), PollFlags::OUT)], Duration::ZERO)? {
                let piece = &bytes[..bytes.len().min(PIPE_BYTES)];
                let written = self.input.as_mut().map(|it| it.write(piece));
                return match written {
                    Some(Err(failed)) if failed.kind() == io::ErrorKind::BrokenPipe => {
                        Err(self.ended())
                    }
                    other => other.unwrap_or(Ok(0)),
                };
            }
            self.listen()?;
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Waits until one of the pipes is ready, and tells whether one is.
fn wait_for(pipes: &[(BorrowedFd<'_>, PollFlags)], patience: Duration) -> io::Result<bool> {
    let end = Instant::now() + patience;
    let mut pipes: Vec<_> = pipes
        .iter()
        .map(|(pipe, what)| PollFd::from_borrowed_fd(*pipe, *what))
        .collect();
    loop {
        let left = end.saturating_duration_since(Instant::now());
        let left = Timespec::try_from(left).map_err(io::Error::other)?;
        match poll(&mut pipes, Some(&left)) {
            Ok(ready) => return Ok(ready > 0),
            Err(rustix::io::Errno::INTR) => {}
            Err(failed) => return Err(failed.into()),
        }
    }
}

fn on_this_machine(url: &gix::Url, service: Service) -> Command {
    let mut command = Command::new("git");
    command
        .arg(service.command())
        .arg(std::ffi::OsStr::from_bytes(&url.path));
    command
}

/// Nobody is asked for a password, and ssh gives up rather than hang.
fn over_ssh(url: &gix::Url, service: Service) -> io::Result<Command> {
    let refused = |what| io::Error::other(format!("the {what} looks like an option of ssh"));
    let ArgumentSafety::Usable(host) = url.host_as_argument() else {
        return Err(refused("host"));
    };
    let destination = match url.user_as_argument() {
        ArgumentSafety::Usable(user) => format!("{user}@{host}"),
        ArgumentSafety::Absent => host.to_owned(),
        ArgumentSafety::Dangerous(_) => return Err(refused("user")),
    };
    let path = gix::url::expand_path::for_shell(url.path.clone());
    if path.starts_with(b"-") {
        return Err(refused("path"));
    }
    let mut command = Command::new("ssh");
    command
        .args(["-o", "BatchMode=yes", "-o", "ConnectTimeout=20"])
        .args(["-o", "ServerAliveInterval=20", "-o", "SendEnv=GIT_PROTOCOL"])
        .envs([("LANG", "C"), ("LC_ALL", "C")]);
    if let Some(port) = url.port {
        command.args(["-p", &port.to_string()]);
    }
    command.args([&destination, service.name()]);
    command.arg(std::ffi::OsStr::from_bytes(&gix::quote::single(
        path.as_ref(),
    )));
    Ok(command)
}
