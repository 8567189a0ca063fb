//! The holder of the port that a process is asked on.

use std::time::Duration;

use kube::api::ListParams;
use kube::{Api, ResourceExt};

use super::{Process, probe};
use crate::child::RunHandle;
use crate::context::Context;
use crate::ports::{self, Answerer, Stranger};
use crate::status::Verdict;

/// The time that it may take to find out for which `Process` somebody runs.
const NAME_TIMEOUT: Duration = Duration::from_secs(2);

/// The number of objects that are looked at for it.
const MAX_PROCESSES: u32 = 500;

/// The reason of a process that can't run, or is not asked, until somebody else gives its port up.
pub(super) const PORT_TAKEN: &str = "PortTaken";

/// A port that somebody else has.
#[derive(Clone, Debug)]
pub(super) struct Taken {
    /// The holder of the port, and what to do.
    pub(super) message: String,
}

impl Taken {
    /// Describes the stranger on a port, by the name of its `Process` if it has one.
    pub(super) async fn by(context: &Context, port: u16, stranger: Stranger) -> Self {
        let process = match stranger.group {
            Some(group) => process_of(context, group).await,
            None => None,
        };
        let message = stranger.describe(port, process.as_deref());
        Self { message }
    }

    /// Describes somebody who answers on a port and cannot be found.
    pub(super) fn unseen(port: u16) -> Self {
        let message = Stranger::default().describe(port, None);
        Self { message }
    }

    /// The condition of a process that wants the port.
    pub(super) fn verdict(&self) -> Verdict {
        Verdict::no(PORT_TAKEN, &self.message)
    }
}

/// Returns who has the port while the process that wants it does not run.
pub(super) async fn occupant(context: &Context, process: &Process) -> Option<Taken> {
    let port = process.spec.readiness.as_ref()?.http_get.port;
    let answerer = tokio::task::spawn_blocking(move || ports::answerer(port, None));
    match answerer.await.unwrap_or(Answerer::Unknown) {
        Answerer::Stranger(stranger) => Some(Taken::by(context, port, stranger).await),
        _ if probe::connects(port).await => Some(Taken::unseen(port)),
        _ => None,
    }
}

/// Returns who listens on the port of a process that has ended, on whatever address.
pub(super) async fn obstacle(context: &Context, process: &Process) -> Option<Taken> {
    let port = process.spec.readiness.as_ref()?.http_get.port;
    let holder = tokio::task::spawn_blocking(move || ports::holder(port));
    Some(Taken::by(context, port, holder.await.ok()??).await)
}

/// Returns who gets a connection to the port of a running process.
pub(super) async fn answerer(port: u16, run: &RunHandle) -> Answerer {
    let run = run.clone();
    let answerer = tokio::task::spawn_blocking(move || ports::answerer(port, Some(&run)));
    answerer.await.unwrap_or(Answerer::Unknown)
}

/// Returns the `Process` that a process group runs for, as `namespace/name`.
async fn process_of(context: &Context, group: i64) -> Option<String> {
    let everywhere = Api::<Process>::all(context.client.clone());
    let parameters = ListParams::default().limit(MAX_PROCESSES);
    let list = tokio::time::timeout(NAME_TIMEOUT, everywhere.list(&parameters));
    let processes = list.await.ok()?.ok()?;
    let of_group = |it: &&Process| it.status.as_ref().and_then(|it| it.pid) == Some(group);
    let process = processes.iter().find(of_group)?;
    let namespace = process.namespace().unwrap_or_default();
    Some(format!("{namespace}/{}", process.name_any()))
}
