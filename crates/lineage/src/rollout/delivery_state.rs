//! The state of a delivery, as far as it makes a difference to those who write to its repository.

use jiff::Timestamp;

use super::{DeliveredBy, Delivery, Files, Stage};
use crate::delivered::Delivered;
use crate::owner_lineage::{Live, OwnerLineage};

/// The state of a delivery: if it is the same, whoever writes to its repository is where it was.
#[derive(Clone, Debug, PartialEq)]
pub struct DeliveryState {
    /// The revision it is at, if it has found one.
    pub revision: Option<String>,
    live: Live,
    failure: Option<String>,
    trouble: Option<String>,
    /// When it found that, so that what is found anew is linked anew.
    since: Option<Timestamp>,
    /// The delivery with the blueprint and the templates that it was reconciled with.
    pub at: DeliveredBy,
}

impl DeliveryState {
    /// Returns the state of the delivery of this name.
    pub fn of(namespace: &str, name: &str, lineage: &OwnerLineage) -> Self {
        let Delivered { source, live } = lineage.delivered();
        let crash = lineage.rollouts.values().find_map(|it| match &it.stage {
            Stage::Failed { reason } => Some(reason.clone()),
            _ => None,
        });
        // What keeps a delivery from having a path at all may be mended a moment later.
        let failure = crash.or_else(|| lineage.failures.values().next().cloned());
        Self {
            revision: source.map(|it| it.shown().to_owned()),
            live,
            failure,
            trouble: trouble(lineage),
            since: lineage.last_made(),
            at: DeliveredBy::of(namespace, name, lineage),
        }
    }

    /// Returns it as a Pathline left it that has ended, and its processes with it: nothing is known of what runs.
    #[must_use]
    pub fn left_behind(self) -> Self {
        Self {
            live: Live::Unknown,
            failure: None,
            trouble: None,
            ..self
        }
    }

    /// Returns the delivery of a commit, of whose files this became at its revision.
    pub fn delivery(self, files: Option<Files>) -> Delivery {
        let DeliveredBy {
            namespace, name, ..
        } = self.at;
        Delivery {
            name: format!("deliverable `{namespace}/{name}`"),
            revision: self.revision,
            files,
            live: self.live,
            failure: self.failure,
            trouble: self.trouble,
        }
    }
}

/// Returns what keeps a delivery, in its own words: the owner itself, a resource that is not healthy, or a rollout.
fn trouble(lineage: &OwnerLineage) -> Option<String> {
    let of = |(resource, said): (&String, &String)| format!("`{resource}`: {said}");
    let trouble = || lineage.troubles.iter().map(of).next();
    let rollout = || {
        lineage
            .rollouts
            .iter()
            .find_map(|(resource, it)| match &it.stage {
                Stage::Progressing { why } if !why.is_empty() => Some(of((resource, why))),
                _ => None,
            })
    };
    lineage.failure.clone().or_else(trouble).or_else(rollout)
}
