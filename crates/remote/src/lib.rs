//! The outside: git, registries and forges.
//!
//! [`git`] reads and writes repositories elsewhere, without a work tree; [`local`] reads the one
//! somebody works in; [`archive`] packs and unpacks the content that travels between the workers.
//! [`source`] follows one file of a repository and [`registry`] the images of one, by hash and over one [`http`] client.

pub mod archive;
mod authorities;
#[doc(hidden)]
pub mod fuzz;
pub mod git;
pub mod http;
pub mod local;
pub mod registry;
mod secret;
pub mod source;

pub use secret::{SECRET_VARIABLES, Secret};
