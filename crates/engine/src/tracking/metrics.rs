//! Metrics of tracking.

use jiff::SignedDuration;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::{Registry, Unit};

/// The metrics of tracking; a cheap handle, all clones count into the same numbers.
#[derive(Clone, Debug)]
pub struct TrackingMetrics {
    polls: Family<PollLabels, Counter>,
    lateness: Histogram,
    releases: Counter,
}

/// The outcome of a question to a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PollOutcome {
    /// Nothing is new.
    Unchanged,
    /// Something is.
    Changed,
    /// It is not there.
    Missing,
    /// The credentials are refused.
    Refused,
    /// The host wants fewer requests.
    Limited,
    /// Anything else.
    Failed,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct PollLabels {
    host: String,
    outcome: &'static str,
}

impl PollOutcome {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Unchanged => "unchanged",
            Self::Changed => "changed",
            Self::Missing => "missing",
            Self::Refused => "refused",
            Self::Limited => "limited",
            Self::Failed => "failed",
        }
    }
}

impl Default for TrackingMetrics {
    fn default() -> Self {
        Self {
            polls: Family::default(),
            // From ten milliseconds to three minutes, longer than an interval.
            lateness: Histogram::new(exponential_buckets(0.01, 2.0, 15)),
            releases: Counter::default(),
        }
    }
}

impl TrackingMetrics {
    /// Adds the metrics to a registry, whose prefix they get.
    pub fn register(&self, registry: &mut Registry) {
        registry.register(
            "polls",
            "Questions to hosts of repositories and to registries, by host and outcome",
            self.polls.clone(),
        );
        registry.register_with_unit(
            "poll_lateness",
            "Time between when a tracker was due and when it was looked at",
            Unit::Seconds,
            self.lateness.clone(),
        );
        registry.register(
            "releases",
            "Releases that were formed",
            self.releases.clone(),
        );
    }

    pub(super) fn began(&self, late: SignedDuration) {
        self.lateness.observe(late.as_secs_f64().max(0.0));
    }

    pub(super) fn asked(&self, host: &str, outcome: PollOutcome) {
        let labels = PollLabels {
            // Directories of this machine have no host.
            host: if host.is_empty() { "file" } else { host }.to_owned(),
            outcome: outcome.as_str(),
        };
        self.polls.get_or_create(&labels).inc();
    }

    pub(super) fn released(&self) {
        self.releases.inc();
    }
}
