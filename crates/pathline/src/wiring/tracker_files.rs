//! Trackers and Environments to begin with: files that were baked into an image, or mounted.
//!
//! Trackers are read once, while the ledger has never had one; from then on the ledger is the truth. Environments are
//! read while none was ever made. All files are checked before anything is made, so that a mistake in one leaves nothing
//! half done.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow};
use jiff::{SignedDuration, Timestamp};
use pathline_clock::Clock;
use pathline_document::{Document, Format, Limits};
use pathline_ledger::trackers::{CreateOutcome, CycleResult, NewConfiguration, StoredTracker};
use pathline_ledger::{Error, Ledger};
use pathline_release::TrackerName;
use pathline_release::application::Application;
use pathline_release::environment::{self, NewEnvironment};
use pathline_release::queue::Flow;
use pathline_release::request::{Body, Hosts, NewTracker};
use serde_json::{Map, Value};

use crate::cli::settings::TrackerSettings;
use crate::terminal::report::{CommandError, Exit};

/// The endings of the files that are read.
const TRACKER: &str = ".tracker.yaml";
const APPLICATION: &str = ".app.yaml";
const NAMESPACE: &str = ".namespace.yaml";

/// The largest file, in bytes.
const MAX_FILE: u64 = 1 << 20;
/// The one who makes these trackers, as the ledger tells it.
const BY: &str = "file";

/// A tracker to be made, and its application as long as its repository has not been read.
struct Beginning {
    new: NewTracker,
    application: Option<Application>,
}

/// The trackers and environments to begin with; files that are wrong have been refused.
pub(crate) struct Beginnings {
    trackers: Vec<Beginning>,
    /// The Environments; nothing if there are no files of them, or they are not read any more.
    pub(crate) environments: Option<Vec<NewEnvironment>>,
}

impl Beginnings {
    /// Reads the directory that is named, if one is: trackers if the ledger has never had one, and Environments if the
    /// cluster has never had one.
    pub(crate) async fn read(
        settings: &TrackerSettings,
        ledger: &Ledger,
        has_had_environments: bool,
    ) -> Result<Self, CommandError> {
        let mut beginnings = Self {
            trackers: Vec::new(),
            environments: None,
        };
        let Some(directory) = &settings.directory else {
            return Ok(beginnings);
        };
        let ever = ledger.trackers().ever_had_any().await;
        let ever = ever.context("cannot find out whether there are trackers")?;
        let shown = directory.display();
        if ever {
            tracing::info!("the ledger has had trackers; those of {shown} are not read");
        }
        if has_had_environments {
            tracing::info!("the cluster has had Environments; those of {shown} are not read");
        }
        let refuse = |error: anyhow::Error| {
            CommandError::from(error)
                .with_exit(Exit::Unknown)
                .with_hint("nothing was made; mend the file, or start without --trackers")
        };
        if !ever {
            let hosts = settings.config.tracking.known_hosts();
            beginnings.trackers = read(directory, &hosts).map_err(refuse)?;
        }
        if !has_had_environments {
            beginnings.environments = environments(directory).map_err(refuse)?;
        }
        Ok(beginnings)
    }

    /// Makes the trackers.
    pub(crate) async fn make_trackers(
        &mut self,
        settings: &TrackerSettings,
        ledger: &Ledger,
        clock: &Clock,
    ) -> Result<(), CommandError> {
        let trackers = std::mem::take(&mut self.trackers);
        make(
            ledger,
            trackers,
            settings.config.tracking.settle,
            clock.now(),
        )
        .await
    }
}

