//! Is the process alive, and are its parts up?

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use parking_lot::RwLock;
use serde::Serialize;
use tokio::sync::watch;
use utoipa::ToSchema;

use crate::Doors;

/// Names a part that must be up before Pathline can do its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Part {
    /// The memory is open, and what is recorded reaches its disk.
    Ledger,
    /// The store is open and can be written to, and the Kubernetes API answers.
    Cluster,
    /// The kinds Pathline works with are installed.
    Crds,
    /// The loops that reconcile owners run, and the workers are prepared.
    Engine,
}

impl Part {
    const ALL: [Self; 4] = [Self::Ledger, Self::Cluster, Self::Crds, Self::Engine];
}

/// Remembers which parts are up; a cheap handle, all clones see the same.
#[derive(Clone, Debug, Default)]
pub struct Readiness {
    parts: Arc<RwLock<Parts>>,
}

#[derive(Debug, Default)]
struct Parts {
    ready: BTreeSet<Part>,
    /// The parts that report their own state.
    working: BTreeMap<Part, watch::Receiver<bool>>,
}

impl Parts {
    fn is_ready(&self, part: Part) -> bool {
        let working = self.working.get(&part);
        self.ready.contains(&part) && working.is_none_or(|working| *working.borrow())
    }
}

impl Readiness {
    /// Records that the part is up.
    pub fn mark_ready(&self, part: Part) {
        self.parts.write().ready.insert(part);
    }

    /// Follows whether a part can work: while it can't it is not ready, although it is up.
    pub fn follow(&self, part: Part, working: watch::Receiver<bool>) {
        self.parts.write().working.insert(part, working);
    }

    /// Records that the part is down, be it for good or while it stops.
    pub fn mark_down(&self, part: Part) {
        self.parts.write().ready.remove(&part);
    }

    /// Returns the parts that are not ready, in the order in which they start.
    pub fn missing(&self) -> Vec<Part> {
        let parts = self.parts.read();
        let missing = Part::ALL.into_iter().filter(|part| !parts.is_ready(*part));
        missing.collect()
    }
}

/// The body of `/readyz`.
#[derive(Serialize, ToSchema)]
#[schema(as = Readiness)]
pub(crate) struct Report {
    /// Whether all parts are up.
    ready: bool,
    /// Those that are not, in the order in which they start.
    not_ready: Vec<Part>,
}

/// Say whether the process is alive
#[utoipa::path(
    get, path = "/healthz", tag = "health",
    responses((status = 200, description = "It is alive", body = String, content_type = "text/plain", example = json!("ok\n")))
)]
pub(crate) async fn healthz() -> &'static str {
    "ok\n"
}

/// Say whether all parts are up
///
/// Ready means that the cluster, the ledger and the engine do their work. A cluster or ledger whose
/// disk takes no writes is not ready until it does again, which is found out by itself.
#[utoipa::path(
    get, path = "/readyz", tag = "health",
    responses(
        (status = 200, description = "All parts are up", body = Report, example = json!({"ready": true, "not_ready": []})),
        (status = 503, description = "Some are not", body = Report, example = json!({"ready": false, "not_ready": ["engine"]}))
    )
)]
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
