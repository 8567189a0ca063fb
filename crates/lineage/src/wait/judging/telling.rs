//! The words for how far something is.

use super::Judging;
use crate::arrival::{Arrival, Missing};
use crate::origin::Origin;
use crate::owner_lineage::OwnerLineage;
use crate::rollout::Stage;
use crate::wait::asked::Value;
use crate::wait::verdict::AtWork;
use crate::wait::way::Way;

/// Returns what people call an origin.
pub(super) fn name(origin: &Origin) -> String {
    match origin {
        Origin::Owner(name) => name.clone(),
        Origin::Resource(name) => format!("output of `{name}`"),
    }
}

/// Says what a rollout still lacks.
pub(super) fn stage(target: &str, stage: Option<&Stage>) -> Option<String> {
    match stage {
        None => Some(format!("`{target}`: what runs has not been observed yet")),
        Some(Stage::Progressing { why }) => Some(format!("`{target}` rolls out: {why}")),
        Some(Stage::Failed { reason }) => Some(format!("`{target}` does not run: {reason}")),
        Some(Stage::None | Stage::NoFollower { .. } | Stage::Done) => None,
    }
}

/// Says that nothing was started for an input.
pub(super) fn in_metadata(target: &str, input: &Origin) -> String {
    let input = name(input);
    format!("what `{target}` runs was started before its metadata was given {input}")
}

/// Says that somebody else has changed what runs.
pub(super) fn touched(target: &str) -> String {
    format!(
        "somebody else has changed the object of `{target}`, and not all that was applied is in it any more"
    )
}

/// Says what should follow what a target made.
pub(super) fn no_follower(target: &str, stage: Option<&Stage>) -> Option<String> {
    match stage {
        Some(Stage::NoFollower { why }) => Some(format!("`{target}`: {why}")),
        _ => None,
    }
}

impl Judging<'_> {
    /// Says what is missing: the step that comes next, and what no step will bring.
    pub(super) fn tell(
        self,
        value: &Value,
        arrival: &Arrival,
        step: Option<String>,
    ) -> Vec<String> {
        let told = arrival.missing.iter().filter_map(|missing| match missing {
            Missing::Unused => Some("nothing on the path reads it".to_owned()),
            Missing::NotOnPath => Some("it is not on the path".to_owned()),
            Missing::Superseded => Some(self.not_there(value)),
            Missing::Assumed { resource, input } => Some(format!(
                "nothing proves that `{resource}` used {}",
                name(input)
            )),
            Missing::Mixed { resource, upstream } => Some(format!(
                "`{resource}` is made from two values of {}",
                name(upstream)
            )),
            Missing::Forgotten { resource } => Some(format!(
                "how the output of `{resource}` came to be is forgotten"
            )),
            // The step that comes next says it better.
            Missing::Nothing { .. }
            | Missing::NotRead { .. }
            | Missing::Other { .. }
            | Missing::Pending { .. } => None,
        });
        let is_there = !arrival.missing.contains(&Missing::Superseded);
        told.chain(step.filter(|_| is_there)).collect()
    }

    /// Says that nothing has a value, and which one is there instead.
    fn not_there(self, value: &Value) -> String {
        let wanted = &value.wanted;
        let now = self.lineage.state.newest(&value.origin);
        let now = now.map(|it| wanted.in_place(it));
        match (&value.origin, now) {
            (Origin::Owner(_), Some(now)) => {
                format!("the owner does not say `{wanted}`; it says `{now}`")
            }
            (Origin::Owner(_), None) => format!("the owner does not say `{wanted}`"),
            // It may have been there before: a lineage does not keep what was replaced.
            (Origin::Resource(name), now) => {
                let now = match now {
                    Some(now) => {
                        format!("`{name}` has `{now}`; {wanted} is still to come, or was replaced")
                    }
                    None => format!("`{name}` has brought nothing yet"),
                };
                let trouble = self.trouble_of(name).into_iter();
                let told: Vec<_> = [now].into_iter().chain(trouble).collect();
                told.join("; ")
            }
        }
    }

    /// Says what the first resource that does not get on says of itself.
    pub(super) fn first_trouble(self) -> Option<String> {
        let mut resources = self.lineage.state.chain().in_path_order();
        resources.find_map(|it| self.trouble_of(&it.name))
    }

    /// Says what a resource that does not get on says of itself.
    fn trouble_of(self, name: &str) -> Option<String> {
        let OwnerLineage {
            failures, troubles, ..
        } = self.lineage;
        let said = failures.get(name).or_else(|| troubles.get(name))?;
        Some(format!("`{name}` says: {said}"))
    }

    /// Returns the first step on the way of a value that is not done with it, in words.
    pub(super) fn next_step(self, way: &Way<'_>) -> Option<(Option<AtWork>, String)> {
        let mut resources = way.resources();
        let next = resources.find(|it| !way.is_in(&it.name) || way.is_pending(it))?;
        let name = &next.name;
        let said = self.trouble_of(name);
        if !way.is_applied_to(next) {
            let why = said.unwrap_or_else(|| format!("`{name}` has not been given it yet"));
            return Some((None, why));
        }
        let history = self.lineage.state.history_of(name);
        let applied = history.and_then(|it| it.last_apply());
        let at_work = AtWork {
            resource: name.clone(),
            since: applied.and_then(|it| it.time),
        };
        let why = said.unwrap_or_else(|| format!("`{name}` runs"));
        Some((Some(at_work), why))
    }
}
