//! The outside: git, and later registries and forges.
//!
//! [`git`] reads and writes repositories elsewhere, without a work tree; [`local`] reads the one
//! somebody works in; [`archive`] packs and unpacks the content that travels between the workers.

pub mod archive;
#[doc(hidden)]
pub mod fuzz;
pub mod git;
pub mod local;
