//! Secrets, and the places in which they are looked for.

pub(crate) mod places;
pub(crate) mod sentinel;
