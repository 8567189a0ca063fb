//! Writing and removing stamped objects.

use kube::api::{DeleteParams, DynamicObject, Patch, PatchParams, Preconditions};
use kube::core::{GroupVersionKind, TypeMeta};
use kube::{Api, Client};
use pathline_blueprint::model::StampedReference;
use pathline_blueprint::owner::Owner;
use pathline_blueprint::stamp;
use serde_json::Value;

use crate::FIELD_MANAGER;
use crate::calls::{self, call};
use crate::watches::{Mark, Watches};

/// A stamped object as it is in the cluster.
pub(crate) struct Stamped {
    pub(crate) reference: StampedReference,
    pub(crate) object: Value,
}

/// Says why the cluster did not take an object.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// The cluster has no such kind, or could not be asked.
    #[error("no matches for kind [{kind}] in version [{version}]: {reason}")]
    Kind {
        kind: String,
        version: String,
        reason: String,
    },
    /// The kind lives outside namespaces, where an owner cannot own.
    #[error("kind [{0}] is cluster-scoped; only namespaced objects can be stamped")]
    ClusterScoped(String),
    /// Somebody else controls the object.
    #[error("the object is controlled by {0}; give it another name in the template")]
    Controlled(String),
    /// The cluster refused the object.
    #[error("{}", .0.message())]
    Refused(calls::Error),
    /// What the cluster answered is no object.
    #[error("the answer of the cluster cannot be read: {0}")]
    Unreadable(serde_json::Error),
}

impl Error {
    /// Tells whether the account may not write the object.
    pub(crate) fn is_forbidden(&self) -> bool {
        matches!(self, Self::Refused(error) if error.is_forbidden())
    }
}

/// Applies a rendered object unless the cluster holds it already.
pub(crate) async fn apply(
    client: &Client,
    watches: &Watches,
    owner: &Owner,
    rendered: &Value,
) -> Result<Stamped, Error> {
    let (kind_name, version) = (text(rendered, "/kind"), text(rendered, "/apiVersion"));
    let kind = watches
        .kind(&gvk(kind_name, version), Mark::Resource)
        .await
        .map_err(|error| Error::Kind {
            kind: kind_name.to_owned(),
            version: version.to_owned(),
            reason: error.message(),
        })?;
    if !kind.is_namespaced {
        return Err(Error::ClusterScoped(kind_name.to_owned()));
    }
    let name = text(rendered, "/metadata/name");
    let reference = StampedReference {
        api_version: Some(version.to_owned()),
        kind: Some(kind_name.to_owned()),
        namespace: Some(owner.namespace.clone()),
        name: Some(name.to_owned()),
        resource: Some(kind.resource_name()),
        ..StampedReference::default()
    };
    let live = kind.live(&owner.namespace, name).await;
    if let Some(other) = live.as_ref().and_then(|live| other_controller(live, owner)) {
        return Err(Error::Controlled(other));
    }
    if let Some(live) = live.filter(|live| stamp::is_applied(rendered, live)) {
        return Ok(Stamped {
            reference,
            object: live,
        });
    }
    let api: Api<DynamicObject> =
        Api::namespaced_with(client.clone(), &owner.namespace, &kind.resource);
    let params = PatchParams::apply(FIELD_MANAGER).force();
    let written = call(api.patch(name, &params, &Patch::Apply(rendered))).await;
    let written = written.map_err(Error::Refused)?;
    kind.wrote(written.clone());
    let object = serde_json::to_value(&written).map_err(Error::Unreadable)?;
    tracing::debug!(
        owner = owner.name,
        object = name,
        kind = kind_name,
        "applied"
    );
    Ok(Stamped { reference, object })
}

/// Removes an object that its owner no longer stamps; what is gone, or owned by others, is left alone.
pub(crate) async fn remove(
    client: &Client,
    watches: &Watches,
    owner: &Owner,
    reference: &StampedReference,
) -> Result<(), calls::Error> {
    let field = |field: &Option<String>| field.clone().unwrap_or_default();
    let (name, namespace) = (field(&reference.name), field(&reference.namespace));
    let gvk = gvk(&field(&reference.kind), &field(&reference.api_version));
    let outcome = async {
        let kind = watches.kind(&gvk, Mark::Resource).await?;
        let api: Api<DynamicObject> =
            Api::namespaced_with(client.clone(), &namespace, &kind.resource);
        let object = call(api.get_metadata(&name)).await?;
        let owners = object.metadata.owner_references.unwrap_or_default();
        if !owners.iter().any(|reference| reference.uid == owner.uid) {
            return Ok(());
        }
        let same_object = Preconditions {
            uid: object.metadata.uid,
            resource_version: None,
        };
        let params = DeleteParams::background().preconditions(same_object);
        call(api.delete(&name, &params)).await.map(drop)
    };
    match outcome.await {
        Err(error) if error.is_absence() => Ok(()),
        other => other,
    }
}

fn other_controller(live: &Value, owner: &Owner) -> Option<String> {
    let references = live.pointer("/metadata/ownerReferences")?.as_array()?;
    let controller = references
        .iter()
        .find(|reference| reference["controller"] == true)?;
    let is_other = controller["uid"] != owner.uid.as_str();
    is_other.then(|| {
        format!(
            "{} [{}]",
            text(controller, "/kind"),
            text(controller, "/name")
        )
    })
}

fn gvk(kind: &str, api_version: &str) -> GroupVersionKind {
    let types = TypeMeta {
        api_version: api_version.to_owned(),
        kind: kind.to_owned(),
    };
    GroupVersionKind::try_from(&types)
        .unwrap_or_else(|_| GroupVersionKind::gvk("", api_version, kind))
}

fn text<'v>(value: &'v Value, pointer: &str) -> &'v str {
    value
        .pointer(pointer)
        .and_then(Value::as_str)
        .unwrap_or_default()
}
