//! Is the process alive, and are its parts up?

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use parking_lot::RwLock;
use serde::Serialize;

use crate::Doors;

/// Names a part that must be up before Pathline can do its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Part {
    /// The store is open and the Kubernetes API answers.
    Cluster,
    /// The kinds Pathline works with are installed.
    Crds,
    /// The loops that reconcile owners run.
    Engine,
}

impl Part {
    const ALL: [Self; 3] = [Self::Cluster, Self::Crds, Self::Engine];
}

/// Remembers which parts are up; a cheap handle, all clones see the same.
#[derive(Clone, Debug, Default)]
pub struct Readiness {
    ready: Arc<RwLock<BTreeSet<Part>>>,
}

impl Readiness {
    /// Records that the part is up.
    pub fn mark_ready(&self, part: Part) {
        self.ready.write().insert(part);
    }

    /// Records that the part is down, be it for good or while it stops.
    pub fn mark_down(&self, part: Part) {
        self.ready.write().remove(&part);
    }

    /// Returns the parts that are not up, in the order in which they start.
    pub fn missing(&self) -> Vec<Part> {
        let ready = self.ready.read();
        Part::ALL
            .into_iter()
            .filter(|part| !ready.contains(part))
            .collect()
    }
}

/// The body of `/readyz`.
#[derive(Serialize)]
pub(crate) struct Report {
    ready: bool,
    not_ready: Vec<Part>,
}

pub(crate) async fn healthz() -> &'static str {
    "ok\n"
}

pub(crate) async fn readyz(State(doors): State<Doors>) -> (StatusCode, Json<Report>) {
    let not_ready = doors.readiness().missing();
    let ready = not_ready.is_empty();
    let status = if ready {
        StatusCode::OK
    } else {
        StatusCode::SERVICE_UNAVAILABLE
    };
    (status, Json(Report { ready, not_ready }))
}
