//! From an object up its controllers to what was stamped.

use std::collections::BTreeMap;

use k8s_openapi::api::apps::v1::ControllerRevision;
use kube::api::{Api, ApiResource, DynamicObject, GroupVersionKind, TypeMeta};
use kube::{Client, ResourceExt};
use pathline_blueprint::owner::OwnerKind;
use pathline_blueprint::stamp::{INPUTS_ANNOTATION, RESOURCE_NAME_LABEL};
use pathline_client::api::{ObjectName, OwnerRef};
use pathline_kinds::carto::API_VERSION;
use pathline_lineage::InputsId;
use pathline_lineage::rollout::{self, OwnerReference, Step};
use pathline_lineage::running::{Level, Sight};
use serde_json::Value;

use super::kinds;
use crate::error::ApiError;
use crate::views::owners::CLUSTER_TIMEOUT;

/// An object, what controls it, and whose all of it is.
pub(super) struct ControllerChain {
    pub(super) owner: OwnerRef,
    /// From the object that was asked about up to the one that was stamped, in the order in which
    /// they were read.
    objects: Vec<DynamicObject>,
    /// The revision of the stamped object that the pod was made from which was asked about.
    revision: Option<DynamicObject>,
}

/// An object on the way that was read.
struct ReadObject {
    step: Step<OwnerRef>,
    object: DynamicObject,
}

/// Follows the controllers of an object up to what was stamped for an owner.
pub(super) async fn climb(
    client: &Client,
    namespace: &str,
    resource: &ApiResource,
    name: &str,
) -> Result<ControllerChain, ApiError> {
    let asked = read(client, namespace, resource, name).await?;
    let asked = asked.ok_or_else(|| {
        let kind = &resource.kind;
        ApiError::not_found(format!(
            "there is no {kind} `{name}` in namespace `{namespace}`"
        ))
        .with_hint("check its kind, its name and its namespace")
    })?;
    let first = asked.uid().unwrap_or_default();
    let mut known = BTreeMap::from([(first.clone(), ReadObject::new(asked, namespace))]);
    loop {
        let step = |uid: &str| known.get(uid).map_or(Step::End, |it| it.step.clone());
        let (way, owner) = rollout::climb(&first, step);
        if let Some(owner) = owner {
            let objects = way.iter().filter_map(|uid| known.remove(uid));
            let objects: Vec<_> = objects.map(|it| it.object).collect();
            let revision = read_revision(client, namespace, &objects).await?;
            return Ok(ControllerChain {
                owner,
                objects,
                revision,
            });
        }
        let unread = way.iter().rev().find(|uid| !known.contains_key(*uid));
        let reference = unread.and_then(|uid| known.values().find_map(|it| it.leads_to(uid)));
        let Some(reference) = reference.cloned() else {
            return Err(not_stamped(&known, &way));
        };
        let above = read_reference(client, namespace, &reference).await?;
        known.insert(reference.uid, ReadObject::new(above, namespace));
    }
}

/// Asks the cluster for something that may not be there, or may not be read.
pub(crate) async fn ask<T>(
    what: &str,
    asked: impl Future<Output = kube::Result<T>>,
) -> Result<Option<T>, ApiError> {
    let answered = tokio::time::timeout(CLUSTER_TIMEOUT, asked).await;
    let answered = answered.map_err(|_| ApiError::unavailable("the cluster does not answer"))?;
    match answered {
        Ok(answered) => Ok(Some(answered)),
        Err(kube::Error::Discovery(_)) => Ok(None),
        Err(kube::Error::Api(status)) if status.code == 404 => Ok(None),
        Err(kube::Error::Api(status)) if status.code == 403 => {
            Err(ApiError::cluster_forbidden(what))
        }
        Err(error) => Err(error.into()),
    }
}

async fn read(
    client: &Client,
    namespace: &str,
    resource: &ApiResource,
    name: &str,
) -> Result<Option<DynamicObject>, ApiError> {
    let api = Api::<DynamicObject>::namespaced_with(client.clone(), namespace, resource);
    let what = format!("{} in namespace `{namespace}`", resource.plural);
    let mut object = ask(&what, api.get(name)).await?;
    if let Some(object) = &mut object {
        object.types = Some(TypeMeta {
            api_version: resource.api_version.clone(),
            kind: resource.kind.clone(),
        });
    }
    Ok(object)
}

async fn read_reference(
    client: &Client,
    namespace: &str,
    reference: &OwnerReference,
) -> Result<DynamicObject, ApiError> {
    let OwnerReference {
        api_version,
        kind,
        name,
        uid,
    } = reference;
    let types = TypeMeta {
        api_version: api_version.clone(),
        kind: kind.clone(),
    };
    let resource = match GroupVersionKind::try_from(&types) {
        Ok(gvk) => kinds::resolve(client, &gvk).await?,
        Err(_) => None,
    };
    let object = match resource {
        Some(resource) => read(client, namespace, &resource, name).await?,
        None => None,
    };
    let object = object.filter(|it| it.uid().as_ref() == Some(uid));
    object.ok_or_else(|| {
        let message = format!("{kind} `{name}`, which controls it, is no longer there");
        ApiError::not_found(message)
            .with_hint("what has lost its controller is removed in a moment")
    })
}

