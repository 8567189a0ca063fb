//! The blueprint crate from outside.

mod crds;
mod fuzz_corpus;
mod random;
mod reach;
mod selection;
