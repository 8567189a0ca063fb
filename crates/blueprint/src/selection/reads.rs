//! The fields of an owner that decided how a resource is realized.

use std::collections::{BTreeSet, HashSet};

use pathline_jsonpath::FieldPath;
use pathline_jsonpath::JsonPath;
use pathline_kinds::carto::Selector;

use super::step::Step;
use crate::blueprint::{Blueprint, Input};
use crate::owner::Owner;
use crate::selector::{self, Subject};
use crate::template_reads::Reads;

/// Returns the fields of the owner that were looked at to decide how a resource is realized, given
/// what was decided for all.
///
/// These are what its own selector asks for, and the selectors of the options down to the chosen one;
/// all options, if the best one is taken. A selector is asked until something does not hold. An option
/// that was passed over because the producer of an input is skipped was passed over because of what
/// that producer's selectors asked for. A label is the field below `metadata.labels`.
pub fn reads(
    blueprint: &Blueprint,
    owner: &Owner,
    steps: &[Step],
    resource: usize,
) -> BTreeSet<FieldPath> {
    let mut looking = Looking {
        blueprint,
        owner,
        steps,
        is_multi_path: blueprint.is_multi_path(),
        visited: HashSet::new(),
        reads: Reads::default(),
    };
    looking.resource(resource);
    looking.reads.fields
}

struct Looking<'l> {
    blueprint: &'l Blueprint,
    owner: &'l Owner,
    steps: &'l [Step],
    is_multi_path: bool,
    visited: HashSet<usize>,
    reads: Reads,
}

