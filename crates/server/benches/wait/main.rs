//! Measures how long after an event it is told to those who wait, and what many who wait cost.
//!
//! `cargo bench -p pathline-server --bench wait` prints the rows of `docs/benchmarks.md`. The server
//! and those who wait for many at once are processes of their own, so that the memory is that of the
//! server alone; each way of waiting is measured in a fresh one.
#![expect(clippy::print_stdout, reason = "a benchmark prints its result")]
#![expect(clippy::disallowed_methods, reason = "a bench measures real time")]

mod clients;
mod house;
#[path = "../../tests/it/story.rs"]
mod story;

use std::env;
use std::net::SocketAddr;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::process::ChildStdout;

use clients::{Client, How};
use house::House;

/// The number of waits one after the other.
const ROUNDS: usize = 1_000;
/// The number of waits at the same time.
const CROWD: usize = 2_000;
/// The longest time that a question takes until it is being waited for.
const SETTLING: Duration = Duration::from_millis(20);

fn main() -> Result<()> {
    let arguments: Vec<_> = env::args().skip(1).filter(|it| it != "--bench").collect();
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        [] => measure_all(),
        ["measure", how] => run(measure(how.parse()?)),
        ["crowd", how, address, token] => {
            let client = Client::new(how.parse()?, address.parse()?, token);
            run(client.crowd(CROWD))
        }
        other => bail!("{other:?} means nothing here"),
    }
}

fn measure_all() -> Result<()> {
    println!(
        "| | answered after, median | 99 of 100 | of which the ledger, median | {CROWD} at once: memory added | each | all answered after |"
    );
    println!("| --- | --: | --: | --: | --: | --: | --: |");
    for how in ["poll", "stream"] {
        let ended = Command::new(env::current_exe()?)
            .args(["measure", how])
            .status()?;
        ensure!(ended.success(), "measuring {how} failed");
    }
    Ok(())
}

fn run(work: impl Future<Output = Result<()>>) -> Result<()> {
    tokio::runtime::Runtime::new()?.block_on(work)
}

async fn measure(how: How) -> Result<()> {
    let house = House::open().await?;
    let client = Client::new(how, house.address, &house.token);
    let (mut answered, mut recorded) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        let (whole, ledger) = one(&house, &client, round).await?;
        answered.push(whole);
        recorded.push(ledger);
    }
    let (added, all) = crowd(&house, how).await?;
    println!(
        "| {how} | {:.2?} | {:.2?} | {:.2?} | {:.1} MB | {:.1} kB | {all:.2?} |",
        percentile(&mut answered, 50),
        percentile(&mut answered, 99),
        percentile(&mut recorded, 50),
        added / 1e6,
        added / 1e3 / CROWD as f64,
    );
    house.close().await;
    Ok(())
}

/// Waits for something, lets it happen, and returns how long the answer took, and the ledger alone.
async fn one(house: &House, client: &Client, round: usize) -> Result<(Duration, Duration)> {
    let revision = format!("{round:040x}");
    let mut waiting = client.ask(&revision).await?;
    if client.how == How::Poll {
        tokio::time::sleep(SETTLING).await;
    }
    let answered = tokio::spawn(async move {
        waiting.answered().await?;
        anyhow::Ok(Instant::now())
    });
    let started = Instant::now();
    house.record(&revision).await;
    let recorded = started.elapsed();
    Ok((answered.await?? - started, recorded))
}

/// Lets many wait for the same, and returns how many bytes that takes and how long it took until the
/// last one was answered.
async fn crowd(house: &House, how: How) -> Result<(f64, Duration)> {
    let before = house::resident()?;
    let address: SocketAddr = house.address;
    let mut crowd = tokio::process::Command::new(env::current_exe()?)
        .args(["crowd", &how.to_string()])
        .args([address.to_string(), house.token.clone()])
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()?;
    let said = crowd.stdout.take().context("it talks to us")?;
    let mut said = BufReader::new(said).lines();
    expect(&mut said, "waiting").await?;
    let added = house::resident()? - before;
    let started = Instant::now();
    house.record(clients::REVISION).await;
    expect(&mut said, "answered").await?;
    let all = started.elapsed();
    ensure!(crowd.wait().await?.success(), "the crowd failed");
    Ok((added, all))
}

async fn expect(said: &mut Lines<BufReader<ChildStdout>>, word: &str) -> Result<()> {
    let line = said.next_line().await?;
    ensure!(line.as_deref() == Some(word), "{line:?} instead of {word}");
    Ok(())
}

fn percentile(times: &mut [Duration], percent: usize) -> Duration {
    times.sort_unstable();
    times[times.len() * percent / 100]
}
