//! Reads the process table of Linux from `/proc`.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::io::{self, Read};
use std::time::Duration;

use rustix::process::Pid;

/// The number of open files of one process that are looked at.
const MAX_DESCRIPTORS: usize = 1 << 16;
/// The length of the name that Linux keeps of a program, with its line end.
const MAX_PROGRAM_NAME: u64 = 64;
/// The number of reads of a process that does not show its environment, and the pause between them.
const MAX_READS: u32 = 50;
const READ_PAUSE: Duration = Duration::from_millis(2);
/// `PF_KTHREAD`, in the flags of a process.
const KERNEL_THREAD: u64 = 0x0020_0000;

/// Tells whether the environment of a process has `mark`.
///
/// A process that becomes another program just now shows no environment, or the beginning of
/// one, for a moment. Taking that for an answer would let it get away.
pub(super) fn has_mark(pid: Pid, mark: &[u8]) -> bool {
    for _ in 0..MAX_READS {
        let Ok(environment) = fs::read(format!("/proc/{pid}/environ")) else {
            return false;
        };
        if environment.split(|byte| *byte == 0).any(|it| it == mark) {
            return true;
        }
        if stat(pid).is_ok_and(|fields| shows_all(&fields, environment.len())) {
            return false;
        }
        std::thread::sleep(READ_PAUSE);
    }
    false
}

/// Tells whether an environment of `length` bytes is all there is to see of a process.
fn shows_all(stat: &[String], length: usize) -> bool {
    let number = |index: usize| stat.get(index)?.parse::<u64>().ok();
    let has_none = is_dead(stat) || number(6).is_some_and(|flags| flags & KERNEL_THREAD != 0);
    match (number(24), number(47), number(48)) {
        _ if has_none => true,
        // Where the code of a program ends is known last, when its environment lies ready.
        (Some(0), ..) => !tells_of_programs(),
        (_, Some(start), Some(end)) => end.checked_sub(start) == u64::try_from(length).ok(),
        _ => true,
    }
}

/// Tells whether this kernel says where the code of a program ends: it ends somewhere for our own.
fn tells_of_programs() -> bool {
    stat(rustix::process::getpid()).is_ok_and(|own| own.get(24).is_some_and(|end| end != "0"))
}

/// Tells whether a process has ended and only waits to be reaped.
pub(super) fn is_dead(stat: &[String]) -> bool {
    matches!(stat.first().map(String::as_str), Some("Z" | "X"))
}

/// All processes but our own.
pub(super) fn processes() -> impl Iterator<Item = Pid> {
    let own = rustix::process::getpid();
    fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| {
            entry
                .file_name()
                .to_str()?
                .parse()
                .ok()
                .and_then(Pid::from_raw)
        })
        .filter(move |pid| *pid != own)
}

/// The fields of `/proc/<pid>/stat` from the state on; the name before may contain anything.
pub(super) fn stat(pid: Pid) -> io::Result<Vec<String>> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat"))?;
    let fields = text.rsplit_once(") ").map_or("", |(_, fields)| fields);
    Ok(fields.split_whitespace().map(Into::into).collect())
}

/// Returns the parent of a process.
pub(super) fn parent(pid: Pid) -> Option<Pid> {
    Pid::from_raw(stat(pid).ok()?.get(1)?.parse().ok()?)
}

/// Returns the processes that descend from one, each with its parent.
pub(super) fn descendants(ancestor: Pid) -> Vec<(Pid, Pid)> {
    let mut children: HashMap<Pid, Vec<Pid>> = HashMap::new();
    for pid in processes() {
        if let Some(parent) = parent(pid) {
            children.entry(parent).or_default().push(pid);
        }
    }
    let mut found = Vec::new();
    let mut parents = vec![ancestor];
    while let Some(parent) = parents.pop() {
        let of_parent = children.remove(&parent).unwrap_or_default();
        found.extend(of_parent.iter().map(|pid| (*pid, parent)));
        parents.extend(of_parent);
    }
    found
}

/// Returns the inodes of the sockets that a process has open.
pub(super) fn sockets(pid: Pid) -> io::Result<BTreeSet<u64>> {
    let mut sockets = BTreeSet::new();
    for (count, entry) in fs::read_dir(format!("/proc/{pid}/fd"))?.enumerate() {
        if count >= MAX_DESCRIPTORS {
            return Err(io::Error::other("too many open files to look at"));
        }
        // A file may be closed between the listing and this.
        let target = fs::read_link(entry?.path()).unwrap_or_default();
        sockets.extend(target.to_str().and_then(socket_inode));
    }
    Ok(sockets)
}

/// Reads the target of a link such as `socket:[4711]`.
fn socket_inode(target: &str) -> Option<u64> {
    let inode = target.strip_prefix("socket:[")?.strip_suffix(']')?;
    inode.parse().ok()
}

/// Returns the name of the program that a process runs, as Linux shortens it.
///
/// The arguments are left alone: they may hold secrets.
pub(super) fn program(pid: Pid) -> Option<String> {
    let file = fs::File::open(format!("/proc/{pid}/comm")).ok()?;
    let mut name = Vec::new();
    file.take(MAX_PROGRAM_NAME).read_to_end(&mut name).ok()?;
    let name = String::from_utf8_lossy(&name);
    let name: String = name.trim().chars().filter(|it| !it.is_control()).collect();
    Some(name).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_links_to_sockets_have_an_inode() {
        for (target, expected) in [
            ("socket:[4711]", Some(4711)),
            ("pipe:[4711]", None),
            ("socket:[]", None),
            ("socket:[-1]", None),
            ("socket:[4711] (deleted)", None),
            ("/tmp/socket:[4711]", None),
        ] {
            assert_eq!(socket_inode(target), expected, "{target}");
        }
    }

    #[test]
    fn a_process_has_the_sockets_it_opened_and_a_name() -> io::Result<()> {
        let own = rustix::process::getpid();
        let before = sockets(own)?;
        let _listener = std::net::TcpListener::bind("127.0.0.1:0")?;
        assert!(sockets(own)?.difference(&before).count() >= 1);
        assert!(program(own).is_some());
        Ok(())
    }
}
