//! Metrics of the engine.

mod calls;

use std::time::Duration;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::{Registry, Unit};

use crate::runtime::queues::OwnedKind;

/// The metrics of an engine; a cheap handle, all clones count into the same numbers.
#[derive(Clone, Debug)]
pub struct Metrics {
    depth: Family<KindLabels, Gauge>,
    reconciles: Family<KindLabels, Histogram, fn() -> Histogram>,
    calls: Family<CallLabels, Counter>,
    ledger_failures: Counter,
}

impl Default for Metrics {
    fn default() -> Self {
        Self {
            depth: Family::default(),
            reconciles: Family::new_with_constructor(reconcile_buckets),
            calls: Family::default(),
            ledger_failures: Counter::default(),
        }
    }
}

impl Metrics {
    /// Adds the metrics to a registry, whose prefix they get.
    pub fn register(&self, registry: &mut Registry) {
        registry.register(
            "queue_depth",
            "Objects that wait to be looked at",
            self.depth.clone(),
        );
        registry.register_with_unit(
            "reconcile_duration",
            "Time of one look at an object",
            Unit::Seconds,
            self.reconciles.clone(),
        );
        registry.register(
            "api_calls",
            "Requests to the cluster, by verb and resource",
            self.calls.clone(),
        );
        registry.register(
            "ledger_failures",
            "Looks whose findings the ledger did not take; they are kept and tried again",
            self.ledger_failures.clone(),
        );
    }

    /// Counts a reconcile whose findings the ledger did not take.
    pub(crate) fn ledger_failed(&self) {
        self.ledger_failures.inc();
    }

    /// Returns the metrics of one queue.
    pub(crate) fn queue(&self, kind: OwnedKind) -> QueueMetrics {
        let labels = KindLabels { kind: kind.name() };
        QueueMetrics {
            depth: self.depth.get_or_create_owned(&labels),
            reconciles: self.reconciles.get_or_create_owned(&labels),
        }
    }
}

/// The metrics of one queue.
#[derive(Clone)]
pub(crate) struct QueueMetrics {
    depth: Gauge,
    reconciles: Histogram,
}

impl QueueMetrics {
    pub(crate) fn waiting(&self, count: usize) {
        self.depth.set(i64::try_from(count).unwrap_or(i64::MAX));
    }

    pub(crate) fn reconciled(&self, took: Duration) {
        self.reconciles.observe(took.as_secs_f64());
    }
}

/// From half a millisecond, a reconcile that changes nothing, to half a minute, the longest call.
fn reconcile_buckets() -> Histogram {
    Histogram::new(exponential_buckets(0.0005, 2.0, 17))
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct KindLabels {
    kind: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct CallLabels {
    verb: &'static str,
    resource: String,
}
