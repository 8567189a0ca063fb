//! The blueprint crate from outside.

mod crds;
mod reach;
