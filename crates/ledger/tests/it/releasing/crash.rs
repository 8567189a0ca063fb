//! A process that ends in the middle of moving releases.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::Duration;

use jiff::Timestamp;
use pathline_ledger::releases::{QueuesOf, ReleaseFilter};
use pathline_ledger::{Ledger, Location, Page};
use pathline_release::queue::{EntryState, Report};
use pathline_testkit::{child_of, is_nightly, tell_parent};
use tokio::runtime::Runtime;

use super::{NAME, act_in, report};
use crate::story::at;
use crate::tracking::{Seen, create, mk_flow, mk_key, stored};

async fn open_in(location: &Location) -> anyhow::Result<Ledger> {
    Ok(Ledger::open(location)
        .await?
        .with_seal_key(mk_key(1))
        .await?)
}

/// Returns an instant that is after all before.
async fn next_second(ledger: &Ledger) -> anyhow::Result<Timestamp> {
    let handled = ledger.releases().handled_ticks().await?;
    let last = handled.into_values().max().unwrap_or(at(0));
    Ok(last + jiff::SignedDuration::from_secs(1))
}

/// Forms releases and deploys them, for ever; goes on with whatever it finds, and says what was acknowledged.
async fn release_until_killed() -> anyhow::Result<()> {
    let ledger = open_in(&Location::File("ledger.db".into())).await?;
    let flow = mk_flow();
    loop {
        let now = next_second(&ledger).await?;
        let last = stored(&ledger, NAME).await?;
        let last = last.state.last_release().map_or(0, |it| it.number);
        let mut seen = Seen::new("one", &format!("sha256:{}", last + 1));
        seen.time = now;
        seen.apply(&ledger, NAME).await?;
        let ticks = [("dev".to_owned(), now), ("prod".to_owned(), now)];
        ledger.releases().tick(&flow, &ticks, now).await?;
        for busy in ledger.releases().queues(QueuesOf::Busy).await? {
            for environment in ["dev", "prod"] {
                let deploying = busy.queues.newest(environment, EntryState::Deploying);
                if let Some(release) = deploying {
                    let ready = report(environment, release, Report::Ready);
                    act_in(&ledger, &flow, ready, now).await?;
                    tell_parent(&format!("ack {release} {environment}"));
                }
            }
        }
    }
}

/// Returns what was acknowledged before it was killed, after so many lines and a pause.
fn run_and_kill(child: &mut Command, lines: u64, pause: Duration) -> Vec<(u64, String)> {
    let mut child = child.spawn().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let (mut acknowledged, mut line) = (Vec::new(), String::new());
    while output.read_line(&mut line).unwrap() > 0 {
        // The first line stands behind the name of the test.
        if let Some((_, told)) = line.trim_end().split_once("ack ") {
            let (release, environment) = told.split_once(' ').unwrap();
            acknowledged.push((release.parse().unwrap(), environment.to_owned()));
            if acknowledged.len() as u64 == lines {
                std::thread::sleep(pause);
                child.kill().unwrap();
            }
        }
        line.clear();
    }
    child.wait().unwrap();
    acknowledged
}

/// Checks that no transaction is there by half.
async fn check(ledger: &Ledger, acknowledged: &[(u64, String)]) -> anyhow::Result<()> {
    let page = Page::first(1000);
    let filter = ReleaseFilter::default();
    let all = ledger.releases().list(&filter, &page).await?.items;
    let (mut dev, mut prod) = (0, 0);
    for release in &all {
        let state = |environment| release.entries.get(environment).map(|it| it.state);
        let number = release.release.number;
        assert!(
            state("dev").is_some(),
            "{number} was entered when it was formed"
        );
        let is_through = state("dev") == Some(EntryState::Deployed);
        assert_eq!(
            is_through,
            state("prod").is_some(),
            "C06: {number} is queued in prod when it is deployed in dev: {release:?}"
        );
        dev += u32::from(state("dev") == Some(EntryState::Deploying));
        prod += u32::from(state("prod") == Some(EntryState::Deploying));
    }
    assert!(dev <= 1 && prod <= 1, "C04: one is deploying at most");
    for (number, environment) in acknowledged {
        let release = all.iter().find(|it| it.release.number == *number);
        let entry = &release.expect("it is there").entries[environment];
        assert_eq!(entry.state, EntryState::Deployed, "C05: {number}");
    }
    Ok(())
}

/// C04 to C07, as far as what is stored goes.
#[test]
fn c04_c05_c06_c07_moves_are_there_or_absent_after_a_kill() -> anyhow::Result<()> {
    let runtime = Runtime::new()?;
    let test = "releasing::crash::c04_c05_c06_c07_moves_are_there_or_absent_after_a_kill";
    let Some(mut child) = child_of(test) else {
        return runtime.block_on(release_until_killed());
    };
    let directory = tempfile::tempdir()?;
    let location = Location::File(directory.path().join("ledger.db"));
    child.current_dir(directory.path());
    child.stdout(Stdio::piped()).stderr(Stdio::null());
    runtime.block_on(async {
        let ledger = open_in(&location).await?;
        create(&ledger, NAME).await?;
        ledger.close().await;
        anyhow::Ok(())
    })?;
    for run in 0..if is_nightly() { 100 } else { 12 } {
        let pause = Duration::from_micros(run * 7919 % 5000);
        let acknowledged = run_and_kill(&mut child, 1 + run % 5, pause);
        assert!(!acknowledged.is_empty());
        runtime.block_on(async {
            let ledger = open_in(&location).await?;
            check(&ledger, &acknowledged).await?;
            ledger.close().await;
            anyhow::Ok(())
        })?;
    }
    Ok(())
}
