//! Input of bounded size: a file, or the standard input.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use serde_json::Value;

use super::report::{Exit, Hint};

/// The largest document that is read, in MiB.
const MAX_MIB: u64 = 64;

/// An error because of which there is nothing to work on.
#[derive(Debug, thiserror::Error)]
pub(crate) enum InputError {
    #[error("cannot read {name}")]
    File {
        name: String,
        #[source]
        source: io::Error,
    },
    #[error("{name} is larger than {MAX_MIB} MiB")]
    TooLarge { name: String },
    #[error("{name} is not JSON")]
    Json {
        name: String,
        #[source]
        source: serde_json::Error,
    },
    #[error("{name} is not UTF-8")]
    NotText { name: String },
}

impl Hint for InputError {
    fn hint(&self) -> Option<String> {
        None
    }

    fn exit(&self) -> Exit {
        Exit::Unknown
    }
}

/// Reads a JSON document; `-` is the standard input.
pub(crate) fn json(path: &Path) -> Result<Value, InputError> {
    let bytes = bytes(path)?;
    serde_json::from_slice(&bytes).map_err(|source| InputError::Json {
        name: name(path),
        source,
    })
}

/// Reads a text; `-` is the standard input.
pub(crate) fn text(path: &Path) -> Result<String, InputError> {
    String::from_utf8(bytes(path)?).map_err(|_| InputError::NotText { name: name(path) })
}

fn bytes(path: &Path) -> Result<Vec<u8>, InputError> {
    let limit = MAX_MIB << 20;
    let mut bytes = Vec::new();
    let read = if is_stdin(path) {
        io::stdin().lock().take(limit + 1).read_to_end(&mut bytes)
    } else {
        File::open(path).and_then(|file| file.take(limit + 1).read_to_end(&mut bytes))
    };
    match read {
        Err(source) => Err(InputError::File {
            name: name(path),
            source,
        }),
        Ok(_) if bytes.len() as u64 > limit => Err(InputError::TooLarge { name: name(path) }),
        Ok(_) => Ok(bytes),
    }
}

fn is_stdin(path: &Path) -> bool {
    path == Path::new("-")
}

/// Returns what an error calls an input.
fn name(path: &Path) -> String {
    match is_stdin(path) {
        true => "the standard input".to_owned(),
        false => path.display().to_string(),
    }
}
