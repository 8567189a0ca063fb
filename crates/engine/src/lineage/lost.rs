//! Owners that went away while nobody looked.

use std::collections::HashSet;
use std::time::Duration;

use backon::{BackoffBuilder, ExponentialBuilder};
use jiff::Timestamp;
use kube::api::{Api, DynamicObject, ListParams};
use kube::{Client, ResourceExt};
use pathline_blueprint::owner::OwnerKind;
use pathline_ledger::Ledger;
use tokio_util::sync::CancellationToken;

use crate::calls::call;
use crate::wakeups::Reconciled;

/// Ends, once, what the ledger holds to be current of owners that are not in the cluster.
pub(crate) async fn end_lost(client: Client, ledger: Ledger, stop: CancellationToken) {
    let patience = ExponentialBuilder::new()
        .with_min_delay(Duration::from_secs(1))
        .with_max_delay(Duration::from_secs(60))
        .with_jitter()
        .without_max_times();
    let work = async {
        for delay in patience.build() {
            let Err(error) = end_all(&client, &ledger).await else {
                return;
            };
            tracing::info!(%error, "owners that are gone are looked for again later");
            tokio::time::sleep(delay).await;
        }
    };
    stop.run_until_cancelled(work).await;
}

async fn end_all(client: &Client, ledger: &Ledger) -> anyhow::Result<()> {
    for kind in OwnerKind::ALL {
        end_lost_of(kind, client, ledger).await?;
    }
    Ok(())
}

async fn end_lost_of(kind: OwnerKind, client: &Client, ledger: &Ledger) -> anyhow::Result<()> {
    // The ledger first: who is in it has been in the cluster.
    let known = ledger.owners(kind.name()).await?;
    if known.is_empty() {
        return Ok(());
    }
    let api: Api<DynamicObject> = Api::all_with(client.clone(), &Reconciled::from(kind).resource());
    let listed = call(api.list_metadata(&ListParams::default())).await;
    let listed = listed.map_err(|error| anyhow::anyhow!(error.message()))?;
    let there: HashSet<String> = listed.iter().filter_map(ResourceExt::uid).collect();
    for owner in known.iter().filter(|owner| !there.contains(&owner.uid)) {
        ledger.gone(owner, Timestamp::now()).await?;
    }
    Ok(())
}
