//! The memory: what was made from what, when, and what has arrived; in SQLite or PostgreSQL.

mod scope;

pub use self::scope::{NotAScope, Scope};
