//! Inputs that an object was given in its metadata alone.
//!
//! A change of metadata makes no new generation, so nothing that runs is started for it. The object has the input;
//! what runs was started before, with the one that there was then.

use std::collections::BTreeSet;

use crate::chain::Resource;
use crate::clauses::Clause;
use crate::origin::Origin;
use crate::state::State;

impl State {
    /// Returns an input by which an origin got into the object of a final resource without a new generation, if
    /// there is none by which it got into what runs: one that the generation was made with, or that a correlation
    /// rule says is used.
    pub(crate) fn in_metadata_only(&self, origin: &Origin, target: &Resource) -> Option<Origin> {
        let history = self.history_of(&target.name)?;
        let record = history.record_of_running()?;
        let reached = self.chain().reached_by(origin);
        let is_on_way = |input: &&Origin| match input {
            _ if *input == origin => true,
            Origin::Resource(name) => reached.contains(name.as_str()),
            Origin::Owner(_) => false,
        };
        let said = |input: &Origin| {
            let seen = history.last_seen();
            target.tracing.rules.contains(input) && seen.is_some_and(|it| it.matches(input))
        };
        let ways = record.inputs.keys().filter(is_on_way);
        let (late, started): (BTreeSet<_>, BTreeSet<_>) =
            ways.partition(|input| record.contested.contains(*input) && !said(input));
        let runs = !started.is_empty() || late.is_empty();
        let runs = self.clauses().holds(Clause::InMetadata, runs);
        late.into_iter().next().filter(|_| !runs).cloned()
    }
}
