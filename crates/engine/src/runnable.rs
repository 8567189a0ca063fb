//! The loop of Runnables: each makes a run for its inputs, and reports what the runs give.

use std::sync::Arc;

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::api::{DynamicObject, PostParams};
use kube::{Api, Client, ResourceExt};
use pathline_blueprint::conditions;
use pathline_blueprint::model::RunnableStatus;
use pathline_blueprint::runnable::{self, Failure, RUN_TEMPLATE_LABEL, Runnable};
use pathline_blueprint::stamp::INPUTS_ANNOTATION;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::FIELD_MANAGER;
use crate::calls::{self, call};
use crate::catalogue::Catalogue;
use crate::clients::Clients;
use crate::last_mile::{LastMiles, Ran};
use crate::queue::{Key, Next};
use crate::rounds::{Look, Rounds};
use crate::runs::Set;
use crate::selected::{Selection, Selections};
use crate::wakeups::{LaneEnd, Reconciled, Used, Wakeups};
use crate::watches::{Mark, Watches};

/// What the loop needs of the rest of the engine.
pub(crate) struct Context {
    pub(crate) client: Client,
    pub(crate) clients: Clients,
    pub(crate) catalogue: Arc<Catalogue>,
    pub(crate) watches: Arc<Watches>,
    pub(crate) selections: Arc<Selections>,
    pub(crate) wakeups: Wakeups,
    pub(crate) last_miles: Arc<LastMiles>,
}

struct Loop {
    context: Context,
}

/// How far a Runnable came.
#[derive(Default)]
struct Progress {
    /// The run of the current inputs.
    run: Option<Value>,
    /// What the runs give; `None` leaves what was reported before.
    outputs: Option<serde_json::Map<String, Value>>,
    /// The id of the inputs that the run was given which gives them.
    made_from: Option<String>,
    failure: Option<Failure>,
    /// The runs that count, with the inputs that they were given.
    ran: Vec<Ran>,
    /// Whether it must be tried again although nothing changes.
    is_retried: bool,
}

impl Progress {
    fn failed(failure: Failure, is_retried: bool) -> Self {
        Self {
            failure: Some(failure),
            is_retried,
            ..Self::default()
        }
    }
}

/// Runs the loop until told to stop; what has been started is finished.
pub(crate) async fn run(context: Context, lane: LaneEnd, stop: CancellationToken) {
    let rounds = Rounds {
        kind: Reconciled::Runnable,
        client: context.client.clone(),
        catalogue: context.catalogue.clone(),
        wakeups: context.wakeups.clone(),
    };
    rounds.run(lane, Loop { context }, stop).await;
}

impl Look for Loop {
    async fn look(&self, key: &Key, object: &DynamicObject) -> Next {
        let value = serde_json::to_value(object).unwrap_or_default();
        let runnable = match Runnable::read(value) {
            Ok(runnable) => runnable,
            Err(error) => {
                tracing::warn!(runnable = key.name, %error, "a Runnable cannot be read");
                return Next::Wait;
            }
        };
        let progress = self.advance(key, &runnable).await;
        let is_retried = progress.is_retried;
        let runs = &self.context.last_miles.runs;
        runs.note(key, object, progress.ran.clone());
        match self.report(object, &runnable, progress).await {
            Ok(()) if !is_retried => Next::Wait,
            Ok(()) => Next::Retry,
            Err(error) => {
                let error = error.message();
                tracing::info!(runnable = key.name, error, "the status was not written");
                Next::Retry
            }
        }
    }

    async fn gone(&self, key: &Key) -> Next {
        self.context.last_miles.runs.gone(key);
        Next::Wait
    }
}

impl Loop {
    async fn advance(&self, key: &Key, runnable: &Runnable) -> Progress {
        let account = runnable.account();
        let template_name = &runnable.spec.run_template_ref.name;
        let selection = runnable.spec.selector.as_ref().map(Selection::from);
        self.note(key, runnable, selection.as_ref());
        let client = match self.context.clients.of_account(&account).await {
            Ok(client) => client,
            Err(error) => {
                return Progress::failed(Failure::Account(error.fault()), error.is_transient());
            }
        };
        let template = match self.context.catalogue.run_template(template_name) {
            Ok(template) => template,
            Err(reason) => return Progress::failed(Failure::NoTemplate(reason), false),
        };
        let selected = match &selection {
            None => Ok(None),
            Some(selection) => {
                let selections = &self.context.selections;
                let one = selections.one(&client, selection, &runnable.namespace);
                one.await.map(Some)
            }
        };
        let selected = match selected {
            Ok(selected) => selected,
            Err(error) => {
                let failure = Failure::Selector(error.to_string());
                return Progress::failed(failure, error.is_transient());
            }
        };
        match runnable.render(&template, selected.as_ref()) {
            Ok(rendered) => self.run(runnable, &client, &template, &rendered).await,
            Err(error) => Progress::failed(Failure::Stamp(error), false),
        }
    }

