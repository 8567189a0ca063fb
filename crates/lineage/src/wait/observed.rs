//! Whether an answer is about the present: what no lineage has observed yet.
//!
//! A lineage is as old as the last reconcile of its owner. That the spec of the owner is newer is told by its
//! generation; that its labels, its blueprint or a template are newer is not, nor is what somebody does after the
//! wait began. Whoever talks to the cluster reads these before an answer is given, and hands them in here. Nothing
//! here reads anything, so that the model can play all of it.

use crate::clauses::Clause;
use crate::owner_lineage::OwnerLineage;

/// The labels and annotations that an owner had when a wait began, until a lineage knows them.
///
/// They decide which blueprint is selected and what is made, and change without a new generation.
#[derive(Clone, Debug)]
pub struct AwaitedMetadata {
    generation: i64,
    digest: Option<String>,
}

impl AwaitedMetadata {
    /// Takes the generation that the owner had when the wait began, and the
    /// [digest](crate::owner_lineage::metadata_digest) of its labels and annotations.
    pub fn new(generation: i64, digest: String) -> Self {
        let digest = Some(digest);
        Self { generation, digest }
    }

    /// Tells whether a lineage seems to be older than these: the owner has to be read again, and handed to
    /// [`AwaitedMetadata::is_unobserved`].
    pub fn may_be_unobserved(&self, lineage: &OwnerLineage) -> bool {
        let digest = self.digest.as_ref();
        // A later generation was observed later, with whatever labels there were by then; one that does not say with
        // which labels it was observed was written before that was noted.
        let is_same = lineage.generation == self.generation && !lineage.metadata_digest.is_empty();
        let differs = digest.is_some_and(|it| *it != lineage.metadata_digest);
        is_same && differs && !lineage.state.clauses().is_dropped(Clause::Metadata)
    }

    /// Tells whether a lineage does not know the labels and annotations that the owner has; `now` is the digest of
    /// those, if it is still there. If they have changed again since the wait began, the newest count.
    ///
    /// Once a lineage knows them they are not asked for again.
    pub fn is_unobserved(&mut self, lineage: &OwnerLineage, now: Option<&str>) -> bool {
        let is_older = now.is_some_and(|now| now != lineage.metadata_digest);
        let is_unobserved = self.may_be_unobserved(lineage) && is_older;
        // A lineage of an earlier generation says nothing of them: the next one may still be without them.
        if !is_unobserved && lineage.generation >= self.generation {
            self.digest = None;
        }
        is_unobserved
    }
}

/// Returns the first of the inputs that an apply removed which the owner says again, or something inside of it.
pub fn set_again<'r, 's>(
    removed: &'r [String],
    said: impl Iterator<Item = &'s String>,
) -> Option<&'r String> {
    let is_inside = |name: &str, outer: &str| {
        let rest = name.strip_prefix(outer);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
    };
    let said: Vec<_> = said.collect();
    let is_again = |outer: &&String| said.iter().any(|name| is_inside(name, outer));
    removed.iter().find(is_again)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lineage(generation: i64, digest: &str) -> OwnerLineage {
        OwnerLineage {
            generation,
            metadata_digest: digest.to_owned(),
            ..OwnerLineage::default()
        }
    }

    #[test]
    fn labels_of_the_same_generation_are_waited_for() {
        let mut awaited = AwaitedMetadata::new(2, "new".into());
        assert!(awaited.is_unobserved(&lineage(2, "old"), Some("new")));
        assert!(!awaited.is_unobserved(&lineage(2, "new"), None));
        assert!(
            !awaited.is_unobserved(&lineage(2, "old"), Some("new")),
            "once is enough"
        );
    }

    #[test]
    fn labels_that_changed_again_or_are_gone_are_not_waited_for() {
        let begun = || AwaitedMetadata::new(2, "new".into());
        assert!(!begun().is_unobserved(&lineage(2, "newest"), Some("newest")));
        assert!(!begun().is_unobserved(&lineage(2, "old"), None));
        assert!(
            !begun().is_unobserved(&lineage(2, ""), Some("new")),
            "it was never noted"
        );
        assert!(
            !begun().is_unobserved(&lineage(3, "old"), Some("new")),
            "it was observed later"
        );
    }

    #[test]
    fn earlier_generation_does_not_end_the_waiting_for_labels() {
        let mut awaited = AwaitedMetadata::new(2, "new".into());
        assert!(!awaited.is_unobserved(&lineage(1, "old"), Some("new")));
        assert!(awaited.is_unobserved(&lineage(2, "old"), Some("new")));
    }

    #[test]
    fn what_was_removed_is_found_where_it_is_said_again() {
        let removed = ["param:debug".to_owned(), "field:spec.env".to_owned()];
        let said = |names: &[&str]| {
            let names: Vec<_> = names.iter().map(|it| (*it).to_owned()).collect();
            set_again(&removed, names.iter()).cloned()
        };
        assert_eq!(said(&["param:debugger", "field:spec"]), None);
        assert_eq!(said(&["param:debug"]), Some("param:debug".into()));
        assert_eq!(
            said(&["field:spec.env[0].value"]),
            Some("field:spec.env".into())
        );
    }
}
