//! Has everything settled: is nothing under way that could still prove something?

use std::collections::BTreeSet;

use crate::artifact::Artifact;
use crate::chain::Resource;
use crate::clauses::{Clause, Clauses};
use crate::evidence::{Evidence, Judge};
use crate::origin::Origin;
use crate::resource_history::ResourceHistory;
use crate::snapshot::{Health, Snapshot};
use crate::stamp::{Applied, Record};
use crate::state::State;
use crate::tracing::Tracing;

impl State {
    /// Tells whether nothing is under way: every resource was applied with what the owner and its
    /// producers give now, and its object says, as well as it can, that it is done with that.
    pub fn is_settled(&self) -> bool {
        let resources = self.chain().resources();
        !resources.is_empty() && resources.iter().all(|it| self.has_settled(it))
    }

    /// Tells whether two leave the same open to those who wait.
    pub(crate) fn promises_the_same(&self, other: &Self) -> bool {
        let mut resources = self.chain().resources().iter();
        self.is_settled() == other.is_settled()
            && resources.all(|it| {
                self.failure_of(&it.name) == other.failure_of(&it.name)
                    && self.carried_by(it).eq(other.carried_by(it))
            })
    }

    /// Returns why the object of a resource says of its last apply that it will get no further.
    pub(crate) fn failure_of(&self, resource: &str) -> Option<&str> {
        let declared = self.chain().get(resource)?;
        let history = self.history_of(resource)?;
        let (seen, applied) = history.seen_since().zip(history.last_apply())?;
        let clauses = self.clauses();
        let observed = has_observed(&declared.tracing, seen);
        let told = clauses.holds(Clause::Shown, shows(seen, applied))
            && clauses.holds(Clause::Reported, observed);
        self.failed(seen).filter(|_| told)
    }

    /// Returns why an object has failed: health that is False alone may pass.
    fn failed<'s>(&self, seen: &'s Snapshot) -> Option<&'s str> {
        let unhealthy = self.clauses().is_dropped(Clause::Passing) && seen.health == Health::False;
        let failed = seen.failed.as_deref();
        failed.or_else(|| unhealthy.then_some("its object is not healthy"))
    }

    /// Tells whether something is under way that will change what a resource was given. Producers that
    /// are `stuck` bring nothing.
    pub(super) fn is_to_change(&self, resource: &Resource, stuck: impl Fn(&str) -> bool) -> bool {
        let mut above: BTreeSet<_> = resource.upstream.iter().collect();
        let mut at_work = false;
        for producer in self.chain().in_path_order().rev() {
            if above.contains(&producer.name) {
                above.extend(&producer.upstream);
                at_work |= !self.has_settled(producer) && !stuck(&producer.name);
            }
        }
        let applied = self
            .history_of(&resource.name)
            .and_then(ResourceHistory::last_apply);
        at_work || applied.is_none_or(|it| !self.is_up_to_date(resource, it))
    }

    fn has_settled(&self, resource: &Resource) -> bool {
        let Some(history) = self.history_of(&resource.name) else {
            return false;
        };
        let Some(applied) = history.last_apply() else {
            return false;
        };
        let passed_through = applied.uid.is_empty();
        let clauses = self.clauses();
        clauses.holds(Clause::UpToDate, self.is_up_to_date(resource, applied))
            && history.current().is_some()
            && (passed_through || is_done(&resource.tracing, history, applied, clauses))
    }

    fn is_up_to_date(&self, resource: &Resource, applied: &Record) -> bool {
        let given = |origin: &Origin| match origin {
            Origin::Owner(name) => self.owner().get(name),
            Origin::Resource(name) => self.current(name)?.output.as_ref(),
        };
        let read = resource.reads.iter().map(Origin::owner);
        let inputs = applied.inputs.keys().cloned().chain(read);
        let mut inputs = inputs.filter(|origin| given(origin).is_some());
        let upstream =
            |name: &String| self.chain().get(name).is_some() && self.current(name).is_some();
        // What another path took from the resource is still in its object.
        let is_linked = |origin: &Origin| match origin {
            Origin::Owner(_) => true,
            Origin::Resource(name) => resource.upstream.contains(name),
        };
        resource.upstream.iter().all(upstream)
            && applied.inputs.keys().all(is_linked)
            && inputs.all(|origin| applied.inputs.get(&origin) == given(&origin))
    }
}

fn is_done(
    tracing: &Tracing,
    history: &ResourceHistory,
    applied: &Record,
    clauses: Clauses,
) -> bool {
    let seen = if clauses.is_dropped(Clause::SeenSince) {
        history.last_seen()
    } else {
        history.seen_since()
    };
    let Some(seen) = seen else {
        return false;
    };
    let holds = |clause, condition| clauses.holds(clause, condition);
    let misses = history.emits() && seen.output.is_none();
    let rules = tracing.rules.iter().all(|rule| seen.matches(rule));
    holds(Clause::Shown, shows(seen, applied))
        && holds(Clause::Believed, says_done(tracing, history, seen, applied))
        && holds(Clause::Untouched, is_untouched(seen, applied))
        && holds(Clause::Emitted, !misses)
        && holds(Clause::Matched, rules)
        && holds(Clause::Well, seen.health.is_good())
        && holds(Clause::Reported, has_observed(tracing, seen))
        && !hands_on_late(history, applied)
}

/// Tells whether a snapshot shows what was applied last. A generation that somebody else made, or
/// that an apply made which nobody remembers, is applied again, and only then can be settled.
fn shows(seen: &Snapshot, applied: &Record) -> bool {
    seen.uid == applied.uid
        && seen.template == applied.template
        && seen.generation == applied.generation
        && seen
            .inputs_id
            .as_ref()
            .is_none_or(|id| *id == applied.inputs_id)
}

/// Tells whether what was applied is still there, as far as anybody looked.
fn is_untouched(seen: &Snapshot, applied: &Record) -> bool {
    let output = seen.output.as_ref().map(Artifact::id);
    match (seen.held, applied.applied) {
        (Some(held), _) => held,
        (None, Applied::Output(applied)) => output == Some(applied),
        (None, Applied::Elsewhere | Applied::Object) => true,
    }
}

/// Tells whether there is reason to think that the object is done with the last apply: it says so by
/// what would be proof, or it shows something that it did not show before the apply.
///
/// A generation that may not be believed for proof may have been noted before the work began.
fn says_done(
    tracing: &Tracing,
    history: &ResourceHistory,
    seen: &Snapshot,
    applied: &Record,
) -> bool {
    let judge = Judge {
        tracing,
        records: &[],
        carried: &[],
        clauses: Clauses::default(),
    };
    let matched = !tracing.rules.is_empty() && tracing.rules.iter().all(|it| seen.matches(it));
    let needs_no_word = tracing.immutable || applied.applied != Applied::Elsewhere;
    needs_no_word || matched || judge.is_observed(seen) || history.is_of_last_apply()
}

/// Tells whether the object observed its generation, as far as it says so.
fn has_observed(tracing: &Tracing, seen: &Snapshot) -> bool {
    let observed = tracing.reported(seen);
    observed.is_none() || observed == seen.generation
}

/// Tells whether a resource that hands an input on has not done so with the last one yet.
fn hands_on_late(history: &ResourceHistory, applied: &Record) -> bool {
    history.current().is_some_and(|made| {
        let mut handed_on = made
            .from
            .iter()
            .filter(|(_, edge)| edge.evidence == Evidence::Same);
        handed_on.any(|(origin, _)| {
            let given = applied.inputs.get(origin).map(Artifact::id);
            given != made.output.as_ref().map(Artifact::id)
        })
    })
}
