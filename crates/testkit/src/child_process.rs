//! Tests that run a part of themselves in a process of its own, to be killed, limited or measured.
//!
//! The test executable is started again with the name of the test, which finds out at its beginning that
//! it is the child:
//!
//! ```no_run
//! # fn serve_until_killed() {}
//! let Some(mut child) = pathline_testkit::child_of("module::name_of_this_test") else {
//!     return serve_until_killed();
//! };
//! let mut child = child.spawn().expect("a test executable starts");
//! child.kill().expect("it runs");
//! ```

use std::ffi::OsStr;
use std::io::Write as _;
use std::path::Path;
use std::process::Command;

use crate::{setting, skip};

/// Names the test whose child a process is.
const CHILD_OF: &str = "TESTKIT_CHILD_OF";
/// The exit code of a child that could not be given its file systems.
const NO_MOUNT: i32 = 77;

/// Returns the command that runs a test of this executable as a child process; `None` in that child.
pub fn child_of(test: &str) -> Option<Command> {
    child_under(&[] as &[&OsStr], test)
}

/// Returns the command of [`child_of`] below another program: the words of its command line that come
/// before those of the test executable.
pub fn child_under(prefix: &[impl AsRef<OsStr>], test: &str) -> Option<Command> {
    (!is_child_of(test)).then(|| command(prefix, test))
}

/// Tells the parent a line, at once and in one piece.
///
/// The first one stands behind the name of the test, which the test executable prints.
///
/// # Panics
///
/// If nobody reads any more.
pub fn tell_parent(line: &str) {
    let mut out = std::io::stdout().lock();
    let told = out.write_all(format!("{line}\n").as_bytes());
    told.and_then(|()| out.flush()).expect("the parent listens");
}

fn is_child_of(test: &str) -> bool {
    setting(CHILD_OF).is_some_and(|parent| parent == test)
}

fn command(prefix: &[impl AsRef<OsStr>], test: &str) -> Command {
    let program = std::env::current_exe().expect("a test knows its executable");
    let prefix = prefix.iter().map(AsRef::as_ref);
    let mut words = prefix.chain([program.as_os_str()]);
    let mut command = Command::new(words.next().expect("there is at least the executable"));
    command
        .args(words)
        .args(["--exact", test, "--nocapture", "--test-threads=1"])
        .env(CHILD_OF, test);
    command
}

/// Runs a test in a directory with small file systems; tells whether this is the process that has
/// them, in its working directory. The parent has seen the child pass when this returns `false`, or has
/// skipped it where nothing may be mounted.
///
/// `mounts` are directories below it, `.` for itself, and the size of each as `mount` takes it.
///
/// # Panics
///
/// In the parent, when the child fails.
pub fn is_on_small_disk(test: &str, mounts: &[(&str, &str)]) -> bool {
    if is_child_of(test) {
        return true;
    }
    let directory = tempfile::tempdir().expect("a scratch directory");
    let script = mount_script(mounts);
    let prefix = [
        OsStr::new("unshare"),
        "-m".as_ref(),
        "sh".as_ref(),
        "-c".as_ref(),
        script.as_ref(),
        directory.path().as_os_str(),
    ];
    match command(&prefix, test).output() {
        Ok(ran) if ran.status.code() != Some(NO_MOUNT) => {
            let told = String::from_utf8_lossy(&ran.stdout);
            assert!(ran.status.success() && told.contains("1 passed"), "{told}");
        }
        _ => skip("a full disk", "no file system may be mounted here"),
    }
    false
}

/// Returns the script that mounts file systems below `$0`, and runs its arguments there.
fn mount_script(mounts: &[(&str, &str)]) -> String {
    let mount = |(directory, size): &(&str, &str)| {
        let place = Path::new("$0").join(directory);
        let place = place.display();
        format!(
            "mkdir -p \"{place}\" && mount -t tmpfs -o size={size} none \"{place}\" || exit {NO_MOUNT}\n"
        )
    };
    let mounted: String = mounts.iter().map(mount).collect();
    format!("{mounted}cd \"$0\" && exec \"$@\"")
}
