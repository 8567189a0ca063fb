//! Trackers to begin with: files that were baked into an image, or mounted.
//!
//! They are read once, while the ledger has never had a tracker; from then on the ledger is the truth. All of them are
//! checked before the first one is made, so that a mistake in one leaves nothing half done.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow};
use jiff::{SignedDuration, Timestamp};
use pathline_clock::Clock;
use pathline_document::{Format, Limits};
use pathline_ledger::trackers::{CreateOutcome, CycleResult, NewConfiguration, StoredTracker};
use pathline_ledger::{Error, Ledger};
use pathline_release::TrackerName;
use pathline_release::application::Application;
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

/// Makes the trackers of a directory, if one is named and the ledger has never had a tracker.
pub(crate) async fn begin_with(
    settings: &TrackerSettings,
    ledger: &Ledger,
    clock: &Clock,
) -> Result<(), CommandError> {
    let Some(directory) = &settings.directory else {
        return Ok(());
    };
    let ever = ledger.trackers().ever_had_any().await;
    if ever.context("cannot find out whether there are trackers")? {
        tracing::info!(
            "the ledger has had trackers; {} is not read",
            directory.display()
        );
        return Ok(());
    }
    let tracking = &settings.config.tracking;
    let beginnings = read(directory, &tracking.known_hosts()).map_err(|error| {
        CommandError::from(error)
            .with_exit(Exit::Unknown)
            .with_hint("nothing was made; mend the file, or start without --trackers")
    })?;
    make(ledger, beginnings, tracking.settle, clock.now()).await
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

/// Reads all files of a directory, in the order of their names.
fn read(directory: &Path, hosts: &Hosts) -> anyhow::Result<Vec<Beginning>> {
    let listed = fs::read_dir(directory).and_then(Iterator::collect::<io::Result<Vec<_>>>);
    let listed = listed.with_context(|| format!("cannot list {}", directory.display()))?;
    let mut paths: Vec<PathBuf> = listed.into_iter().map(|it| it.path()).collect();
    paths.sort();
    let ending = |path: &Path, ending: &str| {
        let name = path.file_name().and_then(|it| it.to_str());
        name.is_some_and(|it| it.ends_with(ending))
    };
    let of = |wanted: &'static str| paths.iter().filter(move |it| ending(it, wanted));
    let mut beginnings = BTreeMap::new();
    for path in of(TRACKER) {
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
    for path in of(APPLICATION) {
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
    for path in of(NAMESPACE) {
        // Environments are made of these; that they can be read is said now, not then.
        yaml(path, &text(path)?)?;
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
    let first = documents.first().map(pathline_document::Document::to_json);
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
