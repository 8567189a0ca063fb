//! What happened so far, in the OpenMetrics text format.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::extract::{MatchedPath, Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use parking_lot::RwLock;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::text::encode;
use prometheus_client::encoding::{DescriptorEncoder, EncodeLabelSet, EncodeMetric};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::{Registry, Unit};

use crate::Doors;

const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Holds every metric of the process; a cheap handle, all clones share one registry.
#[derive(Clone)]
pub struct Metrics {
    registry: Arc<RwLock<Registry>>,
    requests: Family<RequestLabels, Counter>,
    durations: Family<RouteLabels, Histogram, fn() -> Histogram>,
}

impl Metrics {
    /// Returns the metrics every Pathline has: its build, its uptime and its requests.
    pub fn new(version: &'static str) -> Self {
        let requests = Family::default();
        let durations = Family::new_with_constructor(request_buckets as fn() -> Histogram);
        let mut registry = Registry::with_prefix("pathline");
        registry.register(
            "build",
            "The build that runs",
            Info::new([("version", version)]),
        );
        registry.register_collector(Box::new(Uptime {
            started: Instant::now(),
        }));
        registry.register("http_requests", "Requests answered", requests.clone());
        registry.register_with_unit(
            "http_request_duration",
            "Time from a request to its answer",
            Unit::Seconds,
            durations.clone(),
        );
        Self {
            registry: Arc::new(RwLock::new(registry)),
            requests,
            durations,
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

    fn record(&self, method: &str, route: &str, status: StatusCode, took: Duration) {
        let route = RouteLabels {
            method: known_method(method),
            route: route.to_owned(),
        };
        self.durations
            .get_or_create(&route)
            .observe(took.as_secs_f64());
        self.requests
            .get_or_create(&RequestLabels {
                route,
                status: status.as_u16(),
            })
            .inc();
    }
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

/// Show metrics
///
/// In the OpenMetrics text format, for Prometheus.
#[utoipa::path(
    get, path = "/metrics", operation_id = "show_metrics", tag = "health",
    responses((
        status = 200, description = "All metrics", body = String,
        content_type = "application/openmetrics-text",
        example = json!("# TYPE pathline_uptime_seconds gauge\npathline_uptime_seconds 61.2\n# EOF\n")
    ))
)]
pub(crate) async fn show(State(doors): State<Doors>) -> Response {
    (
        [(header::CONTENT_TYPE, OPEN_METRICS)],
        doors.metrics().render(),
    )
        .into_response()
}

/// Counts every answer, and how long it took, by route rather than by path: a scanner that tries
/// a million paths adds one time series, not a million.
pub(crate) async fn count_requests(
    State(metrics): State<Metrics>,
    matched: Option<MatchedPath>,
    request: Request,
    next: Next,
) -> Response {
    let method = request.method().clone();
    let started = Instant::now();
    let response = next.run(request).await;
    let route = matched.as_ref().map_or("none", MatchedPath::as_str);
    metrics.record(method.as_str(), route, response.status(), started.elapsed());
    response
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