impl Looking<'_> {
    fn resource(&mut self, index: usize) {
        if !self.visited.insert(index) {
            return;
        }
        let resource = &self.blueprint.resources[index];
        if !self.is_met(resource.selector.as_ref(), &resource.inputs) {
            return;
        }
        for option in resource.options() {
            let is_met = self.is_met(option.selector.as_ref(), &option.inputs);
            if is_met && self.is_multi_path {
                return;
            }
        }
    }

    /// Asks a resource or an option as selection does.
    fn is_met(&mut self, selector: Option<&Selector>, inputs: &[Input]) -> bool {
        let requirements = selector.into_iter().flat_map(selector::requirements);
        for requirement in requirements {
            self.look(requirement.subject);
            if !matches!(requirement.holds(self.owner), Ok(true)) {
                return false;
            }
        }
        let missing = inputs.iter().find_map(|input| self.unselected(input));
        if let Some(producer) = missing {
            self.resource(producer);
        }
        missing.is_none()
    }

    /// Returns the producer of an input, if it is not on the path.
    fn unselected(&self, input: &Input) -> Option<usize> {
        let resources = &self.blueprint.resources;
        let producer = resources
            .iter()
            .position(|resource| resource.name == input.producer)?;
        (self.is_multi_path && !self.steps[producer].is_selected()).then_some(producer)
    }

    fn look(&mut self, subject: Subject<'_>) {
        let places = match subject {
            Subject::Label(key) => {
                let labels = FieldPath::default().field("metadata").field("labels");
                vec![labels.field(key)]
            }
            Subject::Field(key) => {
                let path = JsonPath::parse(key);
                path.map(|path| path.places()).unwrap_or_default()
            }
        };
        for place in places {
            self.reads.look_at_owner(place.segments());
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::owner::OwnerKind;
    use crate::selection::Plan;
    use crate::testing::{owner, supply_chain};

    fn labels(labels: &Value) -> Value {
        json!({"matchLabels": labels})
    }

    /// Returns the fields that decided about the last resource, for an owner with these labels.
    fn decided_by(resources: &[Value], own: &Value) -> Vec<String> {
        let blueprint =
            supply_chain(json!({"metadata": {"name": "c"}, "spec": {"resources": resources}}));
        let owner = owner(
            OwnerKind::Workload,
            json!({"metadata": {"name": "app", "labels": own}, "spec": {"image": "i"}}),
        );
        let steps = Plan::new(&blueprint).unwrap().choose(&owner);
        let fields = reads(&blueprint, &owner, &steps, resources.len() - 1);
        fields.iter().map(FieldPath::to_string).collect()
    }

    fn resource(name: &str, more: &Value) -> Value {
        let mut resource =
            json!({"name": name, "templateRef": {"kind": "ClusterSourceTemplate", "name": name}});
        for (key, value) in more.as_object().unwrap() {
            resource[key] = value.clone();
        }
        resource
    }

    fn options(options: &Value) -> Value {
        json!({"templateRef": {"kind": "ClusterSourceTemplate", "options": options}})
    }

    #[test]
    fn what_is_asked_down_to_the_chosen_option_decides() {
        let by = |option: &str, label: &str| json!({"name": option, "selector": labels(&json!({label: "x"}))});
        let build = || {
            let chosen = options(&json!([
                {"name": "both", "selector": labels(&json!({"a": "x", "b": "x"}))},
                {"name": "field", "selector": {"matchFields": [{"key": "spec.image", "operator": "DoesNotExist"}]}},
                by("c", "c"),
                by("d", "d"),
                {"name": "else"},
            ]));
            vec![resource("build", &chosen)]
        };
        let [a, b, c, d, image] = ["a", "b", "c", "d"]
            .map(|label| format!("metadata.labels.{label}"))
            .into_iter()
            .chain(["spec.image".to_owned()])
            .collect::<Vec<_>>()
            .try_into()
            .unwrap();
        let rows = [
            (json!({"a": "x", "b": "x"}), vec![&a, &b]),
            (json!({"a": "x", "c": "x"}), vec![&a, &b, &c, &image]),
            (json!({"b": "x", "c": "x"}), vec![&a, &c, &image]),
            (json!({}), vec![&a, &c, &d, &image]),
        ];
        for (own, expected) in rows {
            let found = decided_by(&build(), &own);
            assert_eq!(found.iter().collect::<Vec<_>>(), expected, "{own}");
        }
    }

    #[test]
    fn every_option_decides_where_the_best_is_taken() {
        let best = options(&json!([
            {"name": "one", "selector": labels(&json!({"a": "x"}))},
            {"name": "two", "selector": labels(&json!({"a": "x", "b": "x"}))},
            {"name": "none", "selector": labels(&json!({"c": "x"}))},
        ]));
        let found = decided_by(&[resource("build", &best)], &json!({"a": "x"}));
        assert_eq!(
            found,
            [
                "metadata.labels.a",
                "metadata.labels.b",
                "metadata.labels.c"
            ]
        );
    }

    #[test]
    fn what_a_resource_asks_for_itself_decides() {
        let own = json!({"selector": labels(&json!({"a.b/c": "x"}))});
        let resources = [resource("test", &own)];
        assert_eq!(
            decided_by(&resources, &json!({"a.b/c": "x"})),
            ["metadata.labels.a.b/c"]
        );
        assert!(decided_by(&[resource("test", &json!({}))], &json!({})).is_empty());
    }

    #[test]
    fn what_takes_a_producer_away_decides_about_its_consumer() {
        let tests = json!({"selector": labels(&json!({"has-tests": "true"}))});
        let build = options(&json!([
            {"name": "tested", "sources": [{"name": "source", "resource": "test"}]},
            {"name": "plain", "sources": [{"name": "source", "resource": "fetch"}]},
        ]));
        let resources = [
            resource("fetch", &json!({})),
            resource("test", &tests),
            resource("build", &build),
        ];
        assert_eq!(
            decided_by(&resources, &json!({})),
            ["metadata.labels.has-tests"]
        );
        assert!(
            decided_by(&resources, &json!({"has-tests": "true"})).is_empty(),
            "then it is an input of the test, which is an input of the build"
        );
    }

    #[test]
    fn the_name_of_an_owner_is_no_input() {
        let by_name = json!({"selector": {"matchFields": [
            {"key": "metadata.name", "operator": "In", "values": ["app"]},
            {"key": "spec.env[*].name", "operator": "DoesNotExist"},
        ]}});
        assert_eq!(
            decided_by(&[resource("one", &by_name)], &json!({})),
            ["spec.env"]
        );
    }
}
