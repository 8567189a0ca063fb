//! The objects at the end of a path.

use crate::chain::Resource;
use crate::owner_lineage::OwnerLineage;

/// The object of a final resource, as it was observed last.
#[derive(Clone, Copy, Debug)]
pub struct FinalObject<'l> {
    /// The resource that stamped it; the status of the owner says where the object is.
    pub resource: &'l str,
    uid: &'l str,
    generation: Option<i64>,
}

/// The metadata of an object, as the API server has it now.
#[derive(Clone, Copy, Debug, Default)]
pub struct ObjectMetadata<'a> {
    /// Its uid.
    pub uid: Option<&'a str>,
    /// Its generation, where its kind has one.
    pub generation: Option<i64>,
    /// True if it is about to be deleted.
    pub is_terminating: bool,
}

impl<'l> FinalObject<'l> {
    /// Resources that nobody has observed have no object to compare; where each set of inputs has an object of its
    /// own, nobody changes one.
    pub(super) fn all(lineage: &'l OwnerLineage) -> Vec<Self> {
        let finals = lineage.state.chain().finals();
        let observed = finals.filter_map(|Resource { name, .. }| {
            let (uid, generation) = lineage.state.looked_at(name)?;
            Some(Self {
                resource: name,
                uid,
                generation,
            })
        });
        observed.collect()
    }

    /// Says that somebody has changed, replaced or deleted it since; `title` is its kind and name.
    pub fn difference(&self, title: &str, now: Option<ObjectMetadata<'_>>) -> Option<String> {
        let Some(now) = now else {
            return Some(format!("{title} is gone"));
        };
        if now.is_terminating {
            return Some(format!("{title} is being deleted"));
        }
        let is_newer = self.generation.is_some() && now.generation > self.generation;
        let is_other = now.uid != Some(self.uid);
        (is_newer || is_other)
            .then(|| format!("{title} has been changed, and has not been looked at since"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn final_object_that_was_changed_replaced_or_deleted_differs() {
        let observed = FinalObject {
            resource: "run",
            uid: "u1",
            generation: Some(2),
        };
        let same = ObjectMetadata {
            uid: Some("u1"),
            generation: Some(2),
            is_terminating: false,
        };
        let changed = ObjectMetadata {
            generation: Some(3),
            ..same
        };
        let replaced = ObjectMetadata {
            uid: Some("u2"),
            ..same
        };
        let terminating = ObjectMetadata {
            is_terminating: true,
            ..same
        };
        let difference = |now| observed.difference("Deployment/web", now);
        assert_eq!(difference(Some(same)), None);
        for (now, says) in [
            (Some(changed), "has been changed"),
            (Some(replaced), "has been changed"),
            (Some(terminating), "is being deleted"),
            (None, "is gone"),
        ] {
            let told = difference(now).expect("it differs");
            assert!(told.contains(says), "{told}");
        }
        let uncounted = FinalObject {
            generation: None,
            ..observed
        };
        assert_eq!(
            uncounted.difference("ConfigMap/web", Some(changed)),
            None,
            "a kind without generations does not tell"
        );
    }
}
