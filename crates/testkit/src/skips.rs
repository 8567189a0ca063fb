//! Saying by name what was not tested.

use std::fs::OpenOptions;
use std::io::Write;

/// Reports that `suite` did not run, and `why`; the calling test then returns.
///
/// The line goes to the output of the test and, where `PATHLINE_SKIPS` names a file, to its end:
/// `scripts/test` sums those lines up, and CI fails on any of them.
#[expect(
    clippy::print_stdout,
    reason = "the harness captures the output of a test from stdout"
)]
pub fn skip(suite: &str, why: &str) {
    let line = format!("skipped: {suite}: {why}");
    println!("{line}");
    if let Some(path) = crate::setting("PATHLINE_SKIPS") {
        let mut file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(&path)
            .unwrap_or_else(|error| panic!("PATHLINE_SKIPS={path} cannot be opened: {error}"));
        // One write call, so that lines of tests that run in parallel do not mix.
        file.write_all(format!("{line}\n").as_bytes())
            .unwrap_or_else(|error| panic!("PATHLINE_SKIPS={path} cannot be written: {error}"));
    }
}
