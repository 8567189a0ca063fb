//! The CPU time and the memory of this process, and the content of its database.

use std::fs;
use std::io::Read as _;
use std::path::Path;

use anyhow::{Context, Result};
use sha2::{Digest as _, Sha256};

use crate::ground::Ground;

/// The ticks of a second in `/proc`, which Linux keeps the same everywhere.
const TICKS: f64 = 100.0;
/// The places of user and system time in `/proc/self/stat`, after the name of the program, of a process and of the
/// children that it has waited for.
const OWN: [usize; 2] = [11, 12];
const OF_CHILDREN: [usize; 2] = [13, 14];

/// Returns the CPU time that this process has used, in seconds.
pub(crate) fn own_cpu() -> Result<f64> {
    cpu(OWN)
}

/// Returns the CPU time that programs have used that this process has started and waited for, in seconds.
pub(crate) fn cpu_of_children() -> Result<f64> {
    cpu(OF_CHILDREN)
}

fn cpu(places: [usize; 2]) -> Result<f64> {
    let stat = fs::read_to_string("/proc/self/stat")?;
    let (_, fields) = stat.rsplit_once(") ").context("a name in parentheses")?;
    let fields: Vec<_> = fields.split_whitespace().collect();
    let mut ticks = 0.0;
    for place in places {
        ticks += fields.get(place).context("a time")?.parse::<f64>()?;
    }
    Ok(ticks / TICKS)
}

/// Returns a size of `/proc/self/status`, in megabytes.
pub(crate) fn memory(field: &str) -> Result<f64> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix(field));
    let kilobytes = line.and_then(|line| line.split_whitespace().nth(1));
    Ok(kilobytes.context("no such field")?.parse::<f64>()? * 1024.0 / 1e6)
}

/// The content of the database, by which it is known whether something was written.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct DatabaseState {
    pub(crate) newest_change: i64,
    /// The digests of the database and of its log.
    digests: Vec<Vec<u8>>,
}

impl DatabaseState {
    pub(crate) async fn read(ground: &Ground) -> Result<Self> {
        let newest_change = ground.ledger.trackers().newest_change().await?;
        let digests = ground.files().map(|file| digest(&file)).into_iter();
        Ok(Self {
            newest_change,
            digests: digests.collect::<Result<_>>()?,
        })
    }
}

fn digest(file: &Path) -> Result<Vec<u8>> {
    let mut file = fs::File::open(file).with_context(|| file.display().to_string())?;
    let (mut hash, mut piece) = (Sha256::new(), vec![0; 1 << 16]);
    loop {
        let read = file.read(&mut piece)?;
        if read == 0 {
            return Ok(hash.finalize().to_vec());
        }
        hash.update(&piece[..read]);
    }
}
