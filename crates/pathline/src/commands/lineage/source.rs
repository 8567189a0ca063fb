//! Where histories come from: a file, or the standard input.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use pathline_lineage::simulate::Invalid;
use serde_json::Value;

/// The largest history that is read, in bytes.
const LIMIT: u64 = 64 << 20;

/// Why nothing can be concluded.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unreadable {
    #[error("cannot read {name}")]
    File {
        name: String,
        #[source]
        source: io::Error,
    },
    #[error("{name} is larger than 64 MiB; simulate fewer steps")]
    TooLarge { name: String },
    #[error("{name} is not JSON")]
    Json {
        name: String,
        #[source]
        source: serde_json::Error,
    },
    #[error("{name} is not a history")]
    History {
        name: String,
        #[source]
        source: Invalid,
    },
}

/// Reads a JSON document; `-` is the standard input.
pub(super) fn json(path: &Path) -> Result<Value, Unreadable> {
    let name = || path.display().to_string();
    let bytes = bytes(path).map_err(|source| Unreadable::File {
        name: name(),
        source,
    })?;
    if bytes.len() as u64 > LIMIT {
        return Err(Unreadable::TooLarge { name: name() });
    }
    serde_json::from_slice(&bytes).map_err(|source| Unreadable::Json {
        name: name(),
        source,
    })
}

fn bytes(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if path == Path::new("-") {
        io::stdin().lock().take(LIMIT + 1).read_to_end(&mut bytes)?;
    } else {
        File::open(path)?.take(LIMIT + 1).read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}
