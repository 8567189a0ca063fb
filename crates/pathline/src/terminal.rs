//! The exchange of a process with its user besides arguments: output, logs, errors with their exit codes,
//! and signals.

pub(crate) mod client;
pub(crate) mod input;
pub(crate) mod logs;
pub(crate) mod output;
pub(crate) mod report;
pub(crate) mod signals;
