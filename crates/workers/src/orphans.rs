//! Finding and ending children of a Pathline that was killed.
//!
//! Keepers see their Pathline go, and end what is below them. For the case that they were killed, too, two
//! traces lead to the others. Every child has a mark in its environment, which Linux shows in
//! `/proc`; and every group is written down with the start time of its leader, so that a process
//! that got the same number later is left alone.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use pathline_clock::instant;
use rustix::process::{
    Pid, Signal, kill_process_group, test_kill_process, test_kill_process_group,
};

use super::child::INSTANCE_MARK;
use super::keeper::KEEPER_MARK;

/// The time that killed processes may take to vanish.
const END_TIMEOUT: Duration = Duration::from_secs(20);
const PAUSE: Duration = Duration::from_millis(5);
/// The longest note of a group that is read.
const MAX_NOTE_BYTES: u64 = 4096;
/// The time-out for keepers whose Pathline is gone to end their commands.
const KEEPER_TIMEOUT: Duration = Duration::from_secs(10);

/// The error of orphans of an earlier run that do not end.
#[derive(Debug, thiserror::Error)]
#[error("processes of an earlier run do not end; kill them by hand, then start again")]
pub struct StillRunning;

/// Kills everything that an earlier Pathline on this data directory left running, and returns when
/// it is gone. Blocks.
pub(crate) fn end_all(instance: &str, runs: &Path) -> Result<(), StillRunning> {
    // Keepers know best what belongs to them, and are at it since their Pathline is gone.
    platform::wait_for_marked(mark(KEEPER_MARK, instance).as_bytes(), KEEPER_TIMEOUT);
    kill_marked(KEEPER_MARK, instance);
    let groups = recorded_groups(runs);
    for (group, _) in &groups {
        let _ = kill_process_group(*group, Signal::KILL);
    }
    let gone = kill_marked(INSTANCE_MARK, instance)
        && groups.iter().all(|(group, _)| wait_for_group(*group));
    if !gone {
        return Err(StillRunning);
    }
    for (_, record) in groups {
        let _ = fs::remove_file(record);
    }
    Ok(())
}

fn mark(name: &str, value: &str) -> String {
    format!("{name}={value}")
}

/// Kills every process with this mark until there is none left; says whether that worked. Blocks.
pub(crate) fn kill_marked(name: &str, value: &str) -> bool {
    let mark = mark(name, value);
    let deadline = instant() + END_TIMEOUT;
    while platform::kill_marked_once(mark.as_bytes()) > 0 {
        if instant() > deadline {
            return false;
        }
        std::thread::sleep(PAUSE);
    }
    true
}

/// Waits until a group that was killed runs no more; says whether that came true. Blocks.
///
/// A signal is sent at once and acted on a little later: until then a killed process still counts.
fn wait_for_group(group: Pid) -> bool {
    let deadline = instant() + END_TIMEOUT;
    // Killed members of a group that nobody reaps stay as zombies; those are no danger.
    while test_kill_process_group(group).is_ok() && platform::group_is_alive(group) {
        if instant() > deadline {
            return false;
        }
        std::thread::sleep(PAUSE);
    }
    true
}

/// The groups that were written down and still are what they were then. Stale notes are removed.
fn recorded_groups(runs: &Path) -> Vec<(Pid, PathBuf)> {
    let mut groups = Vec::new();
    for entry in fs::read_dir(runs).into_iter().flatten().flatten() {
        let path = entry.path();
        let group = entry
            .file_name()
            .to_str()
            .and_then(|name| name.parse().ok());
        let group = group
            .and_then(Pid::from_raw)
            .filter(|pid| *pid != Pid::INIT);
        match (group, read_note(&path)) {
            (Some(group), Ok(birth)) if is_still_ours(group, &birth) => groups.push((group, path)),
            _ => {
                let _ = fs::remove_file(&path);
            }
        }
    }
    groups
}

