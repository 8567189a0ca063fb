//! Environments for those who ask again and again.

use std::sync::Arc;
use std::time::Duration;

use pathline_clock::instant;
use pathline_release::environment::Environments;
use tokio::sync::Mutex;
use tokio::time::Instant;

use super::load;
use crate::AppState;
use crate::error::ApiError;

/// The age at which environments are read again.
const MAX_AGE: Duration = Duration::from_secs(1);

/// The environments of the cluster as they were a moment ago, so that many who wait do not ask for the same thing.
#[derive(Clone, Default)]
pub(crate) struct EnvironmentCache(Arc<Mutex<Option<Kept>>>);

struct Kept {
    read: Instant,
    environments: Arc<Environments>,
}

impl EnvironmentCache {
    /// Returns the environments of the cluster, at most a moment old.
    pub(crate) async fn get(&self, state: &AppState) -> Result<Arc<Environments>, ApiError> {
        // Who asks meanwhile waits for the same answer.
        let mut kept = self.0.lock().await;
        if let Some(it) = kept.as_ref().filter(|it| it.read.elapsed() < MAX_AGE) {
            return Ok(Arc::clone(&it.environments));
        }
        let environments = Arc::new(load(state).await?);
        *kept = Some(Kept {
            read: instant(),
            environments: Arc::clone(&environments),
        });
        Ok(environments)
    }
}
