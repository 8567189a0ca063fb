//! The rules of selection as formulas over the facts about an owner.
//!
//! This says once more, for all owners together, what [`crate::selection::Plan`] decides for one; tests
//! hold the two to each other.

use std::collections::HashMap;

use pathline_kinds::carto::Selector;

use super::facts::Facts;
use super::gates::Gates;
use super::requirement::{Requirement, requirements};
use super::sat::Literal;
use super::schema::Schema;
use crate::blueprint::{Blueprint, Input, Templates};

/// A blueprint as formulas.
#[derive(Debug)]
pub(super) struct Circuit {
    /// The demands of the blueprint on an owner.
    pub(super) admission: Demands,
    /// The resources, in declared order.
    pub(super) resources: Vec<Choice>,
}

/// The demands that must be met for a resource or an option to be selected.
#[derive(Debug)]
pub(super) struct Demands {
    /// The requirements of its selector, each with the literal that says it holds.
    pub(super) requirements: Vec<(Requirement, Literal)>,
    /// The resources it takes inputs from.
    pub(super) producers: Vec<usize>,
    /// True when the selector cannot be evaluated.
    pub(super) is_error: Literal,
    /// True when all demands are met.
    pub(super) are_met: Literal,
}

/// One resource as formulas.
#[derive(Debug)]
pub(super) struct Choice {
    /// The demands of the resource, whichever option is chosen.
    pub(super) own: Demands,
    /// The demands of each option.
    pub(super) options: Vec<Demands>,
    /// True when this option is chosen.
    pub(super) chosen: Vec<Literal>,
    /// True when the resource is selected.
    pub(super) is_selected: Literal,
    /// True when the choice is an error.
    pub(super) is_failed: Literal,
    /// True when the resource is neither selected nor failed.
    pub(super) is_skipped: Literal,
    /// True when two options are selected and the first is not the one with the best score.
    pub(super) order_decides: Literal,
}

impl Circuit {
    /// Makes the formulas of a blueprint whose resources are ordered.
    pub(super) fn new(blueprint: &Blueprint, order: &[usize], gates: &mut Gates) -> (Self, Facts) {
        let read = |selector: Option<&Selector>| selector.map(requirements).unwrap_or_default();
        let admission = requirements(&blueprint.selector);
        let mut selectors: Vec<Vec<Vec<Requirement>>> = blueprint
            .resources
            .iter()
            .map(|resource| {
                let options = resource.options().iter();
                let options = options.map(|option| read(option.selector.as_ref()));
                std::iter::once(read(resource.selector.as_ref()))
                    .chain(options)
                    .collect()
            })
            .collect();
        let all = selectors.iter().flatten().flatten().chain(&admission);
        let facts = Facts::new(Schema::of(blueprint.owner_kind), all, gates);
        let indexes = blueprint.resources.iter().enumerate();
        let mut builder = Builder {
            facts: &facts,
            indexes: indexes
                .map(|(index, resource)| (resource.name.as_str(), index))
                .collect(),
            is_selected: vec![!gates.truth(); blueprint.resources.len()],
            gates,
        };
        let admission = builder.demands(admission, &[]);
        let is_multi_path = blueprint.is_multi_path();
        let mut choices: Vec<Option<Choice>> = blueprint.resources.iter().map(|_| None).collect();
        for index in order.iter().copied() {
            let resource = &blueprint.resources[index];
            let mut selectors = std::mem::take(&mut selectors[index]).into_iter();
            let own = builder.demands(selectors.next().unwrap_or_default(), &resource.inputs);
            let options = resource.options().iter().zip(selectors);
            let options: Vec<Demands> = options
                .map(|(option, selector)| builder.demands(selector, &option.inputs))
                .collect();
            let choice = match &resource.templates {
                Templates::One(_) => builder.one(own),
                Templates::Options(_) if is_multi_path => builder.first(own, options),
                Templates::Options(_) => builder.best(own, options),
            };
            // Where there is but one path, nothing waits for what was chosen elsewhere.
            builder.is_selected[index] = if is_multi_path {
                choice.is_selected
            } else {
                builder.gates.truth()
            };
            choices[index] = Some(choice);
        }
        let resources = choices
            .into_iter()
            .map(|choice| choice.expect("the order has every resource"));
        let resources = resources.collect();
        (
            Self {
                admission,
                resources,
            },
            facts,
        )
    }
}

struct Builder<'b> {
    gates: &'b mut Gates,
    facts: &'b Facts,
    indexes: HashMap<&'b str, usize>,
    is_selected: Vec<Literal>,
}

