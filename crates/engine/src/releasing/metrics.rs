//! Metrics of deployments.

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::registry::Registry;

/// The metrics of deployments; a cheap handle, all clones count into the same numbers.
#[derive(Clone, Debug, Default)]
pub struct ReleasingMetrics {
    deployments: Family<Labels, Counter>,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Labels {
    environment: String,
    outcome: &'static str,
}

impl ReleasingMetrics {
    /// Adds the metrics to a registry, whose prefix they get.
    pub fn register(&self, registry: &mut Registry) {
        registry.register(
            "deployments",
            "Deployments of releases that have ended, by environment and outcome",
            self.deployments.clone(),
        );
    }

    pub(super) fn ended(&self, environment: &str, is_ready: bool) {
        let labels = Labels {
            environment: environment.to_owned(),
            outcome: if is_ready { "deployed" } else { "failed" },
        };
        self.deployments.get_or_create(&labels).inc();
    }
}
