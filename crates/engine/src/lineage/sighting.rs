//! What one look at one resource's object shows.

use std::collections::BTreeSet;

use jiff::Timestamp;
use pathline_blueprint::health;
use pathline_blueprint::model::{API_VERSION, ConditionStatus, Lifecycle};
use pathline_blueprint::output;
use pathline_blueprint::stamp::{INPUTS_ANNOTATION, Rendered};
use pathline_blueprint::template::{Template, TemplateKind};
use pathline_lineage::{
    Applied, Artifact, Health, Inputs, InputsId, Origin, Snapshot, Stamp, Template as Used,
    Tracing, Trust, Written, kinds,
};
use serde_json::Value;

use super::products::Product;
use super::readings::Taken;
use super::version::Version;
use crate::inputs_before;

/// What one look at one resource shows.
pub(crate) enum Sighting {
    /// An object was stamped, now or before.
    Stamped(Box<Stamped>),
    /// An input was handed on.
    PassedThrough {
        /// Which.
        passed: Origin,
        /// That one, and what chose to hand it on.
        inputs: Inputs,
    },
}

impl Sighting {
    /// Returns what tells whether all of it is known already.
    pub(super) fn version(&self) -> Version {
        match self {
            Self::Stamped(stamped) => stamped.version.clone(),
            Self::PassedThrough { inputs, .. } => Version::passed(inputs),
        }
    }
}

/// What is known of a stamped object.
pub(crate) struct Stamped {
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
    version: Version,
}

/// What a sighting is made of.
pub(crate) struct Subject<'s> {
    pub(crate) template: &'s Template,
    pub(crate) rendered: &'s Rendered,
    pub(crate) taken: &'s Taken,
    /// The object as it was before it was written; none if nothing was written.
    pub(crate) before: Option<&'s Value>,
    /// The object that carries what was rendered.
    pub(crate) current: &'s Value,
    /// The object that the output is read from.
    pub(crate) source: Option<&'s Value>,
    pub(crate) output: Option<&'s Artifact>,
    /// The inputs of which the object says that it used them.
    pub(crate) matched: BTreeSet<Origin>,
    pub(crate) time: Timestamp,
}

