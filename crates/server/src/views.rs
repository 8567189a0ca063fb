//! Views: a typed question to the ledger and the cluster, and its typed answer.
//!
//! Nothing here knows HTTP; the REST API and whatever else shows answers call the same functions.

pub(crate) mod across;
pub(crate) mod answers;
pub(crate) mod artifacts;
pub(crate) mod board;
pub(crate) mod by_hand;
pub(crate) mod changes;
pub(crate) mod concern;
pub(crate) mod convert;
pub(crate) mod environments;
pub(crate) mod ingest;
pub(crate) mod names;
pub(crate) mod objects;
pub(crate) mod owners;
pub(crate) mod presence;
pub(crate) mod queues;
pub(crate) mod release_objects;
pub(crate) mod release_wait;
pub(crate) mod releases;
pub(crate) mod running;
pub(crate) mod tokens;
pub(crate) mod tracker_status;
pub(crate) mod trackers;
pub(crate) mod wait;
pub(crate) mod why;
