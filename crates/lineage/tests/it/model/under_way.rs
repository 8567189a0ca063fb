//! Is something under way, in truth, that Pathline has been shown?

use pathline_lineage::{Artifact, Evidence, Health, Inputs, Origin};

use super::controller::Controller;
use super::object::{self, Object};
use super::part::Part;
use super::world::World;

/// Returns the first part that is not done, although Pathline has been shown as much.
pub(super) fn first(world: &World) -> Option<&Part> {
    let mut parts = world.parts.iter().enumerate();
    let found = parts.find(|(index, part)| is_under_way(world, *index, part));
    found.map(|(_, part)| part)
}

fn is_under_way(world: &World, index: usize, part: &Part) -> bool {
    let (Some(given), Some(recorded)) = (world.inputs(index), &part.recorded) else {
        return true;
    };
    // Another template reads other params, and nobody has looked at it yet.
    let params = |inputs: &Inputs| {
        let params = inputs.keys().filter(|it| matches!(it, Origin::Owner(_)));
        params.cloned().collect::<Vec<_>>()
    };
    if params(&given) != params(recorded) {
        return false;
    }
    if given != *recorded {
        return true;
    }
    let object = part.objects.last().filter(|it| has_been_shown(part, it));
    object.is_some_and(|object| is_touched(world, part, object) || !is_done(world, part, object))
}

/// Tells whether Pathline has looked at the object as it is now, and remembers it.
fn has_been_shown(part: &Part, object: &Object) -> bool {
    let same = |seen: &Object| {
        (&seen.uid, seen.generation, &seen.inputs_id, &seen.status)
            == (
                &object.uid,
                object.generation,
                &object.inputs_id,
                &object.status,
            )
    };
    part.pending.is_empty() && part.seen.as_ref().is_some_and(same)
}

/// Tells whether somebody else changed the object, and that can be seen.
fn is_touched(world: &World, part: &Part, object: &Object) -> bool {
    let Some(recorded) = &part.recorded else {
        return true;
    };
    let shows_it = || {
        let ours = part.output(&part.fields_of(recorded));
        part.controller == Controller::Applied && object.status.output != Some(ours)
    };
    let can_be_seen = world.annotated || part.counted || shows_it();
    can_be_seen && object.spec != object::ids(recorded, &part.spec)
}

/// Tells whether the controller is done, as far as it ever says so.
fn is_done(world: &World, part: &Part, object: &Object) -> bool {
    let status = &object.status;
    let missed = status.output.is_none() && world.state.has_emitted(&part.name);
    let well = status.health == Health::True;
    match part.controller {
        Controller::Applied | Controller::PassesThrough => true,
        Controller::Runs => status.done.is_some() && well,
        Controller::Correlated | Controller::Matching => {
            let used = |origin: &Origin| status.used.get(origin) == object.spec.get(origin);
            !missed && part.named.iter().all(used)
        }
        // All that its work could change is shown already if the input is handed on.
        Controller::HandsOn => {
            let shows_it = hands_on(world, part, object) || shows_work(part, object);
            !missed && shows_it && !is_handed_on_late(world, part, object)
        }
        Controller::Silent | Controller::Lagging | Controller::Presumed => {
            !missed && shows_work(part, object)
        }
        _ => !missed && well && status.observed == Some(object.generation),
    }
}

/// Tells whether the work on the last apply is done, or has changed at least what is shown. A
/// generation that was noted before the work began says nothing.
fn shows_work(part: &Part, object: &Object) -> bool {
    // Without an output, and without the knowledge that there will be one, it is taken for a sink.
    let seems_sink = object.status.output.is_none() && !part.emits;
    // To work again on the same changes nothing.
    let is_same = object.status.used == object.fields();
    seems_sink || is_same || object.status.done == Some(object.generation) || part.shown_since
}

/// Tells whether what handed its input on before has not done so with the last one.
fn is_handed_on_late(world: &World, part: &Part, object: &Object) -> bool {
    let made = world.state.current(&part.name);
    let same = made.is_some_and(|it| it.from.values().any(|it| it.evidence == Evidence::Same));
    same && !hands_on(world, part, object)
}

/// Tells whether an object shows the input that it was given.
fn hands_on(world: &World, part: &Part, object: &Object) -> bool {
    let upstream = Origin::resource(&world.parts[part.upstream[0]].name);
    let output = object.status.output.as_ref().map(Artifact::id);
    output.is_some() && output.as_ref() == object.spec.get(&upstream)
}
