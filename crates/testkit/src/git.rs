//! The real `git` program, as an oracle.

use std::path::Path;
use std::process::Command;

/// Runs git in `dir`, without any configuration of this machine, and returns what it printed.
///
/// # Panics
///
/// Panics if git is not installed or fails; the tests need it.
pub fn git(dir: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git")
        .args([
            "-c",
            "user.name=Tester",
            "-c",
            "user.email=tester@example.org",
        ])
        .args(arguments)
        .current_dir(dir)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()
        .expect("the tests need the git program");
    assert!(
        output.status.success(),
        "git {arguments:?} failed: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout)
        .expect("git prints text")
        .trim_end()
        .to_owned()
}
