//! Questions to registries: which image does a label select?

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::Timestamp;
use pathline_release::Image;
use pathline_release::label::Kind;
use pathline_release::poll::{FingerprintKey, HostKey, ImageKey};
use pathline_release::tracker::{ImageAnswer, ImageQuery, RegistryProblem, RegistryRead};
use pathline_remote::Secret;
use pathline_remote::http::HttpClient;
use pathline_remote::registry::{
    Description, Head, ImageRepository, RegistryClient, RegistryError, RegistryLogin,
};

use super::Tracking;
use super::followed::FollowedTracker;
use super::gate::{Gates, Held};
use super::login::Logins;
use super::metrics::{PollOutcome, TrackingMetrics};
use super::outcome::{Trouble, counted_registry, of_registry};
use super::shared::Shared;
use crate::runtime::clock::Clock;

/// The answer to one question: the image, or that there is none.
type Selected = Result<Option<Image>, Trouble<RegistryProblem>>;

/// Asks registries.
pub(super) struct Images {
    client: RegistryClient,
    gates: Arc<Gates>,
    shared: Shared<SharedKey, Selected>,
    fingerprints: FingerprintKey,
    logins: Logins,
    metrics: TrackingMetrics,
}

/// A question that may be shared.
#[derive(Clone, PartialEq, Eq, Hash)]
struct SharedKey {
    image: ImageKey,
    /// The tag that is released: of two spellings of one version it is the one that stays.
    released: Option<String>,
}

/// A question, and what is known of its answer.
struct Asked<'a> {
    query: &'a ImageQuery,
    login: Option<RegistryLogin>,
    known: Option<&'a Image>,
    released: Option<&'a str>,
}

/// The answers of registries to one tracker.
pub(super) struct RegistryAnswers {
    pub(super) read: RegistryRead,
    pub(super) trouble: Option<Trouble<RegistryProblem>>,
}

impl Images {
    pub(super) fn new(
        http: HttpClient,
        gates: Arc<Gates>,
        clock: &Clock,
        tracking: &Tracking,
        fingerprints: FingerprintKey,
    ) -> Self {
        let settings = Arc::clone(&tracking.settings);
        let insecure = settings.registries.iter().filter(|it| it.allows_http);
        let insecure: BTreeSet<String> = insecure.map(|it| it.name.clone()).collect();
        Self {
            client: RegistryClient::new(http, insecure),
            gates,
            shared: Shared::new(clock.clone()),
            fingerprints,
            metrics: tracking.metrics.clone(),
            logins: Logins::new(settings, clock.clone()),
        }
    }

    /// Asks all questions of a tracker, and takes answers that were asked for at a time or after it.
    pub(super) async fn ask(
        &self,
        tracker: &FollowedTracker,
        queries: &[ImageQuery],
        not_before: Timestamp,
    ) -> RegistryAnswers {
        let mut answers = RegistryAnswers {
            read: RegistryRead::default(),
            trouble: None,
        };
        for query in queries {
            match self.ask_one(tracker, query, not_before).await {
                Ok(selected) => answers.read.answers.push(ImageAnswer {
                    query: query.clone(),
                    selected,
                }),
                Err(trouble) => {
                    answers.read.problem.get_or_insert(trouble.problem);
                    answers.trouble.get_or_insert(trouble);
                }
            }
        }
        answers
    }

    async fn ask_one(
        &self,
        tracker: &FollowedTracker,
        query: &ImageQuery,
        not_before: Timestamp,
    ) -> Selected {
        let asked = Asked {
            query,
            login: self.login_for(tracker, query).await,
            known: tracker.stored.state.answer(query),
            released: released_tag(tracker, query),
        };
        let key = SharedKey {
            image: ImageKey::new(
                &query.repository,
                &query.label,
                self.fingerprint(asked.login.as_ref()),
            ),
            released: asked.released.map(str::to_owned),
        };
        let select = Box::pin(self.select(&asked));
        self.shared.get(&key, not_before, select).await
    }

    /// Reads what an image says it was made from; nothing if it does not say, or cannot be read.
    pub(super) async fn describe(&self, tracker: &FollowedTracker, image: &Image) -> Description {
        let repository = repository_of(&image.repository);
        let query = tracker
            .queries()
            .into_iter()
            .find(|it| it.repository == image.repository);
        let login = match &query {
            Some(query) => self.login_for(tracker, query).await,
            None => None,
        };
        let key = self.host_key(&repository.registry, login.as_ref());
        let Ok(_permit) = self.gates.pass(&key).await else {
            return Description::default();
        };
        let described = self
            .client
            .describe(&repository, &image.digest, login.as_ref());
        match described.await {
            Ok((description, signs)) => {
                self.gates.heed(&key, &signs);
                description
            }
            Err(error) => {
                self.gates.heed(&key, &error.signs);
                tracing::warn!("an image does not say what it is made from: {error}");
                Description::default()
            }
        }
    }

    /// Forgets answers that were asked for before a time.
    pub(super) fn forget_before(&self, time: Timestamp) {
        self.shared.forget_before(time);
    }