impl Subject<'_> {
    /// Returns what can be seen.
    pub(crate) fn sighting(&self) -> Sighting {
        let inputs_id = InputsId::of(&self.taken.inputs);
        let before = self.before.filter(|_| !is_runnable(self.current));
        let objects = [self.current].into_iter().chain(self.source);
        Sighting::Stamped(Box::new(Stamped {
            tracing: tracing_of(self.template, Some(self.current)),
            before: before.map(|it| self.snapshot(it, self.earlier_output(it), None)),
            commit_before: before.and_then(|it| self.commit(it)),
            version: Version::of(self.template, &inputs_id, objects),
            stamp: self.stamp(&inputs_id),
            after: self.source.and_then(|source| self.after(source)),
            commit: self.source.and_then(|source| self.commit(source)),
        }))
    }

    /// Reads the commit that an object wrote. What has an output says by itself what came out.
    fn commit(&self, object: &Value) -> Option<Written> {
        let is_sink = self.template.kind() == TemplateKind::Plain;
        is_sink.then(|| Written::read(object)).flatten()
    }

    fn stamp(&self, inputs_id: &InputsId) -> Stamp {
        let (uid, generation) = if is_runnable(self.current) && !self.is_run() {
            (run_of(self.current, inputs_id.as_str()), None)
        } else {
            (
                text(self.current, "/metadata/uid"),
                number(self.current, "/metadata/generation"),
            )
        };
        Stamp {
            template: used(self.template),
            uid,
            generation,
            inputs: self.taken.inputs.clone(),
            offered: self.taken.offered.clone(),
            applied: self.applied(),
            rendered: Some(self.rendered.digest().to_owned()),
            time: self.time,
        }
    }

    /// Returns what the object shows that the output is read from.
    fn after(&self, source: &Value) -> Option<Snapshot> {
        let output = self.output.cloned();
        if is_runnable(source) && !self.is_run() {
            return self.through_runnable(source, output);
        }
        Some(Snapshot {
            matched: Some(self.matched.clone()),
            ..self.snapshot(source, output, Some(true))
        })
    }

    /// Looks through a Runnable at the run whose outputs it shows.
    ///
    /// Only runs that ended well give outputs, so that of the run is good.
    fn through_runnable(&self, runnable: &Value, output: Option<Artifact>) -> Option<Snapshot> {
        let made_from = runnable.pointer("/status/madeFrom")?.as_str()?;
        Some(Snapshot {
            uid: run_of(runnable, made_from),
            generation: None,
            observed: None,
            condition_observed: None,
            health: Health::True,
            failed: None,
            inputs_id: Some(InputsId::read(made_from)),
            earlier: Vec::new(),
            ..self.snapshot(runnable, output, None)
        })
    }

    fn snapshot(&self, object: &Value, output: Option<Artifact>, held: Option<bool>) -> Snapshot {
        let rule = self.template.health_rule.as_ref();
        let annotations = object.pointer("/metadata/annotations");
        let inputs_id = annotations.and_then(|it| it.get(INPUTS_ANNOTATION)?.as_str());
        Snapshot {
            template: used(self.template),
            uid: text(object, "/metadata/uid"),
            generation: number(object, "/metadata/generation"),
            observed: self.template.observed_generation(object),
            condition_observed: health::condition_observed(rule, object),
            health: self.health(object, output.is_some()),
            held,
            matched: None,
            failed: health::terminal(rule, object, self.is_run()),
            inputs_id: inputs_id.map(InputsId::read),
            earlier: inputs_before::read(object),
            output,
            time: self.time,
        }
    }

    fn health(&self, object: &Value, has_output: bool) -> Health {
        let rule = self.template.health_rule.as_ref();
        let verdict = health::judge(rule, self.template.kind(), Some(object), has_output);
        match verdict.status {
            ConditionStatus::True if health::reads_status(rule) => Health::True,
            ConditionStatus::True => Health::Presumed,
            ConditionStatus::False => Health::False,
            ConditionStatus::Unknown => Health::Unknown,
        }
    }

    /// Reads what an object gave before it was written. What a deployment hands on was given to
    /// this state of the object, and is not known any more.
    fn earlier_output(&self, before: &Value) -> Option<Artifact> {
        let kind = self.template.kind();
        let output = match kind {
            TemplateKind::Deployment | TemplateKind::Plain => None,
            TemplateKind::Source | TemplateKind::Image | TemplateKind::Config => {
                output::read(&self.template.output, before, None)
                    .ok()
                    .flatten()
            }
        };
        output.map(|output| Product::new(kind, output).artifact)
    }

    /// Reads the output in what was applied.
    fn applied(&self) -> Applied {
        let kind = self.template.kind();
        match kind {
            TemplateKind::Plain => Applied::Object,
            TemplateKind::Deployment => Applied::Elsewhere,
            TemplateKind::Source | TemplateKind::Image | TemplateKind::Config => {
                let output = output::read(&self.template.output, &self.rendered.object, None);
                let output = output.ok().flatten();
                output.map_or(Applied::Elsewhere, |output| {
                    Applied::Output(Product::new(kind, output).artifact.id())
                })
            }
        }
    }

    fn is_run(&self) -> bool {
        self.template.lifecycle != Lifecycle::Mutable
    }
}

/// Returns how objects of a template can be traced, as far as the template and an object say.
pub(crate) fn tracing_of(template: &Template, object: Option<&Value>) -> Tracing {
    let api_version = object.map(|it| text(it, "/apiVersion")).unwrap_or_default();
    let kind = object.map(|it| text(it, "/kind")).unwrap_or_default();
    let group = api_version.split_once('/').map_or("", |(group, _)| group);
    let trust = if template.declares_observed_generation() {
        Trust::Declared
    } else if kinds::known_kind(group, &kind).is_some() {
        Trust::Known
    } else {
        Trust::Condition
    };
    Tracing {
        immutable: template.lifecycle != Lifecycle::Mutable || object.is_some_and(is_runnable),
        trust,
        rules: BTreeSet::new(),
    }
}

/// Names a run of a Runnable by the inputs that made it: one set of inputs makes one run.
pub(crate) fn run_of(runnable: &Value, inputs_id: &str) -> String {
    format!("{}/{inputs_id}", text(runnable, "/metadata/uid"))
}

/// Tells whether an object is a Runnable, which makes runs of its own.
pub(crate) fn is_runnable(object: &Value) -> bool {
    text(object, "/apiVersion") == API_VERSION && text(object, "/kind") == "Runnable"
}

/// Returns the template as lineage knows it.
pub(crate) fn used(template: &Template) -> Used {
    Used {
        name: format!("{}/{}", template.kind().name(), template.name),
        generation: template.generation,
    }
}

fn text(value: &Value, pointer: &str) -> String {
    let text = value.pointer(pointer).and_then(Value::as_str);
    text.unwrap_or_default().to_owned()
}

fn number(value: &Value, pointer: &str) -> Option<i64> {
    value.pointer(pointer)?.as_i64()
}
