//! A blueprint made ready for many owners.

use std::collections::HashMap;

use super::best;
use super::question::{Answers, Conditions, Interner, Questions};
use super::step::{NoTemplate, Skip, Step, Unmet};
use crate::blueprint::{Blueprint, Input, Resource, TemplateOption, Templates};
use crate::graph::{self, Fault};
use crate::model::Selector;
use crate::owner::Owner;
use crate::selector;

/// A blueprint made ready for many owners: its order, its parsed keys, and each question once.
///
/// ```
/// use pathline_blueprint::blueprint::Blueprint;
/// use pathline_blueprint::owner::{Owner, OwnerKind};
/// use pathline_blueprint::selection::{Plan, Step};
/// use serde_json::json;
///
/// let blueprint = Blueprint::read(json!({
///     "apiVersion": "carto.run/v1alpha1",
///     "kind": "ClusterSupplyChain",
///     "metadata": {"name": "chain"},
///     "spec": {"resources": [{
///         "name": "test",
///         "selector": {"matchLabels": {"has-tests": "true"}},
///         "templateRef": {"kind": "ClusterSourceTemplate", "name": "run-tests"},
///     }]},
/// }))?;
/// let owner = json!({"metadata": {"name": "app", "labels": {"has-tests": "true"}}});
/// let owner = Owner::read(OwnerKind::Workload, owner)?;
/// assert_eq!(Plan::new(&blueprint)?.choose(&owner), [Step::Selected { option: None }]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    is_multi_path: bool,
    order: Vec<usize>,
    questions: Questions,
    resources: Vec<Choice>,
}

/// One resource, as it is decided.
#[derive(Debug, Clone, PartialEq)]
struct Choice {
    demands: Demands,
    /// None if there is but one template.
    options: Option<Vec<Alternative>>,
}

/// One option, as it is decided.
#[derive(Debug, Clone, PartialEq)]
struct Alternative {
    label: String,
    demands: Demands,
}

/// What must be so for a resource or an option to be selected.
#[derive(Debug, Clone, PartialEq)]
struct Demands {
    conditions: Option<Conditions>,
    /// The producer of each input.
    producers: Vec<usize>,
}

impl Plan {
    /// Prepares a blueprint, unless it cannot be realized for any owner.
    pub fn new(blueprint: &Blueprint) -> Result<Self, Fault> {
        let order = graph::order(blueprint)?;
        let mut preparation = Preparation {
            indexes: graph::indexes(blueprint)?,
            interner: Interner::default(),
        };
        let resources = blueprint.resources.iter();
        let resources = resources
            .map(|resource| preparation.choice(resource))
            .collect();
        Ok(Self {
            is_multi_path: blueprint.is_multi_path(),
            order,
            questions: preparation.interner.finish(),
            resources,
        })
    }

    /// Returns the indexes of the resources, every producer before its consumers.
    pub fn order(&self) -> &[usize] {
        &self.order
    }

    /// Decides, for every resource in declared order, how it is realized for an owner.
    ///
    /// The owner and the blueprint alone decide: not what has been stamped, nor in which order
    /// resources are declared.
    pub fn choose(&self, owner: &Owner) -> Vec<Step> {
        let mut answers = Answers::new(&self.questions, owner);
        if !self.is_multi_path {
            let resources = self.resources.iter();
            return resources
                .map(|resource| resource.most_specific(&mut answers))
                .collect();
        }
        let mut steps = vec![Step::Selected { option: None }; self.resources.len()];
        let mut is_selected = vec![false; self.resources.len()];
        let mut unmet = Vec::new();
        for index in self.order.iter().copied() {
            let resource = &self.resources[index];
            let step = resource.first_selected(&mut answers, &is_selected, &mut unmet);
            is_selected[index] = step.is_selected();
            steps[index] = step;
        }
        steps
    }
}

struct Preparation<'b> {
    indexes: HashMap<&'b str, usize>,
    interner: Interner<'b>,
}

impl<'b> Preparation<'b> {
    fn choice(&mut self, resource: &'b Resource) -> Choice {
        Choice {
            demands: self.demands(resource.selector.as_ref(), &resource.inputs),
            options: match &resource.templates {
                Templates::One(_) => None,
                Templates::Options(options) => {
                    let options = options.iter();
                    Some(options.map(|option| self.alternative(option)).collect())
                }
            },
        }
    }

    fn alternative(&mut self, option: &'b TemplateOption) -> Alternative {
        Alternative {
            label: option.label().to_owned(),
            demands: self.demands(option.selector.as_ref(), &option.inputs),
        }
    }

    fn demands(&mut self, selector: Option<&'b Selector>, inputs: &[Input]) -> Demands {
        let producer = |input: &Input| self.indexes[input.producer.as_str()];
        let producers = inputs.iter().map(producer).collect();
        Demands {
            conditions: selector.map(|selector| self.interner.conditions(selector)),
            producers,
        }
    }
}

impl Choice {
    /// Decides by the rules of multi-path blueprints. `is_selected` knows all producers; `unmet` is
    /// room to write in.
    fn first_selected(
        &self,
        answers: &mut Answers<'_, '_>,
        is_selected: &[bool],
        unmet: &mut Vec<Unmet>,
    ) -> Step {
        match self.demands.first_unmet(answers, is_selected) {
            Ok(None) => {}
            Ok(Some(unmet)) => return Step::Skipped(Skip::Unmet(unmet)),
            Err(reason) => return Step::Failed(NoTemplate::OwnSelector(*reason)),
        }
        let Some(options) = &self.options else {
            return Step::Selected { option: None };
        };
        unmet.clear();
        for (index, option) in options.iter().enumerate() {
            match option.demands.first_unmet(answers, is_selected) {
                Ok(None) => {
                    return Step::Selected {
                        option: Some(index),
                    };
                }
                Ok(Some(first)) => unmet.push(first),
                Err(reason) => return option.failed(*reason),
            }
        }
        Step::Skipped(Skip::NoOption(unmet.clone()))
    }

