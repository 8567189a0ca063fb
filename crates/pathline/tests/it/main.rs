//! The binary, used as a user uses it.

#![expect(
    clippy::disallowed_methods,
    reason = "the clock and the tasks of a test are the real ones"
)]

mod across_git;
mod admission;
mod answers;
mod asking;
mod blueprint;
mod colleagues;
mod config;
mod copies;
mod debugger;
mod demo;
mod depth;
mod earlier;
mod early;
mod endings;
mod environments;
mod full_disk;
mod generated;
mod hello;
mod help;
mod holes;
mod in_metadata;
mod instance;
mod keys;
mod kubectl;
mod lineage;
mod ports;
mod problems;
mod program;
mod real_cluster;
mod release_path;
mod releasing;
mod restarts;
mod restored;
mod rubbish;
mod schemathesis;
mod secrets;
mod shared_ledger;
mod site;
mod smoke_test;
mod story;
mod strangers;
mod template;
mod templates;
mod token;
mod tracker;
mod tracking;
mod up;
mod usage;
