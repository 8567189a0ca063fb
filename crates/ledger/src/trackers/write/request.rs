//! The write that releases a configuration at once.

use jiff::Timestamp;
use pathline_release::TrackerName;
use pathline_release::queue::Flow;

use super::super::forming;
use super::super::outcome::RequestOutcome;
use super::find;
use crate::error::Error;
use crate::releases::By;
use crate::writer::{Transaction, Write};

/// Releases the configuration of a tracker that waits, with the image that is released.
pub(in crate::trackers) struct RequestRelease {
    pub(in crate::trackers) name: TrackerName,
    pub(in crate::trackers) flow: Flow,
    pub(in crate::trackers) by: By,
    pub(in crate::trackers) at: Timestamp,
}

impl Write for RequestRelease {
    type Group = ();
    type Answer = RequestOutcome;

    async fn execute(
        &self,
        (): &mut (),
        transaction: &mut Transaction<'_>,
    ) -> Result<RequestOutcome, Error> {
        let Some(tracker) = find(transaction, &self.name).await? else {
            return Ok(RequestOutcome::Missing);
        };
        let mut state = tracker.state.clone();
        let release = match state.request(self.at) {
            Ok(release) => release,
            Err(refusal) => return Ok(RequestOutcome::Refused(refusal)),
        };
        forming::store_state(transaction, &tracker, &state).await?;
        let setting = (&self.flow, self.at);
        let by = Some(&self.by);
        let stored = forming::store(transaction, &tracker, &release, by, setting).await?;
        let by = (&self.by, self.at);
        forming::record_released(transaction, &tracker, release.number, by).await?;
        Ok(RequestOutcome::Formed(Box::new(stored)))
    }
}
