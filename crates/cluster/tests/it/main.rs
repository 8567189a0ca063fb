//! The embedded cluster as its clients see it.

#![expect(
    clippy::disallowed_methods,
    reason = "the clock and the tasks of a test are the real ones"
)]
#![expect(clippy::unwrap_used, reason = "a helper that fails fails its test")]

mod admission;
mod api_definitions;
mod api_fixture;
mod api_reading;
mod api_watching;
mod bad_input;
mod clock;
mod conformance;
mod crash;
mod kuttl_runner;
mod large_objects;
mod serve;
