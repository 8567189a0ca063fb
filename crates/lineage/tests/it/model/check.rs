//! Compares what Pathline says with the truth.

use std::collections::BTreeSet;
use std::fmt;
use std::ops::AddAssign;

use pathline_lineage::{Artifact, ArtifactId, Derivation, Edge, Health, Origin};

use super::controller::Controller;
use super::made_again;
use super::object::Object;
use super::part::Part;
use super::releases;
use super::waits;
use super::world::World;

/// The count of proofs in a history, so that a test which proves nothing is noticed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    pub(super) edges: u64,
    pub(super) settled: u64,
    pub(super) arrived: u64,
    pub(super) awaited: u64,
    pub(super) deployed: u64,
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.edges += other.edges;
        self.settled += other.settled;
        self.arrived += other.arrived;
        self.awaited += other.awaited;
        self.deployed += other.deployed;
    }
}

/// Pathline said something that is not so.
#[derive(Debug)]
pub(super) struct Fault(String);

impl Fault {
    pub(super) fn new(said: String) -> Self {
        Self(said)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Checks that whatever is judged anew is known since then: whoever records it takes what has the same time for a
/// repetition. What is passed through has no time of its own here.
pub(super) fn dated(world: &mut World) -> Result<(), Fault> {
    for part in &world.parts {
        let made = world.state.current(&part.name);
        let made = made.filter(|_| part.controller != Controller::PassesThrough);
        let Some(made) = made.cloned() else {
            continue;
        };
        let before = world.judged.insert(part.name.clone(), made.clone());
        let is_repeated =
            |before: &Derivation| before.time != made.time || before.from == made.from;
        if !before.as_ref().is_none_or(is_repeated) {
            let name = &part.name;
            return Err(Fault(format!(
                "{name} is judged anew, and nobody says when"
            )));
        }
    }
    Ok(())
}

/// Checks that nothing proven is wrong, and that nothing is said to have arrived that has not.
pub(super) fn proven(world: &World, counts: &mut Counts) -> Result<(), Fault> {
    for (index, part) in world.parts.iter().enumerate() {
        if let Some(made) = world.state.current(&part.name) {
            counts.edges += derivation(world, index, made)?;
        }
    }
    for (name, value) in &world.owner {
        let origin = Origin::owner(*name);
        let arrival = world.state.arrival(&origin, |it| it == value);
        if !arrival.arrived() {
            continue;
        }
        counts.arrived += 1;
        really_arrived(world, &origin, value)?;
    }
    Ok(())
}

/// Checks that everything an origin flows into was really made from a value of it.
pub(super) fn really_arrived(
    world: &World,
    origin: &Origin,
    value: &Artifact,
) -> Result<(), Fault> {
    for target in world.state.chain().targets(origin) {
        let made = world.state.current(&target.name);
        let output = made.and_then(|it| it.output.as_ref()).map(Artifact::id);
        let part = index_of(world, &target.name);
        let really = if world.parts[part].controller.correlates() {
            says_so(world, part, origin, value.id())
        } else {
            output.is_some_and(|it| goes_back(world, part, it, origin, value.id()))
        };
        if !really {
            let target = &target.name;
            return Err(Fault(format!("{origin} has not arrived in {target}")));
        }
    }
    Ok(())
}

/// Checks that what runs at the end of the way of an origin was started with a value of it, on one way at least.
/// Without a generation, nothing is known to be started for one.
pub(super) fn really_started(
    world: &World,
    origin: &Origin,
    value: &Artifact,
) -> Result<(), Fault> {
    let reached = world.state.chain().reached_by(origin);
    for target in world.state.chain().targets(origin) {
        let part = &world.parts[index_of(world, &target.name)];
        // Nobody changes a run, and whoever says what it uses is believed.
        let controller = part.controller;
        let is_started = part.counted && controller != Controller::Runs && !controller.correlates();
        let seen = part.seen.as_ref().filter(|_| is_started);
        let is_on_way = |input: &Origin| match input {
            Origin::Resource(name) => reached.contains(name.as_str()),
            Origin::Owner(_) => input == origin,
        };
        let started = seen.into_iter().flat_map(|it| it.started.clone());
        let ways: Vec<_> = started.filter(|(input, _)| is_on_way(input)).collect();
        let mut held = ways.iter();
        let is_held = held.any(|field| agrees(world, &reached, field, origin, value.id()));
        if !ways.is_empty() && !is_held {
            let target = &target.name;
            return Err(Fault(format!(
                "what {target} runs is not started with {origin}"
            )));
        }
    }
    Ok(())
}

/// Tells whether an object said, when Pathline looked last, that it uses a value on all ways.
fn says_so(world: &World, part: usize, origin: &Origin, value: ArtifactId) -> bool {
    let seen = world.parts[part].seen.as_ref();
    let reached = world.state.chain().reached_by(origin);
    seen.is_some_and(|seen| {
        let fields: Vec<_> = seen.status.used.clone().into_iter().collect();
        fields
            .iter()
            .all(|field| agrees(world, &reached, field, origin, value))
    })
}

/// Tells whether everything that a part makes can be proven, sooner or later.
pub(super) fn is_certain(part: &Part) -> bool {
    let all_named = part.named.len() == part.params.len() + part.upstream.len();
    let rules = !part.controller.correlates() || all_named;
    part.controller.is_provable()
        && rules
        && !part.disputed
        && !part.mutable
        && !part.second_template
}

fn derivation(world: &World, index: usize, made: &Derivation) -> Result<u64, Fault> {
    let part = &world.parts[index];
    let proven = made
        .from
        .iter()
        .filter(|(_, edge)| edge.evidence.is_proof());
    let proven: Vec<(&Origin, &Edge)> = proven.collect();
    let fault = |what: &str| {
        let name = &part.name;
        Err(Fault(format!(
            "{name} ({:?}) {what}: {proven:#?}",
            part.controller
        )))
    };
    let Some(output) = &made.output else {
        return Ok(0);
    };
    if proven.iter().any(|(_, edge)| edge.artifact.is_mutable()) {
        return fault("is proven to be made from something mutable");
    }
    let backed = |(origin, edge): &(&Origin, &Edge)| {
        let mut applies = part.applies.iter();
        applies.any(|(template, inputs)| {
            *template == made.template && inputs.get(origin) == Some(&edge.artifact)
        })
    };
    if !proven.iter().all(backed) {
        return fault("is proven to be made from what its template was never given");
    }
    let mut truths = world.truth.of(index, output.id());
    let agrees = |fields: &Vec<(Origin, ArtifactId)>| {
        let is_true = |(origin, edge): &(&Origin, &Edge)| {
            let field = fields.iter().find(|(it, _)| it == *origin);
            field.is_none_or(|(_, id)| *id == edge.artifact.id())
        };
        proven.iter().all(is_true)
    };
    if !proven.is_empty() && !truths.any(agrees) {
        return fault("was not made from what is proven");
    }
    Ok(proven.len() as u64)
}

/// Tells whether an output was really made from a value of an origin, on all ways.
fn goes_back(
    world: &World,
    part: usize,
    output: ArtifactId,
    origin: &Origin,
    value: ArtifactId,
) -> bool {
    let reached = world.state.chain().reached_by(origin);
    let mut truths = world.truth.of(part, output);
    truths.any(|fields| {
        fields
            .iter()
            .all(|field| agrees(world, &reached, field, origin, value))
    })
}

/// Tells whether a field is the value of an origin, or was made from it, if it is on the way.
pub(super) fn agrees(
    world: &World,
    reached: &BTreeSet<&str>,
    (input, id): &(Origin, ArtifactId),
    origin: &Origin,
    value: ArtifactId,
) -> bool {
    match input {
        _ if input == origin => *id == value,
        Origin::Resource(name) if reached.contains(name.as_str()) => {
            goes_back(world, index_of(world, name), *id, origin, value)
        }
        _ => true,
    }
}

/// Checks that what well-behaved controllers made is proven once everything has settled.
pub(super) fn settled(world: &mut World, counts: &mut Counts) -> Result<(), Fault> {
    let mut doubtful = BTreeSet::new();
    for (index, part) in world.parts.iter().enumerate() {
        let last = part.objects.last();
        let failed_run = part.controller == Controller::Runs
            && last.is_some_and(|run| run.status.health != Health::True);
        let failed = failed_run || last.is_some_and(Object::has_failed);
        let made = world.state.current(&part.name);
        if failed
            || made_again::is_unsaid(part)
            || !part.upstream.iter().all(|it| !doubtful.contains(it))
        {
            doubtful.insert(index);
        }
        if made.is_none() && doubtful.contains(&index) {
            continue;
        }
        let Some(made) = made else {
            return Err(Fault(format!(
                "{} ({:?}) made nothing",
                part.name, part.controller
            )));
        };
        let certain = |(origin, edge): &(&Origin, &Edge)| {
            // A rule compares with the last apply: it is silent on what a new template reads no more.
            let applied = last.is_some_and(|it| it.spec.contains_key(*origin));
            let compared = applied && part.named.contains(*origin);
            (!part.controller.correlates() || compared) && !edge.artifact.is_mutable()
        };
        // Whoever wrote last has the last word where no apply can follow: an upstream made nothing.
        assert!(part.is_as_applied() || world.inputs(index).is_none());
        let provable =
            part.controller.is_provable() && !part.disputed && !failed && part.is_as_applied();
        let certain: Vec<_> = made.from.iter().filter(certain).collect();
        let assumed = certain.iter().find(|(_, edge)| !edge.evidence.is_proof());
        if let Some((origin, _)) = assumed.filter(|_| provable) {
            let (name, controller) = (&part.name, part.controller);
            return Err(Fault(format!(
                "{name} ({controller:?}): {origin} is only assumed"
            )));
        }
        counts.settled += if provable { certain.len() as u64 } else { 0 };
        if !provable || certain.len() < made.from.len() || part.second_template {
            doubtful.insert(index);
        }
    }
    if doubtful.is_empty() {
        arrived(world)?;
        waits::ended(world)?;
        releases::ended(world)?;
    }
    Ok(())
}

/// Checks that everything the owner has now has arrived.
fn arrived(world: &World) -> Result<(), Fault> {
    for (name, value) in &world.owner {
        let origin = Origin::owner(*name);
        let arrival = world.state.arrival(&origin, |it| it == value);
        if !arrival.arrived() && !arrival.unused() {
            return Err(Fault(format!("{name} should have arrived: {arrival:?}")));
        }
    }
    Ok(())
}

pub(super) fn index_of(world: &World, name: &str) -> usize {
    let found = world.parts.iter().position(|part| part.name == name);
    found.expect("it is on the path")
}