/// Makes all trackers at once, so that a mistake, or a crash, leaves nothing half done.
async fn make(
    ledger: &Ledger,
    beginnings: Vec<Beginning>,
    settle: SignedDuration,
    now: Timestamp,
) -> Result<(), CommandError> {
    let (all, applications): (Vec<_>, Vec<_>) = beginnings
        .into_iter()
        .map(|it| (it.new, it.application))
        .unzip();
    let names: Vec<_> = all.iter().map(|it| it.name.clone()).collect();
    let made = ledger.trackers().create_all(all, settle, BY, now).await;
    let made = made.map_err(|error| {
        let needs_key = matches!(error, Error::NoSealKey { .. });
        let failed = anyhow::Error::new(error).context("cannot make the trackers to begin with");
        let failed = CommandError::from(failed);
        match needs_key {
            true => failed.with_hint(
                "nothing was made; --seal-key or PATHLINE_SEAL_KEY gives a key, and `pathline seal new` \
                 makes one",
            ),
            false => failed,
        }
    })?;
    let made = made.into_iter().zip(names).zip(applications);
    for ((outcome, name), application) in made {
        let stored = match outcome {
            CreateOutcome::Created(stored) => stored,
            // Another replica that starts at the same time reads the same files.
            CreateOutcome::Exists => continue,
            CreateOutcome::OwnerTaken { by } => {
                tracing::warn!(
                    "the tracker `{name}` is not made from its file: its objects in clusters would be those \
                     of `{by}`; give one of them another name"
                );
                continue;
            }
        };
        let name = &stored.name;
        tracing::info!("made the tracker `{name}` from its file");
        if let Some(application) = application {
            let result = beginning_of(&stored, &application, now);
            let applied = ledger.trackers().apply(result).await;
            applied.with_context(|| format!("cannot keep the application `{name}`"))?;
        }
    }
    Ok(())
}

/// Returns what is known of an application before anybody has asked a host: its file, of no commit.
fn beginning_of(stored: &StoredTracker, application: &Application, at: Timestamp) -> CycleResult {
    let mut state = stored.state.clone();
    let basis = state.basis();
    state.bring_along(application.configuration("", ""), at);
    CycleResult {
        uid: stored.uid.clone(),
        basis,
        state,
        known_source: None,
        configuration: Some(NewConfiguration::from(application)),
        release: None,
        // Nothing is released of a file alone.
        flow: Flow::default(),
        at,
    }
}

/// Returns the files of a directory with an ending, in the order of their names.
fn files(directory: &Path, ending: &str) -> anyhow::Result<Vec<PathBuf>> {
    let listed = fs::read_dir(directory).and_then(Iterator::collect::<io::Result<Vec<_>>>);
    let listed = listed.with_context(|| format!("cannot list {}", directory.display()))?;
    let has_ending = |path: &PathBuf| {
        let name = path.file_name().and_then(|it| it.to_str());
        name.is_some_and(|it| it.ends_with(ending))
    };
    let paths = listed.into_iter().map(|it| it.path());
    let mut paths: Vec<_> = paths.filter(has_ending).collect();
    paths.sort();
    Ok(paths)
}

/// Reads the Environments of a directory; nothing if it has no files of them.
fn environments(directory: &Path) -> anyhow::Result<Option<Vec<NewEnvironment>>> {
    let paths = files(directory, NAMESPACE)?;
    if paths.is_empty() {
        return Ok(None);
    }
    let mut environments = Vec::new();
    for path in &paths {
        let shown = path.display();
        let text = text(path)?;
        let documents = Format::Yaml.read_with(&text, &Limits::default());
        let documents = documents.map_err(|error| anyhow!("{shown}: {error}"))?;
        let documents: Vec<_> = documents.iter().map(Document::to_json).collect();
        let file = environment::read_file(&documents)
            .map_err(|problems| anyhow!("{shown}: {}", environment::listed(&problems)))?;
        for warning in &file.warnings {
            tracing::warn!("{shown}: {warning}");
        }
        environments.extend(file.environments);
    }
    environment::check_together(&environments).map_err(|problems| {
        let problems = environment::listed(&problems);
        anyhow!("*{NAMESPACE} of {}: {problems}", directory.display())
    })?;
    Ok(Some(environments))
}

