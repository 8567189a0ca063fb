//! Environments to begin with: they are made once for a cluster, so that what somebody removes stays removed.
//!
//! An annotation of a namespace that is always there remembers it. It says so before the first one is made, too: after a
//! crash in between, the rest is made.

use anyhow::Context as _;
use k8s_openapi::api::core::v1::Namespace;
use kube::api::{DynamicObject, ListParams, Patch, PatchParams, PostParams};
use kube::{Api, Client, ResourceExt};
use pathline_engine::FIELD_MANAGER;
use pathline_kinds::environment::Environment;
use pathline_release::environment::NewEnvironment;
use serde_json::json;

use crate::terminal::report::CommandError;

/// The namespace whose uid is the identity of a cluster, and which remembers.
pub(crate) const IDENTITY_NAMESPACE: &str = "kube-system";

/// The annotation.
const ANNOTATION: &str = "pathline.dev/environments";

/// The value of the annotation while they are made.
const MAKING: &str = "making";

/// The value of the annotation once they are made.
const MADE: &str = "made";

/// The state of the Environments that a cluster begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Provisioning {
    /// Nobody has begun to make them.
    Pending,
    /// Somebody has begun, and has not said that it is done.
    Underway,
    /// All were made, once.
    Complete,
}

/// Says whether the namespaces of Environments are made with them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Namespaces {
    /// They are made where they are missing.
    Make,
    /// They are somebody else's.
    Leave,
}

impl Provisioning {
    /// Finds out how far the Environments of a cluster have been made.
    pub(crate) async fn of(client: &Client) -> Result<Self, CommandError> {
        let api: Api<Namespace> = Api::all(client.clone());
        let found = api.get_opt(IDENTITY_NAMESPACE).await.with_context(|| {
            format!("cannot read the namespace `{IDENTITY_NAMESPACE}`, which says whether Environments were made")
        })?;
        let value = found.and_then(|it| it.annotations().get(ANNOTATION).cloned());
        Ok(match value.as_deref() {
            None => Self::Pending,
            Some(MAKING) => Self::Underway,
            Some(_) => Self::Complete,
        })
    }

    /// Tells whether nothing is made any more.
    pub(crate) fn is_complete(self) -> bool {
        self == Self::Complete
    }
}

/// Makes Environments, unless the cluster has, or has had, some. The kind has to be installed.
pub(crate) async fn make(
    client: &Client,
    wanted: &[NewEnvironment],
    namespaces: Namespaces,
) -> Result<(), CommandError> {
    let environments: Api<Environment> = Api::all(client.clone());
    let any = environments.list(&ListParams::default().limit(1)).await;
    let has_any = !any.context("cannot list Environments")?.items.is_empty();
    // Asked after the list: another replica says that it makes them before it makes the first.
    match Provisioning::of(client).await? {
        Provisioning::Complete => return Ok(()),
        Provisioning::Pending if has_any => {
            tracing::info!("the cluster has Environments already, so none are made");
            return remember(client, MADE).await;
        }
        Provisioning::Pending | Provisioning::Underway => {}
    }
    remember(client, MAKING).await?;
    for environment in wanted {
        if namespaces == Namespaces::Make {
            make_namespace(client, &environment.namespace).await?;
        }
        make_one(client, environment).await?;
    }
    remember(client, MADE).await
}

async fn make_one(client: &Client, environment: &NewEnvironment) -> Result<(), CommandError> {
    let name = &environment.name;
    let kind = kube::api::ApiResource::erase::<Environment>(&());
    let api: Api<DynamicObject> = Api::all_with(client.clone(), &kind);
    let object: DynamicObject = serde_json::from_value(environment.object.clone())
        .with_context(|| format!("cannot read the Environment `{name}`"))?;
    match api.create(&written(), &object).await {
        Ok(_) => tracing::info!("made the Environment `{name}`"),
        // Another replica makes the same, or somebody has.
        Err(kube::Error::Api(status)) if status.is_already_exists() => {}
        Err(error) => {
            let failed = anyhow::Error::new(error);
            return Err(failed
                .context(format!("cannot make the Environment `{name}`"))
                .into());
        }
    }
    Ok(())
}

async fn make_namespace(client: &Client, name: &str) -> Result<(), CommandError> {
    let api: Api<Namespace> = Api::all(client.clone());
    let namespace = serde_json::from_value(json!({"metadata": {"name": name}}));
    let namespace: Namespace = namespace.context("a namespace is a namespace")?;
    match api.create(&written(), &namespace).await {
        Ok(_) => Ok(()),
        Err(kube::Error::Api(status)) if status.is_already_exists() => Ok(()),
        Err(error) => {
            let failed = anyhow::Error::new(error);
            Err(failed
                .context(format!("cannot make the namespace `{name}`"))
                .into())
        }
    }
}

/// Puts the annotation on the namespace that is always there.
async fn remember(client: &Client, value: &str) -> Result<(), CommandError> {
    let api: Api<Namespace> = Api::all(client.clone());
    let params = PatchParams {
        field_manager: Some(FIELD_MANAGER.to_owned()),
        ..PatchParams::default()
    };
    let patch = Patch::Merge(json!({"metadata": {"annotations": {ANNOTATION: value}}}));
    api.patch(IDENTITY_NAMESPACE, &params, &patch)
        .await
        .with_context(|| format!("cannot remember in the namespace `{IDENTITY_NAMESPACE}` that Environments were made"))?;
    Ok(())
}

fn written() -> PostParams {
    PostParams {
        field_manager: Some(FIELD_MANAGER.to_owned()),
        ..PostParams::default()
    }
}
