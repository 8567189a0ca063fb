//! Deployments, stateful sets and daemon sets.

use serde_json::Value;

use super::Stage;
use super::below::Below;
use super::images;
use super::object::Object;
use super::pods::Group;

/// The pods that a controller should have, and those that it says it has.
struct Pace<'a> {
    object: &'a Object,
    below: &'a Below,
    images: &'a [String],
    /// The number of pods there should be.
    wanted: i64,
    /// The number of pods of the new revision, as the controller says.
    updated: i64,
    available: i64,
    /// All that the controller counts, old ones included.
    all: i64,
}

pub(super) fn deployment(object: &Object, below: &Below, images: &[String]) -> Stage {
    let pace = Pace {
        object,
        below,
        images,
        wanted: replicas(object),
        updated: object.count("updatedReplicas"),
        available: object.count("availableReplicas"),
        all: object.count("replicas"),
    };
    if let Some(stage) = pace.not_begun() {
        return stage;
    }
    let deadline = object.condition("Progressing");
    if let Some(deadline) = deadline.filter(|it| it.reason == "ProgressDeadlineExceeded") {
        return Stage::failed(deadline.message_of());
    }
    let (new, old): (Vec<_>, Vec<_>) = below
        .controlled_by(&object.uid)
        .filter(|it| it.kind == "ReplicaSet")
        .partition(|it| it.revision.is_some() && it.revision == object.revision);
    if new.is_empty() {
        return Stage::progressing("its new replica set is not there yet");
    }
    let pods = |sets: &[&Object]| {
        sets.iter()
            .flat_map(|it| below.pods_of(&it.uid))
            .collect::<Vec<_>>()
    };
    pace.judge(&pods(&new), &pods(&old))
}

pub(super) fn stateful_set(object: &Object, below: &Below, images: &[String]) -> Stage {
    let pace = Pace {
        object,
        below,
        images,
        wanted: replicas(object),
        updated: object.count("updatedReplicas"),
        available: object.count("readyReplicas"),
        all: object.count("replicas"),
    };
    if let Some(stage) = pace.not_begun() {
        return stage;
    }
    pace.judge_pods(object.text("/updateRevision"))
}

pub(super) fn daemon_set(object: &Object, below: &Below, images: &[String]) -> Stage {
    let pace = Pace {
        object,
        below,
        images,
        wanted: object.count("desiredNumberScheduled"),
        updated: object.count("updatedNumberScheduled"),
        available: object.count("numberAvailable"),
        all: object.count("currentNumberScheduled") + object.count("numberMisscheduled"),
    };
    if let Some(stage) = pace.not_begun() {
        return stage;
    }
    // Unlike that of a stateful set, its status does not name the newest revision.
    let Some(newest) = below.newest_revision(&object.uid) else {
        return Stage::progressing("its newest revision is not known yet");
    };
    pace.judge_pods(newest)
}

impl Pace<'_> {
    /// Says why there is no need to look at pods.
    fn not_begun(&self) -> Option<Stage> {
        let Object { generation, .. } = self.object;
        if !self.object.has_observed() {
            let generation = generation.unwrap_or_default();
            let why = format!("generation {generation} has not been observed yet");
            return Some(Stage::progressing(why));
        }
        if self.object.spec("paused") == Some(&Value::Bool(true)) {
            return Some(Stage::progressing("its rollout is paused"));
        }
        (self.wanted == 0).then(|| Stage::progressing("it is scaled to 0: nothing runs"))
    }

    /// Judges pods that the object controls itself by the revision that they carry.
    fn judge_pods(&self, newest: &str) -> Stage {
        let pods = self.below.pods_of(&self.object.uid).into_iter();
        let (new, old): (Vec<_>, Vec<_>) = pods.partition(|it| it.revision == newest);
        self.judge(&new, &old)
    }

    fn judge(&self, new: &[&Group], old: &[&Group]) -> Stage {
        if let Some(reason) = new.iter().find_map(|it| self.below.pods().crash(it)) {
            return Stage::failed(reason);
        }
        let sum = |groups: &[&Group], of: fn(&Group) -> usize| {
            let sum: usize = groups.iter().map(|it| of(it)).sum();
            i64::try_from(sum).unwrap_or(i64::MAX)
        };
        let trouble = new.iter().find_map(|it| self.below.pods().trouble(it));
        let trouble = trouble.map(|it| format!("; {it}")).unwrap_or_default();
        let wanted = self.wanted;
        let there = self.updated.min(sum(new, |it| it.total));
        if there < wanted {
            return Stage::progressing(format!("{there} of {wanted} pods are new{trouble}"));
        }
        let ready = self.available.min(sum(new, |it| it.ready));
        if ready < wanted {
            return Stage::progressing(format!("{ready} of {wanted} new pods are ready{trouble}"));
        }
        let more = (self.all - wanted).max(sum(new, |it| it.total) - wanted);
        let left = more.max(sum(old, |it| it.total));
        if left > 0 {
            return Stage::progressing(format!("{left} old pods are still there"));
        }
        let missing = new
            .iter()
            .find_map(|it| images::missing(self.images, &self.object.images, it));
        missing.map_or(Stage::Done, Stage::progressing)
    }
}

fn replicas(object: &Object) -> i64 {
    object.spec("replicas").and_then(Value::as_i64).unwrap_or(1)
}