impl Builder<'_> {
    fn demands(&mut self, selector: Vec<Requirement>, inputs: &[Input]) -> Demands {
        let mut errors = Vec::new();
        let mut met = Vec::new();
        let mut requirements = Vec::with_capacity(selector.len());
        for requirement in selector {
            let atom = self.facts.atom(&requirement, self.gates);
            if atom.is_error != !self.gates.truth() {
                // What comes later is not looked at once a requirement does not hold.
                let so_far = met.iter().copied();
                errors.push(self.gates.all(so_far.chain([atom.is_error])));
            }
            met.push(atom.holds);
            requirements.push((requirement, atom.holds));
        }
        let producers: Vec<usize> = inputs
            .iter()
            .map(|input| self.indexes[input.producer.as_str()])
            .collect();
        met.extend(producers.iter().map(|producer| self.is_selected[*producer]));
        Demands {
            requirements,
            producers,
            is_error: self.gates.any(errors),
            are_met: self.gates.all(met),
        }
    }

    fn one(&mut self, own: Demands) -> Choice {
        Choice {
            is_skipped: self.gates.all([!own.are_met, !own.is_error]),
            options: Vec::new(),
            chosen: Vec::new(),
            is_selected: own.are_met,
            is_failed: own.is_error,
            order_decides: !self.gates.truth(),
            own,
        }
    }

    /// The rule of multi-path blueprints: the first option whose demands are met.
    fn first(&mut self, own: Demands, options: Vec<Demands>) -> Choice {
        let mut is_open = own.are_met;
        let mut chosen = Vec::with_capacity(options.len());
        let mut failed = vec![own.is_error];
        for option in &options {
            failed.push(self.gates.all([is_open, option.is_error]));
            chosen.push(self.gates.all([is_open, option.are_met]));
            is_open = self.gates.all([is_open, !option.is_error, !option.are_met]);
        }
        let is_selected = self.gates.any(chosen.iter().copied());
        let is_failed = self.gates.any(failed);
        Choice {
            is_selected,
            is_failed,
            is_skipped: self.gates.all([!is_selected, !is_failed]),
            order_decides: self.order_decides(&options, &chosen),
            own,
            options,
            chosen,
        }
    }

    /// True when an option is chosen while a later one that scores as much or more is selected too.
    fn order_decides(&mut self, options: &[Demands], chosen: &[Literal]) -> Literal {
        let mut later: HashMap<usize, Literal> = HashMap::new();
        let mut scores: Vec<usize> = options.iter().map(Demands::score).collect();
        scores.sort_unstable();
        scores.dedup();
        let mut cases = Vec::new();
        for (option, chosen) in options.iter().zip(chosen).rev() {
            if let Some(rival) = later.get(&option.score()) {
                cases.push(self.gates.all([*chosen, *rival]));
            }
            for score in scores.iter().take_while(|score| **score <= option.score()) {
                let known = later.get(score).copied();
                let rival = self.gates.any(known.into_iter().chain([option.are_met]));
                later.insert(*score, rival);
            }
        }
        self.gates.any(cases)
    }

    /// The rule of single-path blueprints: the one option that matches and asks for most.
    fn best(&mut self, own: Demands, options: Vec<Demands>) -> Choice {
        let is_failed = self.gates.any(options.iter().map(|option| option.is_error));
        let mut by_score: Vec<usize> = (0..options.len()).collect();
        by_score.sort_by_key(|option| std::cmp::Reverse(options[*option].score()));
        let mut chosen = vec![!self.gates.truth(); options.len()];
        let mut none_better = !is_failed;
        for tied in by_score.chunk_by(|a, b| options[*a].score() == options[*b].score()) {
            let matches: Vec<Literal> =
                tied.iter().map(|option| options[*option].are_met).collect();
            if options[tied[0]].score() > 0 {
                for (option, alone) in tied.iter().zip(self.alone(&matches)) {
                    chosen[*option] = self.gates.all([none_better, alone]);
                }
            }
            let none = matches.iter().map(|matches| !*matches);
            none_better = self.gates.all(none.chain([none_better]));
        }
        let is_selected = self.gates.any(chosen.iter().copied());
        Choice {
            own,
            options,
            chosen,
            is_selected,
            is_failed: !is_selected,
            is_skipped: !self.gates.truth(),
            order_decides: !self.gates.truth(),
        }
    }

    /// For each, that it is true and all others are not.
    fn alone(&mut self, literals: &[Literal]) -> Vec<Literal> {
        let none = |gates: &mut Gates, before: Literal, one: Literal| gates.all([before, !one]);
        let mut before = vec![self.gates.truth()];
        let mut after = vec![self.gates.truth()];
        for (first, last) in literals.iter().zip(literals.iter().rev()) {
            before.push(none(self.gates, before[before.len() - 1], *first));
            after.push(none(self.gates, after[after.len() - 1], *last));
        }
        let count = literals.len();
        let alone = |(place, one): (usize, &Literal)| {
            self.gates
                .all([before[place], *one, after[count - 1 - place]])
        };
        literals.iter().enumerate().map(alone).collect()
    }
}

impl Demands {
    /// Returns how much the selector asks for.
    pub(super) fn score(&self) -> usize {
        self.requirements.len()
    }
}