    /// Notes what is used, before any of it is read.
    fn note(&self, key: &Key, runnable: &Runnable, selection: Option<&Selection>) {
        let mut used = vec![
            Used::Account(runnable.account()),
            Used::RunTemplate(runnable.spec.run_template_ref.name.clone()),
        ];
        if let Some(selection) = selection {
            // Cluster-scoped objects have no namespace.
            for namespace in ["", &runnable.namespace] {
                used.push(Used::Selection(selection.clone(), namespace.to_owned()));
            }
        }
        self.context.wakeups.note(Reconciled::Runnable, key, used);
    }

    async fn run(
        &self,
        runnable: &Runnable,
        client: &Client,
        template: &pathline_blueprint::model::ClusterRunTemplateSpec,
        rendered: &Value,
    ) -> Progress {
        let rule = runnable::rule(rendered);
        let template_name = &runnable.spec.run_template_ref.name;
        let set = Set {
            client,
            watches: &self.context.watches,
            mark: Mark::Run,
            namespace: &runnable.namespace,
            owner: &format!("Runnable [{}]", runnable.name),
            owner_uid: &runnable.uid,
            is_member: |run: &DynamicObject| {
                run.labels().get(RUN_TEMPLATE_LABEL) == Some(template_name)
            },
            rule: rule.as_ref(),
            retention: runnable.spec.retention_policy,
        };
        let inputs_id = inputs_id(&runnable.object);
        let mut rendered = rendered.clone();
        if let Some(inputs_id) = &inputs_id {
            // Beside the digest, not in it: other inputs that render the same run are one with these.
            rendered["metadata"]["annotations"][INPUTS_ANNOTATION] = json!(inputs_id);
        }
        let runs = match set.advance(&rendered).await {
            Ok(runs) => runs,
            Err(error) => {
                let name = rendered["metadata"]["name"].as_str().unwrap_or_default();
                let failure = Failure::Rejected {
                    run: name.to_owned(),
                    reason: error.to_string(),
                };
                return Progress::failed(failure, !error.is_forbidden());
            }
        };
        let is_current = runs.producing.as_ref() == Some(&runs.current.object);
        let ran = inputs_id
            .iter()
            .map(|id| Ran::new(id, &runs.current.object));
        let mut progress = Progress {
            ran: ran.collect(),
            run: Some(runs.current.object),
            is_retried: runs.unpruned.is_some(),
            ..Progress::default()
        };
        let Some(producing) = runs.producing else {
            return progress;
        };
        progress.made_from = if is_current {
            inputs_id
        } else {
            self::inputs_id(&producing)
        };
        let made_from = progress.made_from.iter().filter(|_| !is_current);
        progress
            .ran
            .extend(made_from.map(|id| Ran::new(id, &producing)));
        match runnable::outputs(template, &producing) {
            Ok(outputs) => progress.outputs = Some(outputs.into_iter().collect()),
            Err(reason) => {
                progress.outputs = Some(serde_json::Map::new());
                progress.failure = Some(Failure::Output {
                    run: pathline_blueprint::model::StampedReference {
                        name: producing["metadata"]["name"].as_str().map(str::to_owned),
                        ..runs.current.reference
                    },
                    reason,
                });
            }
        }
        progress
    }

    /// Writes the status unless the Runnable reports it already.
    async fn report(
        &self,
        object: &DynamicObject,
        runnable: &Runnable,
        progress: Progress,
    ) -> Result<(), calls::Error> {
        let before = object.data.get("status").cloned().unwrap_or_default();
        let known: RunnableStatus = serde_json::from_value(before.clone()).unwrap_or_default();
        let verdicts = runnable.conditions(progress.failure.as_ref(), progress.run.as_ref());
        let now = Time(Timestamp::now());
        let (outputs, made_from) = match progress.outputs {
            Some(outputs) => (Some(outputs.into_iter().collect()), progress.made_from),
            None => (known.outputs.clone(), known.made_from.clone()),
        };
        let status = RunnableStatus {
            observed_generation: object.metadata.generation,
            conditions: conditions::with_times(verdicts, &known.conditions, &now),
            outputs: outputs
                .filter(|outputs: &std::collections::BTreeMap<_, _>| !outputs.is_empty()),
            made_from,
        };
        let status = json!(status);
        if before == status {
            return Ok(());
        }
        let mut reported = object.clone();
        reported.data["status"] = status;
        let resource = Reconciled::Runnable.resource();
        let client = self.context.client.clone();
        let api: Api<DynamicObject> = Api::namespaced_with(client, &runnable.namespace, &resource);
        let params = PostParams {
            field_manager: Some(FIELD_MANAGER.to_owned()),
            dry_run: false,
        };
        match call(api.replace_status(&runnable.name, &params, &reported)).await {
            Err(error) if error.is_absence() => Ok(()),
            // Our cache is behind; the event that brings it up to date wakes the Runnable again.
            Err(error) if error.is_conflict() => Ok(()),
            other => other.map(drop),
        }
    }
}

/// Returns the id of the inputs that an object carries.
fn inputs_id(object: &Value) -> Option<String> {
    let inputs_id = object["metadata"]["annotations"][INPUTS_ANNOTATION].as_str();
    inputs_id.map(str::to_owned)
}
