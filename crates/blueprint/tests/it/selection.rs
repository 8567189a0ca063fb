//! What is selected, for whom.

mod by_the_rules;
mod cases;
mod rules;
mod seed;
mod size;
