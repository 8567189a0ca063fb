//! Behaviour of the crate, seen from outside.

mod edit;
mod edit_laws;
mod fuzz_corpus;
mod python;
mod rough;
mod yaml;
