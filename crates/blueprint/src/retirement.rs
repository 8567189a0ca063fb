//! Retirement: when an object may go whose resource is no longer on the path.

use std::collections::BTreeSet;

use pathline_kinds::carto::{PathEntry, PathState, ResourceStatus};

use crate::blueprint::Blueprint;
use crate::realization::{Outcome, Realization};

/// The state of a resource whose object is no longer stamped, as far as it is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Retirement {
    /// The name of the resource.
    pub resource: String,
    /// The resources on the path that took in what it gave.
    pub consumers: Vec<String>,
    /// Those of them that are not in place with their new inputs yet.
    pub awaited: Vec<String>,
}

impl Retirement {
    /// Tells whether its object may go.
    pub fn is_due(&self) -> bool {
        self.awaited.is_empty()
    }

    /// Says, for people, what it waits for.
    pub(crate) fn reason(&self) -> String {
        if self.is_due() {
            return "its object is being removed".to_owned();
        }
        format!(
            "its object stays until [{}] is applied with new inputs and healthy",
            self.awaited.join(", ")
        )
    }
}

/// The path as it was last reported, and as it is now.
#[derive(Debug, Clone, Copy)]
pub struct Passage<'p> {
    /// The blueprint.
    pub blueprint: &'p Blueprint,
    /// The realizations of its resources, in declared order.
    pub now: &'p [Realization],
    /// The status that was last reported of them.
    pub resources: &'p [ResourceStatus],
    /// The path that was last reported.
    pub path: &'p [PathEntry],
}

