//! Measures how long many owners take, what they cost the cluster, and what the engine holds.
//!
//! `cargo bench -p pathline-engine --bench load -- [--real] [OWNERSxSTEPS ...]` prints one row for each
//! load; without any, those of the docs. `--real` takes a kube-apiserver with etcd instead of the
//! embedded cluster. `--cycles N` creates and deletes owners and prints the memory on the way.

#![expect(clippy::print_stdout, reason = "a bench prints its figures")]
#![expect(clippy::disallowed_methods, reason = "a bench measures real time")]

mod ground;
mod workload;

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use pathline_engine::Metrics;

use ground::Ground;
use workload::Load;

/// The loads of the docs: one template each, and a chain of six.
const LOADS: [Load; 4] = [
    Load {
        owners: 10,
        steps: 1,
    },
    Load {
        owners: 500,
        steps: 1,
    },
    Load {
        owners: 1_500,
        steps: 1,
    },
    Load {
        owners: 500,
        steps: 6,
    },
];

#[tokio::main]
async fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let is_real = arguments.iter().any(|argument| argument == "--real");
    let cycles = arguments.iter().position(|argument| argument == "--cycles");
    if let Some(cycles) = cycles.and_then(|at| arguments.get(at + 1)) {
        return cycle(is_real, cycles.parse().context("--cycles takes a number")?).await;
    }
    let mut loads: Vec<Load> = arguments
        .iter()
        .filter_map(|text| Load::read(text))
        .collect();
    if loads.is_empty() {
        loads = LOADS.to_vec();
    }
    println!(
        "| workloads x steps | all Ready | writes per workload (asked) | reads of stamped objects | a template reaches all | peak memory |"
    );
    println!("| --- | --- | --- | --- | --- | --- |");
    for load in loads {
        measure(is_real, load).await?;
    }
    Ok(())
}

async fn measure(is_real: bool, load: Load) -> Result<()> {
    let mut ground = Ground::start(is_real).await?;
    workload::apply_chain(&ground, load, "first").await?;
    let metrics = Metrics::default();
    ground.run_engine(&metrics).await?;
    let started = Instant::now();
    workload::create_owners(&ground, load).await?;
    workload::wait_ready(&ground, load).await?;
    let ready = started.elapsed();
    let writes = stamped_writes(&metrics) + metrics.calls("update", "workloads/status");
    let reads = metrics.calls("get", "configmaps");
    let changed = Instant::now();
    workload::apply_chain(&ground, load, "second").await?;
    workload::wait_text(&ground, load, "second").await?;
    let reached = changed.elapsed();
    println!(
        "| {} x {} | {} | {:.2} ({}) | {reads} | {} | {} MB |",
        load.owners,
        load.steps,
        seconds(ready),
        ratio(writes, load.owners),
        load.steps + 2,
        seconds(reached),
        memory("VmHWM:")? / 1_024,
    );
    ground.end().await
}

/// Creates and deletes owners over and over, and prints what the process holds.
async fn cycle(is_real: bool, cycles: usize) -> Result<()> {
    const AT_ONCE: usize = 500;
    let load = Load {
        owners: AT_ONCE,
        steps: 1,
    };
    let mut ground = Ground::start(is_real).await?;
    workload::apply_chain(&ground, load, "first").await?;
    ground.run_engine(&Metrics::default()).await?;
    println!("| owners created and deleted | memory |");
    println!("| --- | --- |");
    for round in 1..=cycles.div_ceil(AT_ONCE) {
        workload::create_owners(&ground, load).await?;
        workload::wait_ready(&ground, load).await?;
        workload::delete_owners(&ground).await?;
        println!("| {} | {} MB |", round * AT_ONCE, memory("VmRSS:")? / 1_024);
    }
    ground.end().await
}

fn stamped_writes(metrics: &Metrics) -> u64 {
    metrics.calls("patch", "configmaps") + metrics.calls("create", "configmaps")
}

#[expect(clippy::cast_precision_loss, reason = "the numbers are small")]
fn ratio(count: u64, of: usize) -> f64 {
    count as f64 / of as f64
}

fn seconds(time: Duration) -> String {
    format!("{:.2} s", time.as_secs_f64())
}

/// Returns a number of `/proc/self/status`, in KiB. With the embedded cluster, that is in it too.
fn memory(field: &str) -> Result<u64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find(|line| line.starts_with(field));
    let number = line.and_then(|line| line.split_whitespace().nth(1));
    number
        .context("no such field")?
        .parse()
        .context("no number")
}
