//! What a path ends with, and how its last mile is followed.

use std::collections::BTreeMap;

use kube::core::GroupVersionKind;
use pathline_blueprint::live;
use pathline_blueprint::model::{Lifecycle, LiveSelector};
use pathline_blueprint::template::{Template, TemplateKind};
use pathline_lineage::rollout::{Object, kinds_below};
use pathline_lineage::{Rollout, Stage};
use serde_json::Value;

use super::seen::Watched;
use crate::lineage::{is_runnable, run_of};

/// An object with which a path may end.
pub(crate) enum End {
    /// Something is known to run below it.
    Known(Value),
    /// Its template says which objects run what it asks for.
    Selected(Value, Selected),
    /// A commit: what follows its repository runs it.
    Commit(Value),
    /// A run of a Runnable.
    Run(Box<Run>),
    /// How far it is, is clear from itself.
    Clear(Rollout),
}

/// The objects that a template selects.
pub(crate) struct Selected {
    pub(super) gvk: GroupVersionKind,
    pub(super) labels: BTreeMap<String, String>,
    /// The generation that the stamped object says was observed.
    pub(super) observed: Option<i64>,
}

/// A run of a Runnable, by the inputs that it was given.
pub(crate) struct Run {
    pub(super) runnable: Object,
    pub(super) inputs_id: String,
    /// What lineage calls it.
    pub(super) uid: String,
}

/// What was stamped for a resource.
pub(crate) struct Stamped<'s> {
    pub(crate) template: &'s Template,
    pub(crate) inputs_id: &'s str,
    /// The object that carries what was rendered.
    pub(crate) current: &'s Value,
    /// The object that the output is read from.
    pub(crate) source: Option<&'s Value>,
}

impl End {
    /// Tells how the last mile of what was stamped is followed.
    pub(crate) fn of(stamped: &Stamped<'_>) -> Self {
        let template = stamped.template;
        let is_sink = template.kind() == TemplateKind::Plain;
        let object = stamped.source.filter(|_| !is_sink);
        let object = object.unwrap_or(stamped.current);
        if is_runnable(object) && template.lifecycle == Lifecycle::Mutable {
            let made_from = object.pointer("/status/madeFrom").and_then(Value::as_str);
            let made_from = made_from.filter(|_| !is_sink);
            let run = Run::of(object, made_from.unwrap_or(stamped.inputs_id));
            return Self::Run(Box::new(run));
        }
        let (group, kind) = group_and_kind(object);
        if kinds_below(group, kind).is_some() {
            return Self::Known(object.clone());
        }
        if let Some(selector) = &template.tracing.live_selector {
            let observed = template.observed_generation(object);
            return Self::selected(object, selector, observed);
        }
        if (group, kind) == ("pathline.dev", "GitCommit") {
            return Self::Commit(object.clone());
        }
        Self::Clear(rollout(object, Stage::None))
    }

    /// Returns the uid of the object, where something may run below it.
    pub(crate) fn uid(&self) -> Option<&str> {
        match self {
            Self::Known(object) | Self::Selected(object, _) | Self::Commit(object) => {
                object.pointer("/metadata/uid")?.as_str()
            }
            Self::Run(run) => Some(&run.uid),
            Self::Clear(rollout) => Some(&rollout.uid),
        }
    }

    /// Returns the object whose pods, or what it leads to, are watched.
    pub(super) fn object(&self) -> Option<Object> {
        match self {
            Self::Known(object) | Self::Selected(object, _) => Some(Object::read(object)),
            Self::Commit(_) | Self::Run(_) | Self::Clear(_) => None,
        }
    }

    fn selected(object: &Value, selector: &LiveSelector, observed: Option<i64>) -> Self {
        let (group, version) = match selector.api_version.split_once('/') {
            Some((group, version)) => (group, version),
            None => ("", selector.api_version.as_str()),
        };
        let gvk = GroupVersionKind::gvk(group, version, &selector.kind);
        match live::labels(selector, object) {
            Ok(labels) => Self::Selected(
                object.clone(),
                Selected {
                    gvk,
                    labels,
                    observed,
                },
            ),
            Err(error) => {
                let why = format!("its liveSelector selects nothing: {error}");
                Self::Clear(rollout(object, Stage::Progressing { why }))
            }
        }
    }
}

impl Selected {
    /// Returns what is watched for a stamped object.
    pub(super) fn watched(&self, object: &Object) -> Watched {
        Watched {
            namespace: object.namespace.clone(),
            gvk: self.gvk.clone(),
        }
    }

    /// Tells whether pods are selected.
    pub(super) fn is_pods(&self) -> bool {
        self.gvk.group.is_empty() && self.gvk.kind == "Pod"
    }
}

impl Run {
    fn of(runnable: &Value, inputs_id: &str) -> Self {
        Self {
            runnable: Object::read(runnable),
            inputs_id: inputs_id.to_owned(),
            uid: run_of(runnable, inputs_id),
        }
    }

    /// Returns how far it is.
    pub(super) fn at(&self, stage: Stage) -> Rollout {
        Rollout {
            uid: self.uid.clone(),
            generation: None,
            stage,
            ..Rollout::default()
        }
    }
}

/// Returns how far an object is.
fn rollout(object: &Value, stage: Stage) -> Rollout {
    let object = Object::read(object);
    Rollout {
        object: object.object_name(),
        uid: object.uid,
        generation: object.generation,
        stage,
        ..Rollout::default()
    }
}

fn group_and_kind(object: &Value) -> (&str, &str) {
    let api_version = object["apiVersion"].as_str().unwrap_or_default();
    let group = api_version.split_once('/').map_or("", |(group, _)| group);
    (group, object["kind"].as_str().unwrap_or_default())
}
