//! Trackers, releases and secrets, with what their tests share.

mod applying;
mod configurations;
mod crash;
mod deleting;
mod describing;
mod finding;
mod forgetting;
mod leaders;
mod looking;
mod losing;
mod replacing;
mod resealing;
mod sealing;
mod telling;
mod trackers;

use jiff::{SignedDuration, Timestamp};
use pathline_ledger::releases::{ImageDescription, StoredRelease};
use pathline_ledger::trackers::{
    ApplyOutcome, CreateOutcome, CycleResult, KnownSource, NewConfiguration, ReplaceOutcome,
    StoredTracker,
};
use pathline_ledger::{Ledger, SealKey};
use pathline_release::application::Application;
use pathline_release::queue::{Environment, Flow};
use pathline_release::request::{Body, Hosts, NewTracker, Replacement};
use pathline_release::tracker::{Cycle, ImageAnswer, ImageQuery, RegistryRead, SourceRead};
use pathline_release::{Image, Token, TrackerName};
use serde_json::json;

use crate::home::Home;
use crate::story::at;

/// Secrets that are nowhere but in tokens, and in configurations (as base64, of which they are valid texts).
pub(crate) const TOKEN: &str = "SentinelOfTheToken";
pub(crate) const SECRET: &str = "SentinelOfTheSecret0";

pub(crate) fn mk_key(byte: u8) -> SealKey {
    SealKey::new(&[byte; 32])
}

pub(crate) fn mk_name(text: &str) -> TrackerName {
    text.parse().unwrap()
}

/// Opens the ledger with a key.
pub(crate) async fn open(home: &Home) -> anyhow::Result<Ledger> {
    Ok(home.open().await?.with_seal_key(mk_key(1)).await?)
}

pub(crate) fn mk_new(name: &str, token: &str) -> NewTracker {
    let body = json!({"id": name, "token": token, "repo": "acme/shop", "sourcePath": "deploy"});
    let body = Body::read(body.to_string().as_bytes()).unwrap();
    body.create(&Hosts::default()).unwrap()
}

/// Returns the replacement by another repository and path, and maybe another token.
pub(crate) fn mk_replacement(repository: &str, path: &str, token: Option<&str>) -> Replacement {
    let body = json!({"id": "a.b", "token": "", "repo": repository, "sourcePath": path});
    let body = Body::read(body.to_string().as_bytes()).unwrap();
    Replacement {
        source: body.create(&Hosts::default()).unwrap().source,
        has_new_source: true,
        token: token.map(|token| Token::new(token.to_owned()).unwrap()),
    }
}

pub(crate) fn mk_flow() -> Flow {
    Flow::new(vec![
        Environment::new("dev", 0),
        Environment::new("prod", 1),
    ])
    .unwrap()
}

/// Makes a tracker with a token.
pub(crate) async fn create(ledger: &Ledger, name: &str) -> anyhow::Result<StoredTracker> {
    let new = mk_new(name, TOKEN);
    let settle = SignedDuration::ZERO;
    match ledger.trackers().create(new, settle, "ci", at(1)).await? {
        CreateOutcome::Created(tracker) => Ok(*tracker),
        refused => anyhow::bail!("{name}: {refused:?}"),
    }
}

/// Replaces what a tracker reads, which has to work.
pub(crate) async fn replace(
    ledger: &Ledger,
    name: &str,
    replacement: Replacement,
) -> anyhow::Result<StoredTracker> {
    let name = mk_name(name);
    let replaced = ledger
        .trackers()
        .replace(&name, replacement, None, "ops", at(5));
    match replaced.await? {
        ReplaceOutcome::Replaced(tracker) => Ok(*tracker),
        other => anyhow::bail!("{other:?}"),
    }
}

/// The answers of one cycle.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    /// A variable of the application, by which configurations differ.
    pub(crate) setting: &'static str,
    /// Whether the configuration has a secret.
    pub(crate) has_secret: bool,
    pub(crate) commit: String,
    /// The digest of the image; nothing if there is none yet.
    pub(crate) digest: Option<String>,
    pub(crate) revision: Option<String>,
    pub(crate) time: Timestamp,
}

