//! Trackers, through `pathline up`, with real repositories and registries.

mod crash;
mod distribution;
mod faults;
mod files;
mod leaders;
mod oracle;
pub(crate) mod pair;
mod proxied;
mod proxy;
pub(crate) mod repository;
mod sealing;
mod secrecy;
mod seed;
mod sharing;
mod upstream;
mod words;
pub(crate) mod world;

use std::sync::OnceLock;

use pathline_testkit::registry::{Crane, Options, Program, RealRegistry};

/// Returns the registry that the tests of this process share, and who pushes to it; nothing where they cannot be had.
pub(crate) fn registry(suite: &str) -> Option<(&'static RealRegistry, Crane)> {
    static SHARED: OnceLock<Option<RealRegistry>> = OnceLock::new();
    let crane = Crane::find(suite)?;
    let shared =
        SHARED.get_or_init(|| RealRegistry::start(suite, Program::Debian, &Options::default()));
    Some((shared.as_ref()?, crane))
}
