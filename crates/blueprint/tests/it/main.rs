//! The blueprint crate from outside.

mod crds;
mod random;
mod reach;
mod selection;
