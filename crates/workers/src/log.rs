//! Logs of children: the newest part on disk, the very end in memory.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;

/// The number of bytes of the end that a status shows.
const TAIL_BYTES: usize = 2048;
/// The number of logs of former runs that are kept beside the newest.
const FORMER_LOGS: usize = 5;

/// A log file that never takes more than its limit.
///
/// When half of the limit is full, that half is kept as `<name>.log.old` and a new one is begun, so
/// at least the last half of what the limit allows can always be read.
pub(crate) struct Log {
    path: PathBuf,
    file: File,
    half: u64,
    size: u64,
    tail: Tail,
}

/// The end of a log, shared with whoever writes the status.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tail(Arc<Mutex<Vec<u8>>>);

impl Log {
    /// Starts a new log, and drops the oldest ones beside it.
    pub(crate) fn create(path: &Path, limit: u64) -> io::Result<Self> {
        if let Some(directory) = path.parent() {
            fs::create_dir_all(directory)?;
            remove_former(directory, path)?;
        }
        let _ = fs::remove_file(old(path));
        let file = File::create(path)?;
        let half = (limit / 2).max(1);
        Ok(Self {
            path: path.to_owned(),
            file,
            half,
            size: 0,
            tail: Tail::default(),
        })
    }

    /// The end of what was written so far, also after the log is gone.
    pub(crate) fn tail(&self) -> Tail {
        self.tail.clone()
    }

    /// Adds output. A full disk must not stop the child, so the tail is kept even if writing fails.
    pub(crate) fn append(&mut self, output: &[u8]) -> io::Result<()> {
        self.tail.push(output);
        let mut rest = output;
        while !rest.is_empty() {
            if self.size >= self.half {
                fs::rename(&self.path, old(&self.path))?;
                self.file = File::create(&self.path)?;
                self.size = 0;
            }
            let room = usize::try_from(self.half - self.size).unwrap_or(usize::MAX);
            let (now, later) = rest.split_at(rest.len().min(room));
            self.file.write_all(now)?;
            self.size += now.len() as u64;
            rest = later;
        }
        Ok(())
    }
}

impl Tail {
    fn push(&self, output: &[u8]) {
        let mut kept = self.0.lock();
        kept.extend_from_slice(&output[output.len().saturating_sub(TAIL_BYTES)..]);
        let excess = kept.len().saturating_sub(TAIL_BYTES);
        kept.drain(..excess);
    }

    /// The last lines as text, without control characters; begins with a whole line if one was cut.
    pub(crate) fn text(&self) -> String {
        let kept = self.0.lock();
        let text = String::from_utf8_lossy(&kept);
        let whole = match text.split_once('\n') {
            Some((_, rest)) if kept.len() == TAIL_BYTES && !rest.is_empty() => rest,
            _ => &*text,
        };
        whole
            .chars()
            .filter(|c| !c.is_control() || matches!(c, '\n' | '\t'))
            .collect()
    }
}

fn old(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".old");
    name.into()
}

fn remove_former(directory: &Path, newest: &Path) -> io::Result<()> {
    let mut former = Vec::new();
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path != newest && path.extension().is_some_and(|kind| kind == "log") {
            former.push((fs::metadata(&path)?.modified()?, path));
        }
    }
    former.sort();
    let excess = former.len().saturating_sub(FORMER_LOGS);
    for (_, path) in former.drain(..excess) {
        fs::remove_file(&path)?;
        let _ = fs::remove_file(old(&path));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_keeps_its_end_within_the_limit() -> io::Result<()> {
        let dir = tempfile::tempdir()?;
        let path = dir.path().join("task/1.log");
        let mut log = Log::create(&path, 1000)?;
        for line in 0..1000 {
            log.append(format!("line {line}\n").as_bytes())?;
        }
        let on_disk = fs::read_to_string(old(&path))? + &fs::read_to_string(&path)?;
        assert!(on_disk.len() <= 1000, "{}", on_disk.len());
        assert!(on_disk.len() >= 500 && on_disk.ends_with("line 998\nline 999\n"));
        Ok(())
    }

    #[test]
    fn the_tail_starts_at_a_line_and_has_no_escapes() -> io::Result<()> {
        let dir = tempfile::tempdir()?;
        let mut log = Log::create(&dir.path().join("a.log"), 10_000)?;
        log.append(b"\x1b[31mred\x1b[0m\n")?;
        assert_eq!(log.tail().text(), "[31mred[0m\n");
        log.append("0123456789\n".repeat(500).as_bytes())?;
        let text = log.tail().text();
        assert!(
            text.starts_with("0123456789\n") && text.len() > TAIL_BYTES / 2,
            "{text}"
        );
        Ok(())
    }

    #[test]
    fn only_a_few_former_logs_are_kept() -> io::Result<()> {
        let dir = tempfile::tempdir()?;
        for run in 0..20 {
            Log::create(&dir.path().join(format!("{run}.log")), 100)?.append(b"x")?;
        }
        assert_eq!(fs::read_dir(dir.path())?.count(), FORMER_LOGS + 1);
        assert!(dir.path().join("19.log").exists());
        Ok(())
    }
}
