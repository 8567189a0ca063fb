//! Objects of a rollout, as far as they are kept.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::carried::{self, Sha};
use super::pod::controller_of;
use super::uses::{ConfigKind, Uses};
use super::{ObjectName, Stage};
use crate::kinds::GroupKind;

/// The fields of `spec` that rules read.
const SPEC: [&str; 6] = [
    "replicas",
    "paused",
    "suspend",
    "completions",
    "parallelism",
    "updateStrategy",
];
/// The most of the last lines of a log that are told.
const LINES: usize = 3;
/// The longest text in a status that is kept, in characters.
const TEXT: usize = 1024;

/// An object of a rollout, as far as it is kept: its name, what controls it, what it says of itself.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Object {
    /// The API version, with its group.
    pub api_version: String,
    /// The API group; empty for the core group.
    pub group: String,
    /// The kind.
    pub kind: String,
    /// The namespace.
    pub namespace: String,
    /// The name.
    pub name: String,
    /// The uid.
    pub uid: String,
    /// The generation, where the kind has one.
    pub generation: Option<i64>,
    /// Its version, which changes with every write to it.
    pub version: String,
    /// Its labels.
    pub labels: BTreeMap<String, String>,
    /// The uid of the object that controls it.
    pub controller: Option<String>,
    /// The number that a Deployment and its current replica set share.
    pub(super) revision: Option<String>,
    /// The number of a controller revision; of those of one controller the highest is the newest.
    pub(super) number: Option<i64>,
    /// The images of the containers of its pod template.
    pub(super) images: Vec<String>,
    /// The hashes that its pod template carries.
    pub(super) carried: Vec<Sha>,
    /// The ConfigMaps and Secrets that its pod template reads, in whatever way.
    pub reads: BTreeSet<(ConfigKind, String)>,
    spec: Map<String, Value>,
    status: Value,
}

impl Object {
    /// Keeps what rules read of an object.
    pub fn read(object: &Value) -> Self {
        let text = |pointer: &str| {
            let found = object.pointer(pointer).and_then(Value::as_str);
            found.unwrap_or_default().to_owned()
        };
        let api_version = text("/apiVersion");
        let group = api_version.rsplit_once('/').map(|(group, _)| group);
        let revision = object.pointer("/metadata/annotations/deployment.kubernetes.io~1revision");
        let spec = object.get("spec").and_then(Value::as_object);
        let kept = spec
            .into_iter()
            .flatten()
            .filter(|(name, _)| SPEC.contains(&name.as_str()));
        Self {
            group: group.unwrap_or_default().to_owned(),
            api_version: api_version.clone(),
            kind: text("/kind"),
            namespace: text("/metadata/namespace"),
            name: text("/metadata/name"),
            uid: text("/metadata/uid"),
            generation: object
                .pointer("/metadata/generation")
                .and_then(Value::as_i64),
            version: text("/metadata/resourceVersion"),
            labels: labels_of(object),
            controller: controller_of(object).map(str::to_owned),
            revision: revision.and_then(Value::as_str).map(str::to_owned),
            number: object.get("revision").and_then(Value::as_i64),
            images: images(object),
            carried: carried::hashes(&object["spec"]["template"]),
            reads: Uses::of(&object["spec"]["template"]).names(),
            spec: kept
                .map(|(name, value)| (name.clone(), value.clone()))
                .collect(),
            status: object.get("status").map(shortened).unwrap_or_default(),
        }
    }

    /// Returns what the API calls it.
    pub fn object_name(&self) -> ObjectName {
        ObjectName {
            api_version: self.api_version.clone(),
            kind: self.kind.clone(),
            namespace: self.namespace.clone(),
            name: self.name.clone(),
        }
    }

    /// Tells whether it has these labels, whatever others it has.
    pub(super) fn is_labelled(&self, wanted: &BTreeMap<String, String>) -> bool {
        wanted
            .iter()
            .all(|(name, value)| self.labels.get(name) == Some(value))
    }

