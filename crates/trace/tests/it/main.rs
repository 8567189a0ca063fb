//! Tests of events, replacements and trailers.

mod commits;
mod events;
mod patterns;
mod replacements;
mod trailers;
