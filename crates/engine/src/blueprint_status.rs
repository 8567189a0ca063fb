//! Blueprints report whether they can be used.

use std::sync::Arc;
use std::time::Duration;

use backon::{BackoffBuilder, ExponentialBuilder};
use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::api::{Patch, PatchParams};
use kube::{Api, Client};
use pathline_blueprint::conditions;
use pathline_blueprint::model::{BlueprintStatus, ClusterDelivery, ClusterSupplyChain};
use pathline_blueprint::owner::OwnerKind;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::FIELD_MANAGER;
use crate::calls::{self, call};
use crate::catalogue::{Catalogue, Listed};

/// Keeps the status of all blueprints true, until told to stop.
pub(crate) async fn report(client: Client, catalogue: Arc<Catalogue>, stop: CancellationToken) {
    let work = async {
        catalogue.filled().await;
        let mut changes = catalogue.changes();
        loop {
            changes.mark_unchanged();
            report_until_done(&client, &catalogue).await;
            if changes.changed().await.is_err() {
                return;
            }
        }
    };
    stop.run_until_cancelled(work).await;
}

/// Writes what differs, and tries again until nothing does.
async fn report_until_done(client: &Client, catalogue: &Catalogue) {
    let backoff = ExponentialBuilder::new()
        .with_min_delay(Duration::from_millis(200))
        .with_max_delay(Duration::from_secs(60))
        .with_jitter()
        .without_max_times();
    for delay in backoff.build() {
        if report_all(client, catalogue).await {
            return;
        }
        tokio::time::sleep(delay).await;
    }
}

async fn report_all(client: &Client, catalogue: &Catalogue) -> bool {
    let mut is_done = true;
    for kind in OwnerKind::ALL {
        for listed in catalogue.blueprints(kind) {
            let name = listed.blueprint.name.clone();
            let Err(error) = report_one(client, catalogue, &listed).await else {
                continue;
            };
            if !error.is_absence() {
                tracing::warn!(
                    blueprint = name,
                    error = error.message(),
                    "the status was not written"
                );
                is_done = false;
            }
        }
    }
    is_done
}

async fn report_one(
    client: &Client,
    catalogue: &Catalogue,
    listed: &Listed,
) -> Result<(), calls::Error> {
    let now = Time(Timestamp::now());
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
            let api: Api<ClusterSupplyChain> = Api::all(client.clone());
            call(api.patch_status(name, &params, &patch))
                .await
                .map(drop)
        }
        OwnerKind::Deliverable => {
            let api: Api<ClusterDelivery> = Api::all(client.clone());
            call(api.patch_status(name, &params, &patch))
                .await
                .map(drop)
        }
    }
}
