//! What those who wait are told, compared with the truth.

use std::collections::{BTreeMap, BTreeSet};

use super::check::{self, Fault};
use super::controller::Controller;
use super::object::Object;
use super::part::Part;
use super::world::{PARAMS, VALUES, World};
use super::{made_again, under_way};
use crate::artifact::{Artifact, ArtifactId};
use crate::origin::Origin;
use crate::rollout::{Rollout, Stage};
use crate::track::Track;
use crate::used::Used;
use crate::wait::{self, Never, Options, Verdict, Wish};
use serde_json::json;

/// What those who wait, or have waited, asked for and were told.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    /// What the owner had before, by param.
    former: BTreeMap<&'static str, Artifact>,
    /// What somebody was told to be superseded, and the owner has not had since.
    gone: Vec<(&'static str, Artifact)>,
    /// Every value that the owner ever had, by param.
    pub(super) had: BTreeMap<&'static str, BTreeSet<ArtifactId>>,
}

impl Waiting {
    /// Nobody remembers what was told.
    pub(super) fn forget(&mut self) {
        self.gone.clear();
    }

    /// Takes note that the owner has another value.
    pub(super) fn changed(&mut self, name: &'static str, before: Option<Artifact>, now: &Artifact) {
        self.had.entry(name).or_default().insert(now.id());
        self.gone
            .retain(|(param, value)| (*param, value) != (name, now));
        if let Some(before) = before {
            self.former.insert(name, before);
        }
    }
}

/// Checks that nobody is told that something has arrived before it has, or that it can't happen
/// while it still can. Somebody else is asked at each step. Returns how often somebody was told
/// that what the owner has now has arrived.
pub(super) fn told(world: &mut World, step: usize) -> Result<u64, Fault> {
    former(world, step)?;
    never_had(world, step)?;
    let mut asked = wishes(world);
    let wishes = asked.swap_remove(step % asked.len());
    let live = step.is_multiple_of(3) && has_last_miles(world);
    let verdict = judge(world, &wishes, live);
    if live && matches!(verdict, Verdict::Holds(_)) && !world.retiring.is_empty() {
        return Err(fault(&wishes, &verdict, "does not run alone"));
    }
    answered(world, &wishes, &verdict)
}

/// Checks an answer to somebody who waits for what the owner has now; returns how often somebody was
/// told that it has arrived.
pub(super) fn answered(world: &World, wishes: &[Wish], verdict: &Verdict) -> Result<u64, Fault> {
    match verdict {
        Verdict::Holds(_) => holds(world, wishes).map(|()| 1),
        Verdict::Never(Never::Superseded { .. } | Never::NotOnPath { .. }) => {
            Err(fault(wishes, verdict, "is what the owner has now"))
        }
        Verdict::Never(Never::Failed { resource, .. }) if !has_failed(world, resource) => {
            Err(fault(wishes, verdict, "has not failed"))
        }
        Verdict::Unproven(_) if world.parts.iter().all(|it| will_be_proven(world, it)) => {
            Err(fault(wishes, verdict, "will be proven"))
        }
        Verdict::Unproven(_) => match under_way::first(world) {
            Some(part) => {
                let truth = format!("waits for {} ({:?})", part.name, part.controller);
                Err(fault(wishes, verdict, &truth))
            }
            None => Ok(0),
        },
        Verdict::Never(_) | Verdict::Waiting(_) => Ok(0),
    }
}

/// Checks what those are told who wait for a value that the owner had before.
fn former(world: &mut World, step: usize) -> Result<(), Fault> {
    let name = PARAMS[step % PARAMS.len()];
    let Some(value) = world.waiting.former.get(name).cloned() else {
        return Ok(());
    };
    if world.owner.get(name) == Some(&value) {
        return Ok(());
    }
    let wishes = [wish(name, &value)];
    let verdict = judge(world, &wishes, false);
    let told_gone = world.waiting.gone.contains(&(name, value.clone()));
    match verdict {
        Verdict::Holds(_) if told_gone => Err(fault(&wishes, &verdict, "was told to be gone")),
        Verdict::Holds(_) => check::really_arrived(world, &Origin::owner(name), &value),
        Verdict::Unproven(_) => Err(fault(&wishes, &verdict, "is not what the owner has now")),
        Verdict::Never(Never::Superseded { .. }) if !told_gone && knows_sinks(world) => {
            world.tell(|| format!("told that {name}={} is gone: {verdict:?}", value.shown()));
            world.waiting.gone.push((name, value));
            Ok(())
        }
        Verdict::Never(_) | Verdict::Waiting(_) => Ok(()),
    }
}

/// Checks that what well-behaved controllers have settled ends every waiting.
pub(super) fn ended(world: &mut World) -> Result<(), Fault> {
    let verdict = judge(world, &[Wish::Current], true);
    match verdict {
        Verdict::Holds(_) => Ok(()),
        other => Err(fault(&[Wish::Current], &other, "has arrived")),
    }
}

/// Tells whether nothing that has no output yet is taken for a sink that is done.
fn knows_sinks(world: &World) -> bool {
    world.parts.iter().all(|it| it.emits)
}

