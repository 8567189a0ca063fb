//! The reason for which no owner can reach something, found by asking which demands exclude each
//! other.

use std::collections::BTreeSet;

use pathline_kinds::carto::Operator;

use super::circuit::Demands;
use super::requirement::{Requirement, Subject};
use super::sat::{Answer, Literal};
use super::schema::Schema;
use super::{Question, Why};
use crate::blueprint::Blueprint;
use crate::owner::OwnerKind;

/// The largest number of options that a reason speaks of, so that it stays readable.
const MAX_OPTIONS: usize = 5;

/// From how many earlier options on only those are tried that the first answer names.
const MAX_TRIED: usize = 16;

/// Says why no owner is admitted by the blueprint's own selector.
pub(super) fn admission(question: &mut Question<'_>) -> Why {
    let demands = Demand::of(&question.circuit.admission, Holder::Blueprint);
    let excluding = excluding(question, demands, &[]).unwrap_or_default();
    let noun = question.blueprint.owner_kind.noun();
    let reason = told(question.blueprint, &excluding);
    let reason = reason.map_or_else(String::new, |reason| format!(": {reason}"));
    why(
        question,
        format!("no {noun} is admitted by the blueprint's own selector{reason}"),
        &excluding,
    )
}

/// Says why no owner selects a resource.
pub(super) fn resource(question: &mut Question<'_>, resource: usize) -> Why {
    let own = &question.circuit.resources[resource].own;
    let demands = demands(question, &[(own, Holder::Resource)]);
    if let Some(why) = unmet(question, demands) {
        return why;
    }
    let count = question.circuit.resources[resource].options.len();
    if count == 0 {
        return why(
            question,
            "it has neither a template nor an option".to_owned(),
            &[],
        );
    }
    let mut messages = Vec::new();
    let mut free_keys = BTreeSet::new();
    for index in 0..count.min(MAX_OPTIONS) {
        let why = option(question, resource, index);
        messages.push(format!("option {index}: {}", why.message));
        free_keys.extend(why.free_keys);
    }
    if count > MAX_OPTIONS {
        messages.push(format!("and {} more", count - MAX_OPTIONS));
    }
    Why {
        message: format!(
            "none of its options is ever chosen: {}",
            messages.join("; ")
        ),
        free_keys: free_keys.into_iter().collect(),
    }
}

/// Says why no owner chooses an option.
pub(super) fn option(question: &mut Question<'_>, resource: usize, option: usize) -> Why {
    let choice = &question.circuit.resources[resource];
    let asking = [
        (&choice.options[option], Holder::Option),
        (&choice.own, Holder::Resource),
    ];
    let demands = demands(question, &asking);
    let fixed: Vec<Literal> = demands.iter().map(|demand| demand.literal).collect();
    if let Some(why) = unmet(question, demands) {
        return why;
    }
    let is_multi_path = question.blueprint.is_multi_path();
    if !is_multi_path && question.circuit.resources[resource].options[option].score() == 0 {
        let reason = "its selector asks for nothing, and the most specific option is chosen";
        return why(question, reason.to_owned(), &[]);
    }
    let rivals = rivals(question, resource, option);
    let Some(rivals) = excluding(question, rivals, &fixed) else {
        return why(question, unexplained(), &[]);
    };
    let mut indexes: Vec<usize> = rivals.iter().filter_map(Demand::rival).collect();
    indexes.sort_unstable();
    let choice = &question.circuit.resources[resource];
    let own = [&choice.own, &choice.options[option]].into_iter();
    let asked = own.chain(indexes.iter().map(|index| &choice.options[*index]));
    let free_keys: BTreeSet<String> = asked.flat_map(free_keys).collect();
    let message = if is_multi_path {
        format!("always shadowed by {}", options_named(&indexes))
    } else {
        let (verb, goes) = if indexes.len() == 1 {
            ("matches", "asks")
        } else {
            ("match", "ask")
        };
        format!(
            "whenever it matches, {} {verb} too and {goes} for as much or more",
            options_named(&indexes)
        )
    };
    Why {
        message,
        free_keys: free_keys.into_iter().collect(),
    }
}

/// Something that is demanded, and who does.
#[derive(Debug, Clone)]
struct Demand {
    literal: Literal,
    what: What,
}

