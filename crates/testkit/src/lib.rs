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

mod cases;
mod git;
mod go_tools;
pub mod http_child;
mod instructions;
pub mod kube;
pub mod kuttl;
mod leash;
mod places;
pub mod postgres;
mod seed;
mod skips;

pub use cases::cases;
pub use git::git;
pub use go_tools::go_tool;
pub use instructions::instructions;
pub use leash::Leash;
pub use places::{repository_root, shared_dir};
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
