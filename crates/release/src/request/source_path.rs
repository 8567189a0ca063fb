//! Paths of application files in repositories.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::fields::Wrong;

/// The longest path, in bytes.
const MAX_PATH: usize = 1024;

/// The name of the file in a directory.
const FILE: &str = "fathomable.yaml";

/// The place of an application file: a directory that has it, or the file itself.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SourcePath(String);

impl SourcePath {
    pub(super) fn parse(text: &str) -> Result<Self, Wrong> {
        let path = if text == "." { "" } else { text };
        let is_segment = |it: &str| !it.is_empty() && it != "." && it != "..";
        let is_forbidden = |it: char| it == '\\' || it.is_control();
        let is_valid = path.len() <= MAX_PATH
            && !path.contains(is_forbidden)
            && (path.is_empty() || path.split('/').all(is_segment));
        if is_valid {
            return Ok(Self(path.to_owned()));
        }
        let message =
            "a path in the repository is expected, such as `deploy/web`; empty for its root";
        Err(("malformed", message.to_owned()))
    }

    /// Returns the path of the file.
    pub fn file(&self) -> String {
        match self.0.as_str() {
            "" => FILE.to_owned(),
            path if path.ends_with(".yaml") || path.ends_with(".yml") => path.to_owned(),
            directory => format!("{directory}/{FILE}"),
        }
    }
}

impl fmt::Display for SourcePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
