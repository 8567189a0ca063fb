//! Randomness that can be repeated.

use std::hash::{BuildHasher, RandomState};

use crate::setting;

/// Returns a number to draw everything random of a test from: `PATHLINE_SEED`, or one that nobody had
/// before. It is printed, so that a failure can be repeated.
///
/// # Panics
///
/// If `PATHLINE_SEED` is no number.
#[expect(
    clippy::print_stdout,
    reason = "the harness shows the output of a test that fails"
)]
pub fn seed(test: &str) -> u64 {
    let seed = match setting("PATHLINE_SEED") {
        Some(text) => text.parse().expect("PATHLINE_SEED is a number"),
        None => RandomState::new().hash_one(test),
    };
    println!("{test}: repeat this run with PATHLINE_SEED={seed}");
    seed
}
