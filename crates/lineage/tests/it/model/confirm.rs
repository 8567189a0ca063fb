//! Reads, as the server does, what has to be read before an answer is given.

use pathline_lineage::wait::Confirmation;
use pathline_lineage::wait::confirmation::{FinalObject, ObjectMetadata};

use super::waits;
use super::world::World;

/// Tells whether something keeps an answer from being given.
pub(super) fn differs(world: &World, confirmation: &Confirmation<'_>) -> bool {
    let Confirmation {
        owner,
        used,
        processes,
        deliveries,
        finals,
    } = confirmation;
    let running = &world.running;
    let owner = owner.and_then(|it| it.difference(Some(world.generation)));
    let now = waits::used_now(world);
    let mut used = used
        .iter()
        .filter_map(|it| it.difference(now.get(it.key).copied()));
    let mut processes = processes
        .iter()
        .filter_map(|it| it.difference(Some(&running.process(&it.object.name))));
    owner.is_some()
        || used.next().is_some()
        || processes.next().is_some()
        || deliveries.iter().any(|it| running.delivery_differs(it))
        || finals.iter().any(|it| final_differs(world, it))
}

fn final_differs(world: &World, observed: &FinalObject<'_>) -> bool {
    let mut parts = world.parts.iter();
    let part = parts.find(|it| it.name == observed.resource);
    let part = part.expect("it is on the path");
    let now = part.objects.last().map(|object| ObjectMetadata {
        uid: Some(&object.uid),
        generation: part.counted.then_some(object.generation),
        is_terminating: false,
    });
    observed.difference(&part.name, now).is_some()
}
