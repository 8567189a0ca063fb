//! A blueprint made ready for many owners.

use std::collections::HashMap;

use pathline_kinds::carto::Selector;

use super::best;
use super::question::{Answers, Interner, Questions};
use super::span::{self, Span};
use super::step::{NoTemplate, Skip, Step, Unmet};
use crate::blueprint::{Blueprint, Input, Resource, TemplateOption, Templates};
use crate::graph::{self, Fault};
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
    lists: Lists,
}

/// The lists that resources and options point into, so that a path is decided in one pass over
/// little memory.
#[derive(Debug, Clone, PartialEq, Default)]
struct Lists {
    /// The options of all resources, one resource after the other.
    options: Vec<Demands>,
    /// The names of these options in messages.
    labels: Vec<String>,
    /// The producers of all inputs, one resource or option after the other.
    producers: Vec<u32>,
}

/// One resource, as it is decided.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Choice {
    demands: Demands,
    /// None if there is but one template.
    options: Option<Span>,
}

/// The demands that must be met for a resource or an option to be selected.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Demands {
    /// The questions of the selector; without one there are none, and so it matches.
    selector: Span,
    /// The producer of each input.
    producers: Span,
}

impl Plan {
    /// Prepares a blueprint.
    ///
    /// # Errors
    ///
    /// Fails if it cannot be realized for any owner: names or inputs of its resources do not fit together.
    pub fn new(blueprint: &Blueprint) -> Result<Self, Fault> {
        let order = graph::order(blueprint)?;
        let mut preparation = Preparation {
            indexes: graph::indexes(blueprint)?,
            interner: Interner::default(),
            lists: Lists::default(),
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
            lists: preparation.lists,
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
        let mut deciding = Deciding {
            lists: &self.lists,
            answers: Answers::new(&self.questions, owner),
            is_selected: vec![false; self.resources.len()],
            unmet: Vec::new(),
        };
        if !self.is_multi_path {
            let resources = self.resources.iter();
            return resources
                .map(|resource| deciding.most_specific(*resource))
                .collect();
        }
        let mut steps = vec![Step::Selected { option: None }; self.resources.len()];
        for index in self.order.iter().copied() {
            let step = deciding.first_selected(self.resources[index]);
            deciding.is_selected[index] = step.is_selected();
            steps[index] = step;
        }
        steps
    }
}

struct Preparation<'b> {
    indexes: HashMap<&'b str, usize>,
    interner: Interner<'b>,
    lists: Lists,
}

impl<'b> Preparation<'b> {
    fn choice(&mut self, resource: &'b Resource) -> Choice {
        Choice {
            demands: self.demands(resource.selector.as_ref(), &resource.inputs),
            options: match &resource.templates {
                Templates::One(_) => None,
                Templates::Options(options) => Some(self.options(options)),
            },
        }
    }

    fn options(&mut self, options: &'b [TemplateOption]) -> Span {
        let start = self.lists.options.len();
        for option in options {
            let demands = self.demands(option.selector.as_ref(), &option.inputs);
            self.lists.options.push(demands);
            self.lists.labels.push(option.label().to_owned());
        }
        Span::new(start, self.lists.options.len())
    }

    fn demands(&mut self, selector: Option<&'b Selector>, inputs: &[Input]) -> Demands {
        let start = self.lists.producers.len();
        let producers = inputs
            .iter()
            .map(|input| self.indexes[input.producer.as_str()]);
        self.lists.producers.extend(producers.map(span::small));
        Demands {
            selector: selector.map_or(Span::new(0, 0), |selector| self.interner.selector(selector)),
            producers: Span::new(start, self.lists.producers.len()),
        }
    }
}

/// One owner, while its path is decided.
struct Deciding<'p, 'o> {
    lists: &'p Lists,
    answers: Answers<'p, 'o>,
    is_selected: Vec<bool>,
    /// Room for what is not so, used again and again.
    unmet: Vec<Unmet>,
}

impl Deciding<'_, '_> {
    /// Decides by the rules of multi-path blueprints. All producers must be decided.
    fn first_selected(&mut self, resource: Choice) -> Step {
        match self.first_unmet(resource.demands) {
            Ok(None) => {}
            Ok(Some(unmet)) => return Step::Skipped(Skip::Unmet(unmet)),
            Err(reason) => return Step::Failed(NoTemplate::OwnSelector(*reason)),
        }
        let Some(options) = resource.options else {
            return Step::Selected { option: None };
        };
        self.unmet.clear();
        for (index, option) in options.of(&self.lists.options).iter().enumerate() {
            match self.first_unmet(*option) {
                Ok(None) => {
                    return Step::Selected {
                        option: Some(index),
                    };
                }
                Ok(Some(unmet)) => self.unmet.push(unmet),
                Err(reason) => return self.broken(options, index, *reason),
            }
        }
        Step::Skipped(Skip::NoOption(self.unmet.clone()))
    }

    /// Decides by the rules of single-path blueprints: the one option that asks for most.
    fn most_specific(&mut self, resource: Choice) -> Step {
        let Some(options) = resource.options else {
            return Step::Selected { option: None };
        };
        let mut scored = Vec::new();
        for (index, option) in options.of(&self.lists.options).iter().enumerate() {
            match self.answers.first_unmet(option.selector) {
                Ok(None) => scored.push((option.selector.len(), index)),
                Ok(Some(_)) => {}
                Err(reason) => return self.broken(options, index, *reason),
            }
        }
        match best(scored)[..] {
            [index] => Step::Selected {
                option: Some(index),
            },
            ref tied => {
                let labels = options.of(&self.lists.labels);
                let tied = tied.iter().map(|index| labels[*index].clone());
                Step::Failed(NoTemplate::Matches(tied.collect()))
            }
        }
    }

    fn broken(&self, options: Span, index: usize, reason: selector::Error) -> Step {
        Step::Failed(NoTemplate::Selector {
            option: options.of(&self.lists.labels)[index].clone(),
            reason,
        })
    }

    /// Returns what is not so. The selector is asked first: a key that cannot be evaluated is an error
    /// even where a producer is missing as well. Inlined, since it is all that is done for an option.
    #[inline(always)]
    fn first_unmet(&mut self, demands: Demands) -> Result<Option<Unmet>, Box<selector::Error>> {
        if let Some(requirement) = self.answers.first_unmet(demands.selector)? {
            return Ok(Some(Unmet::Selector { requirement }));
        }
        let producers = demands.producers.of(&self.lists.producers);
        for (input, producer) in producers.iter().enumerate() {
            let producer = *producer as usize;
            if !self.is_selected[producer] {
                return Ok(Some(Unmet::Producer { input, producer }));
            }
        }
        Ok(None)
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
