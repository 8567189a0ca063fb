//! Runs: a tracker and its queues, and the world that they look at.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::case::Case;
use super::step::{Registry, Source, Step};
use super::{Answer, InvalidCase};
use crate::label::{Kind, Label};
use crate::queue::{EntryState, Flow, Holds, Queues, Report};
use crate::release::{Configuration, Image, Release};
use crate::tracker::{
    Cycle, ImageAnswer, ImageQuery, RegistryProblem, RegistryRead, SourceProblem, SourceRead,
    Tracker,
};
use crate::vetos::Vetos;

/// The one repository of the images of a case.
const REPOSITORY: &str = "registry.example/group/name";

/// The state of a case between two steps.
pub(super) struct Run {
    flow: Flow,
    vetos: Vetos,
    /// The tags of the image, and their digests; nothing if there is no such image.
    tags: Option<BTreeMap<String, String>>,
    tracker: Tracker,
    queues: Queues,
    releases: Vec<Release>,
    /// A second later with each step.
    now: Timestamp,
}

impl Run {
    pub(super) fn new(case: &Case) -> Result<Self, InvalidCase> {
        let name = "group.name".parse();
        let name = name.map_err(|_| InvalidCase::new("case", "it has no name"))?;
        Ok(Self {
            flow: case.flow.clone(),
            vetos: case.vetos.clone(),
            tags: Some(BTreeMap::new()),
            tracker: Tracker::new(SignedDuration::ZERO),
            queues: Queues::new(name),
            releases: Vec::new(),
            now: Timestamp::UNIX_EPOCH,
        })
    }

    /// Takes one step.
    pub(super) fn take(&mut self, step: Step) -> Result<(), String> {
        self.now += SignedDuration::from_secs(1);
        match step {
            Step::Poll { registry, source } => self.poll(registry, source),
            Step::Tick(environments) => {
                for environment in &environments {
                    self.check(environment)?;
                }
                let environments: Vec<_> = environments.iter().map(String::as_str).collect();
                let flow = (&self.flow, &Holds::default());
                self.queues.tick(flow, &environments, self.now);
            }
            Step::Ready(environment) => self.report(&environment, Report::Ready)?,
            Step::Failed(environment) => {
                self.report(&environment, Report::Failed("failed".to_owned()))?;
            }
            Step::Promote {
                environment,
                release,
            } => self.promote(environment, release)?,
            Step::Delete => {
                self.tracker.delete();
                self.queues.delete(self.now);
            }
            Step::Restart => {
                self.tracker = stored(&self.tracker)?;
                self.queues = stored(&self.queues)?;
            }
        }
        Ok(())
    }

    pub(super) fn answer(&self, id: Option<String>) -> Answer {
        let releases = self.releases.iter().map(|it| {
            let (hash, image) = (&it.configuration.config_hash, &it.image);
            format!(
                "{}:{hash}/{}@{}:{}",
                it.number, image.tag, image.digest, it.cause
            )
        });
        let pending = self.tracker.pending();
        let pending = pending.map(|it| it.configuration.config_hash.clone());
        let conditions = self.tracker.conditions().map(|(it, _)| it.to_string());
        let environments = self.flow.environments().iter().flat_map(|environment| {
            let name = &environment.name;
            let entries = self.queues.entries(name);
            entries.map(move |(release, entry)| format!("{name}.{release}={}", entry.state))
        });
        Answer {
            id,
            releases: listed(releases, " "),
            pending: listed(pending.into_iter(), " "),
            conditions: listed(conditions, ","),
            environments: listed(environments, " "),
        }
    }

    fn poll(&mut self, registry: Registry, source: Source) {
        let is_error = registry == Registry::Error;
        match registry {
            Registry::Unchanged | Registry::Error => {}
            Registry::NotFound => self.tags = None,
            Registry::Tags(tags) => self.tags = Some(tags.into_iter().collect()),
        }
        let source = self.source(source);
        let read = match &source {
            SourceRead::Read(configuration) => Some(configuration),
            SourceRead::Unchanged | SourceRead::Problem(_) => None,
        };
        let queries = self.tracker.queries(read).into_iter();
        let answers = queries.map(|query| self.answer_to(query)).collect();
        let problem = match self.tags {
            _ if is_error => Some(RegistryProblem::Failed),
            None => Some(RegistryProblem::NotFound),
            Some(_) => None,
        };
        let cycle = Cycle {
            basis: self.tracker.basis(),
            registry: RegistryRead { answers, problem },
            source,
        };
        let outcome = self.tracker.observe(cycle, self.now);
        if let Some(release) = outcome.release {
            self.queues.enter(&self.flow, &release, self.now);
            self.releases.push(release);
        }
    }

