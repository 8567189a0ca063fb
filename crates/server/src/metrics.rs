//! The metrics of the process, in the OpenMetrics text format.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use parking_lot::RwLock;
use pathline_clock::instant;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::text::encode;
use prometheus_client::encoding::{DescriptorEncoder, EncodeLabelSet, EncodeMetric};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::{ConstGauge, Gauge};
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::{Registry, Unit};
use tokio::time::Instant;

/// Holds every metric of the process; a cheap handle, all clones share one registry.
#[derive(Clone)]
pub struct Metrics {
    registry: Arc<RwLock<Registry>>,
    requests: Family<RequestLabels, Counter>,
    durations: Family<RouteLabels, Histogram, fn() -> Histogram>,
    messages: Family<MessageLabels, Counter>,
    queue_ages: Family<EnvironmentLabels, Gauge<f64, AtomicU64>>,
}

impl Metrics {
    /// Returns the metrics every Pathline has: its build, its uptime and its requests.
    pub fn new(version: &'static str) -> Self {
        let requests = Family::default();
        let durations = Family::new_with_constructor(request_buckets as fn() -> Histogram);
        let messages = Family::default();
        let queue_ages = Family::default();
        let mut registry = Registry::with_prefix("pathline");
        registry.register(
            "build",
            "The build that runs",
            Info::new([("version", version)]),
        );
        registry.register_collector(Box::new(Uptime { started: instant() }));
        registry.register("http_requests", "Requests answered", requests.clone());
        registry.register_with_unit(
            "http_request_duration",
            "Time from a request to its answer",
            Unit::Seconds,
            durations.clone(),
        );
        registry.register(
            "ingest_messages",
            "Messages of forges and registries, by what became of them",
            messages.clone(),
        );
        registry.register_with_unit(
            "release_queue_age",
            "Time for which the oldest release has been queued in an environment",
            Unit::Seconds,
            queue_ages.clone(),
        );
        Self {
            registry: Arc::new(RwLock::new(registry)),
            requests,
            durations,
            messages,
            queue_ages,
        }
    }

    /// Lets another part add its metrics; their names get the prefix `pathline_`.
    ///
    /// ```
    /// # use pathline_server::{Metrics, prometheus_client::metrics::counter::Counter};
    /// let reconciles: Counter = Counter::default();
    /// let metrics = Metrics::new("0.1.0");
    /// metrics.register(|registry| {
    ///     registry.register("reconciles", "Owners reconciled", reconciles.clone());
    /// });
    /// reconciles.inc();
    /// assert!(metrics.render().contains("pathline_reconciles_total 1"));
    /// ```
    pub fn register(&self, add: impl FnOnce(&mut Registry)) {
        add(&mut self.registry.write());
    }

    /// Returns all metrics as OpenMetrics text.
    pub fn render(&self) -> String {
        let mut text = String::new();
        encode(&mut text, &self.registry.read()).expect("writing to a string cannot fail");
        text
    }

    /// Sets for how many seconds something has been queued in each environment; where nothing is there is no value.
    pub(crate) fn set_queue_ages(&self, ages: impl IntoIterator<Item = (String, f64)>) {
        self.queue_ages.clear();
        for (environment, seconds) in ages {
            let labels = EnvironmentLabels { environment };
            self.queue_ages.get_or_create(&labels).set(seconds);
        }
    }

    /// Counts a message of a sender.
    pub(crate) fn ingested(&self, sender: &str, outcome: &'static str) {
        let sender = sender.to_owned();
        let labels = MessageLabels { sender, outcome };
        self.messages.get_or_create(&labels).inc();
    }

    /// Counts an answered request, and how long that took.
    pub(crate) fn record(&self, method: &str, route: &str, status: u16, took: Duration) {
        let route = RouteLabels {
            method: known_method(method),
            route: route.to_owned(),
        };
        self.durations
            .get_or_create(&route)
            .observe(took.as_secs_f64());
        self.requests
            .get_or_create(&RequestLabels { route, status })
            .inc();
    }
}

/// The labels of a message. Senders are configured, so there are few of them.
#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct MessageLabels {
    sender: String,
    outcome: &'static str,
}

/// The label of what is told by environment, of which there are few.
#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct EnvironmentLabels {
    environment: String,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct RouteLabels {
    method: &'static str,
    route: String,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct RequestLabels {
    #[prometheus(flatten)]
    route: RouteLabels,
    status: u16,
}

/// Computes the uptime when it is asked for, so that no task has to keep it current.
#[derive(Debug)]
struct Uptime {
    started: Instant,
}

impl Collector for Uptime {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), std::fmt::Error> {
        let uptime = ConstGauge::new(self.started.elapsed().as_secs_f64());
        let metric = encoder.encode_descriptor(
            "uptime",
            "Time since the process started",
            Some(&Unit::Seconds),
            uptime.metric_type(),
        )?;
        uptime.encode(metric)
    }
}

/// Methods are free text on the wire, and every one we kept would be a time series.
fn known_method(method: &str) -> &'static str {
    const KNOWN: [&str; 7] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
    KNOWN
        .into_iter()
        .find(|known| *known == method)
        .unwrap_or("other")
}

/// One millisecond to sixteen seconds.
fn request_buckets() -> Histogram {
    Histogram::new(exponential_buckets(0.001, 2.0, 15))
}
