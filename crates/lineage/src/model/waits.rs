//! What those who wait are told, compared with the truth.

use std::collections::BTreeMap;

use super::check::{self, Fault};
use super::object::Object;
use super::under_way;
use super::world::{PARAMS, Part, World};
use crate::artifact::Artifact;
use crate::origin::Origin;
use crate::snapshot::Health;
use crate::track::Track;
use crate::wait::{self, Never, Options, Verdict, Wish};

/// What those who wait, or have waited, asked for and were told.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    /// What the owner had before, by param.
    former: BTreeMap<&'static str, Artifact>,
    /// What somebody was told to be superseded, and the owner has not had since.
    gone: Vec<(&'static str, Artifact)>,
}

impl Waiting {
    /// Nobody remembers what was told.
    pub(super) fn forget(&mut self) {
        self.gone.clear();
    }

    /// Takes note that the owner has another value.
    pub(super) fn changed(&mut self, name: &'static str, before: Option<Artifact>, now: &Artifact) {
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
    let mut asked = wishes(world);
    let wishes = asked.swap_remove(step % asked.len());
    let verdict = judge(world, &wishes);
    match &verdict {
        Verdict::Holds(_) => holds(world, &wishes).map(|()| 1),
        Verdict::Never(Never::Superseded { .. } | Never::NotOnPath { .. }) => {
            Err(fault(&wishes, &verdict, "is what the owner has now"))
        }
        Verdict::Never(Never::Failed { resource, .. }) if !has_failed(world, resource) => {
            Err(fault(&wishes, &verdict, "has not failed"))
        }
        Verdict::Unproven(_) if world.parts.iter().all(|it| will_be_proven(world, it)) => {
            Err(fault(&wishes, &verdict, "will be proven"))
        }
        Verdict::Unproven(_) => match under_way::first(world) {
            Some(part) => {
                let truth = format!("waits for {} ({:?})", part.name, part.controller);
                Err(fault(&wishes, &verdict, &truth))
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
    let verdict = judge(world, &wishes);
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
    let verdict = judge(world, &[Wish::Current]);
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
    seen.is_some_and(|(part, seen)| {
        let reported = !part.controller.reports() || seen.status.observed == Some(seen.generation);
        seen.status.health == Health::False && reported
    })
}

/// Each param for itself, and all of them together.
fn wishes(world: &World) -> Vec<Vec<Wish>> {
    let each = world
        .owner
        .iter()
        .map(|(name, value)| vec![wish(name, value)]);
    each.chain([vec![Wish::Current]]).collect()
}

fn wish(name: &str, value: &Artifact) -> Wish {
    let wish = format!("{name}={}", value.shown());
    wish.parse().expect("a wish")
}

fn judge(world: &mut World, wishes: &[Wish]) -> Verdict {
    let mut track = Track {
        generation: world.looked,
        state: std::mem::take(&mut world.state),
        ..Track::default()
    };
    let options = Options {
        since_generation: Some(world.generation),
        ..Options::default()
    };
    let verdict = wait::judge(&track, wishes, options);
    world.state = std::mem::take(&mut track.state);
    verdict
}

fn holds(world: &World, wishes: &[Wish]) -> Result<(), Fault> {
    let asked = |name: &str| {
        let named = format!("{name}=");
        wishes
            .iter()
            .any(|it| *it == Wish::Current || it.to_string().starts_with(&named))
    };
    for (name, value) in world.owner.iter().filter(|(name, _)| asked(name)) {
        check::really_arrived(world, &Origin::owner(*name), value)?;
    }
    Ok(())
}

fn fault(wishes: &[Wish], verdict: &Verdict, truth: &str) -> Fault {
    Fault::new(format!(
        "{wishes:?} {truth}, and who waits is told {verdict:?}"
    ))
}
