//! One answer of the API server about a stamped object, read once.

use jiff::Timestamp;
use pathline_blueprint::conditions::Verdict;
use pathline_blueprint::health;
use pathline_blueprint::stamp::INPUTS_ANNOTATION;
use pathline_blueprint::template::Template;
use pathline_kinds::carto::{ConditionStatus, Lifecycle};
use pathline_lineage::rollout::Object;
use pathline_lineage::{Artifact, Health, InputsId, Snapshot, Written};
use serde_json::Value;

use crate::inputs_before;
use crate::resource_observation::{is_runnable, used};

/// An object as one answer of the API server shows it: what it says of itself, as rollouts are judged on it, and
/// what the rules of its template read.
#[derive(Debug, Clone)]
pub(crate) struct ObservedObject<'v> {
    /// The answer, for what only the template knows where to find.
    pub(crate) answer: &'v Value,
    /// The object, whatever its template.
    pub(crate) object: Object,
    /// The generation that it says was observed, where its template says.
    pub(crate) observed: Option<i64>,
    /// Whether what it reports is about what was written last, as far as it says.
    pub(crate) is_observed: bool,
    pub(crate) health: Verdict,
    /// The reason for which it will get no further until somebody changes something.
    pub(crate) failed: Option<String>,
    /// The inputs that it was given, where it is a Runnable that shows the outputs of its runs.
    pub(crate) made_from: Option<&'v str>,
    /// The commit that it wrote, where it is a `GitCommit`.
    pub(crate) written: Option<Written>,
    condition_observed: Option<i64>,
    inputs_id: Option<InputsId>,
    earlier: Vec<InputsId>,
}

impl<'v> ObservedObject<'v> {
    /// Reads an answer; `has_output` tells whether it gives what it should.
    pub(crate) fn read(template: &Template, answer: &'v Value, has_output: bool) -> Self {
        let object = Object::read(answer);
        let rule = template.health_rule.as_ref();
        let is_run = template.lifecycle != Lifecycle::Mutable;
        let annotations = answer.pointer("/metadata/annotations");
        let inputs_id = annotations.and_then(|it| it.get(INPUTS_ANNOTATION)?.as_str());
        let made_from = answer.pointer("/status/madeFrom").and_then(Value::as_str);
        Self {
            observed: template.observed_generation(answer),
            is_observed: health::is_observed(answer),
            health: health::judge(rule, template.kind(), Some(answer), has_output),
            failed: health::terminal(rule, answer, is_run),
            made_from: made_from.filter(|_| is_runnable(&object.api_version, &object.kind)),
            written: Written::read(answer),
            condition_observed: health::condition_observed(rule, answer),
            inputs_id: inputs_id.map(InputsId::read),
            earlier: inputs_before::read(answer),
            object,
            answer,
        }
    }

    /// Tells whether it is a Runnable, which makes runs of its own.
    pub(crate) fn is_runnable(&self) -> bool {
        is_runnable(&self.object.api_version, &self.object.kind)
    }

    /// Returns the state that evidence is judged on.
    pub(crate) fn snapshot(
        &self,
        template: &Template,
        output: Option<Artifact>,
        time: Timestamp,
    ) -> Snapshot {
        Snapshot {
            template: used(template),
            uid: self.object.uid.clone(),
            generation: self.object.generation,
            observed: self.observed,
            condition_observed: self.condition_observed,
            health: self.health_as_evidence(template),
            held: None,
            matched: None,
            failed: self.failed.clone(),
            inputs_id: self.inputs_id.clone(),
            earlier: self.earlier.clone(),
            output,
            time,
        }
    }

    /// Returns the health as far as it proves something: a rule that reads no status only presumes.
    fn health_as_evidence(&self, template: &Template) -> Health {
        match self.health.status {
            ConditionStatus::True if health::reads_status(template.health_rule.as_ref()) => {
                Health::True
            }
            ConditionStatus::True => Health::Presumed,
            ConditionStatus::False => Health::False,
            ConditionStatus::Unknown => Health::Unknown,
        }
    }
}
