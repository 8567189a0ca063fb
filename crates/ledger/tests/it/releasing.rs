//! Releases on their way through environments, with what their tests share.

mod acting;
mod by_hand;
mod crash;
mod histories;
mod holding;
mod racing;
mod ticking;

use jiff::Timestamp;
use pathline_ledger::Ledger;
use pathline_ledger::releases::{
    ActOutcome, By, QueueAction, QueuesOf, StoredRelease, Ticked, TrackerRef,
};
use pathline_release::queue::{Flow, Hold, Queues, Report, Transition};

use crate::story::at;
use crate::tracking::{Seen, mk_flow, mk_name};

pub(crate) const NAME: &str = "shop.web";

pub(crate) fn mk_by() -> By {
    By::new("ann", Some("orders are late"))
}

pub(crate) fn mk_hold(since: Timestamp) -> Hold {
    Hold {
        reason: "orders are late".to_owned(),
        by: "ann".to_owned(),
        since,
    }
}

pub(crate) fn by_name(name: &str) -> TrackerRef {
    TrackerRef::Name(mk_name(name))
}

/// Does something with a flow of two environments.
pub(crate) async fn act(
    ledger: &Ledger,
    action: QueueAction,
    second: i64,
) -> anyhow::Result<ActOutcome> {
    act_in(ledger, &mk_flow(), action, at(second)).await
}

pub(crate) async fn act_in(
    ledger: &Ledger,
    flow: &Flow,
    action: QueueAction,
    at: Timestamp,
) -> anyhow::Result<ActOutcome> {
    let of = by_name(NAME);
    Ok(ledger
        .releases()
        .act(of, flow, action, &mk_by(), at)
        .await?)
}

/// Returns transitions as `environment.release=state`.
pub(crate) fn told(outcome: &ActOutcome) -> String {
    match outcome {
        ActOutcome::Done { transitions, .. } => listed(transitions),
        refused => panic!("it was refused: {refused:?}"),
    }
}

pub(crate) fn listed(transitions: &[Transition]) -> String {
    let told = transitions.iter();
    let told = told.map(|it| format!("{}.{}={}", it.environment, it.release, it.to));
    told.collect::<Vec<_>>().join(" ")
}

pub(crate) fn report(environment: &str, release: u64, report: Report) -> QueueAction {
    QueueAction::Report {
        environment: environment.to_owned(),
        release,
        attempt: 0,
        report,
    }
}

pub(crate) fn promote(environment: &str, release: Option<u64>, now: bool) -> QueueAction {
    QueueAction::Promote {
        environment: environment.to_owned(),
        release,
        now,
    }
}

pub(crate) fn roll_back(environment: &str, release: Option<u64>) -> QueueAction {
    QueueAction::Rollback {
        environment: environment.to_owned(),
        release,
    }
}

/// Lets environments tick at a second.
pub(crate) async fn tick(
    ledger: &Ledger,
    environments: &[&str],
    second: i64,
) -> anyhow::Result<Ticked> {
    let ticks = environments.iter();
    let ticks: Vec<_> = ticks.map(|it| ((*it).to_owned(), at(second))).collect();
    let ticked = ledger
        .releases()
        .tick(&mk_flow(), &ticks, at(second))
        .await?;
    Ok(ticked)
}

/// Forms a release of an image.
pub(crate) async fn form(
    ledger: &Ledger,
    name: &str,
    image: u64,
    second: i64,
) -> anyhow::Result<StoredRelease> {
    let mut seen = Seen::new("one", &format!("sha256:{image}"));
    seen.time = at(second);
    let formed = seen.apply(ledger, name).await?;
    formed.ok_or_else(|| anyhow::anyhow!("{image} was not released"))
}

/// Forms releases, and deploys each of them in both environments; returns the first free second.
pub(crate) async fn deploy(ledger: &Ledger, images: &[u64], second: i64) -> anyhow::Result<i64> {
    let mut second = second;
    for image in images {
        let formed = form(ledger, NAME, *image, second).await?;
        for environment in ["dev", "prod"] {
            second += 1;
            tick(ledger, &[environment], second).await?;
            let ready = report(environment, formed.release.number, Report::Ready);
            act(ledger, ready, second).await?;
        }
        second += 1;
    }
    Ok(second)
}

/// Returns the queues of the tracker, with a release that is named.
pub(crate) async fn queues(ledger: &Ledger, release: Option<u64>) -> anyhow::Result<Queues> {
    let tracker = &by_name(NAME);
    let which = QueuesOf::One { tracker, release };
    let found = ledger.releases().queues(which).await?;
    let found = found.into_iter().next();
    Ok(found
        .ok_or_else(|| anyhow::anyhow!("it is not there"))?
        .queues)
}

/// Returns the entries of a release of the tracker, as `environment=state`.
pub(crate) async fn entries(ledger: &Ledger, number: u64) -> anyhow::Result<String> {
    let name = mk_name(NAME);
    let found = ledger.releases().of_tracker(&name, number).await?;
    let found = found.ok_or_else(|| anyhow::anyhow!("there is no release {number}"))?;
    Ok(crate::tracking::entries(&found))
}