    /// Decides by the rules of single-path blueprints: the one option that asks for most.
    fn most_specific(&self, answers: &mut Answers<'_, '_>) -> Step {
        let Some(options) = &self.options else {
            return Step::Selected { option: None };
        };
        let mut scored = Vec::new();
        for (index, option) in options.iter().enumerate() {
            let conditions = option.demands.conditions.as_ref();
            let conditions =
                conditions.expect("in a single-path blueprint every option has a selector");
            match answers.first_unmet(conditions) {
                Ok(None) => scored.push((conditions.count(), index)),
                Ok(Some(_)) => {}
                Err(reason) => return option.failed(*reason),
            }
        }
        match best(scored)[..] {
            [index] => Step::Selected {
                option: Some(index),
            },
            ref tied => Step::Failed(NoTemplate::Matches(
                tied.iter()
                    .map(|index| options[*index].label.clone())
                    .collect(),
            )),
        }
    }
}

impl Alternative {
    fn failed(&self, reason: selector::Error) -> Step {
        Step::Failed(NoTemplate::Selector {
            option: self.label.clone(),
            reason,
        })
    }
}

impl Demands {
    /// Returns what is not so. The selector is asked first: a key that cannot be evaluated is an error
    /// even where a producer is missing as well.
    fn first_unmet(
        &self,
        answers: &mut Answers<'_, '_>,
        is_selected: &[bool],
    ) -> Result<Option<Unmet>, Box<selector::Error>> {
        if let Some(conditions) = &self.conditions
            && let Some(requirement) = answers.first_unmet(conditions)?
        {
            return Ok(Some(Unmet::Selector { requirement }));
        }
        let mut producers = self.producers.iter().copied().enumerate();
        let missing = producers.find(|(_, producer)| !is_selected[*producer]);
        Ok(missing.map(|(input, producer)| Unmet::Producer { input, producer }))
    }
}

#[cfg(test)]
#[expect(
    clippy::needless_pass_by_value,
    reason = "a literal is given away at the call"
)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::owner::OwnerKind;
    use crate::selection::Action;
    use crate::testing::{owner, supply_chain};

    fn labelled(labels: Value) -> Owner {
        owner(
            OwnerKind::Workload,
            json!({"metadata": {"name": "app", "labels": labels}, "spec": {}}),
        )
    }

    fn with_options(options: Value) -> Blueprint {
        supply_chain(
            json!({"metadata": {"name": "chain"}, "spec": {"resources": [
                {"name": "fetch", "templateRef": {"kind": "ClusterImageTemplate", "name": "fetch"}},
                {
                    "name": "build",
                    "templateRef": {"kind": "ClusterImageTemplate", "options": options},
                    "images": [{"name": "in", "resource": "fetch"}],
                },
            ]}}),
        )
    }

    fn step(blueprint: &Blueprint, labels: Value) -> Step {
        let plan = Plan::new(blueprint).unwrap();
        plan.choose(&labelled(labels)).remove(1)
    }

    #[test]
    fn the_most_specific_option_of_a_single_path_wins() {
        let blueprint = with_options(json!([
            {"name": "fast", "selector": {"matchLabels": {"speed": "fast"}}},
            {"passThrough": "in", "selector": {"matchLabels": {"speed": "fast", "skip": "yes"}}},
            {"name": "never", "selector": {}},
        ]));
        let chosen = |labels| match step(&blueprint, labels) {
            Step::Selected { option } => blueprint.selected(1, option).action,
            other => panic!("{other:?}"),
        };
        assert_eq!(chosen(json!({"speed": "fast"})), Action::Stamp("fast"));
        assert_eq!(
            chosen(json!({"speed": "fast", "skip": "yes"})),
            Action::PassThrough("in")
        );
        assert_eq!(
            step(&blueprint, json!({"x": "y"})),
            Step::Failed(NoTemplate::Matches(vec![]))
        );
    }

    #[test]
    fn tied_options_are_named() {
        let blueprint = with_options(json!([
            {"name": "a", "selector": {"matchLabels": {"x": "1"}}},
            {"name": "b", "selector": {"matchLabels": {"y": "1"}}},
        ]));
        assert_eq!(
            step(&blueprint, json!({"x": "1", "y": "1"})),
            Step::Failed(NoTemplate::Matches(vec!["a".to_owned(), "b".to_owned()]))
        );
    }

    #[test]
    fn the_first_option_of_a_multi_path_wins() {
        let blueprint = with_options(json!([
            {"name": "fast", "selector": {"matchLabels": {"speed": "fast"}}},
            {"name": "faster", "selector": {"matchLabels": {"speed": "fast", "more": "yes"}}},
            {"name": "any"},
        ]));
        let chosen = |labels| step(&blueprint, labels);
        let selected = |option| Step::Selected {
            option: Some(option),
        };
        assert_eq!(chosen(json!({"speed": "fast", "more": "yes"})), selected(0));
        assert_eq!(chosen(json!({})), selected(2));
    }
}
