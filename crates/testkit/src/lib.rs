//! For tests only: real servers, kubectl, programs written in Go, scratch directories.
//!
//! A suite that needs something which may be absent asks for it here, and [`skip`]s when it is:
//!
//! ```no_run
//! # async fn example() -> anyhow::Result<()> {
//! use pathline_testkit::kube::{Options, RealCluster};
//!
//! let Some(cluster) = RealCluster::shared("my suite", Options::default()).await else {
//!     return Ok(()); // skipped, and said so
//! };
//! let client = cluster.client().await?;
//! # drop(client);
//! # Ok(())
//! # }
//! ```

#![expect(
    clippy::disallowed_methods,
    reason = "the clock and the tasks of a test are the real ones"
)]

mod cases;
mod child_process;
mod dice;
pub mod doubles;
mod git;
pub mod git_server;
pub mod go_oracle;
mod go_tools;
mod histories;
pub mod http_child;
mod instructions;
pub mod kube;
pub mod kuttl;
mod leash;
mod places;
mod ports;
pub mod postgres;
pub mod registry;
pub mod rest;
pub mod scripted_server;
mod seed;
mod skips;
pub mod sshd;

pub use cases::cases;
pub use child_process::{child_of, child_under, is_on_small_disk, tell_parent};
pub use dice::Dice;
pub use git::git;
pub use go_tools::go_tool;
pub use histories::Histories;
pub use instructions::instructions;
pub use leash::Leash;
pub use places::{repository_root, shared_dir};
pub use ports::free_port;
pub use seed::seed;
pub use skips::skip;

/// Says whether long versions of tests are wanted, by `PATHLINE_NIGHTLY=1`.
pub fn is_nightly() -> bool {
    setting("PATHLINE_NIGHTLY").is_some_and(|value| value != "0")
}

/// Reads an environment variable that steers the test run; empty counts as unset.
#[expect(
    clippy::disallowed_methods,
    reason = "tests have no command line of their own"
)]
fn setting(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}
