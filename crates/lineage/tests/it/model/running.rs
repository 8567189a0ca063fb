//! Processes at the end of the path, one below each final object, and a delivery that follows them. They change
//! while Pathline is not watching.

use pathline_lineage::rollout::{DeliveredBy, ObjectName};
use pathline_lineage::used::Used;
use pathline_lineage::wait::confirmation::{ConfirmedDelivery, DeliveryVersion};
use pathline_lineage::{Rollout, Stage};
use pathline_testkit::Dice;
use serde_json::{Value, json};

use crate::story::{Story, source};

const TEMPLATE: &str = "ClusterDeploymentTemplate/run";

/// The process of a final object, and what Pathline has observed of it: never that it has ended.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Running {
    /// The processes have ended, and are not started yet.
    has_ended: bool,
    delivery: Delivery,
    /// The delivery as the rollout was judged by it.
    observed: Delivery,
}

/// A delivery, by how often each part of it has changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Delivery {
    generation: i64,
    labels: u64,
    template: i64,
    source: u64,
}

impl Running {
    /// Something may end, start, change or be looked at.
    pub(super) fn change(&mut self, dice: &mut Dice) {
        let Self {
            has_ended,
            delivery,
            observed,
        } = self;
        match dice.below(100) {
            0..6 => *has_ended = !*has_ended,
            6..8 => delivery.generation += 1,
            8..10 => delivery.labels += 1,
            10..12 => delivery.template += 1,
            12..14 => delivery.source += 1,
            14..34 => *observed = *delivery,
            _ => {}
        }
    }

    /// Everything runs, and was looked at.
    pub(super) fn settle(&mut self) {
        self.has_ended = false;
        self.observed = self.delivery;
    }

    /// Says what has happened that Pathline was not shown.
    pub(super) fn unseen_change(&self) -> Option<String> {
        let ended = self.has_ended.then(|| "does not run".to_owned());
        let is_seen = self.observed == self.delivery;
        ended.or_else(|| (!is_seen).then(|| format!("is delivered otherwise: {self:?}")))
    }

    /// Returns the rollout of an object, as far as Pathline knows.
    pub(super) fn rollout(&self, uid: &str, generation: Option<i64>) -> Rollout {
        let object = ObjectName {
            kind: "Process".into(),
            name: uid.into(),
            ..ObjectName::default()
        };
        Rollout {
            uid: uid.into(),
            generation,
            stage: Stage::Done,
            object,
            deliveries: vec![self.observed.delivered_by()],
            ..Rollout::default()
        }
    }

    /// Reads a process, whose name is its uid.
    pub(super) fn process(&self, uid: &str) -> Value {
        let ready = if self.has_ended { "False" } else { "True" };
        json!({
            "apiVersion": "pathline.dev/v1alpha1", "kind": "Process",
            "metadata": {"name": uid, "uid": uid, "generation": 1},
            "status": {
                "observedGeneration": 1, "running": {"generation": 1},
                "conditions": [{"type": "Ready", "status": ready, "observedGeneration": 1}],
            },
        })
    }

    /// Reads the delivery, and what it uses and runs; tells whether something differs.
    pub(super) fn delivery_differs(&self, confirmed: &ConfirmedDelivery<'_>) -> bool {
        let now = self.delivery;
        let version = DeliveryVersion {
            generation: now.generation,
            metadata_digest: &now.digest(),
        };
        // It has been reconciled since, and runs what it is at.
        let lineage = Story::running_at(&now.revision()).lineage;
        let confirmation = confirmed.confirmation(Some(&lineage));
        let mut used = confirmation.used.iter();
        confirmed.difference(Some(version)).is_some()
            || used.any(|it| it.difference(Some(now.template)).is_some())
            || confirmed.difference_of_source(&lineage).is_some()
    }
}

impl Delivery {
    fn delivered_by(self) -> DeliveredBy {
        DeliveredBy {
            namespace: "prod".into(),
            name: "app".into(),
            generation: self.generation,
            metadata_digest: self.digest(),
            used: Used::from([(TEMPLATE.to_owned(), self.template)]),
            revision: Some(source(&self.revision()).shown().to_owned()),
        }
    }

    fn digest(self) -> String {
        format!("labels {}", self.labels)
    }

    fn revision(self) -> String {
        format!("{:07x}", self.source)
    }
}
