//! The configuration file of `up`: YAML, strict, and every mistake with its place.

use std::io;
use std::path::{Path, PathBuf};

use pathline_ledger::NotAUrl;
use serde::Deserialize;
use serde_saphyr::UserMessageFormatter;

use super::tracking::{
    HostKeys, IngestKeys, PollingKeys, RegistryKeys, TrackingConfig, TrackingError, TrackingKeys,
};
use crate::cli::Address;
use crate::terminal::report::{Exit, Hint};
use crate::wiring::admission::Mode;

/// The keys a configuration file may have.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ConfigFile {
    pub(super) data_dir: Option<PathBuf>,
    pub(super) listen: Option<Address>,
    pub(super) kube_listen: Option<Address>,
    pub(super) ledger: Option<String>,
    pub(super) admission: Option<Mode>,
    pub(super) ytt: Option<PathBuf>,
    pub(super) log: Option<String>,
    pub(super) trackers: Option<PathBuf>,
    #[serde(default)]
    hosts: Vec<HostKeys>,
    #[serde(default)]
    registries: Vec<RegistryKeys>,
    docker_config: Option<PathBuf>,
    #[serde(default)]
    ingest: Vec<IngestKeys>,
    #[serde(default)]
    polling: PollingKeys,
}

/// An error in a configuration file.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ConfigError {
    /// It cannot be read.
    #[error("cannot read the configuration file {}", .path.display())]
    Read { path: PathBuf, source: io::Error },
    /// It is not what a configuration file looks like.
    #[error("{}:{line}:{column}: {message}", .path.display())]
    Parse {
        path: PathBuf,
        line: u64,
        column: u64,
        message: String,
    },
    /// The ledger it, or the command line, names can be none.
    #[error("the ledger: {0}")]
    Ledger(#[from] NotAUrl),
    /// It says something about trackers that makes no sense.
    #[error(transparent)]
    Tracking(#[from] TrackingError),
    /// It has a key that `controller` does not read.
    #[error("{}: `{key}` is not read by `controller`", .path.display())]
    NotForController { path: PathBuf, key: &'static str },
}

impl Hint for ConfigError {
    fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Read { .. } => {
                "`--config` (or PATHLINE_CONFIG) must name a readable file".to_owned()
            }
            Self::Parse { .. } => {
                "`pathline help up` shows every key, and docs/trackers.md what is below those of trackers"
                    .to_owned()
            }
            Self::Ledger(error) => return error.hint(),
            Self::Tracking(error) => return error.hint(),
            Self::NotForController { .. } => {
                "give it as an argument; `pathline help controller` shows them".to_owned()
            }
        })
    }

    fn exit(&self) -> Exit {
        match self {
            Self::Read { .. } => Exit::Unknown,
            Self::Parse { .. } | Self::Ledger(_) | Self::NotForController { .. } => Exit::Usage,
            Self::Tracking(error) => error.exit(),
        }
    }
}

impl ConfigFile {
    pub(super) fn read(path: &Path) -> Result<Self, ConfigError> {
        let text = std::fs::read_to_string(path).map_err(|source| ConfigError::Read {
            path: path.to_owned(),
            source,
        })?;
        Self::parse(&text, path)
    }

    /// Takes out what it says about trackers.
    pub(super) fn take_tracking(&mut self, beside: &Path) -> Result<TrackingConfig, TrackingError> {
        let keys = TrackingKeys {
            hosts: std::mem::take(&mut self.hosts),
            registries: std::mem::take(&mut self.registries),
            docker_config: self.docker_config.take(),
            ingest: std::mem::take(&mut self.ingest),
            polling: std::mem::take(&mut self.polling),
        };
        keys.resolve(beside)
    }

    /// Fails if it has keys that only `up` reads.
    pub(super) fn check_for_controller(&self, path: &Path) -> Result<(), ConfigError> {
        let keys = [
            ("dataDir", self.data_dir.is_some()),
            ("listen", self.listen.is_some()),
            ("kubeListen", self.kube_listen.is_some()),
            ("ledger", self.ledger.is_some()),
            ("admission", self.admission.is_some()),
            ("ytt", self.ytt.is_some()),
            ("log", self.log.is_some()),
        ];
        match keys.into_iter().find(|(_, is_there)| *is_there) {
            Some((key, _)) => Err(ConfigError::NotForController {
                path: path.to_owned(),
                key,
            }),
            None => Ok(()),
        }
    }

    fn parse(text: &str, path: &Path) -> Result<Self, ConfigError> {
        let options = serde_saphyr::options! { strict_booleans: true };
        // A file with nothing but comments holds no document; it sets nothing.
        let parsed = serde_saphyr::from_str_with_options::<Option<Self>>(text, options);
        parsed.map(Option::unwrap_or_default).map_err(|error| {
            let place = error.location();
            ConfigError::Parse {
                path: path.to_owned(),
                line: place.map_or(1, |place| place.line()),
                column: place.map_or(1, |place| place.column()),
                message: message(&error),
            }
        })
    }
}

/// Returns the error without its place and its excerpt of the file, which we print ourselves.
fn message(error: &serde_saphyr::Error) -> String {
    let whole = error
        .without_snippet()
        .render_with_formatter(&UserMessageFormatter);
    let line = whole.lines().next().unwrap_or_default();
    line.split(" at line ").next().unwrap_or(line).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        ConfigFile::parse(text, Path::new("p.yaml"))
            .unwrap_err()
            .to_string()
    }

    #[test]
    fn empty_file_sets_nothing() {
        for text in ["", "# nothing yet\n", "---\n"] {
            let file = ConfigFile::parse(text, Path::new("p.yaml")).unwrap();
            assert_eq!(file.listen, None);
        }
    }

    #[test]
    fn mistakes_are_named_with_line_and_column() {
        insta::assert_snapshot!(error("listen: localhost:1\nlissen: localhost:2\n"), @"p.yaml:2:1: unknown field `lissen`, expected one of dataDir, listen, kubeListen, ledger, admission, ytt, log, trackers, hosts, registries, dockerConfig, ingest, polling");
        insta::assert_snapshot!(error("listen: 7700\n"), @"p.yaml:1:9: write HOST:PORT, such as 127.0.0.1:7700");
        insta::assert_snapshot!(error("listen: localhost:1\nlisten: localhost:2\n"), @"p.yaml:2:1: duplicate mapping key: listen not allowed here");
        insta::assert_snapshot!(error("listen: [\n"), @"p.yaml:1:9: expected string scalar");
        insta::assert_snapshot!(error("- listen\n"), @"p.yaml:1:1: expected mapping start");
    }
}
