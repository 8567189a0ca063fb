//! Writes the objects of a release to an environment.
//!
//! Everything is tried first without being kept (a dry run), so that a refusal leaves nothing half done. The owner is
//! written last, and only to the state that was read before the ledger was asked whether it is still wanted: another
//! leader, which has gone on meanwhile, has either told the ledger or written to the owner, and is not overwritten.

use std::collections::BTreeMap;
use std::time::Duration;

use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::api::{Api, ApiResource, DynamicObject, Patch, PatchParams, PostParams};
use kube::{Client, ResourceExt};
use pathline_blueprint::owner::OwnerKind;
use pathline_blueprint::service_account::Account;
use pathline_release::objects::{Objects, RELEASE, TRACKER, WRITTEN, written};
use serde_json::{Value, json};

use super::deployment::Deployment;
use super::tools::Tools;
use crate::FIELD_MANAGER;
use crate::observe::confirm::owner_resource;
use crate::runtime::calls::{self, call};
use crate::runtime::clients;

/// The pause before a write that met somebody else's is tried again.
pub(super) const CONFLICT_PAUSE: Duration = Duration::from_millis(200);

/// Objects to write, and the account to write them under.
pub(super) struct Write<'a> {
    pub(super) kind: OwnerKind,
    pub(super) namespace: &'a str,
    /// The account, or the engine itself.
    pub(super) account: Option<Account>,
    /// The value of the label with the tracker.
    pub(super) tracker: &'a str,
    pub(super) release: u64,
    pub(super) objects: &'a Objects,
}

/// Says why objects were not written.
#[derive(Debug)]
pub(super) enum NotWritten {
    /// They can't be, as things are; what to do is told.
    Refused(String),
    /// Trying again may help.
    Passing(String),
    /// Somebody else wrote to the owner meanwhile.
    Outdated,
    /// They are not wanted any more.
    Unwanted,
}

