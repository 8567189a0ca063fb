//! Which rule is for which kind.

use std::collections::BTreeSet;

use super::below::Below;
use super::object::Object;
use super::{Rollout, Stage, controllers, flux, job, knative, process};

/// A rule for a kind.
type Rule = fn(&Object, &Below, &[String]) -> Stage;

/// Judges the last mile of a stamped object.
///
/// `images` are the images that the resource was made of. What is known of objects that the stamped
/// one does not control must have been read after it.
pub fn judge(object: &Object, below: &Below, images: &[String]) -> Rollout {
    about(object, stage(object, below, images))
}

/// Judges the last mile of a stamped object whose template says where to look: at these objects.
pub fn judge_selected<'a>(
    object: &Object,
    selected: impl IntoIterator<Item = &'a Object>,
    below: &Below,
    images: &[String],
) -> Rollout {
    let stages = selected.into_iter().map(|it| stage(it, below, images));
    let stage = stages.reduce(Stage::and);
    let stage = stage.unwrap_or_else(|| {
        Stage::progressing("nothing that its liveSelector selects is there yet")
    });
    about(object, stage)
}

fn about(object: &Object, stage: Stage) -> Rollout {
    Rollout {
        uid: object.uid.clone(),
        generation: object.generation,
        stage,
    }
}

/// Tells whether something runs below objects of a kind.
pub(super) fn has_last_mile(group: &str, kind: &str) -> bool {
    rule(group, kind).is_some()
}

pub(super) fn stage(object: &Object, below: &Below, images: &[String]) -> Stage {
    match rule(&object.group, &object.kind) {
        Some(rule) => rule(object, below, images),
        None => of_children(object, below, images),
    }
}

fn rule(group: &str, kind: &str) -> Option<Rule> {
    let rule: Rule = match (group, kind) {
        ("apps", "Deployment") => controllers::deployment,
        ("apps", "StatefulSet") => controllers::stateful_set,
        ("apps", "DaemonSet") => controllers::daemon_set,
        ("batch", "Job") => job::job,
        ("serving.knative.dev", "Service") => knative::service,
        ("kustomize.toolkit.fluxcd.io", "Kustomization")
        | ("helm.toolkit.fluxcd.io", "HelmRelease") => flux::applied,
        ("pathline.dev", "Process") => |object, _, _| process::process(object),
        _ => return None,
    };
    Some(rule)
}

/// Judges an object of a kind that nobody knows by what it controls.
///
/// What it controls may be of an older generation, unless it says itself that it is done.
fn of_children(object: &Object, below: &Below, images: &[String]) -> Stage {
    let running = running_below(object, below);
    if running.is_empty() {
        return Stage::None;
    }
    let ready = object.condition("Ready");
    let current =
        ready.is_some_and(|it| it.generation.is_none_or(|it| Some(it) == object.generation));
    match ready.map(|it| it.status) {
        Some("False") if current && object.has_observed() => {
            return Stage::failed(ready.map(|it| it.told()).unwrap_or_default());
        }
        Some("True") if current && object.has_observed() => {}
        _ => {
            return Stage::progressing(format!(
                "{} does not say that it is ready at its generation",
                object.title()
            ));
        }
    }
    let stages = running.into_iter().map(|it| {
        let rule = rule(&it.group, &it.kind).expect("only those with a rule were looked for");
        rule(it, below, images)
    });
    stages.fold(Stage::None, Stage::and)
}

/// Returns the nearest objects below one that something runs below.
fn running_below<'a>(object: &'a Object, below: &'a Below) -> Vec<&'a Object> {
    let mut visited = BTreeSet::from([object.uid.as_str()]);
    let mut next = vec![object];
    let mut running = Vec::new();
    while let Some(object) = next.pop() {
        for child in below.controlled_by(&object.uid) {
            // Owner references may lead in a circle.
            if !visited.insert(&child.uid) {
                continue;
            }
            if has_last_mile(&child.group, &child.kind) {
                running.push(child);
            } else {
                next.push(child);
            }
        }
    }
    running
}
