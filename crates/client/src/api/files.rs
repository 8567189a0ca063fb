//! The files that a running Pathline leaves in its data directory for programs on the same machine.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// Says where the Pathline of a data directory answers.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct ServerFile {
    /// The address, such as `http://127.0.0.1:7700`.
    pub url: String,
}

impl ServerFile {
    /// Returns where this is kept.
    pub fn path(data_dir: &Path) -> PathBuf {
        data_dir.join("server.json")
    }

    /// Returns where the secret of the first admin token is kept, with a line feed behind it.
    pub fn token_path(data_dir: &Path) -> PathBuf {
        data_dir.join("rest.token")
    }
}
