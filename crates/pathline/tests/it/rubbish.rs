//! `up` starts whatever Tasks have left behind.

use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use pathline_testkit::Leash;
use rustix::fs::{CWD, Mode, OFlags, mkdirat, openat};
use rustix::process::Signal;

use crate::program::{Running, pathline};
use crate::story::objects::text;
use crate::up::UP;

const LIMIT: Duration = Duration::from_secs(180);

/// Says where it runs, and hangs.
const TASK: &str = "
apiVersion: pathline.dev/v1alpha1
kind: Task
metadata: {name: untidy, namespace: default}
spec: {command: [sh, -c, 'pwd > NOTE; exec sleep 100000']}
";

/// Starts `up` where few files may be open.
fn up(leash: Leash) -> Running {
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -n 1024; exec \"$@\"", "sh"]);
    command.arg(pathline().get_program()).args(UP);
    Running::spawn(leash, command)
}

/// Makes directories inside one another, deeper than any path can say.
fn dig(directory: &Path, depth: usize) -> Result<()> {
    let flags = OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mut here = openat(CWD, directory, flags, Mode::empty())?;
    for _ in 0..depth {
        mkdirat(&here, "d", Mode::RWXU)?;
        here = openat(&here, "d", flags, Mode::empty())?;
    }
    Ok(())
}

/// Makes what is hard to remove, and what must not be.
fn litter(directory: &Path, kept: &Path) -> Result<()> {
    fs::create_dir_all(directory.join("closed/inner"))?;
    fs::write(directory.join("closed/file"), "")?;
    symlink(kept, directory.join("closed/link"))?;
    fs::write(directory.join(OsStr::from_bytes(b"\xff\xfe")), "")?;
    UnixListener::bind(directory.join("socket"))?;
    let fifo = Command::new("mkfifo")
        .arg(directory.join("fifo"))
        .status()?;
    ensure!(fifo.success(), "there is mkfifo");
    fs::set_permissions(directory.join("closed"), Permissions::from_mode(0o000))?;
    dig(directory, 5_000)
}

/// Waits until a directory is empty, or gone.
fn await_empty(directory: &Path) -> Result<()> {
    let begun = Instant::now();
    while fs::read_dir(directory).is_ok_and(|mut entries| entries.next().is_some()) {
        ensure!(begun.elapsed() < LIMIT, "{} is not", directory.display());
        std::thread::sleep(Duration::from_millis(50));
    }
    Ok(())
}

/// Waits until a task says where it runs.
fn await_note(note: &Path) -> Result<PathBuf> {
    let begun = Instant::now();
    loop {
        match fs::read_to_string(note) {
            Ok(text) if text.ends_with('\n') => return Ok(text.trim().into()),
            _ => ensure!(begun.elapsed() < LIMIT, "nobody wrote {}", note.display()),
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn hole_2_up_starts_over_whatever_a_task_left_and_removes_it_beside() -> Result<()> {
    let leash = Leash::new("pathline-rubbish-")?;
    let home = leash.directory().canonicalize()?;
    let (data_dir, note) = (home.join(".pathline"), home.join("note"));
    let kept = home.join("kept");
    fs::create_dir(&kept)?;
    fs::write(kept.join("file"), "")?;
    let mut first = up(leash);
    first.json();
    let task = home.join("task.yaml");
    fs::write(&task, TASK.replace("NOTE", &text(&note)))?;
    let apply = ["apply", "-f", &text(&task), "--data-dir", &text(&data_dir)];
    let applied = Running::start(&apply).wait();
    ensure!(applied.code == Some(0), "{}", applied.stderr);
    let untidy = await_note(&note)?;
    litter(&untidy, &kept)?;
    first.signal(Signal::KILL);
    let leash = first.wait().leash;
    fs::remove_file(&note)?;
    // The place to set things aside leads elsewhere.
    let trash = data_dir.join("trash");
    let _ = fs::remove_dir_all(&trash);
    symlink(&kept, &trash)?;

    let mut again = up(leash);
    again.json();
    await_empty(&untidy)?;
    await_empty(&trash)?;
    ensure!(
        fs::read_dir(&kept)?.count() == 1,
        "nothing else was removed"
    );
    // The task was interrupted, and runs again.
    let tidy = await_note(&note)?;
    ensure!(tidy != untidy);
    again.signal(Signal::TERM);
    let ended = again.wait();
    ensure!(ended.code == Some(0), "{}", ended.stderr);
    let said = ended.stderr.contains("cannot remove");
    ensure!(!said, "{}", ended.stderr);
    Ok(())
}