/// Reads a note. Whatever else is in its place, such as a pipe that nobody writes to, is none.
fn read_note(path: &Path) -> io::Result<String> {
    if !fs::symlink_metadata(path)?.is_file() {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut note = String::new();
    let file = fs::File::open(path)?;
    file.take(MAX_NOTE_BYTES).read_to_string(&mut note)?;
    Ok(note)
}

/// Tells whether the group is the one that was written down.
///
/// The number of a group is not given to a new process while the group has members, so a group
/// without a leader is ours if the machine was not restarted since.
fn is_still_ours(group: Pid, birth: &str) -> bool {
    if test_kill_process(group).is_ok() {
        platform::birth(group).is_ok_and(|now| now == birth)
    } else {
        platform::same_boot(birth)
    }
}

/// Tells whether a process runs, and is no zombie.
pub(crate) fn is_alive(pid: Pid) -> bool {
    platform::is_alive(pid)
}

/// A note that a group runs; gone when it is dropped.
#[derive(Debug)]
pub(crate) struct RunRecord {
    path: PathBuf,
    leader: Pid,
    birth: String,
}

impl RunRecord {
    /// Writes down the group that `leader` leads.
    pub(crate) fn write(runs: &Path, leader: Pid) -> io::Result<Self> {
        let (path, birth) = (runs.join(leader.to_string()), platform::birth(leader)?);
        fs::write(&path, &birth)?;
        Ok(Self {
            path,
            leader,
            birth,
        })
    }

    /// Kills the group, if it is still the one that was written down, and waits for its end. Blocks.
    pub(crate) fn kill_group(&self) {
        if is_still_ours(self.leader, &self.birth) {
            let _ = kill_process_group(self.leader, Signal::KILL);
            wait_for_group(self.leader);
        }
    }
}

impl Drop for RunRecord {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

#[cfg(target_os = "linux")]
mod platform {
    use std::fs;
    use std::io;
    use std::os::fd::OwnedFd;
    use std::time::Duration;

    use pathline_clock::instant;
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

    use crate::processes::{has_mark, is_dead, processes, stat};

    /// The time that one killed process may take to end before the others are looked at again.
    const TURN: Timespec = Timespec {
        tv_sec: 1,
        tv_nsec: 0,
    };

    /// Kills the processes whose environment has `mark`, waits for their end and returns how many
    /// there were.
    pub(super) fn kill_marked_once(mark: &[u8]) -> usize {
        let killed: Vec<_> = processes()
            .filter(|pid| has_mark(*pid, mark))
            .filter_map(|pid| kill_if_marked(pid, mark))
            .collect();
        for pinned in &killed {
            // Readable once the process has ended. Its mark cannot be seen a little earlier, so
            // to look for the mark alone would miss a process on its way out.
            let _ = poll(&mut [PollFd::new(pinned, PollFlags::IN)], Some(&TURN));
        }
        killed.len()
    }

    /// The number is pinned before the mark is looked at again, so it is never that of another.
    fn kill_if_marked(pid: Pid, mark: &[u8]) -> Option<OwnedFd> {
        let pinned = pidfd_open(pid, PidfdFlags::empty()).ok()?;
        if !has_mark(pid, mark) {
            return None;
        }
        let _ = pidfd_send_signal(&pinned, Signal::KILL);
        Some(pinned)
    }

    /// Waits until no process has `mark`, for a while.
    pub(super) fn wait_for_marked(mark: &[u8], timeout: Duration) {
        let deadline = instant() + timeout;
        for pid in processes().filter(|pid| has_mark(*pid, mark)) {
            let Ok(pinned) = pidfd_open(pid, PidfdFlags::empty()) else {
                continue;
            };
            // One that was stopped would wait for ever.
            if has_mark(pid, mark) {
                let _ = pidfd_send_signal(&pinned, Signal::CONT);
                let left = deadline.saturating_duration_since(instant());
                let left = Timespec::try_from(left).unwrap_or(TURN);
                let _ = poll(&mut [PollFd::new(&pinned, PollFlags::IN)], Some(&left));
            }
        }
    }

    pub(super) fn is_alive(pid: Pid) -> bool {
        stat(pid).is_ok_and(|fields| !is_dead(&fields))
    }

    /// Tells whether the group has a member that is not a zombie.
    pub(super) fn group_is_alive(group: Pid) -> bool {
        processes().any(|pid| {
            stat(pid).is_ok_and(|fields| {
                let member = fields.get(2).is_some_and(|pgrp| *pgrp == group.to_string());
                member && !is_dead(&fields)
            })
        })
    }

    /// Returns the time at which a process was started, in a form that no other process has: boot
    /// and clock ticks.
    pub(super) fn birth(pid: Pid) -> io::Result<String> {
        let started = stat(pid)?.get(19).cloned().unwrap_or_default();
        Ok(format!("{} {started}", boot()?))
    }

    pub(super) fn same_boot(birth: &str) -> bool {
        boot().is_ok_and(|boot| birth.starts_with(&boot))
    }

    fn boot() -> io::Result<String> {
        fs::read_to_string("/proc/sys/kernel/random/boot_id").map(|id| id.trim().to_owned())
    }
}

#[cfg(not(target_os = "linux"))]
mod platform {
    use std::io;
    use std::process::Command;
    use std::time::Duration;

    use rustix::process::{Pid, test_kill_process};

    /// Environments of other processes cannot be read here; the notes have to do.
    pub(super) fn kill_marked_once(_: &[u8]) -> usize {
        0
    }

    /// Keepers cannot be found here; what they keep is killed before they have done so.
    pub(super) fn wait_for_marked(_: &[u8], _: Duration) {}

    pub(super) fn is_alive(pid: Pid) -> bool {
        test_kill_process(pid).is_ok()
    }

    pub(super) fn group_is_alive(_: Pid) -> bool {
        true
    }

    pub(super) fn birth(pid: Pid) -> io::Result<String> {
        let asked = Command::new("ps")
            .args(["-o", "lstart=", "-p", &pid.to_string()])
            .output()?;
        Ok(String::from_utf8_lossy(&asked.stdout).trim().to_owned())
    }

    /// Without a leader there is no telling whose group it is.
    pub(super) fn same_boot(_: &str) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_another_process_has_now_is_left_alone() -> io::Result<()> {
        let dir = tempfile::tempdir()?;
        let mut stranger = std::process::Command::new("sleep").arg("600").spawn()?;
        let pid = Pid::from_child(&stranger);
        fs::write(dir.path().join(pid.to_string()), "another boot 17")?;
        fs::write(dir.path().join("not a number"), "x")?;
        let pipe = dir.path().join("4711");
        let made = std::process::Command::new("mkfifo").arg(pipe).status()?;
        assert!(made.success());
        end_all("no-such-instance", dir.path()).expect("nothing is ours");
        assert!(stranger.try_wait()?.is_none(), "it still runs");
        assert_eq!(
            fs::read_dir(dir.path())?.count(),
            0,
            "stale notes are removed"
        );
        stranger.kill()?;
        stranger.wait()?;
        Ok(())
    }
}
