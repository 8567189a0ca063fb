//! Owners that were deleted while no engine ran.

use std::collections::HashSet;
use std::time::Duration;

use kube::ResourceExt;
use kube::api::{Api, DynamicObject, ListParams};
use pathline_blueprint::owner::OwnerKind;

use crate::runtime::calls::call;
use crate::runtime::env::Env;
use crate::runtime::queues::OwnedKind;
use crate::runtime::retry;

/// The pause after the first failure.
const FIRST_DELAY: Duration = Duration::from_secs(1);

/// Closes, once, what the ledger holds to be current of owners that are not in the cluster.
pub(crate) async fn close_missing_owners(env: Env) {
    let work = retry::until_ok(
        FIRST_DELAY,
        || close_all(&env),
        |error| tracing::info!(%error, "owners that are gone are looked for again later"),
    );
    env.stop.run_until_cancelled(work).await;
}

async fn close_all(env: &Env) -> anyhow::Result<()> {
    for kind in OwnerKind::ALL {
        close_missing_of(kind, env).await?;
    }
    Ok(())
}

async fn close_missing_of(kind: OwnerKind, env: &Env) -> anyhow::Result<()> {
    // The ledger first: who is in it has been in the cluster.
    let known = env.ledger.lineage().owners(kind.name()).await?;
    if known.is_empty() {
        return Ok(());
    }
    let api: Api<DynamicObject> =
        Api::all_with(env.client.clone(), &OwnedKind::from(kind).resource());
    let listed = call(api.list_metadata(&ListParams::default())).await;
    let listed = listed.map_err(|error| anyhow::anyhow!(error.message()))?;
    let there: HashSet<String> = listed.iter().filter_map(ResourceExt::uid).collect();
    for owner in known.iter().filter(|owner| !there.contains(&owner.uid)) {
        env.ledger.lineage().gone(owner, env.clock.now()).await?;
    }
    Ok(())
}
