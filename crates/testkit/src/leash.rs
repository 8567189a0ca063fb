//! Processes and files that must not outlive the test process.

use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};

/// Waits for the end of its input, which comes when the holder of the pipe is gone for whatever
/// reason, then kills its process group from outside and removes the directory.
const WATCHDOG: &str = r#"
cat >/dev/null
exec setsid sh -c 'kill -s KILL -- "-$1"; rm -rf -- "$2"' sh "$$" "$1"
"#;

/// A scratch directory, and a process group, that end with this process.
///
/// Dropping it ends them too; but unlike a destructor it also works when the process is killed, and
/// for values in statics, which are never dropped.
#[derive(Debug)]
pub struct Leash {
    directory: PathBuf,
    watchdog: Child,
    // Held open for as long as the leash holds; its closing is the signal.
    _pipe: ChildStdin,
}

impl Leash {
    /// Makes an empty scratch directory whose name starts with `name`, and its guard.
    pub fn new(name: &str) -> io::Result<Self> {
        let directory = tempfile::Builder::new().prefix(name).tempdir()?.keep();
        let mut watchdog = Command::new("sh")
            .args(["-c", WATCHDOG, "sh"])
            .arg(&directory)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()?;
        let pipe = watchdog.stdin.take().expect("stdin was asked to be a pipe");
        Ok(Self {
            directory,
            watchdog,
            _pipe: pipe,
        })
    }

    /// Returns the scratch directory.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Starts a program in the guarded process group.
    pub fn spawn(&self, command: &mut Command) -> io::Result<Child> {
        let group = i32::try_from(self.watchdog.id()).expect("process ids are positive i32");
        command.process_group(group).spawn()
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader};
    use std::time::{Duration, Instant};

    use super::*;
    use crate::{child_of, tell_parent};

    fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
        let deadline = Instant::now() + Duration::from_secs(20);
        while !holds() {
            assert!(
                Instant::now() < deadline,
                "{what} did not happen within 20 s"
            );
            std::thread::yield_now();
        }
    }

    #[test]
    fn killing_the_holder_ends_its_programs_and_removes_its_directory() {
        let test = "leash::tests::killing_the_holder_ends_its_programs_and_removes_its_directory";
        let Some(mut holder) = child_of(test) else {
            return hold_until_killed();
        };
        let mut holder = holder.stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(holder.stdout.take().unwrap()).lines();
        let told = lines.find_map(|line| line.unwrap().strip_prefix("holding ").map(str::to_owned));
        let told = told.expect("the holder says what it holds");
        let (program, directory) = told.split_once(' ').unwrap();
        assert!(Path::new(directory).is_dir());

        holder.kill().unwrap();
        holder.wait().unwrap();

        eventually("removal of the directory", || {
            !Path::new(directory).exists()
        });
        let process = format!("/proc/{program}");
        eventually("the end of the program", || !Path::new(&process).exists());
    }

    fn hold_until_killed() {
        let leash = Leash::new("leash-").unwrap();
        let mut program = leash.spawn(Command::new("sleep").arg("600")).unwrap();
        let (program_id, directory) = (program.id(), leash.directory().display());
        tell_parent(&format!("\nholding {program_id} {directory}"));
        program.wait().unwrap();
    }

    #[test]
    fn dropping_the_leash_ends_its_programs_and_removes_its_directory() {
        let leash = Leash::new("leash-").unwrap();
        let directory = leash.directory().to_path_buf();
        std::fs::write(directory.join("file"), "content").unwrap();
        let mut program = leash.spawn(Command::new("sleep").arg("600")).unwrap();
        assert!(
            program.try_wait().unwrap().is_none(),
            "the program runs while the leash is held"
        );

        drop(leash);

        let status = program.wait().unwrap();
        assert!(!status.success(), "the program was killed: {status}");
        eventually("removal of the directory", || !directory.exists());
    }
}
