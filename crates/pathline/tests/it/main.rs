//! The binary, used as a user uses it.

mod admission;
mod asking;
mod blueprint;
mod colleagues;
mod config;
mod demo;
mod early;
mod endings;
mod generated;
mod hello;
mod help;
mod instance;
mod keys;
mod kubectl;
mod lineage;
mod problems;
mod program;
mod real_cluster;
mod restarts;
mod schemathesis;
mod site;
mod story;
mod template;
mod token;
mod up;
mod usage;
