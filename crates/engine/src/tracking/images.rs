//! Questions to registries: which image does a label select?

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use pathline_release::Image;
use pathline_release::label::Kind;
use pathline_release::poll::{Fingerprint, FingerprintKey, HostKey, ImageKey, Requests};
use pathline_release::tracker::{ImageAnswer, ImageQuery, RegistryProblem, RegistryRead};
use pathline_remote::Secret;
use pathline_remote::http::HttpClient;
use pathline_remote::registry::{
    Description, Head, ImageRepository, RegistryClient, RegistryError, RegistryLogin,
};

use super::Tracking;
use super::followed::FollowedTracker;
use super::gate::{Gates, Visit};
use super::login::Logins;
use super::metrics::{PollOutcome, TrackingMetrics};
use super::outcome::{Trouble, counted_registry, of_registry};
use super::shared::Shared;
use crate::runtime::clock::Clock;

/// The time for which the description of an image is kept, for those who release it after others.
const DESCRIBED: SignedDuration = SignedDuration::from_hours(1);

/// A registry's answer, or why there is none.
type Answered<T> = Result<T, Trouble<RegistryProblem>>;

/// The answer to one question.
#[derive(Clone)]
struct Selected {
    /// The image, or that there is none.
    image: Answered<Option<Image>>,
    /// The requests that it took, if there was nothing new.
    requests: Option<Requests>,
}

/// Asks registries.
pub(super) struct Images {
    client: RegistryClient,
    gates: Arc<Gates>,
    shared: Shared<SharedKey, Selected>,
    described: Shared<DescribedKey, Answered<Description>>,
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

/// A question for a description: whoever has other credentials asks for himself.
#[derive(Clone, PartialEq, Eq, Hash)]
struct DescribedKey {
    repository: String,
    digest: String,
    credentials: Option<Fingerprint>,
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
    /// The requests of questions whose answer was not new.
    pub(super) requests: Vec<(ImageQuery, Requests)>,
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
            described: Shared::new(clock.clone()),
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
            requests: Vec::new(),
        };
        for query in queries {
            let selected = self.ask_one(tracker, query, not_before).await;
            let requests = selected.requests.map(|it| (query.clone(), it));
            answers.requests.extend(requests);
            match selected.image {
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

    /// Reads what an image says it was made from, which may be nothing.
    pub(super) async fn describe(
        &self,
        tracker: &FollowedTracker,
        image: &Image,
    ) -> Answered<Description> {
        let repository = repository_of(&image.repository);
        let query = tracker
            .queries()
            .into_iter()
            .find(|it| it.repository == image.repository);
        let own = query.and_then(|it| tracker.own_login(&it));
        let login = self.logins.find(&repository, own).await;
        let key = DescribedKey {
            repository: image.repository.clone(),
            digest: image.digest.clone(),
            credentials: self.fingerprint(login.as_ref()),
        };
        let read = Box::pin(self.read_description(&repository, &image.digest, login.as_ref()));
        // A digest always says the same, so an answer of any age will do; a failure is for those who wait for it now.
        let described = self.described.get(&key, Timestamp::MIN, read).await;
        if described.is_err() {
            self.described.forget(&key);
        }
        described
    }

    async fn read_description(
        &self,
        repository: &ImageRepository,
        digest: &str,
        login: Option<&RegistryLogin>,
    ) -> Answered<Description> {
        let key = self.host_key(&repository.registry, login);
        let visit = self.gates.pass(key).await;
        let client = self.client.paced(visit.clone());
        match client.describe(repository, digest, login).await {
            Ok((description, _)) => Ok(description),
            Err(error) => Err(trouble(&visit, &error)),
        }
    }

    /// Forgets answers that were asked for before a time.
    pub(super) fn forget_before(&self, time: Timestamp) {
        self.shared.forget_before(time);
        self.described.forget_before(time - DESCRIBED);
    }

    async fn select(&self, asked: &Asked<'_>) -> Selected {
        let repository = repository_of(&asked.query.repository);
        let key = self.host_key(&repository.registry, asked.login.as_ref());
        let visit = self.gates.pass(key).await;
        let image = self.choose(asked, &repository, &visit).await;
        let is_known = matches!(&image, Ok(found) if found.as_ref() == asked.known);
        self.metrics.asked(visit.host(), outcome(&image, is_known));
        Selected {
            image,
            requests: is_known.then(|| visit.requests()),
        }
    }

    /// Asks for the image that a label selects.
    async fn choose(
        &self,
        asked: &Asked<'_>,
        repository: &ImageRepository,
        visit: &Arc<Visit>,
    ) -> Answered<Option<Image>> {
        let client = self.client.paced(visit.clone());
        let login = asked.login.as_ref();
        let failed = |error: RegistryError| trouble(visit, &error);
        let label = &asked.query.label;
        let tag = match label.kind() {
            Kind::Digest | Kind::Pinned | Kind::Fixed => Some(label.as_str().to_owned()),
            Kind::Follow => {
                let listed = client.tags(repository, login).await;
                let (tags, _, _) = listed.map_err(failed)?;
                let tags = tags.iter().map(String::as_str);
                label.choose(tags, asked.released).map(str::to_owned)
            }
        };
        let Some(tag) = tag else {
            return Ok(None);
        };
        let known = asked.known.filter(|it| it.tag == tag);
        let digest = known.map(|it| it.digest.as_str());
        let head = client.head(repository, &tag, login, digest).await;
        let (head, _) = head.map_err(failed)?;
        match (head, known) {
            (Head::Digest(digest), _) => Ok(Some(Image {
                repository: asked.query.repository.clone(),
                tag,
                digest,
            })),
            (Head::Unchanged, Some(known)) => Ok(Some(known.clone())),
            // The registry has just listed it: it is asked again, rather than to fall to the next one.
            (Head::Missing, _) if label.kind() == Kind::Follow => Err(Trouble {
                problem: RegistryProblem::Failed,
                message: format!(
                    "{} lists the tag `{tag}`, and does not have it",
                    asked.query.repository
                ),
                not_before: None,
                is_held: false,
            }),
            (Head::Missing | Head::Unchanged, _) => Ok(None),
        }
    }

    async fn login_for(
        &self,
        tracker: &FollowedTracker,
        query: &ImageQuery,
    ) -> Option<RegistryLogin> {
        let own = tracker.own_login(query);
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

    fn fingerprint(&self, login: Option<&RegistryLogin>) -> Option<Fingerprint> {
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

fn trouble(visit: &Visit, error: &RegistryError) -> Trouble<RegistryProblem> {
    Trouble {
        problem: of_registry(error),
        message: error.message.clone(),
        not_before: visit.not_before(&error.signs),
        is_held: error.is_held(),
    }
}

/// Returns the word of the metrics for an answer.
fn outcome(image: &Answered<Option<Image>>, is_known: bool) -> PollOutcome {
    match image {
        Err(trouble) => counted_registry(trouble.problem),
        Ok(None) => PollOutcome::Missing,
        Ok(Some(_)) if is_known => PollOutcome::Unchanged,
        Ok(Some(_)) => PollOutcome::Changed,
    }
}
