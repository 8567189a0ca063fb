//! Orphans: objects that an owner stamped once and stamps no more.
//!
//! It is found by what the objects themselves say, through the watches: what was written by a Pathline
//! that was killed before it could report is found too.

use std::collections::BTreeSet;

use kube::api::DynamicObject;
use kube::{Client, ResourceExt};
use pathline_blueprint::stamp::{RESOURCE_NAME_LABEL, TEMPLATE_ANNOTATION};
use pathline_lineage::Retiring;
use pathline_lineage::rollout::ObjectName;
use pathline_observe::Retain;
use pathline_observe::kube_events::{self, KubeEvent};

use crate::runtime::calls;
use crate::runtime::watches::{WatchLabel, WatchedKind, Watches};
use crate::supply::stamping;

/// An object of an owner that no resource retains.
pub(super) struct Orphan {
    /// The resource that stamped it.
    pub(super) resource: String,
    /// Whether it is being deleted already.
    is_leaving: bool,
    kind: WatchedKind,
    object: DynamicObject,
}

/// The result of removing objects.
#[derive(Default)]
pub(super) struct Removal {
    pub(super) kube_events: Vec<KubeEvent>,
    /// The resources whose object could not be removed, and why.
    pub(super) failed: Vec<(String, calls::Error)>,
}

/// The objects of an owner.
#[derive(Default)]
pub(super) struct Found {
    /// Those that no resource retains.
    pub(super) orphans: Vec<Orphan>,
    /// The resources of which some object is there.
    pub(super) there: BTreeSet<String>,
    /// The uids of those that a resource retains.
    pub(super) retained: BTreeSet<String>,
}

/// Returns every object that the owner of this uid controls.
pub(super) async fn find(watches: &Watches, uid: &str, retain: impl Fn(&str) -> Retain) -> Found {
    let mut found = Found::default();
    for kind in watches.kinds(WatchLabel::Resource) {
        for object in kind.controlled_by(uid).await {
            let resource = object.labels().get(RESOURCE_NAME_LABEL).cloned();
            let resource = resource.unwrap_or_default();
            found.there.insert(resource.clone());
            if retain(&resource).retains(&kind.resource_name(), &object.metadata) {
                found.retained.extend(object.uid());
            } else {
                found.orphans.push(Orphan {
                    resource,
                    is_leaving: object.metadata.deletion_timestamp.is_some(),
                    kind: kind.clone(),
                    object,
                });
            }
        }
    }
    found
}

/// Removes objects; what cannot be removed holds up nothing else.
pub(super) async fn remove(client: &Client, orphans: Vec<Orphan>) -> Removal {
    let mut removal = Removal::default();
    for orphan in orphans.into_iter().filter(|it| !it.is_leaving) {
        let name = orphan.spell();
        match stamping::remove(client, &orphan.kind, &orphan.object).await {
            Ok(()) => removal.kube_events.push(kube_events::of_removal(&name)),
            Err(error) => {
                let why = error.message();
                removal
                    .kube_events
                    .push(kube_events::of_failed_removal(&name, &why));
                removal.failed.push((orphan.resource, error));
            }
        }
    }
    removal
}

impl Orphan {
    /// Returns the object as people know it: `plural.group/name`.
    pub(super) fn spell(&self) -> String {
        format!("{}/{}", self.kind.resource_name(), self.object.name_any())
    }

    /// Returns it as lineage knows what is leaving.
    pub(super) fn retiring(&self) -> Retiring {
        let resource = &self.kind.resource;
        Retiring {
            resource: self.resource.clone(),
            object: ObjectName {
                api_version: resource.api_version.clone(),
                kind: resource.kind.clone(),
                namespace: self.object.namespace().unwrap_or_default(),
                name: self.object.name_any(),
            },
            uid: self.object.uid().unwrap_or_default(),
            ..Retiring::default()
        }
    }

    /// Returns the template that stamped it, as `WatchedKind/name`, if it says.
    pub(super) fn template(&self) -> Option<&str> {
        let annotations = self.object.annotations();
        annotations.get(TEMPLATE_ANNOTATION).map(String::as_str)
    }
}
