//! Runnables: what they run, what that gives, and how they tell it.

use std::collections::BTreeMap;

use pathline_jsonpath::go;
use pathline_kinds::carto::{
    self, API_VERSION, ClusterRunTemplateSpec, ConditionStatus, HealthRule, Lifecycle,
    RunnableSelector, RunnableSpec, StampedReference,
};
use serde_json::{Map, Value, json};

use crate::conditions::{self, Verdict};
use crate::evaluate;
use crate::interpolate::interpolate;
use crate::runs;
use crate::service_account::{self, Account};
use crate::stamp::{self, Placement};

/// The label that runs are found by.
pub const RUNNABLE_NAME_LABEL: &str = "carto.run/runnable-name";

/// The label that names the template of a run.
pub const RUN_TEMPLATE_LABEL: &str = "carto.run/run-template-name";

/// One Runnable, as it stands in the cluster.
#[derive(Debug, Clone, PartialEq)]
pub struct Runnable {
    /// Its name.
    pub name: String,
    /// Its namespace, in which it runs.
    pub namespace: String,
    /// Its uid, which its runs carry.
    pub uid: String,
    /// The spec: what it asks for.
    pub spec: RunnableSpec,
    /// The whole object, as templates read it.
    pub object: Value,
}

/// Says what is in the way of a Runnable.
#[derive(Debug, Clone, PartialEq)]
pub enum Failure {
    /// The template does not exist, or cannot be read.
    NoTemplate(String),
    /// The work cannot be done under the service account.
    Account(service_account::Fault),
    /// The selector does not lead to exactly one object.
    Selector(String),
    /// The template cannot be stamped.
    Stamp(stamp::Error),
    /// The cluster did not take the run.
    Rejected {
        /// The name of the run.
        run: String,
        /// The message of the cluster.
        reason: String,
    },
    /// A successful run does not have a value that the template promises.
    Output {
        /// The run.
        run: StampedReference,
        /// The message about the path that leads nowhere.
        reason: String,
    },
}

impl Runnable {
    /// Reads a Runnable from its JSON. Who manages which field is left out: no rule may depend on it.
    ///
    /// # Errors
    ///
    /// Fails if the object does not have the types of a Runnable.
    pub fn read(mut object: Value) -> Result<Self, serde_json::Error> {
        if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
            metadata.remove("managedFields");
        }
        let read: carto::Runnable = serde_json::from_value(object.clone())?;
        Ok(Self {
            name: read.metadata.name.unwrap_or_default(),
            namespace: read.metadata.namespace.unwrap_or_default(),
            uid: read.metadata.uid.unwrap_or_default(),
            spec: read.spec,
            object,
        })
    }

    /// Returns the service account under which it runs.
    pub fn account(&self) -> Account {
        let own = self.spec.service_account_name.as_deref();
        Account {
            namespace: self.namespace.clone(),
            name: own
                .filter(|name| !name.is_empty())
                .unwrap_or("default")
                .to_owned(),
        }
    }

    /// Renders the run that its inputs ask for; `selected` is the object that its selector leads to.
    ///
    /// # Errors
    ///
    /// Fails if the template cannot be filled in, or makes no object that can be written.
    pub fn render(
        &self,
        template: &ClusterRunTemplateSpec,
        selected: Option<&Value>,
    ) -> Result<Value, stamp::Error> {
        let context = json!({"runnable": self.object, "selected": selected});
        let body = interpolate(&template.template, &context)?;
        let template = &self.spec.run_template_ref.name;
        let placement = Placement {
            namespace: &self.namespace,
            labels: self.labels(),
            template: format!("ClusterRunTemplate/{template}"),
            owner: json!({
                "apiVersion": API_VERSION,
                "kind": "Runnable",
                "name": self.name,
                "uid": self.uid,
                "controller": true,
                "blockOwnerDeletion": true,
            }),
            lifecycle: Lifecycle::Tekton,
        };
        placement.finish(body)
    }

    /// Returns the conditions: `RunTemplateReady`, `StampedObjectCondition`, `Ready`.
    ///
    /// `run` is the run of the current inputs, if there is one.
    pub fn conditions(&self, failure: Option<&Failure>, run: Option<&Value>) -> Vec<Verdict> {
        let template = match failure {
            None => Verdict::new("RunTemplateReady", ConditionStatus::True, "Ready", ""),
            Some(failure) => {
                let (reason, message) = self.explain(failure);
                Verdict::new("RunTemplateReady", ConditionStatus::False, reason, &message)
            }
        };
        conditions::with_summary(vec![template, stamped_object(run)])
    }

    fn labels(&self) -> Map<String, Value> {
        let template = &self.spec.run_template_ref.name;
        let labels = [
            (RUNNABLE_NAME_LABEL, &self.name),
            (RUN_TEMPLATE_LABEL, template),
        ];
        labels
            .map(|(label, value)| (label.to_owned(), json!(value)))
            .into_iter()
            .collect()
    }

    fn explain(&self, failure: &Failure) -> (&'static str, String) {
        let own = format!("{}/{}", self.namespace, self.name);
        match failure {
            Failure::NoTemplate(reason) => (
                "RunTemplateNotFound",
                format!("unable to get runnable [{own}]: [{reason}]"),
            ),
            Failure::Account(service_account::Fault::Account(reason)) => {
                ("ServiceAccountError", reason.clone())
            }
            Failure::Account(service_account::Fault::Token(reason)) => {
                ("ServiceAccountTokenError", reason.clone())
            }
            Failure::Account(service_account::Fault::Client(reason)) => {
                ("ClientBuilderError", reason.clone())
            }
            Failure::Selector(reason) => (
                "TemplateStampFailure",
                format!(
                    "unable to resolve selector [{}]: [{reason}]",
                    self.spec.selector.as_ref().map(show).unwrap_or_default()
                ),
            ),
            Failure::Stamp(reason) => (
                "TemplateStampFailure",
                format!("unable to stamp object [{own}]: [{reason}]"),
            ),
            Failure::Rejected { run, reason } => (
                "StampedObjectRejectedByAPIServer",
                format!(
                    "unable to apply object [{}/{run}]: [{reason}]",
                    self.namespace
                ),
            ),
            Failure::Output { run, reason } => (
                "OutputPathNotSatisfied",
                format!(
                    "waiting to read value from resource [{}/{}] in namespace [{}]: {reason}",
                    run.resource.as_deref().unwrap_or_default(),
                    run.name.as_deref().unwrap_or_default(),
                    self.namespace
                ),
            ),
        }
    }
}

