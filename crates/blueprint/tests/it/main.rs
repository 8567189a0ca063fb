//! The blueprint crate from outside.

mod admission;
mod crds;
mod fuzz_corpus;
mod oracle;
mod random;
mod reach;
mod reads;
mod rules;
mod selection;
