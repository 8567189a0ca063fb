//! What an owner stamped once and stamps no more.
//!
//! It is found by what the objects themselves say, through the watches: what was written by a Pathline
//! that was killed before it could report is found too.

use std::collections::BTreeSet;

use kube::api::DynamicObject;
use kube::{Client, ResourceExt};
use pathline_blueprint::stamp::{LIFECYCLE_LABEL, RESOURCE_NAME_LABEL, TEMPLATE_ANNOTATION};

use pathline_lineage::Retiring;
use pathline_lineage::rollout::ObjectName;

use super::news;
use super::resource::Hold;
use crate::calls;
use crate::events::News;
use crate::stamped;
use crate::watches::{Kind, Mark, Watches};

/// An object of an owner that nothing holds.
pub(super) struct Leftover {
    /// The resource that stamped it.
    pub(super) resource: String,
    /// Whether it is being deleted already.
    is_leaving: bool,
    kind: Kind,
    object: DynamicObject,
}

/// What came of removing objects.
#[derive(Default)]
pub(super) struct Removal {
    pub(super) news: Vec<News>,
    /// The resources whose object could not be removed, and why.
    pub(super) failed: Vec<(String, calls::Error)>,
}

/// The objects of an owner.
#[derive(Default)]
pub(super) struct Found {
    /// Those that no resource holds.
    pub(super) leftovers: Vec<Leftover>,
    /// The resources of which some object is there.
    pub(super) there: BTreeSet<String>,
    /// The uids of those that a resource holds.
    pub(super) held: BTreeSet<String>,
}

/// Returns every object that the owner of this uid controls.
pub(super) async fn find(watches: &Watches, uid: &str, hold: impl Fn(&str) -> Hold) -> Found {
    let mut found = Found::default();
    for kind in watches.kinds(Mark::Resource) {
        for object in kind.controlled_by(uid).await {
            let resource = object.labels().get(RESOURCE_NAME_LABEL).cloned();
            let resource = resource.unwrap_or_default();
            found.there.insert(resource.clone());
            if holds(&hold(&resource), &kind, &object) {
                found.held.extend(object.uid());
            } else {
                found.leftovers.push(Leftover {
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
pub(super) async fn remove(client: &Client, leftovers: Vec<Leftover>) -> Removal {
    let mut removal = Removal::default();
    for leftover in leftovers.into_iter().filter(|it| !it.is_leaving) {
        let name = leftover.spell();
        match stamped::remove(client, &leftover.kind, &leftover.object).await {
            Ok(()) => removal.news.push(news::of_removal(&name)),
            Err(error) => {
                let why = error.message();
                removal.news.push(news::of_failed_removal(&name, &why));
                removal.failed.push((leftover.resource, error));
            }
        }
    }
    removal
}

impl Leftover {
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

    /// Returns the template that stamped it, as `Kind/name`, if it says.
    pub(super) fn template(&self) -> Option<&str> {
        let annotations = self.object.annotations();
        annotations.get(TEMPLATE_ANNOTATION).map(String::as_str)
    }
}

fn holds(hold: &Hold, kind: &Kind, object: &DynamicObject) -> bool {
    match hold {
        Hold::Nothing => false,
        Hold::Everything => true,
        Hold::Runs(_) => is_run_of(hold, object),
        // One object may be watched in several versions.
        Hold::One(reference) => {
            reference.resource.as_deref() == Some(&kind.resource_name())
                && reference.namespace == object.namespace()
                && reference.name.as_deref() == Some(&object.name_any())
        }
    }
}

/// Tells whether an object is a run of the template whose runs are held.
pub(super) fn is_run_of(hold: &Hold, object: &DynamicObject) -> bool {
    let Hold::Runs(template) = hold else {
        return false;
    };
    let is_run = object.labels().get(LIFECYCLE_LABEL).map(String::as_str) != Some("mutable");
    is_run && object.annotations().get(TEMPLATE_ANNOTATION) == Some(template)
}
