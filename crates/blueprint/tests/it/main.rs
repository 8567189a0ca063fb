//! The blueprint crate from outside.

mod admission;
mod crds;
mod fuzz_corpus;
mod random;
mod reach;
mod selection;
