//! Objects that somebody else has changed.

use crate::chain::Resource;
use crate::clauses::Clause;
use crate::state::State;

impl State {
    /// Tells whether somebody else made the generation that the object of a final resource was seen with last, and not
    /// all that we applied is in it any more. Its output may still be ours; what runs was started with something else.
    pub(crate) fn is_touched(&self, target: &Resource) -> bool {
        let touched = self.history_of(&target.name).is_some_and(|history| {
            let seen = history.last_seen();
            seen.is_some_and(|seen| seen.held != Some(true) && history.is_foreign(seen))
        });
        touched && !self.clauses().is_dropped(Clause::InMetadata)
    }
}
