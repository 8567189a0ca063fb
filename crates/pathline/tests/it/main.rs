//! The binary, used as a user uses it.

mod admission;
mod blueprint;
mod config;
mod demo;
mod generated;
mod hello;
mod help;
mod keys;
mod lineage;
mod program;
mod site;
mod up;
mod usage;
