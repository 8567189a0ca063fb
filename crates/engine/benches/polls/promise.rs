//! The load that is promised: many trackers, each polled at its interval, and nothing that changes.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use jiff::{SignedDuration, Timestamp};
use pathline_release::poll::Budget;

use crate::doubles::Doubles;
use crate::ground::{Following, Ground};
use crate::lateness::{Buckets, Dues, Times};
use crate::meter::{DatabaseState, memory, own_cpu};
use crate::programs;
use crate::tally::{LIST_REFERENCES, Tally};

/// The requests that every host may be sent in a second.
const PER_SECOND: u32 = 200;
/// The repositories and images that programs are asked about.
const SAMPLES: usize = 50;

/// The size of a load.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Load {
    pub(crate) trackers: usize,
    pub(crate) interval: Duration,
    /// The time for which is measured.
    pub(crate) measured: Duration,
}

/// The figures of a measurement.
struct Figures {
    wall: f64,
    cpu: f64,
    peak: f64,
    resident: f64,
    tally: Tally,
    lateness: Times,
    /// The 99th percentile of the metric.
    late_by_metric: Option<f64>,
    changes: i64,
    is_unwritten: bool,
}

pub(crate) async fn measure(load: Load) -> Result<()> {
    let mut doubles = Doubles::start(load.trackers).await?;
    let ground = Ground::make(load.trackers, &doubles.addresses).await?;
    let (started, before) = (Instant::now(), own_cpu()?);
    ground.ingest().await?;
    println!(
        "{} trackers were read for the first time in {:.1} s, {:.1} s of it CPU; peak memory {:.0} MB.\n",
        load.trackers,
        started.elapsed().as_secs_f64(),
        own_cpu()? - before,
        memory("VmHWM")?
    );
    let figures = figures(&mut doubles, &ground, load).await?;
    let (addresses, trackers) = (doubles.addresses.clone(), load.trackers);
    let programs =
        tokio::task::spawn_blocking(move || programs::cpu_of_a_poll(&addresses, trackers, SAMPLES));
    print(load, &figures, programs.await??);
    Ok(())
}

/// Follows all trackers as after a start, for an interval to settle, and then measures.
async fn figures(doubles: &mut Doubles, ground: &Ground, load: Load) -> Result<Figures> {
    let budget = Budget {
        per_second: PER_SECOND,
        ..Budget::default()
    };
    let following = ground.follow(budget, SignedDuration::try_from(load.interval)?);
    tokio::time::sleep(load.interval).await;
    let metrics = &following.tracking.metrics;
    let (database, buckets) = (DatabaseState::read(ground).await?, Buckets::read(metrics)?);
    doubles.take().await?;
    let (started, cpu) = (Instant::now(), own_cpu()?);
    let dues = wait(ground, &following, load).await;
    let (wall, cpu) = (started.elapsed().as_secs_f64(), own_cpu()? - cpu);
    let (peak, resident) = (memory("VmHWM")?, memory("VmRSS")?);
    let (tally, end) = (doubles.take().await?, Timestamp::now());
    let after = DatabaseState::read(ground).await?;
    let late_by_metric = Buckets::read(metrics)?.percentile_since(&buckets, 99);
    let failure = ground.failure(&following);
    ensure!(failure.is_none(), "a poll failed: {failure:?}");
    following.end().await?;
    Ok(Figures {
        wall,
        cpu,
        peak,
        resident,
        lateness: dues.lateness(&tally, end),
        tally,
        late_by_metric,
        changes: after.newest_change - database.newest_change,
        is_unwritten: after == database,
    })
}

/// Waits for the end of the measurement, and notes in every interval when trackers are due.
async fn wait(ground: &Ground, following: &Following, load: Load) -> Dues {
    let (mut dues, mut left) = (Dues::default(), load.measured);
    while !left.is_zero() {
        dues.note(ground, following);
        let pause = left.min(load.interval);
        tokio::time::sleep(pause).await;
        left -= pause;
    }
    dues
}

fn print(load: Load, figures: &Figures, programs: Option<[f64; 2]>) {
    let polls = figures.tally.polls();
    let of_a_poll = figures.cpu / polls as f64;
    println!(
        "| {} trackers every {} s, {:.0} s | measured | asked |",
        load.trackers,
        load.interval.as_secs(),
        figures.wall
    );
    println!("| --- | --: | --: |");
    row("polls", &polls.to_string(), "");
    row(
        "own CPU time in a second",
        &format!("{:.3} s", figures.cpu / figures.wall),
        "less than 1 s",
    );
    row(
        "memory, peak (at the end)",
        &format!("{:.0} MB ({:.0} MB)", figures.peak, figures.resident),
        "300 MB",
    );
    row(
        &format!(
            "due until the repository is asked, median / 99 of 100 / latest of {}",
            figures.lateness.len()
        ),
        &figures.lateness.to_string(),
        "99 of 100 below 2 s",
    );
    let by_metric = figures.late_by_metric.unwrap_or(f64::INFINITY);
    row(
        "`poll_lateness_seconds`, bucket of 99 of 100",
        &format!("{by_metric} s"),
        "below 2 s",
    );
    let asked = [("a tag", false, "2"), ("a range, one page", true, "3")];
    for (name, of_ranges, goal) in asked {
        row(
            &format!("requests of a poll, {name}"),
            &requests(&figures.tally, of_ranges),
            goal,
        );
    }
    let written = match figures.is_unwritten {
        true => "the same bytes",
        false => "other bytes",
    };
    row(
        "changes in the ledger, its file and log afterwards",
        &format!("{}, {written}", figures.changes),
        "none",
    );
    row(
        "own CPU time of a poll",
        &format!("{:.2} ms", of_a_poll * 1e3),
        "",
    );
    let Some([git, crane]) = programs else {
        return;
    };
    row(
        "CPU time of `git ls-remote` and `crane digest`",
        &format!("{:.1} ms and {:.1} ms", git * 1e3, crane * 1e3),
        "",
    );
    row(
        "a poll, of that",
        &format!("1/{:.0}", (git + crane) / of_a_poll),
        "at most 1/20",
    );
}

fn row(name: &str, figure: &str, asked: &str) {
    println!("| {name} | {figure} | {asked} |");
}

/// Returns the requests of one poll: all of them, and by what they ask for.
fn requests(tally: &Tally, of_ranges: bool) -> String {
    let counts = tally.by_kind(of_ranges);
    let polls = counts.get(LIST_REFERENCES).copied().unwrap_or(1) as f64;
    let all = counts.values().sum::<u64>() as f64 / polls;
    let kinds = counts
        .iter()
        .map(|(kind, count)| format!("{kind} {:.3}", *count as f64 / polls));
    format!("{all:.3}: {}", kinds.collect::<Vec<_>>().join(", "))
}
