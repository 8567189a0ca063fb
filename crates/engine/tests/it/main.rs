//! The engine on the embedded cluster, with real processes and real git.

#![expect(
    clippy::disallowed_methods,
    reason = "the clock and the tasks of a test are the real ones"
)]

mod election;
mod environments;
mod faults;
mod keeper;
mod lineage;
mod owners;
mod rollout;
mod world;