    async fn select(&self, asked: &Asked<'_>) -> Selected {
        let repository = repository_of(&asked.query.repository);
        let key = self.host_key(&repository.registry, asked.login.as_ref());
        let _permit = self.gates.pass(&key).await.map_err(held)?;
        let label = &asked.query.label;
        let tag = match label.kind() {
            Kind::Digest | Kind::Pinned | Kind::Fixed => Some(label.as_str().to_owned()),
            Kind::Follow => {
                let listed = self.client.tags(&repository, asked.login.as_ref()).await;
                let (tags, _, signs) = listed.map_err(|error| self.trouble(&key, &error))?;
                self.gates.heed(&key, &signs);
                let tags = tags.iter().map(String::as_str);
                label.choose(tags, asked.released).map(str::to_owned)
            }
        };
        let Some(tag) = tag else {
            self.metrics.asked(&key.host, PollOutcome::Missing);
            return Ok(None);
        };
        let known = asked.known.filter(|it| it.tag == tag);
        let digest = known.map(|it| it.digest.as_str());
        let head = self
            .client
            .head(&repository, &tag, asked.login.as_ref(), digest);
        let (head, signs) = head.await.map_err(|error| self.trouble(&key, &error))?;
        self.gates.heed(&key, &signs);
        let image = |digest: String| Image {
            repository: asked.query.repository.clone(),
            tag: tag.clone(),
            digest,
        };
        match (head, known) {
            (Head::Digest(digest), known) => {
                let is_known = known.is_some_and(|it| it.digest == digest);
                self.metrics.asked(&key.host, outcome(is_known));
                Ok(Some(image(digest)))
            }
            (Head::Unchanged, Some(known)) => {
                self.metrics.asked(&key.host, PollOutcome::Unchanged);
                Ok(Some(known.clone()))
            }
            // The registry has just listed it: it is asked again, rather than to fall to the next one.
            (Head::Missing, _) if label.kind() == Kind::Follow => {
                self.metrics.asked(&key.host, PollOutcome::Failed);
                Err(Trouble {
                    problem: RegistryProblem::Failed,
                    message: format!(
                        "{} lists the tag `{tag}`, and does not have it",
                        asked.query.repository
                    ),
                    not_before: None,
                })
            }
            (Head::Missing | Head::Unchanged, _) => {
                self.metrics.asked(&key.host, PollOutcome::Missing);
                Ok(None)
            }
        }
    }

    fn trouble(&self, key: &HostKey, error: &RegistryError) -> Trouble<RegistryProblem> {
        let problem = of_registry(error);
        self.metrics.asked(&key.host, counted_registry(problem));
        Trouble {
            problem,
            message: error.message.clone(),
            not_before: self.gates.heed(key, &error.signs),
        }
    }

    async fn login_for(
        &self,
        tracker: &FollowedTracker,
        query: &ImageQuery,
    ) -> Option<RegistryLogin> {
        let state = &tracker.stored.state;
        let released = state.last_release().map(|it| &it.configuration);
        let pending = state.pending().map(|it| &it.configuration);
        let mut configurations = [state.source(), pending, released].into_iter().flatten();
        let own = configurations
            .find(|it| ImageQuery::of(it) == *query)
            .and_then(|it| tracker.logins.get(&it.config_hash));
        self.logins
            .find(&repository_of(&query.repository), own)
            .await
    }

    fn host_key(&self, registry: &str, login: Option<&RegistryLogin>) -> HostKey {
        HostKey {
            host: registry.to_owned(),
            credentials: self.fingerprint(login),
        }
    }

    fn fingerprint(
        &self,
        login: Option<&RegistryLogin>,
    ) -> Option<pathline_release::poll::Fingerprint> {
        let secret = match login? {
            RegistryLogin::Basic { username, password } => {
                Secret::new(format!("{username}:{}", password.reveal()))
            }
            RegistryLogin::Identity(token) => token.clone(),
        };
        self.fingerprints.fingerprint(secret.reveal())
    }
}

/// Returns the tag of the last release, if it was chosen by the same question.
fn released_tag<'t>(tracker: &'t FollowedTracker, query: &ImageQuery) -> Option<&'t str> {
    let last = tracker.stored.state.last_release()?;
    let is_same = last.image.repository == query.repository && query.label.kind() == Kind::Follow;
    is_same.then_some(last.image.tag.as_str())
}

fn repository_of(reference: &str) -> ImageRepository {
    let (registry, repository) = reference.split_once('/').unwrap_or(("", reference));
    ImageRepository {
        registry: registry.to_owned(),
        repository: repository.to_owned(),
    }
}

fn outcome(is_known: bool) -> PollOutcome {
    match is_known {
        true => PollOutcome::Unchanged,
        false => PollOutcome::Changed,
    }
}

fn held(Held(until): Held) -> Trouble<RegistryProblem> {
    Trouble {
        problem: RegistryProblem::RateLimited,
        message: format!("the registry does not want to be asked before {until}"),
        not_before: Some(until),
    }
}
