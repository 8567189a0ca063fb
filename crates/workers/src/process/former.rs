//! Processes of a Pathline that has ended.

use kube::api::ListParams;
use kube::{Api, Client, ResourceExt};
use pathline_clock::Clock;
use pathline_kinds::workers::{Process, ProcessStatus};

use crate::status::{Occasion, READY, Reporter, Verdict, set_condition, set_stalled};

/// The most objects that are read at a time.
const PAGE: u32 = 100;

/// Says of every process that nothing is known of it: what its status says is of a Pathline that has
/// ended, perhaps without a last word.
///
/// To be called before anybody is answered. Where the kind is not installed, there is none.
///
/// # Errors
///
/// Fails if the cluster cannot be read or written.
pub async fn forget_runs(client: &Client, clock: &Clock) -> Result<(), kube::Error> {
    let everywhere = Api::<Process>::all(client.clone());
    let mut page = ListParams::default().limit(PAGE);
    loop {
        let listed = match everywhere.list(&page).await {
            Err(kube::Error::Api(refusal)) if refusal.is_not_found() => return Ok(()),
            listed => listed?,
        };
        for process in &listed.items {
            forget_run(client, process, clock).await?;
        }
        match listed.metadata.continue_.filter(|it| !it.is_empty()) {
            Some(more) => page = page.continue_token(&more),
            None => return Ok(()),
        }
    }
}

async fn forget_run(client: &Client, process: &Process, clock: &Clock) -> Result<(), kube::Error> {
    let Some(known) = &process.status else {
        return Ok(());
    };
    tracing::debug!(
        process = process.name_any(),
        "its status is of an earlier run"
    );
    let mut status = ProcessStatus {
        pid: None,
        started_at: None,
        running: None,
        ..known.clone()
    };
    let occasion = Occasion::new(known.observed_generation, clock);
    let verdict = Verdict::unknown("Starting", "Pathline was started, and is about to start it");
    set_condition(&mut status.conditions, READY, &occasion, verdict);
    set_stalled(&mut status.conditions, &occasion, None);
    Reporter::new(client, process).write(&status).await
}
