//! This test program, started again to be one half of a test: the half that is traced or killed.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;

const DIRECTORY: &str = "PATHLINE_STORE_TEST_DIRECTORY";

/// Returns the arguments that run one ignored test of this program, and its name.
fn arguments(half: &str) -> [String; 5] {
    let test = format!("store::tests::{half}");
    [
        "--exact",
        "--ignored",
        "--nocapture",
        "--test-threads=1",
        &test,
    ]
    .map(str::to_owned)
}

/// Returns the command that runs the test `half` of `store::tests` on a directory.
pub(super) fn command(half: &str, directory: &Path) -> Command {
    prefixed(&[], half, directory)
}

/// Returns the command that runs the test `half` under another program.
pub(super) fn prefixed(prefix: &[&str], half: &str, directory: &Path) -> Command {
    let program = std::env::current_exe().unwrap();
    let mut words = prefix.iter().map(PathBuf::from).chain([program]);
    let mut command = Command::new(words.next().unwrap());
    command
        .args(words)
        .args(arguments(half))
        .env(DIRECTORY, directory);
    command
}

/// Returns the directory that the other half of the test gave us.
pub(super) fn directory() -> PathBuf {
    std::env::var_os(DIRECTORY)
        .expect("this half is started by the other one")
        .into()
}

/// Tells the other half something, at once and in one piece.
pub(super) fn say(line: &str) {
    let mut out = io::stdout().lock();
    out.write_all(format!("{line}\n").as_bytes()).unwrap();
    out.flush().unwrap();
}