/// Tells whether proof is to come, as far as that can be known. That the object was replaced or has
/// another generation, which will prove what the old one never could, nobody knows before it is seen.
fn will_be_proven(world: &World, part: &Part) -> bool {
    let memory = world.state.recollect(&part.name);
    let applied = memory.and_then(|it| it.last_apply());
    let object = part.objects.last();
    let is_known = |object: &Object| {
        let seen = part.seen.as_ref().map(|it| (&it.uid, it.generation));
        !part.counted
            || applied.and_then(|it| it.generation) == Some(object.generation)
            || seen == Some((&object.uid, object.generation))
    };
    check::is_certain(part)
        && applied.map(|it| &it.uid) == object.map(|it| &it.uid)
        && object.is_none_or(is_known)
}

/// Tells whether the object of a resource says that it failed, as far as Pathline has been shown.
fn has_failed(world: &World, resource: &str) -> bool {
    let part = world.parts.iter().find(|it| it.name == resource);
    let seen = part.and_then(|part| Some((part, part.seen.as_ref()?)));
    seen.is_some_and(|(_, seen)| seen.has_failed())
}

/// Each param for itself, and all of them together.
fn wishes(world: &World) -> Vec<Vec<Wish>> {
    let each = world
        .owner
        .iter()
        .map(|(name, value)| vec![wish(name, value)]);
    each.chain([vec![Wish::Current]]).collect()
}

pub(super) fn wish(name: &str, value: &Artifact) -> Wish {
    let wish = format!("{name}={}", value.shown());
    wish.parse().expect("a wish")
}

fn judge(world: &mut World, wishes: &[Wish], live: bool) -> Verdict {
    let options = Options {
        live: live && has_last_miles(world),
        since_generation: Some(world.generation),
        ..Options::default()
    };
    on_track(world, |track| wait::judge(track, wishes, options))
}

/// Tells whether something runs below all that is final.
fn has_last_miles(world: &World) -> bool {
    let mut finals = world.state.chain().finals();
    finals.all(|it| {
        let part = &world.parts[check::index_of(world, &it.name)];
        part.controller != Controller::PassesThrough
    })
}

/// Returns a generation of the supply chain, and one of each part's template.
pub(super) fn used(blueprint: i64, parts: &[Part], template: impl Fn(&Part) -> i64) -> Used {
    let of_part = |it: &Part| (format!("ClusterTemplate/{}", it.name), template(it));
    let blueprint = ("ClusterSupplyChain/path".to_owned(), blueprint);
    parts.iter().map(of_part).chain([blueprint]).collect()
}

/// Asks what is known now; all that was made is rolled out.
pub(super) fn on_track<T>(world: &mut World, ask: impl FnOnce(&Track) -> T) -> T {
    let finals = world.state.chain().finals();
    let rollouts = finals.filter_map(|it| {
        let made = world.state.current(&it.name)?;
        let rollout = Rollout {
            uid: made.uid.clone(),
            generation: made.generation,
            stage: Stage::Done,
            ..Rollout::default()
        };
        Some((it.name.clone(), rollout))
    });
    let mut track = Track {
        rollouts: rollouts.collect(),
        generation: world.looked,
        retiring: world.retiring.clone(),
        used: used(world.looked_blueprint, &world.parts, |it| {
            it.looked_template
        }),
        state: std::mem::take(&mut world.state),
        ..Track::default()
    };
    let answer = ask(&track);
    world.state = std::mem::take(&mut track.state);
    answer
}

/// Checks that nobody is told that a value is gone which was never there.
fn never_had(world: &mut World, step: usize) -> Result<(), Fault> {
    let name = PARAMS[step % PARAMS.len()];
    let had = world.waiting.had.get(name).cloned().unwrap_or_default();
    let values = VALUES.map(|value| Artifact::param(name, &json!(value)));
    let Some(value) = values.into_iter().find(|it| !had.contains(&it.id())) else {
        return Ok(());
    };
    let wishes = [wish(name, &value)];
    match judge(world, &wishes, false) {
        Verdict::Waiting(_) => Ok(()),
        verdict @ Verdict::Never(Never::Unused { .. } | Never::Failed { .. }) => {
            answered(world, &wishes, &verdict).map(drop)
        }
        verdict => Err(fault(&wishes, &verdict, "is still to come")),
    }
}

fn holds(world: &World, wishes: &[Wish]) -> Result<(), Fault> {
    let asked = |name: &str| {
        let named = format!("{name}=");
        wishes
            .iter()
            .any(|it| *it == Wish::Current || it.to_string().starts_with(&named))
    };
    for (name, value) in world.owner.iter().filter(|(name, _)| asked(name)) {
        let origin = Origin::owner(*name);
        check::really_arrived(world, &origin, value)?;
        made_again::check(world, &origin)?;
    }
    Ok(())
}

pub(super) fn fault(wishes: &[Wish], verdict: &Verdict, truth: &str) -> Fault {
    Fault::new(format!(
        "{wishes:?} {truth}, and who waits is told {verdict:?}"
    ))
}
