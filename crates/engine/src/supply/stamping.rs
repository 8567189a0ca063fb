//! Writing and removing stamped objects.

use kube::api::{DeleteParams, DynamicObject, Patch, PatchParams, Preconditions};
use kube::core::{GroupVersionKind, TypeMeta};
use kube::{Api, Client, ResourceExt};
use pathline_blueprint::owner::Owner;
use pathline_kinds::carto::StampedReference;
use pathline_observe::{StampedObject, Write, inputs_before};
use serde_json::Value;

use crate::FIELD_MANAGER;
use crate::runtime::calls::{self, call};
use crate::runtime::watches::{WatchLabel, WatchedKind, Watches};

/// The number of times that an object is read anew because somebody else wrote to it in between.
const READS: usize = 5;

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
    #[error(
        "the object is controlled by {other}, not by {owner}; give it another name in the template"
    )]
    Controlled { other: String, owner: String },
    /// The cluster refused the object.
    #[error("{}", .0.message())]
    Refused(calls::Error),
    /// The answer of the cluster is no object.
    #[error("the answer of the cluster cannot be read: {0}")]
    Unreadable(serde_json::Error),
}

impl Error {
    /// Tells whether the account may not write the object.
    pub(crate) fn is_forbidden(&self) -> bool {
        matches!(self, Self::Refused(error) if error.is_forbidden())
    }

    /// Tells whether the object can't be taken as it is, whoever writes it.
    pub(crate) fn is_invalid(&self) -> bool {
        match self {
            Self::ClusterScoped(_) => true,
            Self::Refused(error) => error.is_invalid(),
            Self::Kind { .. } | Self::Controlled { .. } | Self::Unreadable(_) => false,
        }
    }

    /// Tells whether the cluster does not take the token of the account any more.
    pub(crate) fn is_unauthenticated(&self) -> bool {
        matches!(self, Self::Refused(error) if error.is_unauthenticated())
    }
}

/// Applies a rendered object unless the cluster holds it already.
///
/// It is written to the very state that was read: only then is it known whether the answer's
/// generation is of this apply, or was there before and somebody else's.
pub(crate) async fn apply(
    client: &Client,
    watches: &Watches,
    owner: &Owner,
    rendered: &Value,
) -> Result<StampedObject, Error> {
    let kind = kind_of(watches, WatchLabel::Resource, rendered).await?;
    let name = text(rendered, "/metadata/name");
    let api = api(client, &kind, &owner.namespace);
    let mut live = watches.live(&kind, &owner.namespace, name).await;
    let mut reads = 0;
    loop {
        let known = live.map_err(Error::Refused)?;
        match apply_to(&api, &kind, owner, rendered, known).await {
            Err(Error::Refused(error)) if error.is_outdated() && reads < READS => {
                reads += 1;
                live = watches.read(&kind, &owner.namespace, name).await;
            }
            other => return other,
        }
    }
}

/// Applies a rendered object to the state that was read, or makes it if there was none.
async fn apply_to(
    api: &Api<DynamicObject>,
    kind: &WatchedKind,
    owner: &Owner,
    rendered: &Value,
    live: Option<Value>,
) -> Result<StampedObject, Error> {
    let name = text(rendered, "/metadata/name");
    let reference = refer(kind, &owner.namespace, rendered, name);
    let other = live
        .as_ref()
        .and_then(|live| other_controller(live, &owner.uid));
    if let Some(other) = other {
        return Err(Error::Controlled {
            other,
            owner: format!("{} [{}]", owner.kind.name(), owner.name),
        });
    }
    let steady_since = live.as_ref().and_then(|live| kind.steady_since(live));
    let before = match live {
        Some(live) if kind.holds(rendered, &live) => {
            return Ok(StampedObject {
                reference,
                object: live,
                before: None,
                write: Write::Nothing,
                steady_since,
            });
        }
        other => other,
    };
    let noted = before.as_ref();
    let noted = noted.and_then(|before| inputs_before::note(rendered, before));
    let mut patch = noted.unwrap_or_else(|| rendered.clone());
    if let Some(before) = &before {
        patch["metadata"]["resourceVersion"] = before["metadata"]["resourceVersion"].clone();
    }
    let (written, taken) = apply_or_take(api, name, &patch)
        .await
        .map_err(Error::Refused)?;
    let object = serde_json::to_value(&written).map_err(Error::Unreadable)?;
    kind.learn(rendered, &object);
    kind.wrote(written);
    Ok(StampedObject {
        reference,
        object,
        write: match taken {
            taken if taken.is_empty() && before.is_none() => Write::Created,
            taken => Write::Patched { taken },
        },
        before,
        steady_since,
    })
}

