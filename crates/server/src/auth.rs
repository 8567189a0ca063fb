//! Who asks, and may they? Bearer tokens with scopes.
//!
//! A secret is 256 random bits, so its plain SHA-256 can stand for it: nobody can guess it or
//! compute it back, and looking the hash up in an index tells nothing by the time it takes.

mod first;
mod guard;
mod secret;
mod stay;
mod usage;

pub use self::first::{FirstToken, FirstTokenError, first_admin};
use self::guard::refuse_ended;
pub(crate) use self::guard::{Caller, require};
pub use self::secret::Secret;
pub(crate) use self::stay::Stay;
pub(crate) use self::usage::Usage;
