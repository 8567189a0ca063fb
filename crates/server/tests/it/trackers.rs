//! Trackers over REST. The ids are those of the table of requests in the contract of the tracker.

mod access;
mod fields;
mod making;
mod names;
mod pages;
mod reading;
mod removing;
mod replacing;
mod secrets;