/// Returns the rule by which a run of a Runnable is judged: it has succeeded, or a Job is complete.
pub fn rule(run: &Value) -> Option<HealthRule> {
    if is_job(run) {
        return Some(HealthRule {
            single_condition_type: Some("Complete".to_owned()),
            ..HealthRule::default()
        });
    }
    runs::default_rule(Lifecycle::Tekton)
}

fn is_job(run: &Value) -> bool {
    run["apiVersion"] == "batch/v1" && run["kind"] == "Job"
}

/// Reads every output that the template promises from a run, or says which one is missing.
///
/// # Errors
///
/// Fails with the first path that leads nowhere in the run.
pub fn outputs(
    template: &ClusterRunTemplateSpec,
    run: &Value,
) -> Result<BTreeMap<String, Value>, String> {
    let promised = template.outputs.iter().flatten();
    promised
        .map(|(name, path)| {
            let value = evaluate::value(path, run);
            let value =
                value.map_err(|error| format!("failed to evaluate path [{path}]: {error}"))?;
            Ok((name.clone(), value))
        })
        .collect()
}

fn stamped_object(run: Option<&Value>) -> Verdict {
    let conditions = run.and_then(|run| run.pointer("/status/conditions")?.as_array());
    let condition = |named: &str| {
        let mut conditions = conditions.into_iter().flatten();
        conditions.find(|condition| condition["type"] == named)
    };
    if run.is_some_and(is_job) {
        let is_true = |named: &str| condition(named).is_some_and(|it| it["status"] == "True");
        let (status, reason) = if is_true("Complete") {
            (ConditionStatus::True, "CompleteCondition")
        } else if is_true("Failed") {
            (ConditionStatus::False, "FailedCondition")
        } else {
            (ConditionStatus::Unknown, "Unknown")
        };
        return Verdict::new("StampedObjectCondition", status, reason, "");
    }
    let succeeded = condition("Succeeded");
    let (status, reason) = match succeeded.map(|condition| condition["status"].as_str()) {
        None => (ConditionStatus::Unknown, "Unknown"),
        Some(Some("True")) => (ConditionStatus::True, "SucceededCondition"),
        Some(Some("False")) => (ConditionStatus::False, "SucceededCondition"),
        Some(_) => (ConditionStatus::Unknown, "SucceededCondition"),
    };
    Verdict::new("StampedObjectCondition", status, reason, "")
}

