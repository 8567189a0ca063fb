//! Behaviour of the crate as its users see it; modules mirror `src`.

mod bad_input;
mod cases;
mod defects;
mod diff_cases;
mod documents;
mod fuzz_corpus;
mod key;
mod laws;
mod model;
mod name_cases;
mod name_tables;
mod notation;
mod nothing_lost;
mod set;
mod transitions;
mod visits;
