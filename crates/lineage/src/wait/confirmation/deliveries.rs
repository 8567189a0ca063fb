//! Deliveries on the other side of git.

use super::{Confirmation, ConfirmedProcess, UsedObject};
use crate::artifact::Artifact;
use crate::owner_lineage::{Live, OwnerLineage};
use crate::rollout::{DeliveredBy, Stage};

/// A delivery of what an owner wrote, as it was when the rollout was judged by it.
#[derive(Clone, Copy, Debug)]
pub struct ConfirmedDelivery<'l> {
    delivery: &'l DeliveredBy,
    /// True if it was found to run.
    is_done: bool,
}

/// A deliverable as it is now.
#[derive(Clone, Copy, Debug)]
pub struct DeliveryVersion<'a> {
    /// Its generation.
    pub generation: i64,
    /// The [digest](crate::owner_lineage::metadata_digest) of its labels and annotations.
    pub metadata_digest: &'a str,
}

impl<'l> ConfirmedDelivery<'l> {
    pub(super) fn all(lineage: &'l OwnerLineage) -> Vec<Self> {
        let deliveries = lineage.rollouts.values().flat_map(|rollout| {
            let is_done = rollout.stage == Stage::Done;
            let deliveries = rollout.deliveries.iter();
            deliveries.map(move |delivery| Self { delivery, is_done })
        });
        deliveries.collect()
    }

    /// Returns the namespace of the deliverable.
    pub fn namespace(&self) -> &'l str {
        &self.delivery.namespace
    }

    /// Returns the name of the deliverable.
    pub fn name(&self) -> &'l str {
        &self.delivery.name
    }

    /// Says that the deliverable itself has been changed or deleted since. If so, nothing else of it is read.
    pub fn difference(&self, now: Option<DeliveryVersion<'_>>) -> Option<String> {
        let Some(now) = now else {
            return Some(format!("{} is gone", self.title()));
        };
        let is_outdated = self
            .delivery
            .is_outdated(now.generation, now.metadata_digest);
        is_outdated.then(|| {
            let title = self.title();
            format!("{title} has been changed, and has not been looked at since")
        })
    }

    /// Returns the objects that are read if the deliverable itself is as it was: the blueprint and the templates that
    /// it was reconciled with and, by its own lineage, the processes that ran for it.
    pub fn confirmation<'d>(&self, lineage: Option<&'d OwnerLineage>) -> Confirmation<'d>
    where
        'l: 'd,
    {
        Confirmation {
            used: UsedObject::all(&self.delivery.used),
            processes: lineage.map(ConfirmedProcess::all).unwrap_or_default(),
            ..Confirmation::default()
        }
    }

    /// Says that the deliverable runs something else by now, by its own lineage: it may have been reconciled since,
    /// and the owner who wrote the commit not yet.
    pub fn difference_of_source(&self, lineage: &OwnerLineage) -> Option<String> {
        let now = lineage.delivered();
        let source = now.source.map(Artifact::shown);
        let revision = self.delivery.revision.as_deref();
        let is_elsewhere = revision.is_some() && revision != source;
        let has_ended = self.is_done && now.live != Live::True;
        (is_elsewhere || has_ended).then(|| format!("{} does not run what it did", self.title()))
    }

    fn title(&self) -> String {
        let DeliveredBy {
            namespace, name, ..
        } = self.delivery;
        format!("deliverable `{namespace}/{name}`")
    }
}
