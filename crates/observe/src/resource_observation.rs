//! The observation of one resource, as lineage learns from it.

use std::collections::BTreeSet;

use pathline_blueprint::template::Template;
use pathline_kinds::carto::{API_VERSION, Lifecycle};
use pathline_kinds::split_api_version;
use pathline_lineage::kinds::GroupKind;
use pathline_lineage::{
    Inputs, Origin, Snapshot, Stamp, Template as Used, Tracing, Trust, Written, kinds,
};
use serde_json::Value;

use crate::version::Version;

/// One resource as a reconcile observed it.
#[derive(Debug)]
pub enum ResourceObservation {
    /// An object was stamped, now or before.
    Stamped(Box<StampedObservation>),
    /// An input was handed on.
    PassedThrough {
        /// The origin of the input.
        passed: Origin,
        /// The input, and what chose to pass it through.
        inputs: Inputs,
    },
}

impl ResourceObservation {
    /// Returns what tells whether all of it is known already.
    pub(crate) fn version(&self) -> Version {
        match self {
            Self::Stamped(stamped) => stamped.version.clone(),
            Self::PassedThrough { inputs, .. } => Version::passed(inputs),
        }
    }
}

/// A stamped object as a reconcile observed it, before and after it was written.
#[derive(Debug)]
pub struct StampedObservation {
    pub(crate) tracing: Tracing,
    /// The object as it was before it was written, if it was.
    pub(crate) before: Option<Snapshot>,
    /// The commit that it had written by then.
    pub(crate) commit_before: Option<Written>,
    pub(crate) stamp: Stamp,
    /// The object that the output is read from.
    pub(crate) after: Option<Snapshot>,
    /// The commit that the object has written.
    pub(crate) commit: Option<Written>,
    pub(crate) version: Version,
}

/// Returns how objects of a template can be traced, as far as the template and their kind say; what is not known yet
/// has an empty kind.
pub(crate) fn tracing_of(template: &Template, api_version: &str, kind: &str) -> Tracing {
    let (group, _) = split_api_version(api_version);
    let trust = if template.declares_observed_generation() {
        Trust::Declared
    } else if kinds::known_kind(GroupKind::new(group, kind)).is_some() {
        Trust::Known
    } else {
        Trust::Condition
    };
    Tracing {
        immutable: template.lifecycle != Lifecycle::Mutable || is_runnable(api_version, kind),
        trust,
        rules: BTreeSet::new(),
    }
}

/// Names a run of the Runnable of a uid by the inputs that made it: one set of inputs makes one run.
pub(crate) fn run_of(runnable_uid: &str, inputs_id: &str) -> String {
    format!("{runnable_uid}/{inputs_id}")
}

/// Tells whether objects of a kind are Runnables, which make runs of their own.
pub(crate) fn is_runnable(api_version: &str, kind: &str) -> bool {
    (api_version, kind) == (API_VERSION, "Runnable")
}

/// Returns the template as lineage knows it.
pub(crate) fn used(template: &Template) -> Used {
    Used {
        name: format!("{}/{}", template.kind().name(), template.name),
        generation: template.generation,
    }
}

pub(crate) fn text(value: &Value, pointer: &str) -> String {
    let text = value.pointer(pointer).and_then(Value::as_str);
    text.unwrap_or_default().to_owned()
}
