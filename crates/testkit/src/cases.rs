//! Settings by which random cases are drawn.

use proptest::test_runner::{Config, RngSeed};

use crate::{is_nightly, seed};

/// The number of cases that a nightly run draws for one of every day.
const NIGHTLY: u32 = 20;

/// Settings for a property that is tried with so many random cases every day, always the same ones,
/// and with more and others in nightly runs.
pub fn cases(every_day: u32) -> Config {
    let thread = std::thread::current();
    Config {
        rng_seed: RngSeed::Fixed(seed(thread.name().unwrap_or("cases"))),
        failure_persistence: None,
        ..Config::with_cases(every_day * if is_nightly() { NIGHTLY } else { 1 })
    }
}
