//! Tells whose socket answers on a port of this machine.

use std::collections::BTreeSet;

use super::child::RunHandle;

/// Whoever gets a connection to a port of 127.0.0.1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Answerer {
    /// No socket listens.
    Nobody,
    /// The run that was asked about, by these sockets.
    Run(BTreeSet<u64>),
    /// Another program.
    Stranger(Stranger),
    /// The system does not tell.
    Unknown,
}

/// A program that listens on a port which somebody else wants.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Stranger {
    /// The process, unless it is hidden from this user.
    pub(super) pid: Option<i64>,
    /// The process group, by which a run of Pathline is known.
    pub(super) group: Option<i64>,
    /// The name of the program.
    pub(super) program: Option<String>,
}

impl Stranger {
    /// Says who has the port, and what to do about it; `process` is the `Process` it runs for.
    pub(super) fn describe(&self, port: u16, process: Option<&str>) -> String {
        let program = self.program.as_deref().unwrap_or("a program");
        match (self.pid, process) {
            (Some(pid), Some(process)) => format!(
                "port {port} is taken by process `{process}` (`{program}`, pid {pid}); stop that, or choose another port"
            ),
            (Some(pid), None) => format!(
                "port {port} is taken by `{program}` (pid {pid}); stop that, or choose another port"
            ),
            (None, _) => format!(
                "port {port} is taken by a program that cannot be seen from here; stop it, or choose another port"
            ),
        }
    }
}

/// Returns who gets a connection to `port` of 127.0.0.1. Blocks.
///
/// A socket belongs to the run if one of its processes has it open: the command itself, or whatever
/// else is below its keeper.
pub(super) fn answerer(port: u16, run: Option<&RunHandle>) -> Answerer {
    platform::answerer(port, run)
}

/// Returns who listens on `port`, on whatever address, as far as that can be told. Blocks.
pub(super) fn holder(port: u16) -> Option<Stranger> {
    platform::holder(port)
}

#[cfg(target_os = "linux")]
mod platform {
    use std::collections::BTreeSet;
    use std::fs::File;
    use std::io::{self, Read};

    use rustix::process::{Pid, getpid};

    use super::{Answerer, Stranger};
    use crate::child::RunHandle;
    use crate::listeners::{Listener, answering, listening};
    use crate::processes::{descendants, is_dead, processes, program, sockets, stat};

    /// The number of bytes of a table of sockets that are read. Linux lists those that listen
    /// first, so what is cut off are connections.
    const MAX_TABLE_BYTES: u64 = 4 << 20;

    pub(super) fn answerer(port: u16, run: Option<&RunHandle>) -> Answerer {
        let Ok(listeners) = listeners(port) else {
            return Answerer::Unknown;
        };
        let wanted = answering(&listeners);
        if wanted.is_empty() {
            return Answerer::Nobody;
        }
        let mut search = Search::new(wanted.clone());
        if run.is_some_and(|run| search.is_held_by(run)) {
            return Answerer::Run(wanted);
        }
        match search.stranger() {
            None if search.is_hindered => Answerer::Unknown,
            stranger => Answerer::Stranger(stranger.unwrap_or_default()),
        }
    }

    pub(super) fn holder(port: u16) -> Option<Stranger> {
        let listeners = listeners(port).ok()?;
        let wanted: BTreeSet<_> = listeners.iter().map(|it| it.inode).collect();
        let is_free = wanted.is_empty();
        (!is_free).then(|| Search::new(wanted).stranger().unwrap_or_default())
    }

    fn listeners(port: u16) -> io::Result<Vec<Listener>> {
        let mut found = listening(&table("/proc/net/tcp")?, port);
        // Without IPv6 there is no such table.
        found.extend(listening(
            &table("/proc/net/tcp6").unwrap_or_default(),
            port,
        ));
        Ok(found)
    }

    fn table(path: &str) -> io::Result<String> {
        let mut text = Vec::new();
        File::open(path)?
            .take(MAX_TABLE_BYTES)
            .read_to_end(&mut text)?;
        Ok(String::from_utf8_lossy(&text).into_owned())
    }

    /// A search for the processes that have sockets open.
    struct Search {
        /// The sockets of which nobody of the run is known to have them.
        missing: BTreeSet<u64>,
        /// Whether a process of the run did not show what it has open.
        is_hindered: bool,
    }

    impl Search {
        fn new(wanted: BTreeSet<u64>) -> Self {
            Self {
                missing: wanted,
                is_hindered: false,
            }
        }

        /// Tells whether each socket is open in a process of the run; the likely ones are tried
        /// first.
        fn is_held_by(&mut self, run: &RunHandle) -> bool {
            self.take_from(run.leader()) || self.take_from_descendants(run)
        }

        fn take_from_descendants(&mut self, run: &RunHandle) -> bool {
            let is_alive = |pid: &Pid| stat(*pid).is_ok_and(|fields| !is_dead(&fields));
            descendants(run.keeper())
                .into_iter()
                .map(|(pid, _)| pid)
                .filter(is_alive)
                .any(|pid| self.take_from(pid))
        }

        /// Takes the sockets of a process off the list; returns whether that was the last of them.
        fn take_from(&mut self, pid: Pid) -> bool {
            match sockets(pid) {
                Ok(open) => self.missing.retain(|inode| !open.contains(inode)),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(_) => self.is_hindered = true,
            }
            self.missing.is_empty()
        }

        /// Returns the first process that has one of the sockets open, be it our own.
        fn stranger(&self) -> Option<Stranger> {
            let has_one = |pid: &Pid| {
                let open = sockets(*pid);
                open.is_ok_and(|open| !open.is_disjoint(&self.missing))
            };
            let pid = std::iter::once(getpid()).chain(processes()).find(has_one)?;
            let group = stat(pid).ok().and_then(|it| it.get(2)?.parse().ok());
            Some(Stranger {
                pid: Some(pid.as_raw_nonzero().get().into()),
                group,
                program: program(pid),
            })
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod platform {
    use super::{Answerer, Stranger};
    use crate::child::RunHandle;

    /// Open files of other processes cannot be seen here.
    pub(super) fn answerer(_: u16, _: Option<&RunHandle>) -> Answerer {
        Answerer::Unknown
    }

    pub(super) fn holder(_: u16) -> Option<Stranger> {
        None
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::net::TcpListener;
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_port_of_our_own_is_a_strangers_to_a_run() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let Answerer::Stranger(stranger) = answerer(port, None) else {
            panic!("somebody listens on {port}");
        };
        assert_eq!(stranger.pid, Some(std::process::id().into()));
        assert!(stranger.program.is_some());
        assert_eq!(holder(port), Some(stranger));
        drop(listener);
        // A test beside this one that starts a program shares the socket until that program is loaded.
        while answerer(port, None) != Answerer::Nobody {
            std::thread::sleep(Duration::from_millis(10));
        }
        assert_eq!(holder(port), None);
    }

    #[test]
    fn whoever_has_a_port_is_named_as_far_as_that_is_known() {
        let mut stranger = Stranger::default();
        assert_eq!(
            stranger.describe(80, None),
            "port 80 is taken by a program that cannot be seen from here; stop it, or choose another port"
        );
        stranger.pid = Some(7);
        stranger.program = Some("nginx".into());
        assert_eq!(
            stranger.describe(80, None),
            "port 80 is taken by `nginx` (pid 7); stop that, or choose another port"
        );
        assert_eq!(
            stranger.describe(80, Some("default/web")),
            "port 80 is taken by process `default/web` (`nginx`, pid 7); stop that, or choose another port"
        );
    }
}