impl Write<'_> {
    /// Writes everything, the owner last, if the deployment is still wanted after the owner was read. Returns the owner.
    pub(super) async fn run(
        &self,
        tools: &Tools,
        deployment: &Deployment,
    ) -> Result<DynamicObject, NotWritten> {
        let client = deployment
            .client(tools)
            .await
            .map_err(|error| without_client(&error))?;
        let owners = self.api(&client, &owner_resource(self.kind));
        let name = text(&self.objects.owner, "/metadata/name");
        // Before the ledger is asked: what is written to this state is written by whom the ledger wants.
        let before = call(owners.get_opt(name)).await;
        let before = before.map_err(|error| self.not_written(&error, name))?;
        self.is_ours(before.as_ref(), name)?;
        let is_wanted = deployment.is_wanted(tools).await;
        if !is_wanted.map_err(|error| NotWritten::Passing(error.to_string()))? {
            return Err(NotWritten::Unwanted);
        }
        let parts = self.parts(&client);
        for (api, part) in &parts {
            self.apply(api, part, true).await?;
        }
        let owner = guarded(&self.objects.owner, before.as_ref());
        let tried = self.apply(&owners, &owner, true).await?;
        for (api, part) in &parts {
            self.apply(api, part, false).await?;
        }
        let before = match before {
            Some(before) => before,
            None => self.create(&owners, name).await?,
        };
        let owner = guarded(&self.noted(&tried), Some(&before));
        self.apply(&owners, &owner, false).await
    }

    /// Returns the owner with digests of what it will have: those of what the API server has answered, which may add
    /// defaults.
    fn noted(&self, tried: &DynamicObject) -> Value {
        let mut owner = self.objects.owner.clone();
        let labels = owner["metadata"]["labels"].clone();
        let labels: BTreeMap<String, String> = serde_json::from_value(labels).unwrap_or_default();
        let spec = tried.data.get("spec").unwrap_or(&Value::Null);
        owner["metadata"]["annotations"][WRITTEN] = json!(written(spec, &labels));
        owner
    }

    /// Creates an owner that says nothing yet. An apply makes what is not there and changes what is, whoever made it
    /// meanwhile; this fails instead.
    async fn create(
        &self,
        owners: &Api<DynamicObject>,
        name: &str,
    ) -> Result<DynamicObject, NotWritten> {
        let owner = &self.objects.owner;
        let empty = json!({
            "apiVersion": owner["apiVersion"],
            "kind": owner["kind"],
            "metadata": {"name": name, "labels": {TRACKER: self.tracker}},
            "spec": {},
        });
        let empty = serde_json::from_value(empty).expect("an object has these fields");
        let params = PostParams {
            field_manager: Some(FIELD_MANAGER.to_owned()),
            ..PostParams::default()
        };
        let created = call(owners.create(&params, &empty)).await;
        created.map_err(|error| self.not_written(&error, name))
    }

    /// Returns the objects that the owner names, each with its API.
    fn parts(&self, client: &Client) -> Vec<(Api<DynamicObject>, Value)> {
        let config_maps = self.api(client, &ApiResource::erase::<ConfigMap>(&()));
        let secrets = self.api(client, &ApiResource::erase::<Secret>(&()));
        let noted = |api: &Api<DynamicObject>, mut object: Value| {
            let annotations = &mut object["metadata"]["annotations"];
            annotations[RELEASE] = json!(self.release.to_string());
            (api.clone(), object)
        };
        let of_config_maps = self.objects.config_maps.iter().cloned();
        let of_config_maps = of_config_maps.map(|it| noted(&config_maps, it));
        let of_secrets = self.objects.secrets.iter();
        let of_secrets = of_secrets.filter_map(|it| serde_json::to_value(it).ok());
        let of_secrets = of_secrets.map(|it| noted(&secrets, it));
        of_config_maps.chain(of_secrets).collect()
    }

    fn api(&self, client: &Client, resource: &ApiResource) -> Api<DynamicObject> {
        Api::namespaced_with(client.clone(), self.namespace, resource)
    }

    async fn apply(
        &self,
        api: &Api<DynamicObject>,
        object: &Value,
        is_dry: bool,
    ) -> Result<DynamicObject, NotWritten> {
        let name = text(object, "/metadata/name");
        let mut params = PatchParams::apply(FIELD_MANAGER).force();
        params.dry_run = is_dry;
        let applied = call(api.patch(name, &params, &Patch::Apply(object))).await;
        let kind = text(object, "/kind");
        applied.map_err(|error| self.not_written(&error, &format!("{kind} `{name}`")))
    }

    /// Refuses to take over an owner that somebody else has made.
    fn is_ours(&self, before: Option<&DynamicObject>, name: &str) -> Result<(), NotWritten> {
        let Some(before) = before else {
            return Ok(());
        };
        if before.metadata.deletion_timestamp.is_some() {
            let message = format!("{} `{name}` is being deleted", self.kind.name());
            return Err(NotWritten::Passing(message));
        }
        match before.labels().get(TRACKER).map(String::as_str) {
            Some(tracker) if tracker == self.tracker => Ok(()),
            other => {
                let whose = match other {
                    Some(other) => format!("belongs to tracker `{other}`"),
                    None => "was made by somebody else".to_owned(),
                };
                Err(NotWritten::Refused(format!(
                    "{} `{name}` in namespace `{}` {whose}; remove it, or let it be taken over with the label \
                     {TRACKER}={}",
                    self.kind.name(),
                    self.namespace,
                    self.tracker
                )))
            }
        }
    }

    fn not_written(&self, error: &calls::Error, what: &str) -> NotWritten {
        let message = format!(
            "{what} in namespace `{}`: {}",
            self.namespace,
            error.message()
        );
        if error.is_outdated() || error.is_conflict() {
            return NotWritten::Outdated;
        } else if error.is_forbidden() {
            let who = match &self.account {
                Some(account) => format!("service account {account}"),
                None => "Pathline".to_owned(),
            };
            return NotWritten::Refused(format!(
                "{message}; {who} needs get, create and patch for workloads, deliverables, configmaps and \
                 secrets there"
            ));
        } else if error.is_absence() {
            // It goes on by itself when it is there.
            return NotWritten::Passing(format!(
                "{message}; `kubectl create namespace {}` if there is none, and `pathline crds` has the kinds",
                self.namespace
            ));
        } else if error.is_invalid() {
            return NotWritten::Refused(message);
        }
        NotWritten::Passing(message)
    }
}

/// Says what it means that there is no client of the account.
fn without_client(error: &clients::Error) -> NotWritten {
    match error.is_transient() {
        true => NotWritten::Passing(error.to_string()),
        false => NotWritten::Refused(format!(
            "{error}; create it, or name another one in `owner.serviceAccountName` of the Environment"
        )),
    }
}

/// Returns an owner as it is now, if it is there; `owner` has its name.
pub(super) async fn owner_now(
    client: &Client,
    kind: OwnerKind,
    namespace: &str,
    name: &str,
) -> Result<Option<DynamicObject>, calls::Error> {
    let api: Api<DynamicObject> =
        Api::namespaced_with(client.clone(), namespace, &owner_resource(kind));
    call(api.get_opt(name)).await
}

/// Returns an owner that is written to the state that was read, if there was one.
fn guarded(owner: &Value, before: Option<&DynamicObject>) -> Value {
    let mut owner = owner.clone();
    if let Some(version) = before.and_then(ResourceExt::resource_version) {
        owner["metadata"]["resourceVersion"] = json!(version);
    }
    owner
}

fn text<'v>(value: &'v Value, pointer: &str) -> &'v str {
    let found = value.pointer(pointer).and_then(Value::as_str);
    found.unwrap_or_default()
}
