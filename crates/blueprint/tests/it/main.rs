//! The blueprint crate from outside.

mod admission;
mod correlation;
mod fuzz_corpus;
mod oracle;
mod random;
mod reach;
mod selection;
mod template_reads;
