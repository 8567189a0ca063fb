//! The main function of a keeper.

use std::io::{self, BufReader};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use parking_lot::Mutex;
use rustix::io::Errno;
use rustix::process::{
    Pid, Resource, Rlimit, Signal, WaitId, WaitIdOptions, WaitOptions, WaitStatus, getrlimit,
    kill_process_group, setrlimit, wait, waitid,
};

use super::{KEEPER_MARK, Order, Report, Start, receive, send};
use crate::child::Exit;

/// The time between two looks at what does not end at once.
const PAUSE: Duration = Duration::from_millis(2);

/// The command, for as long as its number is its own.
type Leader = Arc<Mutex<Option<Pid>>>;

/// Keeps one command for the Pathline at the other end of the standard input, and returns when nothing
/// of it is left.
///
/// # Errors
///
/// Fails when no Pathline started it, or that is gone before it said what to start.
pub fn keep() -> io::Result<()> {
    if std::env::var_os(KEEPER_MARK).is_none() {
        return Err(io::Error::new(
            io::ErrorKind::Unsupported,
            "only Pathline starts a keeper",
        ));
    }
    platform::take_orphans_in()?;
    let socket = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    let mut orders = BufReader::new(socket.try_clone()?);
    let Some(Order::Start(start)) = receive(&mut orders)? else {
        return Err(io::ErrorKind::UnexpectedEof.into());
    };
    let pid = match spawn(*start) {
        Ok(pid) => pid,
        Err(error) => return refuse(&socket, &error),
    };
    let leader = Leader::new(Mutex::new(Some(pid)));
    let told = leader.clone();
    let obey = move || obey(orders, &told);
    let obeyed = thread::Builder::new().name("orders".into()).spawn(obey);
    if let Err(error) = obeyed {
        let _ = kill_process_group(pid, Signal::KILL);
        end_rest();
        return refuse(&socket, &error);
    }
    // A Pathline that is gone hears nothing; that is an order, and obeyed on the other thread.
    let _ = send(&socket, &Report::Started(pid.as_raw_nonzero().get()));
    let exit = wait_for(pid, &leader);
    let _ = send(&socket, &Report::Exited(exit));
    end_rest();
    Ok(())
}

fn spawn(start: Start) -> io::Result<Pid> {
    let (program, arguments) = start
        .command
        .split_first()
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "the command is empty"))?;
    limit_descriptors(start.descriptors)?;
    let output = io::stderr().as_fd().try_clone_to_owned()?;
    let child = Command::new(program)
        .args(arguments)
        .env_clear()
        .envs(start.environment)
        .current_dir(start.directory)
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(output.try_clone()?)
        .stderr(output)
        .spawn()?;
    Ok(Pid::from_child(&child))
}

/// Sets the limit of open files for the command; a keeper itself needs few.
fn limit_descriptors(wanted: Option<u64>) -> io::Result<()> {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    let current = wanted.or(maximum);
    Ok(setrlimit(Resource::Nofile, Rlimit { current, maximum })?)
}

fn refuse(socket: &UnixStream, error: &io::Error) -> io::Result<()> {
    let (code, message) = (error.raw_os_error(), error.to_string());
    send(socket, &Report::Refused { code, message })
}

/// Does what Pathline says. When it says nothing any more, everything is to end.
fn obey(mut orders: BufReader<UnixStream>, leader: &Leader) {
    while let Ok(Some(Order::Terminate)) = receive(&mut orders) {
        signal(leader, Signal::TERM);
    }
    while signal(leader, Signal::KILL) {
        platform::kill_descendants();
        thread::sleep(PAUSE);
    }
}

/// Signals the group of the command; says whether that still runs.
fn signal(leader: &Leader, signal: Signal) -> bool {
    let leader = leader.lock();
    if let Some(group) = *leader {
        let _ = kill_process_group(group, signal);
    }
    leader.is_some()
}

/// Waits for the end of the command, and buries the orphans that end before it.
fn wait_for(pid: Pid, leader: &Leader) -> Exit {
    let peek = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    loop {
        let _ = waitid(WaitId::All, peek);
        // Whoever signals the group holds this, too: until it is buried its number is its own.
        let mut leader = leader.lock();
        if let Ok(Some(_)) = waitid(WaitId::Pid(pid), peek | WaitIdOptions::NOHANG) {
            let _ = kill_process_group(pid, Signal::KILL);
        }
        match wait(WaitOptions::NOHANG) {
            Ok(Some((ended, status))) if ended == pid => {
                *leader = None;
                return exit_of(status);
            }
            Err(Errno::CHILD) => {
                *leader = None;
                return Exit::Signal(Signal::KILL.as_raw());
            }
            _ => {}
        }
    }
}

/// Ends what the command left behind. Without children there are no descendants.
fn end_rest() {
    loop {
        match wait(WaitOptions::NOHANG) {
            Ok(Some(_)) | Err(Errno::INTR) => {}
            Ok(None) => {
                platform::kill_descendants();
                thread::sleep(PAUSE);
            }
            Err(_) => return,
        }
    }
}

fn exit_of(status: WaitStatus) -> Exit {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => Exit::Code(code),
        (None, signal) => Exit::Signal(signal.unwrap_or_default()),
    }
}

#[cfg(target_os = "linux")]
mod platform {
    use std::io;

    use rustix::process::{
        PidfdFlags, Signal, getpid, pidfd_open, pidfd_send_signal, set_child_subreaper,
    };

    use crate::processes::{descendants, parent};

    pub(super) fn take_orphans_in() -> io::Result<()> {
        Ok(set_child_subreaper(Some(getpid()))?)
    }

    /// Kills everything below this process that is there now.
    pub(super) fn kill_descendants() {
        for (pid, of) in descendants(getpid()) {
            // The number is pinned before it is looked at again, so it is never that of another.
            if let Ok(pinned) = pidfd_open(pid, PidfdFlags::empty())
                && parent(pid) == Some(of)
            {
                let _ = pidfd_send_signal(&pinned, Signal::KILL);
            }
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod platform {
    use std::io;

    /// Orphans go elsewhere here; the group has to do.
    pub(super) fn take_orphans_in() -> io::Result<()> {
        Ok(())
    }

    pub(super) fn kill_descendants() {}
}
