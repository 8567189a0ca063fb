//! The workers on the embedded cluster, with real processes and real git.

#![expect(
    clippy::disallowed_methods,
    reason = "the clock and the tasks of a test are the real ones"
)]

mod copies;
mod daemons;
mod fixture;
mod git;
mod ports;
mod process;
mod restart;
mod retries;
mod task;