    /// Returns its kind.
    pub(crate) fn group_kind(&self) -> GroupKind<'_> {
        GroupKind::new(&self.group, &self.kind)
    }

    /// Returns kind and name, for people.
    pub(super) fn title(&self) -> String {
        format!("{} `{}`", self.kind, self.name)
    }

    /// Returns a field of the spec.
    pub(super) fn spec(&self, name: &str) -> Option<&Value> {
        self.spec.get(name)
    }

    /// Returns a field of the status.
    pub(super) fn status(&self, pointer: &str) -> Option<&Value> {
        self.status.pointer(pointer)
    }

    /// Returns a number of the status; 0 if it is absent, as Kubernetes leaves zeros out.
    pub(super) fn count(&self, name: &str) -> i64 {
        let count = self.status.get(name).and_then(Value::as_i64);
        count.unwrap_or_default()
    }

    /// Returns a text of the status.
    pub(super) fn text(&self, pointer: &str) -> &str {
        let text = self.status.pointer(pointer).and_then(Value::as_str);
        text.unwrap_or_default()
    }

    /// Says how the log of what ran ends, as a part of a sentence; nothing if there is none.
    pub(super) fn last_lines(&self) -> String {
        let log = self.text("/logTail").trim_end();
        let mut lines: Vec<_> = log.lines().rev().take(LINES).collect();
        lines.reverse();
        if lines.is_empty() {
            String::new()
        } else {
            format!("; it said: {}", lines.join(" / "))
        }
    }

    /// Returns a condition.
    pub(super) fn condition(&self, named: &str) -> Option<Condition<'_>> {
        let conditions = self.status.get("conditions")?.as_array()?;
        let found = conditions.iter().find(|it| it["type"] == named)?;
        let text = |name: &str| found[name].as_str().unwrap_or_default();
        Some(Condition {
            status: text("status"),
            reason: text("reason"),
            message: text("message"),
            generation: found["observedGeneration"].as_i64(),
        })
    }

    /// Judges an object that says that it is not ready: that may pass, unless it is stalled.
    pub(super) fn unready(&self) -> Stage {
        let title = self.title();
        let stalled = self.condition("Stalled").filter(|it| it.status == "True");
        let stalled =
            stalled.filter(|it| it.generation.is_none_or(|it| Some(it) == self.generation));
        if let Some(stalled) = stalled {
            return Stage::failed(format!("{title}: {}", stalled.message_of()));
        }
        let told = self.condition("Ready").map(Condition::message_of);
        Stage::progressing(format!("{title} says: {}", told.unwrap_or_default()))
    }

    /// Tells whether the object says that it observed its generation.
    pub(super) fn has_observed(&self) -> bool {
        let observed = self
            .status
            .get("observedGeneration")
            .and_then(Value::as_i64);
        observed.is_some() && observed == self.generation
    }
}

/// A condition of an object.
#[derive(Clone, Copy, Debug)]
pub(super) struct Condition<'a> {
    pub(super) status: &'a str,
    pub(super) reason: &'a str,
    pub(super) message: &'a str,
    pub(super) generation: Option<i64>,
}

impl Condition<'_> {
    /// Says what it says, for people.
    pub(super) fn message_of(self) -> String {
        match (self.reason, self.message) {
            ("", message) => message.to_owned(),
            (reason, "") => reason.to_owned(),
            (reason, message) => format!("{reason}: {message}"),
        }
    }
}

/// Returns the labels of an object.
pub(super) fn labels_of(object: &Value) -> BTreeMap<String, String> {
    let labels = object
        .pointer("/metadata/labels")
        .and_then(Value::as_object);
    let labels = labels.into_iter().flatten();
    labels
        .filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned())))
        .collect()
}

fn images(object: &Value) -> Vec<String> {
    let template = object.pointer("/spec/template/spec");
    let template = template.or_else(|| object.get("spec"));
    let containers = template
        .and_then(|it| it.get("containers"))
        .and_then(Value::as_array);
    let images = containers.into_iter().flatten();
    let images = images.filter_map(|it| it.get("image")?.as_str());
    images.map(str::to_owned).collect()
}

/// Copies a status, its texts cut where nobody would read on: of a log the beginning, of any other
/// text the end.
fn shortened(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::from(text.chars().take(TEXT).collect::<String>()),
        Value::Array(list) => list.iter().map(shortened).collect(),
        Value::Object(map) => {
            let fields = map.iter();
            fields
                .map(|(name, value)| match value {
                    Value::String(log) if name == "logTail" => (name.clone(), ending(log)),
                    value => (name.clone(), shortened(value)),
                })
                .collect()
        }
        other => other.clone(),
    }
}

/// Copies the end of a log, which says why a program ended.
fn ending(log: &str) -> Value {
    let excess = log.chars().count().saturating_sub(TEXT);
    Value::from(log.chars().skip(excess).collect::<String>())
}
