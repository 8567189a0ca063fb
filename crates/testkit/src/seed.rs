//! Randomness that can be repeated.

use std::hash::{BuildHasher, RandomState};

use crate::{is_nightly, setting};

/// The seed of every day, so that a run that passed passes again.
const EVERY_DAY: u64 = 1;

/// Returns a number to draw everything random of a test from: `PATHLINE_SEED`, or in nightly runs one
/// that nobody had before, or the same as every day. It is printed, so that a failure can be repeated.
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
        None if is_nightly() => RandomState::new().hash_one(test),
        None => EVERY_DAY,
    };
    println!("{test}: repeat this run with PATHLINE_SEED={seed}");
    seed
}
