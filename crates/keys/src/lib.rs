//! What exactly changed?
//!
//! Names of keys so far: see [`name`].

pub mod name;

pub use self::name::{Name, Namespace};
