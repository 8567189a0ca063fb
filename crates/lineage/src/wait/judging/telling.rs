//! Where things are, in words.

use super::Judging;
use crate::arrival::{Arrival, Missing};
use crate::origin::Origin;
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

/// Says what a last mile still lacks.
pub(super) fn stage(target: &str, stage: Option<&Stage>) -> Option<String> {
    match stage {
        None => Some(format!("`{target}`: nobody has looked at what runs yet")),
        Some(Stage::Progressing { why }) => Some(format!("`{target}` rolls out: {why}")),
        Some(Stage::Failed { reason }) => Some(format!("`{target}` does not run: {reason}")),
        Some(Stage::None | Stage::Unfollowed { .. } | Stage::Done) => None,
    }
}

/// Says what should follow what a target made.
pub(super) fn unfollowed(target: &str, stage: Option<&Stage>) -> Option<String> {
    match stage {
        Some(Stage::Unfollowed { why }) => Some(format!("`{target}`: {why}")),
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
        let now = self.track.state.newest(&value.origin);
        let now = now.map(|it| wanted.in_place(it));
        match (&value.origin, now) {
            (Origin::Owner(_), Some(now)) => {
                format!("the owner does not say `{wanted}`; it says `{now}`")
            }
            (Origin::Owner(_), None) => format!("the owner does not say `{wanted}`"),
            (Origin::Resource(_), _) => format!("nothing has brought {wanted} yet"),
        }
    }

    /// Returns the first step on the way of a value that is not done with it, in words.
    pub(super) fn next_step(self, way: &Way<'_>) -> Option<(Option<AtWork>, String)> {
        let mut resources = way.resources();
        let next = resources.find(|it| !way.is_in(&it.name) || way.is_pending(it))?;
        let name = &next.name;
        let said = self.track.failures.get(name);
        let said = said.or_else(|| self.track.troubles.get(name));
        if !way.is_applied_to(next) {
            let why = match said {
                Some(said) => format!("`{name}` says: {said}"),
                None => format!("`{name}` has not been given it yet"),
            };
            return Some((None, why));
        }
        let memory = self.track.state.recollect(name);
        let applied = memory.and_then(|it| it.last_apply());
        let at_work = AtWork {
            resource: name.clone(),
            since: applied.and_then(|it| it.time),
        };
        let why = match said {
            Some(said) => format!("`{name}` says: {said}"),
            None => format!("`{name}` runs"),
        };
        Some((Some(at_work), why))
    }
}