/// Reads the revision that a pod was made from, if a stamped object with revisions controls it.
async fn read_revision(
    client: &Client,
    namespace: &str,
    objects: &[DynamicObject],
) -> Result<Option<DynamicObject>, ApiError> {
    let [pod, stamped] = objects else {
        return Ok(None);
    };
    let above = name_of(stamped);
    let name = rollout::revision_name(&above.kind, &above.name, &value_of(pod));
    let Some(name) = name else {
        return Ok(None);
    };
    let resource = ApiResource::erase::<ControllerRevision>(&());
    let revision = read(client, namespace, &resource, &name).await?;
    Ok(revision.filter(|it| {
        let mut controllers = it.owner_references().iter();
        controllers.any(|it| Some(&it.uid) == stamped.metadata.uid.as_ref())
    }))
}

/// Says that nothing was stamped, and where the search has ended.
fn not_stamped(known: &BTreeMap<String, ReadObject>, way: &[String]) -> ApiError {
    let top = way.iter().rev().find_map(|uid| known.get(uid));
    let top = top.map(|it| name_of(&it.object));
    let top = top.map_or_else(String::new, |it| {
        format!(": nobody controls {}/{}", it.kind, it.name)
    });
    let message = format!("it was stamped for no workload and no deliverable{top}");
    ApiError::not_found(message).with_hint(
        "only what a supply chain or delivery of Pathline made is known; for what others applied \
         from a repository, ask for its commit: `pathline lineage --contains source=REV`",
    )
}

impl ReadObject {
    fn new(object: DynamicObject, namespace: &str) -> Self {
        let mut references = object.owner_references().iter();
        let controller = references.find(|it| it.controller == Some(true));
        let step = controller.map_or(Step::End, |it| {
            let ours = OwnerKind::ALL.iter().any(|kind| kind.name() == it.kind);
            if ours && it.api_version == API_VERSION {
                return Step::Stamped(OwnerRef {
                    kind: it.kind.clone(),
                    namespace: namespace.to_owned(),
                    name: it.name.clone(),
                    uid: it.uid.clone(),
                });
            }
            Step::ControlledBy(OwnerReference {
                api_version: it.api_version.clone(),
                kind: it.kind.clone(),
                name: it.name.clone(),
                uid: it.uid.clone(),
            })
        });
        Self { step, object }
    }

    fn leads_to(&self, uid: &str) -> Option<&OwnerReference> {
        match &self.step {
            Step::ControlledBy(reference) if reference.uid == uid => Some(reference),
            _ => None,
        }
    }
}

impl ControllerChain {
    /// Returns what lineage wants to know of the object.
    pub(super) fn sight(&self) -> Sight {
        let Some((stamped, below)) = self.objects.split_last() else {
            return Sight::default();
        };
        let runs = ["Pod", "Process"].contains(&name_of(stamped).kind.as_str());
        let level = match below.first() {
            None if runs => Level::Runs,
            None => Level::Stamped,
            Some(asked) => {
                let revision = self.revision.as_ref();
                Level::Below {
                    inputs_id: below.iter().chain(revision).find_map(inputs_id),
                    is_newest: revision.is_some_and(|revision| {
                        rollout::is_template_of(&value_of(revision), &value_of(stamped))
                    }),
                    images: images(asked),
                }
            }
        };
        Sight {
            uid: stamped.uid().unwrap_or_default(),
            generation: stamped.metadata.generation,
            inputs_id: inputs_id(stamped),
            level,
        }
    }

    /// Returns the resource that the stamped object says it was stamped for.
    pub(super) fn resource(&self) -> String {
        let stamped = self.objects.last();
        let resource = stamped.and_then(|it| it.labels().get(RESOURCE_NAME_LABEL));
        resource.cloned().unwrap_or_default()
    }

    /// Returns the name of the object, and the names of what controls it.
    pub(super) fn names(&self) -> (ObjectName, Vec<ObjectName>) {
        let mut names = self.objects.iter().map(name_of);
        let asked = names.next().expect("the object itself was read");
        (asked, names.collect())
    }
}

fn name_of(object: &DynamicObject) -> ObjectName {
    let types = object.types.clone().unwrap_or_default();
    ObjectName {
        kind: types.kind,
        api_version: Some(types.api_version),
        namespace: object.namespace(),
        name: object.name_any(),
    }
}

fn value_of(object: &DynamicObject) -> Value {
    serde_json::to_value(object).unwrap_or_default()
}

fn inputs_id(object: &DynamicObject) -> Option<InputsId> {
    let id = object.annotations().get(INPUTS_ANNOTATION)?;
    Some(InputsId::read(id.clone()))
}

/// Returns the images that the containers of a pod name.
fn images(pod: &DynamicObject) -> Vec<String> {
    let spec = &pod.data["spec"];
    let lists = ["containers", "initContainers"].map(|list| spec[list].as_array());
    let containers = lists.into_iter().flatten().flatten();
    let images = containers.filter_map(|it| it["image"].as_str());
    images.map(str::to_owned).collect()
}
