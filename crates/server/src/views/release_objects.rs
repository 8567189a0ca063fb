//! The objects of a release in an environment.

use pathline_client::api::ReleaseObjects;
use pathline_release::objects::{Deployed, objects};

use crate::AppState;
use crate::error::ApiError;
use crate::views::environments;
use crate::views::releases::{self, ReleaseName};

/// Returns the objects that deploying a release writes into an environment, as they would be written now. Secrets have no
/// values.
pub(crate) async fn get(
    state: &AppState,
    name: &ReleaseName,
    environment: &str,
) -> Result<ReleaseObjects, ApiError> {
    let stored = releases::find(state, name).await?;
    let known = environments::load(state).await?;
    environments::find(known.flow(), environment)?;
    let place = known.get(environment).ok_or_else(|| {
        let reason = known.refusal(environment).map(ToString::to_string);
        let reason = reason.unwrap_or_default();
        ApiError::conflict(format!(
            "the Environment `{environment}` cannot be used: {reason}"
        ))
        .with_hint(format!(
            "mend it with `kubectl edit environment {environment}`"
        ))
    })?;
    let ledger = state.ledger()?;
    let hash = &stored.release.configuration.config_hash;
    let configuration = ledger
        .releases()
        .configuration(&stored.tracker_uid, hash)
        .await?
        .ok_or_else(|| ApiError::gone("the configuration of this release is no longer kept"))?;
    let deployed = Deployed {
        tracker: &stored.tracker,
        tracker_uid: &stored.tracker_uid,
        id: &stored.id,
        release: &stored.release,
        attempt: stored.entries.get(environment).map_or(0, |it| it.attempt),
        revision: stored.image_revision.as_deref(),
        document: &configuration.document,
        secrets: &configuration.secrets,
        environment: place,
    };
    // Without a key nothing is secret: no secret could have been kept.
    let keyed = |secret: &[u8]| {
        let key = ledger.seal_key();
        key.map(|it| it.digest(secret)).unwrap_or_default()
    };
    let made = objects(&deployed, &keyed);
    let made = made.map_err(|invalid| ApiError::conflict(invalid.to_string()))?;
    let secrets = made.secrets.iter().map(|it| it.redacted());
    let all = made.config_maps.into_iter().chain(secrets);
    Ok(ReleaseObjects {
        tracker: stored.tracker.to_string(),
        release: stored.release.number,
        environment: environment.to_owned(),
        namespace: place.namespace.clone(),
        state: stored
            .entries
            .get(environment)
            .map(|it| it.state.to_string()),
        objects: all.chain([made.owner]).collect(),
    })
}
