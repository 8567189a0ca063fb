//! Answers of waits, compared with the truth.

use std::collections::{BTreeMap, BTreeSet};

use pathline_lineage::used::Used;
use pathline_lineage::wait::{self, Impossible, Options, Verdict, WaitFor, Waiter};
use pathline_lineage::{Artifact, ArtifactId, Origin, OwnerLineage};
use serde_json::json;

use super::check::{self, Fault};
use super::controller::Controller;
use super::object::Object;
use super::part::Part;
use super::world::{self, PARAMS, VALUES, World};
use super::{confirm, made_again, task, under_way};

/// The questions and answers of those who wait, or have waited.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    /// The values that the owner had before, by param.
    former: BTreeMap<&'static str, Artifact>,
    /// The values that somebody was told to be superseded, and the owner has not had since.
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
    let mut asked = awaited(world);
    let awaited = asked.swap_remove(step % asked.len());
    let live = step.is_multiple_of(3) && has_last_miles(world);
    let verdict = judge(world, &awaited, live);
    if live && matches!(verdict, Verdict::Holds(_)) && !world.retiring.is_empty() {
        return Err(fault(&awaited, &verdict, "does not run alone"));
    }
    answered(world, &awaited, &verdict, live)
}

/// Checks an answer to somebody who waits for what the owner has now; returns how often somebody was
/// told that it has arrived.
pub(super) fn answered(
    world: &World,
    awaited: &[WaitFor],
    verdict: &Verdict,
    live: bool,
) -> Result<u64, Fault> {
    match verdict {
        Verdict::Holds(_) => holds(world, awaited, live).map(|()| 1),
        Verdict::Impossible(Impossible::Superseded { .. } | Impossible::NotOnPath { .. }) => {
            Err(fault(awaited, verdict, "is what the owner has now"))
        }
        Verdict::Impossible(Impossible::Failed { resource, .. })
            if !has_failed(world, resource) =>
        {
            Err(fault(awaited, verdict, "has not failed"))
        }
        Verdict::Unproven(_) if world.parts.iter().all(|it| will_be_proven(world, it)) => {
            Err(fault(awaited, verdict, "will be proven"))
        }
        Verdict::Unproven(_) => match under_way::first(world) {
            Some(part) => {
                let truth = format!("waits for {} ({:?})", part.name, part.controller);
                Err(fault(awaited, verdict, &truth))
            }
            None => Ok(0),
        },
        Verdict::Impossible(_) | Verdict::Waiting(_) => Ok(0),
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
    let awaited = [wait_for(name, &value)];
    let verdict = judge(world, &awaited, false);
    let told_gone = world.waiting.gone.contains(&(name, value.clone()));
    match verdict {
        Verdict::Holds(_) if told_gone => Err(fault(&awaited, &verdict, "was told to be gone")),
        Verdict::Holds(_) => check::really_arrived(world, &Origin::owner(name), &value),
        Verdict::Unproven(_) => Err(fault(&awaited, &verdict, "is not what the owner has now")),
        Verdict::Impossible(Impossible::Superseded { .. }) if !told_gone && knows_sinks(world) => {
            world.tell(|| format!("told that {name}={} is gone: {verdict:?}", value.shown()));
            world.waiting.gone.push((name, value));
            Ok(())
        }
        Verdict::Impossible(_) | Verdict::Waiting(_) => Ok(()),
    }
}

/// Checks that what well-behaved controllers have settled ends every waiting.
pub(super) fn ended(world: &mut World) -> Result<(), Fault> {
    let awaited = [WaitFor::Current];
    let options = options(world, true);
    let mut waiter = Waiter::new(awaited.to_vec(), options);
    let (verdict, differs) = on_lineage(world, |world, lineage| {
        let verdict = waiter.judge(lineage);
        let differs = confirm::differs(world, &waiter.confirmation(lineage, &verdict));
        (verdict, differs)
    });
    match verdict {
        Verdict::Holds(_) if !differs => Ok(()),
        Verdict::Holds(_) => Err(fault(&awaited, &verdict, "is not confirmed")),
        other => Err(fault(&awaited, &other, "has arrived")),
    }
}

/// Tells whether nothing that has no output yet is taken for a sink that is done.
fn knows_sinks(world: &World) -> bool {
    world.parts.iter().all(|it| it.emits)
}

/// Tells whether proof is to come, as far as that can be known. That the object was replaced or has
/// another generation, which will prove what the old one never could, nobody knows before it is seen.
fn will_be_proven(world: &World, part: &Part) -> bool {
    let applied = world.state.last_applied(&part.name);
    let object = part.objects.last();
    let is_known = |object: &Object| {
        let seen = part.seen.as_ref().map(|it| (&it.uid, it.generation));
        !part.counted
            || applied.and_then(|(_, generation)| generation) == Some(object.generation)
            || seen == Some((&object.uid, object.generation))
    };
    check::is_certain(part)
        && applied.map(|(uid, _)| uid) == object.map(|it| it.uid.as_str())
        && object.is_none_or(is_known)
}

/// Tells whether the object of a resource says that it failed, as far as Pathline has been shown.
fn has_failed(world: &World, resource: &str) -> bool {
    let part = world.parts.iter().find(|it| it.name == resource);
    let seen = part.and_then(|part| Some((part, part.seen.as_ref()?)));
    seen.is_some_and(|(_, seen)| seen.has_failed())
}

/// Each param for itself, and all of them together.
fn awaited(world: &World) -> Vec<Vec<WaitFor>> {
    let each = world
        .owner
        .iter()
        .map(|(name, value)| vec![wait_for(name, value)]);
    each.chain([vec![WaitFor::Current]]).collect()
}

pub(super) fn wait_for(name: &str, value: &Artifact) -> WaitFor {
    let wait_for = format!("{name}={}", value.shown());
    wait_for.parse().expect("it can be waited for")
}

fn judge(world: &mut World, awaited: &[WaitFor], live: bool) -> Verdict {
    let options = options(world, live);
    on_lineage(world, |_, lineage| wait::judge(lineage, awaited, options))
}

fn options(world: &World, live: bool) -> Options {
    Options {
        live: live && has_last_miles(world),
        since_generation: Some(world.generation),
        ..Options::default()
    }
}

/// Tells whether something runs below all that is final.
pub(super) fn has_last_miles(world: &World) -> bool {
    let mut finals = world.state.chain().finals();
    finals.all(|it| {
        let part = &world.parts[check::index_of(world, &it.name)];
        part.controller != Controller::PassesThrough
    })
}

/// Returns the supply chain and the templates of all parts with the generations that they have now.
pub(super) fn used_now(world: &World) -> Used {
    let blueprint = world.blueprint.generation;
    used(blueprint, &world.parts, |it| it.template_generation)
}

/// Returns the kind and name of the template of a part.
pub(super) fn template_key(part: &Part) -> String {
    format!("ClusterTemplate/{}", part.name)
}

/// Returns a generation of the supply chain, and one of each part's template.
fn used(blueprint: i64, parts: &[Part], template: impl Fn(&Part) -> i64) -> Used {
    let of_part = |it: &Part| (template_key(it), template(it));
    let blueprint = ("ClusterSupplyChain/path".to_owned(), blueprint);
    parts.iter().map(of_part).chain([blueprint]).collect()
}

/// Returns the digest of labels that changed so often.
pub(super) fn digest_of(labels: u64) -> String {
    format!("labels {labels}")
}

/// Asks what is known now; all that was made is rolled out, as far as Pathline knows. Meanwhile the world is without
/// its state, which the lineage has.
pub(super) fn on_lineage<T>(world: &mut World, ask: impl FnOnce(&World, &OwnerLineage) -> T) -> T {
    let finals = world.state.chain().finals();
    let rollouts = finals.filter_map(|it| {
        let made = world.state.current(&it.name)?;
        let process = world.running.rollout(&made.uid, made.generation);
        let part = &world.parts[check::index_of(world, &it.name)];
        Some((it.name.clone(), task::rollout(part, process)))
    });
    let mut lineage = OwnerLineage {
        rollouts: rollouts.collect(),
        generation: world.looked,
        metadata_digest: digest_of(world.looked_labels),
        retiring: world.retiring.clone(),
        used: used(world.looked_blueprint, &world.parts, |it| {
            it.looked_template
        }),
        state: std::mem::take(&mut world.state),
        ..OwnerLineage::default()
    };
    let answer = ask(world, &lineage);
    world.state = std::mem::take(&mut lineage.state);
    answer
}

/// Checks that nobody is told that a value is gone which was never there.
fn never_had(world: &mut World, step: usize) -> Result<(), Fault> {
    let name = PARAMS[step % PARAMS.len()];
    let had = world.waiting.had.get(name).cloned().unwrap_or_default();
    let values = VALUES.map(|value| world::param(name, &json!(value)));
    let Some(value) = values.into_iter().find(|it| !had.contains(&it.id())) else {
        return Ok(());
    };
    let awaited = [wait_for(name, &value)];
    match judge(world, &awaited, false) {
        Verdict::Waiting(_) => Ok(()),
        verdict @ Verdict::Impossible(Impossible::Unused { .. } | Impossible::Failed { .. }) => {
            answered(world, &awaited, &verdict, false).map(drop)
        }
        verdict => Err(fault(&awaited, &verdict, "is still to come")),
    }
}

fn holds(world: &World, awaited: &[WaitFor], live: bool) -> Result<(), Fault> {
    let asked = |name: &str| {
        let named = format!("{name}=");
        awaited
            .iter()
            .any(|it| *it == WaitFor::Current || it.to_string().starts_with(&named))
    };
    for (name, value) in world.owner.iter().filter(|(name, _)| asked(name)) {
        let origin = Origin::owner(*name);
        check::really_arrived(world, &origin, value)?;
        made_again::check(world, &origin)?;
        if live {
            check::really_started(world, &origin, value)?;
        }
    }
    let is_current = awaited.contains(&WaitFor::Current);
    if live && is_current {
        task::has_run(world)?;
    }
    Ok(())
}

pub(super) fn fault(awaited: &[WaitFor], verdict: &Verdict, truth: &str) -> Fault {
    Fault::new(format!(
        "{awaited:?} {truth}, and who waits is told {verdict:?}"
    ))
}
