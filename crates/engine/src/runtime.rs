//! The ground that reconcilers stand on: watches and their stores, queues, clients, the lease, the clock.

pub(crate) mod calls;
pub(crate) mod clients;
pub(crate) mod connection;
pub(crate) mod controller;
pub(crate) mod env;
pub(crate) mod kube_events;
pub(crate) mod lease;
pub(crate) mod metrics;
pub(crate) mod packed;
pub(crate) mod part;
pub(crate) mod queue;
pub(crate) mod queues;
pub(crate) mod reflector;
pub(crate) mod retry;
pub(crate) mod selections;
pub(crate) mod store;
pub(crate) mod stored_owner;
pub(crate) mod tasks;
pub(crate) mod watch_owners;
pub(crate) mod watches;

pub(crate) use pathline_clock as clock;
