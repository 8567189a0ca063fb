//! The resources in which the order of options matters.

use serde_json::Value;

use super::{OrderDecides, Question, example, minimal};
use crate::owner::Owner;
use crate::selection::Step;
use crate::selector;

/// The effort ran out before it was known.
#[derive(Debug)]
pub(super) struct Exhausted;

/// Says how the order of options matters for this owner, with as little of the owner as possible.
///
/// `None` if it does not; then free keys promised what no owner can keep.
pub(super) fn decides(
    question: &mut Question<'_>,
    resource: usize,
    mut workload: Value,
) -> Result<Option<OrderDecides>, Exhausted> {
    if contest(question, resource, &workload).is_none() {
        return Ok(None);
    }
    let cost = question.cost_of(&workload);
    let mut fuel = question.fuel;
    let is_minimal = minimal::minimise(&mut workload, |smaller| {
        let is_allowed = fuel.burn(cost);
        is_allowed.then(|| contest(question, resource, smaller).is_some())
    });
    question.fuel = fuel;
    is_minimal.ok_or(Exhausted)?;
    let contest = contest(question, resource, &workload);
    Ok(contest.map(|(first, best)| OrderDecides {
        resource,
        first,
        best,
        workload,
    }))
}

/// Returns the option that is chosen and those that score best, if they are not the same.
fn contest(
    question: &Question<'_>,
    resource: usize,
    workload: &Value,
) -> Option<(usize, Vec<usize>)> {
    let blueprint = question.blueprint;
    let owner = example::read(blueprint.owner_kind, workload)?;
    selector::score(&blueprint.selector, &owner)
        .ok()
        .flatten()?;
    let steps = question.plan.choose(&owner);
    let Step::Selected {
        option: Some(first),
    } = steps[resource]
    else {
        return None;
    };
    let scored = scores(question, resource, &owner, &steps);
    let best = scored.iter().map(|(_, score)| *score).max()?;
    let best: Vec<usize> = scored
        .into_iter()
        .filter(|(_, score)| *score == best)
        .map(|(option, _)| option)
        .collect();
    (best != [first]).then_some((first, best))
}

/// Returns the options that are selected for an owner, with their scores.
fn scores(
    question: &Question<'_>,
    resource: usize,
    owner: &Owner,
    steps: &[Step],
) -> Vec<(usize, usize)> {
    let options = question.blueprint.resources[resource].options().iter();
    let choice = &question.circuit.resources[resource];
    let scored =
        options
            .zip(&choice.options)
            .enumerate()
            .filter_map(|(index, (option, demands))| {
                let mut producers = demands.producers.iter();
                let score = match &option.selector {
                    None => Some(0),
                    Some(selector) => selector::score(selector, owner).ok().flatten(),
                };
                let is_fed = producers.all(|producer| steps[*producer].is_selected());
                score.filter(|_| is_fed).map(|score| (index, score))
            });
    scored.collect()
}
