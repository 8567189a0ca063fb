//! A running Pathline: its parts are started in order, connected, and stopped in order.
//!
//! [`instance`] runs on the embedded cluster, [`controller`] on a real one.

pub(crate) mod admission;
pub(crate) mod controller;
mod environments;
mod identity;
pub(crate) mod instance;
pub(crate) mod ledger_home;
mod private;
pub(crate) mod seal_key;
mod tasks;
mod tracker_files;
pub(crate) mod webhook;
