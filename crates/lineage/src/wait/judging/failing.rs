//! Whether something that was given the value can't go on.

use std::collections::BTreeSet;

use super::Judging;
use crate::arrival::Arrival;
use crate::chain::Resource;
use crate::owner_lineage::OwnerLineage;
use crate::rollout::Stage;
use crate::wait::asked::Value;
use crate::wait::verdict::Impossible;
use crate::wait::way::Way;

impl Judging<'_> {
    pub(super) fn failed(
        self,
        value: &Value,
        way: &Way<'_>,
        arrival: &Arrival,
    ) -> Option<Impossible> {
        let failed = |resource: &str, message: String| Impossible::Failed {
            resource: resource.to_owned(),
            message,
        };
        let runs = self.options.live || !arrival.arrived();
        let mut targets = self.lineage.running_targets(&value.origin).into_iter();
        let crashed = targets.find_map(|it| {
            let given = way.is_applied_to(it) || way.is_in(&it.name) || arrival.arrived();
            let reason = self.crash(it).filter(|_| runs && given)?;
            if self.is_to_change(it) {
                return None;
            }
            Some(failed(&it.name, reason))
        });
        if crashed.is_some() || arrival.arrived() {
            return crashed;
        }
        let is_to_come = |it: &&Resource| !way.is_in(&it.name);
        let stuck = way.resources().filter(is_to_come).find_map(|it| {
            let message = self.stuck(it, way)?;
            Some(failed(&it.name, message))
        });
        let mut to_come = way.resources().filter(is_to_come);
        stuck.or_else(|| to_come.find_map(|it| self.starved(it)))
    }

    /// Returns which producer has failed before it gave a resource anything: without it, the resource
    /// can't be stamped with the value either.
    fn starved(self, resource: &Resource) -> Option<Impossible> {
        let state = &self.lineage.state;
        let has_output = |name: &str| {
            state
                .current(name)
                .is_some_and(|made| made.output.is_some())
        };
        let mut missing: BTreeSet<_> = resource.upstream.iter().collect();
        for producer in state.chain().in_path_order().rev() {
            let name = &producer.name;
            if !missing.contains(name) || has_output(name) {
                continue;
            }
            let unstamped = self.lineage.failures.get(name).map(String::as_str);
            let failed = || {
                state
                    .failure_of(name)
                    .filter(|_| !self.is_to_change(producer))
            };
            if let Some(message) = unstamped.or_else(failed) {
                let (resource, message) = (name.clone(), message.to_owned());
                return Some(Impossible::Failed { resource, message });
            }
            missing.extend(&producer.upstream);
        }
        None
    }

    /// Tells whether what crashes is about to be replaced.
    fn is_to_change(self, target: &Resource) -> bool {
        let OwnerLineage {
            state, failures, ..
        } = self.lineage;
        let stuck = |name: &str| failures.contains_key(name) || state.failure_of(name).is_some();
        state.is_to_change(target, stuck)
    }

    /// Returns why the rollout of what was applied last failed.
    fn crash(self, target: &Resource) -> Option<String> {
        let applied = self.lineage.state.history_of(&target.name)?.last_apply()?;
        let rollout = self.lineage.rollouts.get(&target.name)?;
        match &rollout.stage {
            Stage::Failed { reason } if rollout.is_about(&applied.uid, applied.generation) => {
                Some(reason.clone())
            }
            _ => None,
        }
    }

    /// Returns why a resource does nothing with the value that it was given.
    fn stuck(self, resource: &Resource, way: &Way<'_>) -> Option<String> {
        let told = self.lineage.failures.get(&resource.name);
        if let Some(told) = told.filter(|_| way.is_given_to(resource)) {
            return Some(told.clone());
        }
        let failed = self.lineage.state.failure_of(&resource.name);
        let failed = failed.filter(|_| way.is_applied_to(resource));
        failed.map(str::to_owned)
    }
}
