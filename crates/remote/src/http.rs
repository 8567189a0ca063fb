//! HTTP for polls: one pooled client, and nothing read from outside without a limit.
//!
//! A [`HttpClient`] sends a [`Request`] and follows redirects by hand: credentials never leave the origin they are for.
//! Every [`Answer`] and every [`Failure`] carries the [`Signs`] of the host: its quota, and when it wants to be asked again.
//! Whoever has to spare hosts gives the client a [`Pace`], which each request waits for.
//! The text of a failure is scrubbed of the secrets that were sent.

mod answer;
mod client;
mod exchange;
mod failure;
mod pace;
mod redirect;
mod request;
mod scrub;
mod signs;
mod transport;

pub use self::answer::Answer;
pub use self::client::{HttpClient, Options, Timeouts};
pub use self::failure::{Failure, FailureKind};
pub(crate) use self::pace::host_of;
pub use self::pace::{Pace, Turn};
pub use self::request::Request;
pub use self::signs::{Moved, Signs};
