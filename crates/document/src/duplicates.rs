//! Keys that are there twice.

use std::collections::HashSet;

use crate::document::{Member, identity};
use crate::error::{ErrorAt, ReadErrorKind};
use crate::scalar::Scalar;

/// Refuses a map in which two keys mean the same.
pub(crate) fn refuse(members: &[Member]) -> Result<(), ErrorAt> {
    let twice = if members.iter().all(|it| it.key_type == Scalar::Text) {
        let mut keys = HashSet::with_capacity(members.len());
        members.iter().find(|it| !keys.insert(it.key.as_str()))
    } else {
        let mut keys = HashSet::with_capacity(members.len());
        members.iter().find(|it| !keys.insert(identity(it)))
    };
    match twice {
        Some(member) => {
            let key = identity(member).into_owned();
            let kind = ReadErrorKind::DuplicateKey(key);
            Err(ErrorAt::new(member.key_span.start, kind))
        }
        None => Ok(()),
    }
}