    fn source(&self, source: Source) -> SourceRead {
        match source {
            Source::Unchanged => SourceRead::Unchanged,
            Source::Error => SourceRead::Problem(SourceProblem::Failed),
            Source::NotFound => SourceRead::Problem(SourceProblem::ConfigMissing),
            Source::Invalid => SourceRead::Problem(SourceProblem::ConfigInvalid),
            Source::Configuration { hash, label } => match Label::parse(&label) {
                Err(_) => SourceRead::Problem(SourceProblem::ConfigInvalid),
                Ok(label) => SourceRead::Read(Configuration {
                    config_hash: hash,
                    label,
                    repository: REPOSITORY.to_owned(),
                    commit: String::new(),
                    blob: String::new(),
                    vetos: self.vetos.clone(),
                }),
            },
        }
    }

    fn answer_to(&self, query: ImageQuery) -> ImageAnswer {
        let none = BTreeMap::new();
        let tags = self.tags.as_ref().unwrap_or(&none);
        let released = self.tracker.last_release().map(|it| it.image.tag.as_str());
        let label = &query.label;
        let selected = if label.kind() == Kind::Digest {
            let digest = label.as_str();
            let has = tags.values().any(|it| it == digest);
            has.then(|| (digest.to_owned(), digest.to_owned()))
        } else {
            let tag = label.choose(tags.keys().map(String::as_str), released);
            tag.and_then(|tag| tags.get_key_value(tag))
                .map(|(tag, digest)| (tag.clone(), digest.clone()))
        };
        let selected = selected.map(|(tag, digest)| Image {
            repository: query.repository.clone(),
            tag,
            digest,
        });
        ImageAnswer { query, selected }
    }

    fn report(&mut self, environment: &str, report: Report) -> Result<(), String> {
        self.check(environment)?;
        // A report without a deployment is a late one, and changes nothing.
        if let Some(release) = self.queues.newest(environment, EntryState::Deploying) {
            let entry = self.queues.entry(environment, release);
            let attempt = entry.map(|it| it.attempt).unwrap_or_default();
            let entry = (environment, release);
            self.queues
                .report(&self.flow, entry, attempt, report, self.now);
        }
        Ok(())
    }

    /// Promotes in one environment, or wherever something waits; a promotion that is refused changes nothing.
    fn promote(&mut self, environment: Option<String>, release: Option<u64>) -> Result<(), String> {
        let environments = match environment {
            Some(environment) => {
                self.check(&environment)?;
                vec![environment]
            }
            None => {
                let all = self.flow.environments().iter();
                all.map(|it| it.name.clone()).collect()
            }
        };
        for environment in environments {
            let _refused = self
                .queues
                .promote(&self.flow, (&environment, release), self.now);
        }
        Ok(())
    }

    fn check(&self, environment: &str) -> Result<(), String> {
        let is_there = self
            .flow
            .environments()
            .iter()
            .any(|it| it.name == environment);
        is_there
            .then_some(())
            .ok_or_else(|| format!("there is no environment `{environment}`"))
    }
}

/// Writes a state down, and reads it again.
fn stored<T: Serialize + DeserializeOwned>(state: &T) -> Result<T, String> {
    let text = serde_json::to_string(state);
    let read = text.and_then(|text| serde_json::from_str(&text));
    read.map_err(|error| format!("the state cannot be stored: {error}"))
}

fn listed(items: impl Iterator<Item = String>, separator: &str) -> String {
    let items: Vec<_> = items.collect();
    match items.is_empty() {
        true => "-".to_owned(),
        false => items.join(separator),
    }
}