#[derive(Debug, Clone)]
enum What {
    Requirement(Requirement, Holder),
    Producer(usize),
    /// This option does not stand in the way.
    NotRival(usize),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Holder {
    Blueprint,
    Resource,
    Option,
}

impl Demand {
    fn of(demands: &Demands, holder: Holder) -> Vec<Self> {
        let requirements = demands.requirements.iter();
        requirements
            .map(|(requirement, literal)| Self {
                literal: *literal,
                what: What::Requirement(requirement.clone(), holder),
            })
            .collect()
    }

    fn rival(&self) -> Option<usize> {
        match self.what {
            What::NotRival(option) => Some(option),
            What::Requirement(..) | What::Producer(_) => None,
        }
    }
}

/// Returns what these ask for, and the blueprint, those first that make the best reasons.
fn demands(question: &Question<'_>, asking: &[(&Demands, Holder)]) -> Vec<Demand> {
    let selectors = asking
        .iter()
        .flat_map(|(demands, holder)| Demand::of(demands, *holder));
    let admission = Demand::of(&question.circuit.admission, Holder::Blueprint);
    let producers = asking.iter().flat_map(|(demands, _)| &demands.producers);
    let producers = producers.map(|producer| Demand {
        literal: question.circuit.resources[*producer].is_selected,
        what: What::Producer(*producer),
    });
    selectors.chain(admission).chain(producers).collect()
}

/// Says why demands can never be met, if they cannot.
fn unmet(question: &mut Question<'_>, demands: Vec<Demand>) -> Option<Why> {
    let is_dead = |demand: &&Demand| match demand.what {
        What::Producer(producer) => question.dead[producer].is_some(),
        What::Requirement(..) | What::NotRival(_) => false,
    };
    let excluding = match demands.iter().find(is_dead) {
        Some(dead) => vec![dead.clone()],
        None => excluding(question, demands, &[])?,
    };
    let reason = told(question.blueprint, &excluding);
    Some(why(
        question,
        reason.unwrap_or_else(unexplained),
        &excluding,
    ))
}

/// Returns what must not be for an option to be chosen once its demands are met.
fn rivals(question: &mut Question<'_>, resource: usize, option: usize) -> Vec<Demand> {
    let choice = &question.circuit.resources[resource];
    let score = choice.options[option].score();
    let all = choice.options.iter().enumerate();
    let rivals: Vec<(usize, Literal, Literal)> = if question.blueprint.is_multi_path() {
        all.take(option)
            .map(|(index, rival)| (index, rival.are_met, rival.is_error))
            .collect()
    } else {
        all.filter(|(index, _)| *index != option)
            .filter(|(_, rival)| rival.score() >= score)
            .map(|(index, rival)| (index, rival.are_met, rival.is_error))
            .collect()
    };
    let gates = &mut question.gates;
    let rivals = rivals.into_iter();
    rivals
        .map(|(index, is_met, is_error)| Demand {
            literal: !gates.any([is_met, is_error]),
            what: What::NotRival(index),
        })
        .collect()
}

/// Returns demands that exclude each other, given what is fixed, of which none can be left out; `None` if
/// they do not. Of several such sets it is one that needs the earlier demands.
fn excluding(
    question: &mut Question<'_>,
    mut demands: Vec<Demand>,
    fixed: &[Literal],
) -> Option<Vec<Demand>> {
    let ask = |question: &mut Question<'_>, demands: &[Demand]| {
        let demanded = demands.iter().map(|demand| demand.literal);
        let assumptions: Vec<Literal> = fixed.iter().copied().chain(demanded).collect();
        question.ask(&assumptions)
    };
    if ask(question, &demands) != Answer::No {
        return None;
    }
    if demands.len() > MAX_TRIED {
        let core = question.gates.answer().core();
        demands.retain(|demand| core.contains(&demand.literal));
    }
    for place in (0..demands.len()).rev() {
        let left_out = demands.remove(place);
        if ask(question, &demands) != Answer::No {
            demands.insert(place, left_out);
        }
    }
    Some(demands)
}

