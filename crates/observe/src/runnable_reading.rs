//! The runs of a Runnable, read once for its status and for those who follow them.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use pathline_blueprint::conditions;
use pathline_blueprint::runnable::{self, Failure, Runnable};
use pathline_blueprint::stamp::INPUTS_ANNOTATION;
use pathline_kinds::carto::{ClusterRunTemplateSpec, RunnableStatus, StampedReference};
use serde_json::{Value, json};

use crate::rollout::RunnableRun;
use crate::stamped_object::StampedObject;

/// The one reading of the runs of a Runnable.
#[derive(Debug, Default)]
pub struct RunnableReading {
    /// The run of the current inputs.
    run: Option<Value>,
    /// The outputs of the runs; `None` leaves what was reported before.
    outputs: Option<Outputs>,
    failure: Option<Failure>,
    /// The runs that count, with the inputs that they were given.
    pub ran: Vec<RunnableRun>,
}

/// The outputs of a run.
#[derive(Debug)]
struct Outputs {
    values: BTreeMap<String, Value>,
    /// The id of the inputs that the run was given.
    made_from: Option<String>,
}

impl RunnableReading {
    /// A Runnable of which no run could be made.
    pub fn failed(failure: Failure) -> Self {
        Self {
            failure: Some(failure),
            ..Self::default()
        }
    }

    /// Reads the run that carries what was rendered for a Runnable, and the one whose output counts, if one has been
    /// healthy.
    pub fn read(
        runnable: &Runnable,
        template: &ClusterRunTemplateSpec,
        current: &StampedObject,
        producing: Option<&Value>,
    ) -> Self {
        let given = inputs_id(&runnable.object);
        let mut reading = Self {
            run: Some(current.object.clone()),
            ..Self::default()
        };
        reading.note_run(given, &current.object);
        let Some(producing) = producing else {
            return reading;
        };
        // The run of the current inputs may carry others: those that first rendered the same run.
        let is_current = *producing == current.object;
        let made_from = if is_current {
            given
        } else {
            inputs_id(producing)
        };
        if !is_current {
            reading.note_run(made_from, producing);
        }
        let values = match runnable::outputs(template, producing) {
            Ok(outputs) => outputs,
            Err(reason) => {
                let run = StampedReference {
                    name: producing["metadata"]["name"].as_str().map(str::to_owned),
                    ..current.reference.clone()
                };
                reading.failure = Some(Failure::Output { run, reason });
                BTreeMap::new()
            }
        };
        reading.outputs = Some(Outputs {
            values,
            made_from: made_from.map(str::to_owned),
        });
        reading
    }

    /// Returns the status that the Runnable is to report.
    pub fn status(self, runnable: &Runnable, now: &Time) -> RunnableStatus {
        let known = runnable.object.get("status").cloned().unwrap_or_default();
        let known: RunnableStatus = serde_json::from_value(known).unwrap_or_default();
        let verdicts = runnable.conditions(self.failure.as_ref(), self.run.as_ref());
        let (outputs, made_from) = match self.outputs {
            Some(outputs) => (Some(outputs.values), outputs.made_from),
            None => (known.outputs, known.made_from),
        };
        let generation = runnable.object.pointer("/metadata/generation");
        RunnableStatus {
            observed_generation: generation.and_then(Value::as_i64),
            conditions: conditions::with_times(verdicts, &known.conditions, now),
            outputs: outputs.filter(|outputs| !outputs.is_empty()),
            made_from,
        }
    }

    fn note_run(&mut self, inputs_id: Option<&str>, run: &Value) {
        self.ran
            .extend(inputs_id.map(|id| RunnableRun::new(id, run)));
    }
}

/// Returns what was rendered for a Runnable with the id of the inputs that the Runnable carries, beside the digest, not
/// in it: other inputs that render the same run are one with these.
pub fn name_inputs(runnable: &Runnable, rendered: &Value) -> Value {
    let mut rendered = rendered.clone();
    if let Some(inputs_id) = inputs_id(&runnable.object) {
        rendered["metadata"]["annotations"][INPUTS_ANNOTATION] = json!(inputs_id);
    }
    rendered
}

/// Returns the id of the inputs that an object carries.
fn inputs_id(object: &Value) -> Option<&str> {
    object["metadata"]["annotations"][INPUTS_ANNOTATION].as_str()
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::stamped_object::Write;

    fn object(kind: &str, name: &str, inputs_id: &str, status: &Value) -> Value {
        json!({
            "apiVersion": "carto.run/v1alpha1",
            "kind": kind,
            "metadata": {
                "name": name, "namespace": "dev", "uid": name, "generation": 3,
                "annotations": {INPUTS_ANNOTATION: inputs_id},
            },
            "spec": {"runTemplateRef": {"name": "t"}},
            "status": status,
        })
    }

    fn runnable() -> Runnable {
        let status = json!({"outputs": {"image": "old"}, "madeFrom": "id-0"});
        Runnable::read(object("Runnable", "r", "id-2", &status)).expect("the test wrote it")
    }

    fn run(name: &str, inputs_id: &str, image: &str) -> Value {
        object("Run", name, inputs_id, &json!({"image": image}))
    }

    /// Reads the runs; returns the inputs of those that count, and the status.
    fn read(current: Value, producing: Option<&Value>) -> (Vec<String>, RunnableStatus) {
        let template = json!({"template": {}, "outputs": {"image": ".status.image"}});
        let template = serde_json::from_value(template).expect("the test wrote it");
        let current = StampedObject {
            reference: StampedReference::default(),
            object: current,
            before: None,
            write: Write::Nothing,
            steady_since: None,
        };
        let reading = RunnableReading::read(&runnable(), &template, &current, producing);
        let ran = reading.ran.iter().map(|it| it.inputs_id.clone()).collect();
        (
            ran,
            reading.status(&runnable(), &Time(Timestamp::UNIX_EPOCH)),
        )
    }

    fn image(status: &RunnableStatus) -> Option<&str> {
        status.outputs.as_ref()?["image"].as_str()
    }

    #[test]
    fn outputs_are_of_the_inputs_that_the_run_was_given() {
        let current = run("b", "id-1", "new");
        let (ran, status) = read(current.clone(), Some(&current));
        assert_eq!(ran, ["id-2"], "other inputs rendered the same run");
        assert_eq!(image(&status), Some("new"));
        assert_eq!(status.made_from.as_deref(), Some("id-2"));
        assert_eq!(status.observed_generation, Some(3));
        let former = run("a", "id-1", "former");
        let (ran, status) = read(current, Some(&former));
        assert_eq!(ran, ["id-2", "id-1"]);
        assert_eq!(image(&status), Some("former"));
        assert_eq!(status.made_from.as_deref(), Some("id-1"));
    }

    #[test]
    fn outputs_stay_until_a_run_gives_others() {
        let (ran, status) = read(run("b", "id-2", "new"), None);
        assert_eq!(ran, ["id-2"]);
        assert_eq!(image(&status), Some("old"));
        assert_eq!(status.made_from.as_deref(), Some("id-0"));
        let failed = RunnableReading::failed(Failure::NoTemplate("t is gone".to_owned()));
        let status = failed.status(&runnable(), &Time(Timestamp::UNIX_EPOCH));
        assert_eq!(image(&status), Some("old"));
    }

    #[test]
    fn run_without_the_output_takes_it_away() {
        let mut current = run("b", "id-2", "new");
        current["status"] = json!({});
        let (_, status) = read(current.clone(), Some(&current));
        assert_eq!(status.outputs, None);
        assert_eq!(status.made_from.as_deref(), Some("id-2"));
    }
}
