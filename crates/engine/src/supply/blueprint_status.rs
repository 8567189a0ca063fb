//! Blueprints report whether they can be used.

use std::time::Duration;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::Api;
use kube::api::{Patch, PatchParams};
use pathline_blueprint::conditions;
use pathline_blueprint::owner::OwnerKind;
use pathline_kinds::carto::{BlueprintStatus, ClusterDelivery, ClusterSupplyChain};
use serde_json::json;

use crate::FIELD_MANAGER;
use crate::runtime::calls::{self, call};
use crate::runtime::env::Env;
use crate::runtime::retry;
use crate::supply::catalogue::{Catalogue, Listed};

/// The pause after the first failure.
const FIRST_DELAY: Duration = Duration::from_millis(200);

/// Keeps the status of all blueprints true, until the engine stops.
pub(crate) async fn report(env: &Env, catalogue: &Catalogue) {
    let work = async {
        catalogue.filled().await;
        let mut changes = catalogue.changes();
        loop {
            changes.mark_unchanged();
            // Each blueprint has said by then why its status was not written.
            retry::until_ok(FIRST_DELAY, || report_all(env, catalogue), |Unwritten| {}).await;
            if changes.changed().await.is_err() {
                return;
            }
        }
    };
    env.stop.run_until_cancelled(work).await;
}

/// The status of some blueprint was not written.
struct Unwritten;

/// Writes every status that differs.
async fn report_all(env: &Env, catalogue: &Catalogue) -> Result<(), Unwritten> {
    let mut result = Ok(());
    for kind in OwnerKind::ALL {
        for listed in catalogue.blueprints(kind) {
            let name = listed.blueprint.name.clone();
            let Err(error) = report_one(env, catalogue, &listed).await else {
                continue;
            };
            if !error.is_absence() {
                tracing::warn!(
                    blueprint = name,
                    error = error.message(),
                    "the status was not written"
                );
                result = Err(Unwritten);
            }
        }
    }
    result
}

async fn report_one(env: &Env, catalogue: &Catalogue, listed: &Listed) -> Result<(), calls::Error> {
    let now = Time(env.clock.now());
    let verdicts = catalogue.judge(listed);
    let status = BlueprintStatus {
        conditions: conditions::with_times(verdicts, &listed.status.conditions, &now),
        observed_generation: listed.generation,
    };
    if status == listed.status {
        return Ok(());
    }
    let name = &listed.blueprint.name;
    let params = PatchParams {
        field_manager: Some(FIELD_MANAGER.to_owned()),
        ..PatchParams::default()
    };
    let patch = Patch::Merge(json!({"status": status}));
    match listed.blueprint.owner_kind {
        OwnerKind::Workload => {
            let api: Api<ClusterSupplyChain> = Api::all(env.client.clone());
            call(api.patch_status(name, &params, &patch))
                .await
                .map(drop)
        }
        OwnerKind::Deliverable => {
            let api: Api<ClusterDelivery> = Api::all(env.client.clone());
            call(api.patch_status(name, &params, &patch))
                .await
                .map(drop)
        }
    }
}
