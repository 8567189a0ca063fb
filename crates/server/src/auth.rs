//! Who asks, and may they? Bearer tokens with scopes.
//!
//! A secret is 256 random bits, so its plain SHA-256 can stand for it: nobody can guess it or
//! compute it back, and looking the hash up in an index tells nothing by the time it takes.

mod first;
mod guard;
mod secret;
mod usage;

pub use self::first::{FirstToken, FirstTokenError, first_admin};
pub(crate) use self::guard::{Caller, refuse_ended, require};
pub use self::secret::Secret;
pub(crate) use self::usage::Usage;
