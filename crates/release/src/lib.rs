//! When does a change go where?
//!
//! A [`tracker`] watches one application: the configuration in its repository, and the image that the
//! [`label`] of that configuration selects in a registry. When both are ready it forms a [`Release`], which
//! goes through environments one after the other ([`queue`]), each of which takes releases on its [`timeline`].
//! Nothing here does I/O or looks at a clock.
//!
//! People say in [`environment`]s of a cluster where releases go, and [`objects`] are what is written there.
//!
//! Read on in this order: [`label`], [`tracker`] (the rule), [`queue`], [`timeline`], [`simulate`] (the rules, to be
//! tried by hand), and `tests/it/model.rs` (the rules, tried against random histories).

pub mod application;
#[cfg(not(feature = "clauses"))]
mod clauses;
#[cfg(feature = "clauses")]
pub mod clauses;
pub mod environment;
pub mod ingest;
pub mod label;
mod misspelt;
mod name;
pub mod objects;
mod owner_name;
pub mod poll;
pub mod queue;
mod release;
pub mod request;
pub mod simulate;
pub mod timeline;
mod token;
pub mod tracker;
mod version;
mod vetos;

pub use self::name::{InvalidName, TrackerName};
pub use self::owner_name::owner_name;
pub use self::release::{Cause, Configuration, Image, Release, Rollback};
pub use self::token::Token;
pub use self::version::{Level, Version};
pub use self::vetos::Vetos;
