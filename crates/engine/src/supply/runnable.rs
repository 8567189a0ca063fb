//! The reconciler of Runnables: each makes a run for its inputs, and reports what the runs give.

use std::sync::Arc;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::api::{DynamicObject, PostParams};
use kube::{Api, Client, ResourceExt};
use pathline_blueprint::runnable::{self, Failure, RUN_TEMPLATE_LABEL, Runnable};
use pathline_observe::runnable_reading::{RunnableReading, name_inputs};
use serde_json::{Value, json};

use crate::FIELD_MANAGER;
use crate::runtime::calls::{self, call};
use crate::runtime::controller::{Controller, Reconcile};
use crate::runtime::queue::{Key, Next};
use crate::runtime::queues::{OwnedKind, Used};
use crate::runtime::selections::Selection;
use crate::runtime::watches::WatchLabel;
use crate::supply::Context;
use crate::supply::runs::RunSet;

struct RunnableReconciler {
    context: Arc<Context>,
}

/// The result of reconciling one Runnable.
struct RunnableResult {
    reading: RunnableReading,
    /// Whether it must be tried again although nothing changes.
    is_retried: bool,
}

impl RunnableResult {
    fn failed(failure: Failure, is_retried: bool) -> Self {
        Self {
            reading: RunnableReading::failed(failure),
            is_retried,
        }
    }
}

/// Reconciles Runnables until the engine stops; what has been started is finished.
pub(crate) async fn run(context: Arc<Context>) {
    let controller = Controller {
        kind: OwnedKind::Runnable,
        env: context.env.clone(),
    };
    let reconciler = RunnableReconciler {
        context: context.clone(),
    };
    let ready = context.catalogue.filled();
    controller.run(reconciler, ready).await;
}

impl Reconcile for RunnableReconciler {
    async fn reconcile(&self, key: &Key, object: &DynamicObject) -> Next {
        let value = serde_json::to_value(object).unwrap_or_default();
        let runnable = match Runnable::read(value) {
            Ok(runnable) => runnable,
            Err(error) => {
                tracing::warn!(runnable = key.name, %error, "a Runnable cannot be read");
                return Next::Wait;
            }
        };
        let RunnableResult {
            reading,
            is_retried,
        } = self.advance(key, &runnable).await;
        let runs = &self.context.observers.rollouts.runs;
        runs.note(key, object, reading.ran.clone());
        match self.report(object, &runnable, reading).await {
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
        self.context.observers.rollouts.runs.gone(key);
        Next::Wait
    }
}

impl RunnableReconciler {
    async fn advance(&self, key: &Key, runnable: &Runnable) -> RunnableResult {
        let account = runnable.account();
        let template_name = &runnable.spec.run_template_ref.name;
        let selection = runnable.spec.selector.as_ref().map(Selection::from);
        self.note(key, runnable, selection.as_ref());
        let client = match self.context.clients.of_account(&account).await {
            Ok(client) => client,
            Err(error) => {
                return RunnableResult::failed(
                    Failure::Account(error.fault()),
                    error.is_transient(),
                );
            }
        };
        let template = match self.context.catalogue.run_template(template_name) {
            Ok(template) => template,
            Err(reason) => return RunnableResult::failed(Failure::NoTemplate(reason), false),
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
                return RunnableResult::failed(failure, error.is_transient());
            }
        };
        match runnable.render(&template, selected.as_ref()) {
            Ok(rendered) => self.run(runnable, &client, &template, &rendered).await,
            Err(error) => RunnableResult::failed(Failure::Stamp(error), false),
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
        self.context.env.queues.note(OwnedKind::Runnable, key, used);
    }

    async fn run(
        &self,
        runnable: &Runnable,
        client: &Client,
        template: &pathline_kinds::carto::ClusterRunTemplateSpec,
        rendered: &Value,
    ) -> RunnableResult {
        let rule = runnable::rule(rendered);
        let template_name = &runnable.spec.run_template_ref.name;
        let set = RunSet {
            client,
            watches: &self.context.watches,
            clock: &self.context.env.clock,
            label: WatchLabel::Run,
            namespace: &runnable.namespace,
            owner: &format!("Runnable [{}]", runnable.name),
            owner_uid: &runnable.uid,
            is_member: |run: &DynamicObject| {
                run.labels().get(RUN_TEMPLATE_LABEL) == Some(template_name)
            },
            rule: rule.as_ref(),
            retention: runnable.spec.retention_policy,
        };
        let rendered = name_inputs(runnable, rendered);
        let runs = match set.advance(&rendered).await {
            Ok(runs) => runs,
            Err(error) => {
                let name = rendered["metadata"]["name"].as_str().unwrap_or_default();
                let failure = Failure::Rejected {
                    run: name.to_owned(),
                    reason: error.to_string(),
                };
                return RunnableResult::failed(failure, !error.is_forbidden());
            }
        };
        let producing = runs.producing.as_ref();
        RunnableResult {
            reading: RunnableReading::read(runnable, template, &runs.current, producing),
            is_retried: runs.unpruned.is_some(),
        }
    }

    /// Writes the status unless the Runnable reports it already.
    async fn report(
        &self,
        object: &DynamicObject,
        runnable: &Runnable,
        reading: RunnableReading,
    ) -> Result<(), calls::Error> {
        let before = object.data.get("status").cloned().unwrap_or_default();
        let now = Time(self.context.env.clock.now());
        let status = reading.status(runnable, &now);
        let status = json!(status);
        if before == status {
            return Ok(());
        }
        let mut reported = object.clone();
        reported.data["status"] = status;
        let resource = OwnedKind::Runnable.resource();
        let client = self.context.env.client.clone();
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
