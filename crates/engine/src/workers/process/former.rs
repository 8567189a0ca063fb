//! Processes of a Pathline that has ended.

use kube::api::ListParams;
use kube::{Api, Client, ResourceExt};

use super::{Process, ProcessStatus};
use crate::workers::status::{READY, Reporter, Verdict, set_condition, set_stalled};

/// The most objects that are read at a time.
const PAGE: u32 = 100;

/// Says of every process that nothing is known of it: what its status says is of a Pathline that has
/// ended, perhaps without a last word.
///
/// To be called before anybody is answered. Where the kind is not installed, there is none.
///
/// # Errors
///
/// When the cluster cannot be read or written.
pub async fn forget_runs(client: &Client) -> Result<(), kube::Error> {
    let everywhere = Api::<Process>::all(client.clone());
    let mut page = ListParams::default().limit(PAGE);
    loop {
        let listed = match everywhere.list(&page).await {
            Err(kube::Error::Api(refusal)) if refusal.is_not_found() => return Ok(()),
            listed => listed?,
        };
        for process in &listed.items {
            forget_run(client, process).await?;
        }
        match listed.metadata.continue_.filter(|it| !it.is_empty()) {
            Some(more) => page = page.continue_token(&more),
            None => return Ok(()),
        }
    }
}

async fn forget_run(client: &Client, process: &Process) -> Result<(), kube::Error> {
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
    let generation = known.observed_generation;
    let verdict = Verdict::unknown("Starting", "Pathline was started, and is about to start it");
    set_condition(&mut status.conditions, READY, generation, verdict);
    set_stalled(&mut status.conditions, generation, None);
    Reporter::new(client, process).write(&status).await
}