fn show(selector: &RunnableSelector) -> String {
    let labels = selector.matching_labels.iter();
    format!(
        "(apiVersion:{} kind:{} labels:{})",
        selector.resource.api_version.as_deref().unwrap_or_default(),
        selector.resource.kind.as_deref().unwrap_or_default(),
        go::print_map(labels.map(|(key, value)| (key.as_str(), value.clone())))
    )
}

#[cfg(test)]
#[expect(
    clippy::needless_pass_by_value,
    reason = "a literal is given away at the call"
)]
mod tests {
    use super::*;

    fn runnable() -> Runnable {
        Runnable::read(json!({
            "apiVersion": "carto.run/v1alpha1",
            "kind": "Runnable",
            "metadata": {"name": "build", "namespace": "dev", "uid": "uid-1"},
            "spec": {
                "runTemplateRef": {"name": "pipeline"},
                "inputs": {"revision": "r1", "options": {"deep": [1, 2]}},
                "selector": {
                    "resource": {"apiVersion": "v1", "kind": "ConfigMap"},
                    "matchingLabels": {"b": "2", "a": "1"},
                },
            },
        }))
        .unwrap()
    }

    fn template(outputs: Value) -> ClusterRunTemplateSpec {
        serde_json::from_value(json!({
            "template": {
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "metadata": {"generateName": "run-"},
                "data": {
                    "revision": "$(runnable.spec.inputs.revision)$",
                    "deep": "$(runnable.spec.inputs.options.deep[1])$",
                    "selected": "$(selected.data.x)$",
                },
            },
            "outputs": outputs,
        }))
        .unwrap()
    }

    fn shown(verdicts: &[Verdict]) -> Vec<(&str, ConditionStatus, &str)> {
        verdicts
            .iter()
            .map(|v| (v.r#type.as_str(), v.status, v.reason.as_str()))
            .collect()
    }

    #[test]
    fn a_run_carries_inputs_and_what_was_selected() {
        let selected = json!({"data": {"x": {"y": 1}}});
        let run = runnable()
            .render(&template(json!({})), Some(&selected))
            .unwrap();
        assert_eq!(
            run["data"],
            json!({"revision": "r1", "deep": 2, "selected": {"y": 1}})
        );
        assert_eq!(
            run["metadata"]["labels"],
            json!({RUNNABLE_NAME_LABEL: "build", RUN_TEMPLATE_LABEL: "pipeline"})
        );
        assert_eq!(run["metadata"]["ownerReferences"][0]["kind"], "Runnable");
        assert!(
            run["metadata"]["name"]
                .as_str()
                .unwrap()
                .starts_with("run-")
        );
    }

    #[test]
    fn outputs_are_read_all_or_not_at_all() {
        let run = json!({"status": {"image": "i1"}});
        let read = |paths| outputs(&template(paths), &run);
        assert_eq!(
            read(json!({"image": "status.image"})),
            Ok(BTreeMap::from([("image".to_owned(), json!("i1"))]))
        );
        assert_eq!(
            read(json!({"image": "status.image", "other": "status.none"})).unwrap_err(),
            "failed to evaluate path [status.none]: jsonpath returned empty list: status.none"
        );
    }

    #[test]
    fn conditions_follow_the_run_and_the_first_thing_in_the_way() {
        use ConditionStatus::{False, True, Unknown};
        let run = |status: &str| json!({"status": {"conditions": [{"type": "Succeeded", "status": status}]}});
        let conditions =
            |failure: Option<&Failure>, run: Option<&Value>| runnable().conditions(failure, run);
        assert_eq!(
            shown(&conditions(None, Some(&run("True")))),
            [
                ("RunTemplateReady", True, "Ready"),
                ("StampedObjectCondition", True, "SucceededCondition"),
                ("Ready", True, "Ready"),
            ]
        );
        assert_eq!(
            shown(&conditions(None, Some(&run("False"))))[2],
            ("Ready", False, "SucceededCondition")
        );
        assert_eq!(
            shown(&conditions(None, Some(&json!({}))))[2],
            ("Ready", Unknown, "Unknown")
        );
        let missing =
            Failure::NoTemplate("ClusterRunTemplate [pipeline] does not exist".to_owned());
        let missing = conditions(Some(&missing), None);
        assert_eq!(
            shown(&missing)[0],
            ("RunTemplateReady", False, "RunTemplateNotFound")
        );
        let none = Failure::Selector("selector did not match any objects".to_owned());
        assert_eq!(
            conditions(Some(&none), None)[0].message,
            "unable to resolve selector [(apiVersion:v1 kind:ConfigMap labels:map[a:1 b:2])]: \
             [selector did not match any objects]"
        );
    }
}
