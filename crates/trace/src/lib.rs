//! Traces: events, the values they write into files, and the trailers that tell which commits a commit carries.
//!
//! An [`event`] says that something was built from a [`commit`]. Subscriptions match it ([`event::EventKey`]) and
//! replace values in files ([`replacement`]); the commits that carry them name their events and sources in
//! [`trailers`], so that whoever finds such a commit knows what it is made of. [`paths`] say which files are an
//! application's. Nothing here does I/O or looks at a clock.

pub mod commit;
pub mod commit_url;
pub mod event;
pub mod paths;
pub mod replacement;
pub mod trailers;
