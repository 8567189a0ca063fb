//! The tables of the contract, each row by its id, and the laws of the rules.

mod agenda;
mod application_schema;
mod applications;
mod failures;
mod flows;
mod fuzz_corpus;
mod ingest;
mod labels;
mod model;
mod polling;
mod promotions;
mod queues;
mod ranges;
mod requested;
mod requests;
mod restoring;
mod rollbacks;
mod secrets;
mod soaking;
mod state_machine;
mod stops;
mod stored;
mod support;
mod timelines;
mod trackers;
mod whys;