impl Seen {
    pub(crate) fn new(setting: &'static str, digest: &str) -> Self {
        Self {
            setting,
            has_secret: false,
            commit: "c0ffee0c0ffee0c0ffee0c0ffee0c0ffee0c0ffe".to_owned(),
            digest: Some(digest.to_owned()),
            revision: None,
            time: at(10),
        }
    }

    pub(crate) fn application(&self, name: &TrackerName) -> Application {
        let (group, name_) = (name.group(), name.name());
        let secret = match self.has_secret {
            true => format!("{{key: {{data: [{{name: a, value: {SECRET}}}]}}}}"),
            false => "{}".to_owned(),
        };
        let text = format!(
            "{group}: {{{name_}: {{version: main, environment: {{variable: {{SETTING: {}}}, file: {{secret: {secret}}}}}}}}}",
            self.setting
        );
        Application::read(&text, name).unwrap()
    }

    /// Observes the answers in the state that is stored.
    pub(crate) fn result(&self, tracker: &StoredTracker) -> CycleResult {
        let application = self.application(&tracker.name);
        let configuration = application.configuration(&self.commit, "b10b");
        let mut state = tracker.state.clone();
        let basis = state.basis();
        let queries = state.queries(Some(&configuration));
        let image = |query: &ImageQuery| {
            Some(Image {
                repository: query.repository.clone(),
                tag: "main".to_owned(),
                digest: self.digest.clone()?,
            })
        };
        let answers = queries.into_iter().map(|query| ImageAnswer {
            selected: image(&query),
            query,
        });
        let cycle = Cycle {
            basis,
            registry: RegistryRead {
                answers: answers.collect(),
                problem: None,
            },
            source: SourceRead::Read(configuration),
        };
        let outcome = state.observe(cycle, self.time);
        CycleResult {
            uid: tracker.uid.clone(),
            basis,
            state,
            known_source: Some(KnownSource {
                commit: self.commit.clone(),
                blob: Some("b10b".to_owned()),
                validator: None,
            }),
            configuration: Some(NewConfiguration::from(&application)),
            release: outcome.release,
            flow: mk_flow(),
            at: self.time,
        }
    }

    /// Applies the answers to the stored state, which has to work; returns the release.
    pub(crate) async fn apply(
        &self,
        ledger: &Ledger,
        name: &str,
    ) -> anyhow::Result<Option<StoredRelease>> {
        let tracker = stored(ledger, name).await?;
        let release = match ledger.trackers().apply(self.result(&tracker)).await? {
            ApplyOutcome::Applied { release } => release.map(|it| *it),
            ApplyOutcome::Discarded => anyhow::bail!("{self:?} was discarded"),
        };
        match (release, &self.revision) {
            (Some(formed), Some(revision)) => describe(ledger, &formed, revision).await.map(Some),
            (release, _) => Ok(release),
        }
    }
}

/// Describes the image of a release, and reads the release again.
async fn describe(
    ledger: &Ledger,
    formed: &StoredRelease,
    revision: &str,
) -> anyhow::Result<StoredRelease> {
    let description = ImageDescription {
        revision: Some(revision.to_owned()),
        source: Some("https://git.example".to_owned()),
    };
    let (uid, number) = (&formed.tracker_uid, formed.release.number);
    ledger.releases().describe(uid, number, description).await?;
    let described = ledger.releases().get(&formed.id).await?;
    described.ok_or_else(|| anyhow::anyhow!("{} is not there", formed.id))
}

pub(crate) async fn stored(ledger: &Ledger, name: &str) -> anyhow::Result<StoredTracker> {
    let found = ledger.trackers().get(&mk_name(name)).await?;
    found.ok_or_else(|| anyhow::anyhow!("{name} is not there"))
}

/// Returns the states of the entries of a release, as `environment=state`.
pub(crate) fn entries(release: &StoredRelease) -> String {
    let entries = release.entries.iter();
    let entries = entries.map(|(environment, entry)| format!("{environment}={}", entry.state));
    entries.collect::<Vec<_>>().join(" ")
}
