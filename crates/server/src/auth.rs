//! Bearer tokens with scopes: callers, secrets and sessions.
//!
//! A secret is 256 random bits, so its plain SHA-256 can stand for it: nobody can guess it or
//! compute it back, and looking the hash up in an index tells nothing by the time it takes.

mod caller;
mod first;
mod secret;
mod session;
mod usage;

pub(crate) use self::caller::Caller;
pub use self::first::{FirstToken, FirstTokenError, first_admin};
pub use self::secret::Secret;
pub(crate) use self::session::StreamSession;
pub(crate) use self::usage::Usage;
