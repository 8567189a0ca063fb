//! The outside: git, and later registries and forges.
//!
//! [`git`] reads and writes repositories without a work tree; [`archive`] packs and unpacks the
//! content that travels between the workers.

pub mod archive;
pub mod git;