/// Reads all trackers of a directory, and the applications that they begin with.
fn read(directory: &Path, hosts: &Hosts) -> anyhow::Result<Vec<Beginning>> {
    let mut beginnings = BTreeMap::new();
    for path in &files(directory, TRACKER)? {
        let new = tracker(path, hosts).with_context(|| path.display().to_string())?;
        let beginning = Beginning {
            new,
            application: None,
        };
        let key = beginning.new.name.key();
        if let Some(other) = beginnings.insert(key, beginning) {
            let name = other.new.name;
            return Err(anyhow!(
                "{}: there is another file with `{name}`",
                path.display()
            ));
        }
    }
    for path in &files(directory, APPLICATION)? {
        let text = text(path)?;
        let applications = yaml(path, &text)?;
        let mut is_used = false;
        for beginning in beginnings.values_mut() {
            if has(&applications, &beginning.new.name) {
                is_used = true;
                let read = Application::read(&text, &beginning.new.name);
                let read = read.map_err(|error| anyhow!("{}: {error}", path.display()))?;
                beginning.application.get_or_insert(read);
            }
        }
        if !is_used {
            tracing::warn!(
                "{} is not used: no *{TRACKER} beside it is of an application that it has",
                path.display()
            );
        }
    }
    Ok(beginnings.into_values().collect())
}

/// Reads a tracker: the body of a POST, with `tokenFile` for `token`.
fn tracker(path: &Path, hosts: &Hosts) -> anyhow::Result<NewTracker> {
    let text = text(path)?;
    let documents = Format::Yaml.read_with(&text, &Limits::default());
    let documents = documents.map_err(|error| anyhow!("{error}"))?;
    let [document] = &documents[..] else {
        return Err(anyhow!("one document is expected"));
    };
    let Value::Object(mut fields) = document.to_json() else {
        return Err(anyhow!(
            "a mapping with `id`, `repo` and `sourcePath` is expected"
        ));
    };
    take_token(path, &mut fields)?;
    let body = Body::read(Value::Object(fields).to_string().as_bytes())?;
    body.create(hosts).map_err(|problems| {
        let problems = problems.iter();
        let lines: Vec<_> = problems
            .map(|it| format!("{}: {}", it.field, it.message))
            .collect();
        anyhow!("{}", lines.join("; "))
    })
}

/// Puts the token into the body that a file beside it holds; without one the repository is read anonymously.
fn take_token(path: &Path, fields: &mut Map<String, Value>) -> anyhow::Result<()> {
    if fields.contains_key("token") {
        return Err(anyhow!(
            "token: a file that is shared holds no secret; name the file that does in `tokenFile`"
        ));
    }
    let token = match fields.remove("tokenFile") {
        None => String::new(),
        Some(Value::String(file)) => {
            let file = path.parent().unwrap_or(Path::new("")).join(file);
            text(&file).context("tokenFile")?.trim().to_owned()
        }
        Some(_) => return Err(anyhow!("tokenFile: the path of a file is expected")),
    };
    fields.insert("token".to_owned(), Value::String(token));
    Ok(())
}

/// Reads the first document of a file.
fn yaml(path: &Path, text: &str) -> anyhow::Result<Value> {
    let read = Format::Yaml.read_with(text, &Limits::default());
    let documents = read.map_err(|error| anyhow!("{}: {error}", path.display()))?;
    let first = documents.first().map(Document::to_json);
    Ok(first.unwrap_or_default())
}

/// Tells whether an application file has the application of a tracker.
fn has(applications: &Value, name: &TrackerName) -> bool {
    let group = applications.get(name.group());
    group.is_some_and(|it| it.get(name.name()).is_some())
}

/// Reads a file that is not too large.
fn text(path: &Path) -> anyhow::Result<String> {
    let read = || {
        let file = fs::File::open(path)?;
        let mut text = String::new();
        file.take(MAX_FILE + 1).read_to_string(&mut text)?;
        Ok::<_, io::Error>(text)
    };
    let text = read().with_context(|| format!("cannot read {}", path.display()))?;
    if text.len() as u64 > MAX_FILE {
        return Err(anyhow!(
            "{} is larger than {MAX_FILE} bytes",
            path.display()
        ));
    }
    Ok(text)
}
