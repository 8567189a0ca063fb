//! A value that comes back has arrived only when it was made again.

use std::collections::BTreeSet;

use pathline_lineage::Origin;

use super::check::{self, Fault, index_of};
use super::controller::Controller;
use super::part::Part;
use super::world::World;

/// Checks that no part on the way of an origin was given something else, and then the same again,
/// without having got to that.
pub(super) fn check(world: &World, origin: &Origin) -> Result<(), Fault> {
    let reached = world.state.chain().reached_by(origin);
    for name in &reached {
        let part = &world.parts[index_of(world, name)];
        if !is_made_again(world, part, origin, &reached) {
            let controller = part.controller;
            return Err(Fault::new(format!(
                "{origin} is said to have arrived, and {name} ({controller:?}) has not got to its last apply"
            )));
        }
    }
    Ok(())
}

/// Tells whether nothing will ever say that a part has got to its last apply: it reports what it
/// uses, and uses what it did before.
pub(super) fn is_unsaid(part: &Part) -> bool {
    let (Some(seen), Some((last, before))) = (&part.seen, part.remembered.split_last()) else {
        return false;
    };
    let mut before = before.iter().filter(|(uid, _, _)| *uid == seen.uid);
    part.controller == Controller::Correlated && before.any(|(_, _, inputs)| *inputs != last.2)
}

/// Returns the generation since which an object was given the same again and again.
fn same_since(part: &Part, uid: &str) -> Option<i64> {
    let mut applies = part.remembered.iter().rev().filter(|(of, ..)| of == uid);
    let (_, last, inputs) = applies.next()?;
    let same = applies.take_while(|(.., it)| it == inputs).last();
    Some(same.map_or(*last, |(_, generation, _)| *generation))
}

fn is_made_again(world: &World, part: &Part, origin: &Origin, reached: &BTreeSet<&str>) -> bool {
    let Some(seen) = &part.seen else {
        return true;
    };
    // A watch may bring old states late; how far the object really is, counts.
    let mut objects = part.objects.iter().chain(&part.gone).rev();
    let seen = objects.find(|it| it.uid == seen.uid).unwrap_or(seen);
    match part.controller {
        // What was applied is there at once, and a run has one set of inputs.
        Controller::Applied | Controller::PassesThrough | Controller::Runs => return true,
        // It skips what was in between, and says that it has.
        Controller::Matching if seen.status.observed >= same_since(part, &seen.uid) => {
            return true;
        }
        _ => {}
    }
    let done = part.remembered.iter().rposition(|(uid, generation, _)| {
        *uid == seen.uid && Some(*generation) == seen.status.done
    });
    let Some(done) = done else {
        return true;
    };
    // What is rendered nowhere, or into metadata, makes no other generation.
    let is_on_way = |input: &Origin| match input {
        _ if !part.spec.contains(input) => false,
        Origin::Resource(name) => reached.contains(name.as_str()),
        Origin::Owner(_) => input == origin,
    };
    let on_way = |index: usize| {
        let inputs = part.remembered[index].2.iter();
        inputs
            .filter(|(input, _)| is_on_way(input))
            .collect::<Vec<_>>()
    };
    let Origin::Owner(name) = origin else {
        return true;
    };
    let value = world.owner[name.as_str()].id();
    // Something new that is made from the same value is no other value.
    let is_of_it = |index: usize| {
        let mut fields = on_way(index).into_iter();
        fields.all(|(input, artifact)| {
            let field = (input.clone(), artifact.id());
            check::agrees(world, reached, &field, origin, value)
        })
    };
    let mut since = done + 1..part.remembered.len();
    since.all(|index| on_way(index) == on_way(done) || is_of_it(index))
}
