//! Whether the resources of a path could be stamped, for those who have applied blueprints or templates.

use super::verdict::{Impossible, Progress, Verdict};
use super::wait_for::WaitFor;
use crate::owner_lineage::OwnerLineage;

/// Judges whether everything on the path was stamped at the last look. What could not be, still is as
/// it was before: that it runs says nothing about the new template.
pub(super) fn judge(lineage: &OwnerLineage) -> Verdict {
    let verdicts = lineage.unstamped.iter().map(|(resource, unstamped)| {
        let why = unstamped.why.clone();
        if unstamped.retried {
            let missing = format!("`{resource}` can't be stamped: {why}; it is tried again");
            return Verdict::Waiting(vec![Progress::unknown(&WaitFor::Current, missing)]);
        }
        Verdict::Impossible(Impossible::Failed {
            resource: resource.clone(),
            message: why,
        })
    });
    let all = verdicts.reduce(Verdict::and);
    all.unwrap_or(Verdict::Holds(Vec::new()))
}
