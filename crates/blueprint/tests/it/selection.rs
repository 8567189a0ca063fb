//! Selection: the blueprint and the options that an owner gets.

mod by_the_rules;
mod cases;
mod paths;
mod reads_decide;
mod rules;
mod seed;
mod size;
