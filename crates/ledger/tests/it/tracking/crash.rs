//! A process that ends in the middle of its cycles.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::Duration;

use pathline_ledger::{Ledger, Location};
use pathline_testkit::{child_of, is_nightly, tell_parent};
use tokio::runtime::Runtime;

use super::{Seen, create, mk_key, mk_name, stored};

const NAME: &str = "shop.web";

async fn open() -> anyhow::Result<Ledger> {
    let location = Location::File("ledger.db".into());
    Ok(Ledger::open(&location)
        .await?
        .with_seal_key(mk_key(1))
        .await?)
}

/// Lets configurations wait, and releases them, for ever; says what was acknowledged.
async fn observe_until_killed() -> anyhow::Result<()> {
    let ledger = open().await?;
    let last = stored(&ledger, NAME).await?;
    let last = last.state.last_release().map_or(0, |it| it.number);
    for number in last + 1.. {
        let setting = ["one", "two"][usize::from(number % 2 == 0)];
        let (before, now) = (format!("sha256:{}", number - 1), format!("sha256:{number}"));
        let mut seen = Seen::new(setting, &before);
        seen.has_secret = true;
        // The first cycle finds the configuration without its image, the second one with it.
        seen.apply(&ledger, NAME).await?;
        seen.digest = Some(now);
        let formed = seen.apply(&ledger, NAME).await?;
        tell_parent(&format!("ack {}", formed.unwrap().release.number));
    }
    Ok(())
}

fn run_and_kill(child: &mut Command, lines: u64, pause: Duration) -> u64 {
    let mut child = child.spawn().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let (mut acknowledged, mut count, mut line) = (0, 0, String::new());
    while output.read_line(&mut line).unwrap() > 0 {
        // The first line stands behind the name of the test.
        if let Some((_, number)) = line.trim_end().split_once("ack ") {
            acknowledged = number.parse().unwrap();
            count += 1;
        }
        line.clear();
        if count == lines {
            std::thread::sleep(pause);
            child.kill().unwrap();
        }
    }
    child.wait().unwrap();
    acknowledged
}

/// C01 to C03.
#[test]
fn cycle_is_there_or_absent_after_a_kill() -> anyhow::Result<()> {
    let runtime = Runtime::new()?;
    let test = "tracking::crash::cycle_is_there_or_absent_after_a_kill";
    let Some(mut child) = child_of(test) else {
        return runtime.block_on(observe_until_killed());
    };
    let directory = tempfile::tempdir()?;
    let location = Location::File(directory.path().join("ledger.db"));
    child.current_dir(directory.path());
    child.stdout(Stdio::piped()).stderr(Stdio::null());
    let open = async || -> anyhow::Result<Ledger> {
        Ok(Ledger::open(&location)
            .await?
            .with_seal_key(mk_key(1))
            .await?)
    };
    runtime.block_on(async {
        let ledger = open().await?;
        create(&ledger, NAME).await?;
        ledger.close().await;
        anyhow::Ok(())
    })?;
    for run in 0..if is_nightly() { 100 } else { 12 } {
        let pause = Duration::from_micros(run * 7919 % 5000);
        let acknowledged = run_and_kill(&mut child, 1 + run % 5, pause);
        assert!(acknowledged > 0);
        runtime.block_on(async {
            let ledger = open().await?;
            let tracker = stored(&ledger, NAME).await?;
            let last = tracker.state.last_release().expect("one was acknowledged");
            assert!(
                last.number >= acknowledged,
                "what was acknowledged is there"
            );
            let mut previous = None;
            for number in 1..=last.number {
                let release = ledger.releases().of_tracker(&mk_name(NAME), number).await?;
                let release = release.expect("no number is left out");
                assert_eq!(release.release.previous, previous);
                assert!(release.entries.contains_key("dev"), "it has its entry");
                let hash = &release.release.configuration.config_hash;
                let kept = ledger.releases().configuration(&tracker.uid, hash).await?;
                assert!(kept.is_some(), "it has its configuration");
                previous = Some(number);
            }
            let next = ledger
                .releases()
                .of_tracker(&mk_name(NAME), last.number + 1)
                .await?;
            assert_eq!(next, None, "no release without its state");
            ledger.close().await;
            anyhow::Ok(())
        })?;
    }
    Ok(())
}
