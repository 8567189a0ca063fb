//! A budget that cannot hold the interval: the interval is stretched, and the board says so.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use jiff::SignedDuration;
use pathline_release::poll::{Budget, MIN_INTERVAL};

use crate::doubles::Doubles;
use crate::fleet::Addresses;
use crate::ground::{Following, Ground};
use crate::lateness::Times;
use crate::tally::{HostTally, Tally};

/// The requests that every host may be sent in a second.
const PER_SECOND: u32 = 5;
/// The seconds of the window in which requests are counted.
const WINDOW: i64 = 10;

/// Follows trackers with a budget that is too small for them.
pub(crate) async fn measure(trackers: usize) -> Result<()> {
    let mut doubles = Doubles::start(trackers).await?;
    let ground = Ground::make(trackers, &doubles.addresses).await?;
    ground.ingest().await?;
    doubles.take().await?;
    let budget = Budget {
        per_second: PER_SECOND,
        ..Budget::default()
    };
    let following = ground.follow(budget, MIN_INTERVAL);
    // The first polls were spread over the interval that was asked for, so they queue.
    let stated = stated_interval(&ground, &following).await?;
    let stretched = Duration::try_from(stated)?;
    tokio::time::sleep(stretched * 5 / 2).await;
    let tally = doubles.take().await?;
    let failure = ground.failure(&following);
    ensure!(failure.is_none(), "a poll failed: {failure:?}");
    following.end().await?;
    print(trackers, stated, &doubles.addresses, &tally);
    Ok(())
}

/// Waits until the trackers are loaded, and returns the longest interval that the board states.
async fn stated_interval(ground: &Ground, following: &Following) -> Result<SignedDuration> {
    let board = &following.tracking.board;
    while ground.uids.iter().any(|uid| board.of(uid).is_none()) {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let intervals = ground.uids.iter().filter_map(|uid| board.of(uid));
    let longest = intervals.map(|it| it.interval).max();
    longest.context("there are trackers")
}

fn print(trackers: usize, stated: SignedDuration, addresses: &Addresses, tally: &Tally) {
    let (asked, stated) = (MIN_INTERVAL.as_secs(), stated.as_secs());
    println!(
        "\n| {trackers} trackers every {asked} s, {PER_SECOND} requests/s a host | measured | asked |"
    );
    println!("| --- | --: | --: |");
    println!("| interval that the board states | {stated} s | more than {asked} s |");
    let gaps = gaps(tally);
    println!(
        "| time between two polls, median / 99 of 100 / longest of {} | {gaps} | |",
        gaps.len()
    );
    for (name, host) in named(addresses, tally) {
        println!(
            "| requests in a second to {name}, in the busiest {WINDOW} s | {:.2}, {:.2} | at most {PER_SECOND} |",
            rate(host),
            host.busiest(WINDOW) as f64 / WINDOW as f64
        );
    }
}

/// Returns the hosts, with a name for each.
fn named<'a>(addresses: &Addresses, tally: &'a Tally) -> Vec<(String, &'a HostTally)> {
    let sides = [
        ("git host", &addresses.git),
        ("registry", &addresses.registries),
    ];
    let of_side = |(side, hosts): (&str, &Vec<String>)| {
        let named = hosts.iter().enumerate();
        let named = named.filter_map(|(index, host)| {
            let counts = tally.hosts.get(host)?;
            Some((format!("{side} {}", index + 1), counts))
        });
        named.collect::<Vec<_>>()
    };
    sides.into_iter().flat_map(of_side).collect()
}

/// Returns the requests in a second, from the first one to the last.
fn rate(host: &HostTally) -> f64 {
    let first = host.seconds.keys().next().copied().unwrap_or_default();
    let last = host.seconds.keys().next_back().copied().unwrap_or_default();
    host.total() as f64 / (last - first + 1) as f64
}

/// Returns the times between two polls of the same repository.
fn gaps(tally: &Tally) -> Times {
    let pairs = tally.polls.values().flat_map(|times| times.windows(2));
    let gaps = pairs.filter_map(|pair| match pair {
        [one, next] => Some(SignedDuration::from_millis(next - one)),
        _ => None,
    });
    Times::new(gaps.collect())
}
