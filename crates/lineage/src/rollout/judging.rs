//! The rule of each kind.

use std::collections::BTreeSet;

use super::below::Below;
use super::object::Object;
use super::{Rollout, Stage, controllers, flux, job, knative, process, task};
use crate::kinds::{self, GroupKind};

/// A rule for a kind.
type Rule = fn(&Object, &Below, &[String]) -> Stage;

/// A kind of objects, as the API names it: group, version and kind.
pub type ApiKind = (&'static str, &'static str, &'static str);

const DEPLOYMENT: ApiKind = ("apps", "v1", "Deployment");
const REPLICA_SET: ApiKind = ("apps", "v1", "ReplicaSet");
const CONTROLLER_REVISION: ApiKind = ("apps", "v1", "ControllerRevision");
const POD: ApiKind = ("", "v1", "Pod");
const CONFIGURATION: ApiKind = ("serving.knative.dev", "v1", "Configuration");
const REVISION: ApiKind = ("serving.knative.dev", "v1", "Revision");

/// Returns the kinds that lie below objects of a kind, by which their rollout is judged; `None` if
/// nothing is known to run below objects of that kind.
///
/// Objects that an inventory of Flux names come in addition.
pub fn kinds_below(group: &str, kind: &str) -> Option<&'static [ApiKind]> {
    rule(group, kind).map(|(kinds, _)| kinds)
}

/// Judges the rollout of a stamped object.
///
/// `images` are the images that the resource was made of. What is known of objects that the stamped
/// one does not control must have been read after it.
pub fn judge(object: &Object, below: &Below, images: &[String]) -> Rollout {
    about(object, stage(object, below, images))
}

/// Judges the rollout of a stamped object which may have applied objects in other namespaces;
/// `place` returns what is known of a namespace.
pub fn judge_across<'a>(
    object: &Object,
    place: impl Fn(&str) -> Option<&'a Below>,
    images: &[String],
) -> Rollout {
    let nothing = Below::default();
    let stage = if flux::has_inventory(object) {
        flux::applied(
            object,
            &|named| {
                let below = place(&named.namespace)?;
                Some((below.find(named)?, below))
            },
            images,
        )
    } else {
        let below = place(&object.namespace);
        stage(object, below.unwrap_or(&nothing), images)
    };
    about(object, stage)
}

pub(super) fn about(object: &Object, stage: Stage) -> Rollout {
    Rollout {
        uid: object.uid.clone(),
        generation: object.generation,
        stage,
        object: object.object_name(),
        ..Rollout::default()
    }
}

pub(super) fn stage(object: &Object, below: &Below, images: &[String]) -> Stage {
    match rule(&object.group, &object.kind) {
        Some((_, rule)) => rule(object, below, images),
        None => of_children(object, below, images),
    }
}

fn rule(group: &str, kind: &str) -> Option<(&'static [ApiKind], Rule)> {
    let rule: (&'static [ApiKind], Rule) = match GroupKind::new(group, kind) {
        kinds::DEPLOYMENT => (&[REPLICA_SET, POD], controllers::deployment),
        kinds::STATEFUL_SET => (&[POD], controllers::stateful_set),
        kinds::DAEMON_SET => (&[CONTROLLER_REVISION, POD], controllers::daemon_set),
        kinds::JOB => (&[POD], job::job),
        kinds::KNATIVE_SERVICE => (
            &[CONFIGURATION, REVISION, DEPLOYMENT, REPLICA_SET, POD],
            knative::service,
        ),
        kinds::KUSTOMIZATION | kinds::HELM_RELEASE => (&[], |object, below, images| {
            flux::applied(object, &|named| Some((below.find(named)?, below)), images)
        }),
        kinds::PROCESS => (&[], |object, _, _| process::process(object)),
        kinds::TASK => (&[], |object, _, _| task::task(object)),
        _ => return None,
    };
    Some(rule)
}

/// Judges an object of a kind that nobody knows by what it controls.
///
/// Its children may be of an older generation, unless it says itself that it is done.
fn of_children(object: &Object, below: &Below, images: &[String]) -> Stage {
    let running = running_below(object, below);
    if running.is_empty() {
        return Stage::None;
    }
    let ready = object.condition("Ready");
    let current =
        ready.is_some_and(|it| it.generation.is_none_or(|it| Some(it) == object.generation));
    match ready.map(|it| it.status) {
        Some("False") if current && object.has_observed() => return object.unready(),
        Some("True") if current && object.has_observed() => {}
        _ => {
            return Stage::progressing(format!(
                "{} does not say that it is ready at its generation",
                object.title()
            ));
        }
    }
    let stages = running.into_iter().map(|it| {
        let (_, rule) = rule(&it.group, &it.kind).expect("only those with a rule were looked for");
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
            if kinds_below(&child.group, &child.kind).is_some() {
                running.push(child);
            } else {
                next.push(child);
            }
        }
    }
    running
}
