//! The owners that blueprints and templates concern, and which of them have been reconciled with them.

mod catalogue;
mod concerned_wait;
mod object_version;

pub(crate) use self::catalogue::Catalogue;
pub(crate) use self::concerned_wait::ConcernedWait;
pub(crate) use self::object_version::ObjectVersion;
