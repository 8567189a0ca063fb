//! The binary, used as a user uses it.

mod across_git;
mod admission;
mod answers;
mod asking;
mod blueprint;
mod config;
mod debugger;
mod demo;
mod endings;
mod generated;
mod hello;
mod help;
mod keys;
mod kubectl;
mod lineage;
mod ports;
mod program;
mod real_cluster;
mod schemathesis;
mod site;
mod story;
mod template;
mod token;
mod up;
mod usage;
