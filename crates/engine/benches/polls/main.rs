//! Measures what it costs to follow many trackers that do not change, and how late they are polled.
//!
//! `cargo bench -p pathline-engine --bench polls -- [--trackers N] [--interval SECONDS] [--seconds SECONDS]` prints the
//! tables of `docs/benchmarks.md`; without arguments those of the docs. The hosts that are asked are doubles in a process of
//! their own, so that time and memory are those of the engine alone. It takes a quarter of an hour.

#![expect(clippy::print_stdout, reason = "a bench prints its figures")]
#![expect(clippy::disallowed_methods, reason = "a bench measures real time")]
#![expect(clippy::cast_precision_loss, reason = "the numbers are small")]

mod doubles;
mod fleet;
mod ground;
mod lateness;
mod meter;
mod programs;
mod promise;
mod stretched;
mod tally;

use std::time::Duration;

use anyhow::{Context, Result};

use promise::Load;

/// The part of the trackers that is followed with a budget which is too small for them.
const STRETCHED_PART: usize = 10;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [role, trackers, ..] = arguments.as_slice()
        && role == doubles::ROLE
    {
        return doubles::serve(trackers.parse()?);
    }
    let number = |name: &str| option(&arguments, name);
    let trackers = number("--trackers")?.unwrap_or(10_000);
    let interval = Duration::from_secs(number("--interval")?.unwrap_or(120) as u64);
    let measured = number("--seconds")?.map(|it| Duration::from_secs(it as u64));
    let load = Load {
        trackers,
        interval,
        measured: measured.unwrap_or(interval * 2),
    };
    tokio::runtime::Runtime::new()?.block_on(async {
        promise::measure(load).await?;
        stretched::measure(trackers.div_ceil(STRETCHED_PART)).await
    })
}

/// Returns the number behind an option.
fn option(arguments: &[String], name: &str) -> Result<Option<usize>> {
    let place = arguments.iter().position(|it| it == name);
    let Some(place) = place else {
        return Ok(None);
    };
    let number = arguments.get(place + 1).and_then(|it| it.parse().ok());
    let number = number.with_context(|| format!("{name} takes a number"))?;
    Ok(Some(number))
}
