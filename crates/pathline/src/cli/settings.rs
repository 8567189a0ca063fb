//! Settings: decides when flags, environment, configuration file and defaults disagree.
//!
//! The command line wins over the environment (clap has already merged those two), both win over the
//! configuration file, and the file wins over the defaults below.

mod file;
mod tracking;

use std::path::{Path, PathBuf};

use pathline_ledger::Location;

use crate::cli::{Address, ControllerArgs, LogArgs, SealKeyArgs, UpArgs};
use crate::terminal::logs::Verbosity;
use crate::wiring::admission::Mode;

pub(crate) use self::file::ConfigError;
use self::file::ConfigFile;
pub(crate) use self::tracking::TrackingConfig;
use crate::wiring::seal_key::KeySource;

/// The directory where `up` keeps everything unless told otherwise.
pub(crate) const DATA_DIR: &str = pathline_client::DEFAULT_DATA_DIR;
/// The address where Pathline itself listens unless told otherwise.
pub(crate) const LISTEN: &str = "127.0.0.1:7700";
/// The address where the Kubernetes API listens unless told otherwise.
pub(crate) const KUBE_LISTEN: &str = "127.0.0.1:7443";

/// Everything `up` needs to know.
#[derive(Debug)]
pub(crate) struct UpSettings {
    pub(crate) data_dir: PathBuf,
    pub(crate) listen: Address,
    pub(crate) kube_listen: Address,
    pub(crate) ledger: Option<Location>,
    pub(crate) admission: Mode,
    pub(crate) ytt: Option<PathBuf>,
    pub(crate) verbosity: Verbosity,
    pub(crate) trackers: TrackerSettings,
}

/// The settings of `up` and `controller` that are about trackers.
#[derive(Debug, Default)]
pub(crate) struct TrackerSettings {
    /// The hosts, the registries and the senders of messages.
    pub(crate) config: TrackingConfig,
    /// The directory of trackers to begin with.
    pub(crate) directory: Option<PathBuf>,
    /// The key that seals secrets, if one is given.
    pub(crate) seal_key: Option<KeySource>,
}

impl TrackerSettings {
    /// Decides for `controller`.
    pub(crate) fn of_controller(args: &ControllerArgs) -> Result<Self, ConfigError> {
        let mut settings = Self {
            config: TrackingConfig::default(),
            directory: args.trackers.clone(),
            seal_key: seal_key(&args.seal_key),
        };
        if let Some(path) = &args.config {
            let mut file = ConfigFile::read(path)?;
            file.check_for_controller(path)?;
            let beside = path.parent().unwrap_or(Path::new(""));
            settings.config = file.take_tracking(beside)?;
            let named = file.trackers.map(|it| beside.join(it));
            settings.directory = settings.directory.or(named);
        }
        Ok(settings)
    }
}

fn seal_key(args: &SealKeyArgs) -> Option<KeySource> {
    let file = args.seal_key.clone().map(KeySource::File);
    file.or_else(|| args.seal_key_text.clone().map(KeySource::Text))
}

impl UpSettings {
    /// Decides, reading the configuration file if one is named.
    pub(crate) fn resolve(args: &UpArgs, log: &LogArgs) -> Result<Self, ConfigError> {
        let mut file = args
            .config
            .as_deref()
            .map(ConfigFile::read)
            .transpose()?
            .unwrap_or_default();
        let wished = log.filter.as_deref().or(file.log.as_deref());
        let verbosity = Verbosity::resolve(log.verbose, log.quiet, wished);
        let beside = args
            .config
            .as_deref()
            .and_then(Path::parent)
            .unwrap_or(Path::new(""));
        let trackers = TrackerSettings {
            config: file.take_tracking(beside)?,
            directory: args
                .trackers
                .clone()
                .or(file.trackers.map(|it| beside.join(it))),
            seal_key: seal_key(&args.seal_key),
        };
        let data_dir = args
            .data_dir
            .clone()
            .or(file.data_dir.map(|dir| beside.join(dir)));
        let ledger = match (args.ledger.location()?, file.ledger) {
            (Some(given), _) => Some(given),
            (None, Some(named)) => Some(match named.parse()? {
                Location::File(path) => Location::File(beside.join(path)),
                elsewhere @ Location::Postgres(_) => elsewhere,
            }),
            (None, None) => None,
        };
        Ok(Self {
            data_dir: data_dir.unwrap_or_else(|| DATA_DIR.into()),
            listen: args
                .listen
                .clone()
                .or(file.listen)
                .unwrap_or_else(|| default_address(LISTEN)),
            kube_listen: args
                .kube_listen
                .clone()
                .or(file.kube_listen)
                .unwrap_or_else(|| default_address(KUBE_LISTEN)),
            ledger,
            admission: args.admission.or(file.admission).unwrap_or_default(),
            ytt: args
                .programs
                .ytt
                .clone()
                .or(file.ytt.map(|program| beside.join(program))),
            verbosity,
            trackers,
        })
    }
}