impl Passage<'_> {
    /// Judges a resource some object of which is no longer stamped.
    pub fn retire(&self, resource: &str) -> Retirement {
        let consumers = self.consumers(resource);
        let is_awaited = |name: &&String| {
            let consumer = self.now.iter().find(|known| known.resource == **name);
            consumer.is_some_and(|consumer| consumer.is_selected() && !consumer.is_settled())
        };
        Retirement {
            resource: resource.to_owned(),
            awaited: consumers.iter().filter(is_awaited).cloned().collect(),
            consumers,
        }
    }

    /// Returns the resources on the path that take in, or took in, what a resource gives; what is
    /// handed on counts for those behind.
    fn consumers(&self, resource: &str) -> Vec<String> {
        let is_known =
            |entry: &&PathEntry| entry.state == PathState::Retiring && entry.resource == resource;
        if let Some(known) = self.path.iter().find(is_known) {
            return known.consumers.clone();
        }
        let mut found = BTreeSet::new();
        let mut open = vec![resource.to_owned()];
        while let Some(producer) = open.pop() {
            for consumer in self.direct_consumers(&producer) {
                if found.insert(consumer.resource.as_str())
                    && matches!(consumer.outcome, Outcome::PassedThrough)
                {
                    open.push(consumer.resource.clone());
                }
            }
        }
        // What replaces the object must be in place as well.
        let itself = |known: &&Realization| known.resource == resource && known.is_selected();
        found.extend(
            self.now
                .iter()
                .filter(itself)
                .map(|known| known.resource.as_str()),
        );
        found.into_iter().map(str::to_owned).collect()
    }

    fn direct_consumers(&self, producer: &str) -> impl Iterator<Item = &Realization> {
        self.now
            .iter()
            .filter(move |known| known.is_selected() && self.took(&known.resource, producer))
    }

    fn took(&self, consumer: &str, producer: &str) -> bool {
        let now = self.now.iter().find(|known| known.resource == consumer);
        if now.is_some_and(|now| now.producers.iter().any(|known| known == producer)) {
            return true;
        }
        match self.resources.iter().find(|known| known.name == consumer) {
            Some(before) => before.inputs.iter().any(|input| input.name == producer),
            // Nothing was reported: whoever might have taken it counts.
            None => {
                let declared = self.blueprint.resource(consumer);
                declared.is_some_and(|declared| {
                    declared
                        .all_inputs()
                        .any(|input| input.producer == producer)
                })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use pathline_kinds::carto::ConditionStatus;
    use serde_json::json;

    use super::*;
    use crate::conditions::Verdict;
    use crate::health;
    use crate::testing::supply_chain;

    fn blueprint() -> Blueprint {
        let template = json!({"kind": "ClusterSourceTemplate", "name": "t"});
        let build = json!({"kind": "ClusterSourceTemplate", "options": [
            {"name": "t", "sources": [{"name": "in", "resource": "test"}]},
            {"name": "t", "sources": [{"name": "in", "resource": "fetch"}]},
        ]});
        supply_chain(
            json!({"metadata": {"name": "chain"}, "spec": {"resources": [
                {"name": "fetch", "templateRef": template},
                {"name": "test", "templateRef": template, "selector": {"matchLabels": {"a": "b"}}},
                {"name": "build", "templateRef": build},
                {"name": "show", "templateRef": template, "sources": [{"name": "in", "resource": "build"}]},
            ]}}),
        )
    }

    fn realization(name: &str, producers: &[&str], outcome: Outcome) -> Realization {
        Realization {
            resource: name.to_owned(),
            template: None,
            stamped: None,
            producers: producers.iter().map(|name| (*name).to_owned()).collect(),
            outcome,
            output: None,
            health: Verdict::new("Healthy", ConditionStatus::True, "AlwaysHealthy", ""),
            is_observed: true,
            failed: None,
        }
    }

    fn skipped(name: &str) -> Realization {
        let reason = "SelectorNotMatched";
        let message = String::new();
        realization(name, &[], Outcome::Skipped { reason, message })
    }

    fn reported(name: &str, inputs: &[&str]) -> ResourceStatus {
        let inputs: Vec<_> = inputs.iter().map(|name| json!({"name": name})).collect();
        serde_json::from_value(json!({"name": name, "inputs": inputs})).unwrap()
    }

    fn retire(now: &[Realization], resources: &[ResourceStatus], path: &[PathEntry]) -> Retirement {
        let blueprint = blueprint();
        let passage = Passage {
            blueprint: &blueprint,
            now,
            resources,
            path,
        };
        passage.retire("test")
    }

    #[test]
    fn an_object_stays_until_its_consumers_work_without_it() {
        let mut now = vec![
            realization("fetch", &[], Outcome::Submitted),
            skipped("test"),
            realization("build", &["fetch"], Outcome::Submitted),
            realization("show", &["build"], Outcome::Submitted),
        ];
        now[2].health = health::unknown();
        let before = [reported("build", &["test"]), reported("show", &["build"])];
        let retirement = retire(&now, &before, &[]);
        assert_eq!(retirement.consumers, ["build"]);
        assert!(!retirement.is_due());
        assert_eq!(
            retirement.reason(),
            "its object stays until [build] is applied with new inputs and healthy"
        );

        // The next report of `build` says nothing of `test` any more; the path remembers.
        let path = [PathEntry {
            resource: "test".to_owned(),
            state: PathState::Retiring,
            option: None,
            reason: String::new(),
            consumers: retirement.consumers,
        }];
        let after = [reported("build", &["fetch"])];
        assert!(!retire(&now, &after, &path).is_due());
        now[2].health = now[3].health.clone();
        now[2].is_observed = false;
        assert!(
            !retire(&now, &after, &path).is_due(),
            "what it says is about the old inputs"
        );
        now[2].is_observed = true;
        assert!(retire(&now, &after, &path).is_due());
    }

    #[test]
    fn without_consumers_it_goes_at_once() {
        let now = [skipped("test"), skipped("build")];
        assert!(retire(&now, &[reported("build", &["test"])], &[]).is_due());
        let now = [skipped("test"), realization("build", &["fetch"], waiting())];
        assert!(retire(&now, &[reported("build", &["fetch"])], &[]).is_due());
    }

    #[test]
    fn without_a_report_whoever_is_declared_to_take_it_counts() {
        let now = [skipped("test"), realization("build", &["fetch"], waiting())];
        assert_eq!(retire(&now, &[], &[]).awaited, ["build"]);
    }

    #[test]
    fn what_is_handed_on_counts_for_those_behind() {
        let now = [
            skipped("test"),
            realization("build", &["fetch"], Outcome::PassedThrough),
            realization("show", &["build"], waiting()),
        ];
        let before = [reported("build", &["test"]), reported("show", &["build"])];
        assert_eq!(retire(&now, &before, &[]).awaited, ["show"]);
    }

    #[test]
    fn what_replaces_an_object_must_be_in_place() {
        let now = [realization("test", &[], waiting())];
        assert_eq!(retire(&now, &[], &[]).awaited, ["test"]);
    }

    fn waiting() -> Outcome {
        Outcome::Waiting {
            input: "in".to_owned(),
            producer: "fetch".to_owned(),
        }
    }
}
