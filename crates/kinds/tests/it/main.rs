//! The crate from outside.

mod crds;