/// Returns how much a command without a configuration file logs.
pub(crate) fn verbosity(log: &LogArgs) -> Verbosity {
    Verbosity::resolve(log.verbose, log.quiet, log.filter.as_deref())
}

/// Returns how much a command logs that logs to a file, where more does no harm.
pub(crate) fn file_verbosity(log: &LogArgs) -> Verbosity {
    let wished = log.filter.as_deref().unwrap_or("info,pathline=debug");
    Verbosity::resolve(log.verbose, log.quiet, Some(wished))
}

fn default_address(text: &'static str) -> Address {
    text.parse().expect("the defaults are addresses")
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, Parser};

    use super::*;
    use crate::cli::{Cli, Command};

    fn resolve(arguments: &[&str]) -> UpSettings {
        let cli = Cli::try_parse_from(["pathline", "up"].iter().chain(arguments)).unwrap();
        let Command::Up(args) = &cli.command else {
            unreachable!("`up` was typed")
        };
        UpSettings::resolve(args, &cli.log).unwrap()
    }

    #[test]
    fn defaults_hold_when_nothing_is_said_and_help_shows_them() {
        let settings = resolve(&[]);
        assert_eq!(settings.data_dir, Path::new(DATA_DIR));
        assert_eq!(settings.listen.as_str(), LISTEN);
        assert_eq!(settings.kube_listen.as_str(), KUBE_LISTEN);
        let help = Cli::command()
            .find_subcommand_mut("up")
            .unwrap()
            .render_help()
            .to_string();
        let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
        for default in [DATA_DIR, LISTEN, KUBE_LISTEN] {
            assert!(help.contains(&format!("[default: {default}]")), "{help}");
        }
    }

    #[test]
    fn file_wins_over_defaults_and_flags_win_over_the_file() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("pathline.yaml");
        std::fs::write(
            &path,
            "dataDir: data\nlisten: localhost:1\nkubeListen: localhost:2\nadmission: warn\nytt: ytt\n",
        )
        .unwrap();

        let settings = resolve(&[
            "--config",
            path.to_str().unwrap(),
            "--listen",
            "localhost:3",
        ]);

        assert_eq!(
            settings.data_dir,
            directory.path().join("data"),
            "relative to the file"
        );
        assert_eq!(settings.listen.as_str(), "localhost:3");
        assert_eq!(settings.kube_listen.as_str(), "localhost:2");
        assert_eq!(settings.admission, Mode::Warn);
        assert_eq!(settings.ytt, Some(directory.path().join("ytt")));
        let flag = ["--config", path.to_str().unwrap(), "--ytt", "mine"];
        assert_eq!(resolve(&flag).ytt, Some(PathBuf::from("mine")));
    }

    #[test]
    fn filter_of_the_file_holds_unless_flags_say_more() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("pathline.yaml");
        std::fs::write(&path, "log: trace\n").unwrap();
        let config = ["--config", path.to_str().unwrap()];
        let with = |more: &[&str]| resolve(&[&config[..], more].concat()).verbosity;

        assert_eq!(with(&[]), Verbosity::resolve(0, false, Some("trace")));
        assert_eq!(
            with(&["--log", "warn"]),
            Verbosity::resolve(0, false, Some("warn"))
        );
        assert_eq!(with(&["-v"]), Verbosity::resolve(1, false, None));
    }
}
