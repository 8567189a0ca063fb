//! Whether the resources of a path could be stamped, for those who have applied blueprints or templates.

use super::verdict::{Never, Position, Verdict};
use super::wish::Wish;
use crate::track::Track;

/// Judges whether everything on the path was stamped at the last look. What could not be, still is as
/// it was before: that it runs says nothing about the new template.
pub(super) fn judge(track: &Track) -> Verdict {
    let verdicts = track.unstamped.iter().map(|(resource, unstamped)| {
        let why = unstamped.why.clone();
        if unstamped.retried {
            let missing = format!("`{resource}` can't be stamped: {why}; it is tried again");
            return Verdict::Waiting(vec![Position::unknown(&Wish::Current, missing)]);
        }
        Verdict::Never(Never::Failed {
            resource: resource.clone(),
            message: why,
        })
    });
    let all = verdicts.reduce(Verdict::and);
    all.unwrap_or(Verdict::Holds(Vec::new()))
}