/// Returns the kind of a rendered object, which must live in namespaces.
pub(crate) async fn kind_of(
    watches: &Watches,
    label: WatchLabel,
    rendered: &Value,
) -> Result<WatchedKind, Error> {
    let (kind_name, version) = (text(rendered, "/kind"), text(rendered, "/apiVersion"));
    let found = watches
        .kind(&gvk(kind_name, version), label)
        .await
        .map_err(|error| Error::Kind {
            kind: kind_name.to_owned(),
            version: version.to_owned(),
            reason: error.message(),
        })?;
    if found.is_namespaced {
        Ok(found)
    } else {
        Err(Error::ClusterScoped(kind_name.to_owned()))
    }
}

/// Applies an object; what others have set is taken from them, and returned in words.
///
/// Nothing is forced at first, because only a refusal tells whose fields are in the way.
async fn apply_or_take(
    api: &Api<DynamicObject>,
    name: &str,
    rendered: &Value,
) -> Result<(DynamicObject, Vec<String>), calls::Error> {
    let params = PatchParams::apply(FIELD_MANAGER);
    let patch = Patch::Apply(rendered);
    let error = match call(api.patch(name, &params, &patch)).await {
        Ok(written) => return Ok((written, Vec::new())),
        Err(error) => error,
    };
    let taken = error.contested_fields();
    if taken.is_empty() {
        return Err(error);
    }
    let written = call(api.patch(name, &params.force(), &patch)).await?;
    Ok((written, taken))
}

/// Removes an object that its owner no longer stamps. What is gone already is gone.
pub(crate) async fn remove(
    client: &Client,
    kind: &WatchedKind,
    object: &DynamicObject,
) -> Result<(), calls::Error> {
    let same_object = Preconditions {
        uid: object.uid(),
        resource_version: None,
    };
    let params = DeleteParams::background().preconditions(same_object);
    let api = api(client, kind, &object.namespace().unwrap_or_default());
    match call(api.delete(&object.name_any(), &params)).await {
        Err(error) if error.is_absence() => Ok(()),
        other => other.map(drop),
    }
}

/// Starts to watch the kind of an object that was stamped once.
pub(crate) async fn watch_kind_of(watches: &Watches, reference: &StampedReference) {
    let field = |field: &Option<String>| field.clone().unwrap_or_default();
    let gvk = gvk(&field(&reference.kind), &field(&reference.api_version));
    if let Err(error) = watches.kind(&gvk, WatchLabel::Resource).await {
        tracing::debug!(
            kind = gvk.kind,
            error = error.message(),
            "a kind is not watched"
        );
    }
}

/// Returns how status refers to an object.
pub(crate) fn refer(
    kind: &WatchedKind,
    namespace: &str,
    rendered: &Value,
    name: &str,
) -> StampedReference {
    StampedReference {
        api_version: Some(text(rendered, "/apiVersion").to_owned()),
        kind: Some(text(rendered, "/kind").to_owned()),
        namespace: Some(namespace.to_owned()),
        name: Some(name.to_owned()),
        resource: Some(kind.resource_name()),
        ..StampedReference::default()
    }
}

fn api(client: &Client, kind: &WatchedKind, namespace: &str) -> Api<DynamicObject> {
    Api::namespaced_with(client.clone(), namespace, &kind.resource)
}

/// Returns who controls an object, if it is not the owner of this uid.
pub(crate) fn other_controller(live: &Value, owner_uid: &str) -> Option<String> {
    let references = live.pointer("/metadata/ownerReferences")?.as_array()?;
    let controller = references
        .iter()
        .find(|reference| reference["controller"] == true)?;
    let is_other = controller["uid"] != owner_uid;
    is_other.then(|| {
        format!(
            "{} [{}]",
            text(controller, "/kind"),
            text(controller, "/name")
        )
    })
}

/// Returns the type of an object from how it spells it.
pub(crate) fn gvk(kind: &str, api_version: &str) -> GroupVersionKind {
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