fn why(question: &Question<'_>, message: String, demands: &[Demand]) -> Why {
    let mut free = BTreeSet::new();
    let mut producers = Vec::new();
    for demand in demands {
        match &demand.what {
            What::Requirement(requirement, _) => {
                free.extend(requirement.free_key().map(str::to_owned));
            }
            What::Producer(producer) => producers.push(*producer),
            What::NotRival(_) => {}
        }
    }
    if question.facts.has_free_keys() {
        free.extend(free_keys_above(question, producers));
    }
    Why {
        message,
        free_keys: free.into_iter().collect(),
    }
}

/// Returns the free keys that decide about resources, or about what they take in.
fn free_keys_above(question: &Question<'_>, mut ahead: Vec<usize>) -> BTreeSet<String> {
    let mut free = BTreeSet::new();
    let mut seen = BTreeSet::new();
    while let Some(resource) = ahead.pop() {
        if !seen.insert(resource) {
            continue;
        }
        if let Some(why) = &question.dead[resource] {
            free.extend(why.free_keys.iter().cloned());
            continue;
        }
        let choice = &question.circuit.resources[resource];
        for demands in std::iter::once(&choice.own).chain(&choice.options) {
            free.extend(free_keys(demands));
            ahead.extend(&demands.producers);
        }
    }
    free
}

fn free_keys(demands: &Demands) -> impl Iterator<Item = String> {
    let keys = demands
        .requirements
        .iter()
        .filter_map(|(requirement, _)| requirement.free_key());
    keys.map(str::to_owned)
}

fn unexplained() -> String {
    "no owner selects it; why would take more effort to find out than allowed".to_owned()
}

/// Tells which demands exclude each other; `None` if there are none to tell of.
fn told(blueprint: &Blueprint, demands: &[Demand]) -> Option<String> {
    let mut needs = Vec::new();
    let mut producers: Vec<String> = Vec::new();
    let mut alone = None;
    for demand in demands {
        match &demand.what {
            What::Requirement(requirement, holder) => {
                needs.push(need(requirement, *holder));
                alone = Some((requirement, *holder));
            }
            What::Producer(producer) => {
                producers.push(format!("`{}`", blueprint.resources[*producer].name));
            }
            What::NotRival(_) => {}
        }
    }
    producers.dedup();
    match (&needs[..], &producers[..]) {
        ([], []) => None,
        ([_], []) => alone.map(|(one, holder)| impossible(blueprint.owner_kind, one, holder)),
        (needs, []) => Some(format!("needs {}", joined(needs))),
        ([], [producer]) => Some(format!("its producer {producer} is never selected")),
        ([], several) => Some(format!(
            "its producers {} are never selected together",
            joined(several)
        )),
        (needs, [producer]) => Some(format!(
            "its producer {producer} is skipped whenever it is needed: it needs {}",
            joined(needs)
        )),
        (needs, several) => Some(format!(
            "its producers {} are never selected together when they are needed: it needs {}",
            joined(several),
            joined(needs)
        )),
    }
}

fn need(requirement: &Requirement, holder: Holder) -> String {
    match holder {
        Holder::Blueprint => format!("{requirement} (the blueprint's selector)"),
        Holder::Resource => format!("{requirement} (the resource's selector)"),
        Holder::Option => requirement.to_string(),
    }
}

/// Tells why one requirement alone can never hold.
fn impossible(kind: OwnerKind, requirement: &Requirement, holder: Holder) -> String {
    let (need, noun, key) = (need(requirement, holder), kind.noun(), &requirement.key);
    match &requirement.subject {
        Subject::Broken => format!("its selector cannot be evaluated: see `{key}`"),
        Subject::Field(path) if Schema::of(kind).type_of(path).is_none() => {
            format!("needs {need}, which no {noun} can have")
        }
        _ if requirement.operator == Operator::DoesNotExist => {
            format!("needs {need}, which every {noun} has")
        }
        _ => format!("needs {need}, a value that `{key}` of a {noun} never has"),
    }
}

fn options_named(indexes: &[usize]) -> String {
    let names: Vec<String> = indexes.iter().map(ToString::to_string).collect();
    let plural = if names.len() == 1 { "" } else { "s" };
    format!("option{plural} {}", joined(&names))
}

/// Joins words as a sentence does: `a`, `a and b`, `a, b and c`.
fn joined(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}
