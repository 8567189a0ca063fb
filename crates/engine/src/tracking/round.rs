//! Rounds: one look at trackers that read the same file.
//!
//! The registry is asked first and the repository after it has answered. A configuration that is new may ask the registry
//! something that nobody has asked in this round; then that is asked, and the repository once more.

use std::sync::Arc;

use futures::future::join_all;
use jiff::{SignedDuration, Timestamp};
use pathline_ledger::Ledger;
use pathline_ledger::trackers::{ApplyOutcome, CycleResult, KnownSource, NewConfiguration};
use pathline_release::application::Application;
use pathline_release::poll::{Ending, Failure, FingerprintKey, Jitter, Question, Requests};
use pathline_release::queue::Flow;
use pathline_release::request::Reference;
use pathline_release::tracker::{
    Cycle, ImageQuery, Outcome, Phase, RegistryProblem, SourceProblem, SourceRead,
};
use pathline_release::{label::Kind, tracker};
use pathline_remote::git::Git;
use pathline_remote::http::{self, HttpClient};
use pathline_remote::source::{Known, SourceAnswer};

use super::description::{Retry, describe};
use super::followed::FollowedTracker;
use super::gate::Gates;
use super::images::{Images, RegistryAnswers};
use super::outcome::Trouble;
use super::places::{Place, Places};
use super::sources::{Source, Sources};
use super::{Tracking, login, random};
use crate::releasing::environments::EnvironmentsReceiver;
use crate::runtime::clock::Clock;

/// The number of times that a registry is asked in one round because the configuration has changed again.
const MAX_TURNS: usize = 3;

/// The pause after somebody else was first.
const AGAIN: SignedDuration = SignedDuration::from_secs(1);

/// Looks at trackers.
pub(super) struct Looker {
    ledger: Ledger,
    clock: Clock,
    tracking: Tracking,
    images: Images,
    sources: Sources,
    places: Arc<Places>,
    environments: EnvironmentsReceiver,
    fingerprints: FingerprintKey,
}

/// The circumstances of a round.
#[derive(Clone, Copy)]
pub(super) struct Circumstances {
    /// The time until the next one.
    pub(super) interval: SignedDuration,
    /// Whether somebody waits for it, so that no older answer will do.
    pub(super) is_wanted: bool,
}

/// The answer of a repository about one application.
struct Reading {
    read: SourceRead,
    application: Option<Application>,
    known: Option<Known>,
    trouble: Option<Trouble<SourceProblem>>,
}

/// A tracker after a round.
pub(super) struct Looked {
    pub(super) uid: String,
    /// The end of the round for it.
    pub(super) ending: Ending,
    /// The tracker from then on, unless somebody else has changed it.
    pub(super) after: Option<FollowedTracker>,
    /// The requests of questions whose answer was not new.
    pub(super) requests: Vec<(Question, Requests)>,
}

impl Looker {
    /// Returns the environments as they are now; tracking begins when they are known.
    fn flow(&self) -> Flow {
        let environments = self.environments.borrow();
        let flow = environments.as_ref().map(|it| it.flow().clone());
        flow.unwrap_or_default()
    }

    pub(super) fn new(
        ledger: &Ledger,
        clock: &Clock,
        tracking: &Tracking,
        git: Git,
        environments: EnvironmentsReceiver,
    ) -> Result<Self, http::Failure> {
        let (seed, key) = random();
        let fingerprints = FingerprintKey::new(key);
        let settings = Arc::clone(&tracking.settings);
        let gates = Gates::new(clock.clone(), Jitter::new(seed), Arc::clone(&settings));
        let gates = Arc::new(gates);
        let http = HttpClient::new(settings.http_options(clock))?;
        Ok(Self {
            ledger: ledger.clone(),
            clock: clock.clone(),
            tracking: tracking.clone(),
            images: Images::new(
                http.clone(),
                Arc::clone(&gates),
                clock,
                tracking,
                fingerprints.clone(),
            ),
            sources: Sources::new(http, git, gates, tracking, fingerprints.clone()),
            places: Arc::default(),
            environments,
            fingerprints,
        })
    }

    /// Returns the rounds at each host.
    pub(super) fn places(&self) -> &Arc<Places> {
        &self.places
    }

    /// Returns the key by which credentials are known.
    pub(super) fn fingerprints(&self) -> &FingerprintKey {
        &self.fingerprints
    }

    /// Looks at trackers that read the same file with the same credentials. `place` is the round's at the hosts that are
    /// asked first.
    pub(super) async fn poll(
        &self,
        members: Vec<FollowedTracker>,
        circumstances: Circumstances,
        place: Place,
    ) -> Vec<Looked> {
        // Those that read the same file without a secret are followed all the same.
        let (locked, open): (Vec<_>, Vec<_>) =
            members.into_iter().partition(|it| it.locked.is_some());
        let mut looked = refused(locked);
        looked.extend(self.poll_open(open, circumstances, place).await);
        looked
    }

    async fn poll_open(
        &self,
        members: Vec<FollowedTracker>,
        circumstances: Circumstances,
        place: Place,
    ) -> Vec<Looked> {
        let Circumstances {
            interval,
            is_wanted,
        } = circumstances;
        let begun = self.clock.now();
        self.images.forget_before(begun - interval);
        let Some(first) = members.first() else {
            return Vec::new();
        };
        let questions = members.iter().map(async |member| {
            let queries = member.queries();
            let not_before = match is_wanted {
                true => begun,
                false => oldest_answer(member, begun, interval),
            };
            let answers = self.images.ask(member, &queries, not_before).await;
            (queries, answers)
        });
        let answered = join_all(questions).await;
        drop(place);
        let known = common(&members);
        let (file, token) = (&first.stored.source, first.token.as_ref());
        let place = self.places.take(vec![self.source_host(first)]);
        let source = self.sources.read(file, token, known.as_ref()).await;
        drop(place);
        let concluding = members.iter().zip(answered).map(|(member, answered)| {
            self.conclude(member, answered, source.clone(), (begun, circumstances))
        });
        join_all(concluding).await
    }

    /// Says what follows for one tracker, and applies it.
    async fn conclude(
        &self,
        member: &FollowedTracker,
        (mut queries, mut answers): (Vec<ImageQuery>, RegistryAnswers),
        mut source: Source,
        (begun, circumstances): (Timestamp, Circumstances),
    ) -> Looked {
        let interval = circumstances.interval;
        let requests = self.requests(member, &answers, &source);
        let mut reading = Reading::of(member, &source);
        for _ in 0..MAX_TURNS {
            let Some(unasked) = unasked(member, &reading, &queries) else {
                break;
            };
            // The login for it may come with the configuration that was just read.
            let reader = reading.reader(member);
            let more = self
                .images
                .ask(&reader, std::slice::from_ref(&unasked), begun);
            answers.add(more.await);
            queries.push(unasked);
            let (file, token) = (&member.stored.source, member.token.as_ref());
            let again = self.sources.read(file, token, source.known.as_ref()).await;
            // What is as it was is what was read a moment ago.
            if !matches!(again.answer, Ok(SourceAnswer::Unchanged)) {
                source = again;
                reading = Reading::of(member, &source);
            }
        }
        let slowed = source
            .signs
            .quota
            .map_or(interval, |it| it.slowed(interval));
        let mut looked = self.apply(member, answers, reading, slowed).await;
        looked.requests = requests;
        self.describe(&mut looked, circumstances.is_wanted).await;
        looked
    }

    /// Returns the requests of questions whose answer was not new.
    fn requests(
        &self,
        member: &FollowedTracker,
        answers: &RegistryAnswers,
        source: &Source,
    ) -> Vec<(Question, Requests)> {
        let of_registries = answers.requests.iter().map(|(query, requests)| {
            let key = member.image_key(query, &self.fingerprints);
            (Question::Image(key), requests.clone())
        });
        let of_source = source.requests.clone().map(|requests| {
            let key = member.source_key(&self.fingerprints);
            (Question::Source(key), requests)
        });
        of_registries.chain(of_source).collect()
    }

    /// Reads what the images of releases say that nobody has described yet, if it is time for that.
    async fn describe(&self, looked: &mut Looked, is_wanted: bool) {
        let now = self.clock.now();
        let Some(after) = looked.after.as_mut() else {
            return;
        };
        if !after.stored.is_undescribed {
            return;
        }
        if is_wanted || after.description.is_due(now) {
            describe(&self.ledger, &self.images, after, now).await;
        }
        // What keeps a tracker from its work is told first.
        if after.stored.state.phase() != Phase::Degraded && after.last_failure.is_none() {
            after.last_failure.clone_from(&after.description.why);
        }
        if after.stored.is_undescribed && looked.ending == Ending::Done {
            looked.ending = after.description.ending(now);
        }
    }

    /// Stores the secrets of a file that was read only for them, since their key was lost.
    async fn restore_secrets(&self, after: &mut FollowedTracker, reading: &Reading) {
        let Some(application) = reading.application.as_ref() else {
            return;
        };
        if !after.has_lost_secrets {
            return;
        }
        let configuration = NewConfiguration::from(application);
        let (uid, name) = (&after.stored.uid, &after.stored.name);
        let trackers = self.ledger.trackers();
        match trackers.restore_secrets(uid, configuration).await {
            Ok(()) => after.has_lost_secrets = false,
            Err(error) => tracing::warn!("cannot keep the secrets of `{name}`: {error}"),
        }
    }

    fn source_host(&self, tracker: &FollowedTracker) -> String {
        let host = &tracker.stored.source.repository.host;
        self.tracking.settings.budgeted(host)
    }

    async fn apply(
        &self,
        member: &FollowedTracker,
        answers: RegistryAnswers,
        reading: Reading,
        interval: SignedDuration,
    ) -> Looked {
        let uid = member.stored.uid.clone();
        let now = self.clock.now();
        let basis = member.stored.state.basis();
        let mut state = member.stored.state.clone();
        state.settle_for(self.tracking.settings.settle);
        let outcome = state.observe(
            Cycle {
                basis,
                registry: answers.read.clone(),
                source: reading.read.clone(),
            },
            now,
        );
        let mut after = reading.reader(member);
        after.observed = Some(now);
        after.invalid = reading.invalid(member);
        after.last_failure = words(&answers, &reading, &after);
        let ending = ending(&answers, &reading, &outcome, &state, (member, interval));
        if !outcome.has_changed {
            // The commit may have moved; that is stored with the next change.
            after.know(&reading);
            self.restore_secrets(&mut after, &reading).await;
            return Looked::new(uid, ending, Some(after));
        }
        let number = outcome.release.as_ref().map(|it| it.number);
        let result = CycleResult {
            uid: uid.clone(),
            basis,
            state: state.clone(),
            known_source: reading.known.as_ref().map(stored_known),
            configuration: reading.application.as_ref().map(NewConfiguration::from),
            release: outcome.release,
            flow: self.flow(),
            at: now,
        };
        match self.ledger.trackers().apply(result).await {
            Ok(ApplyOutcome::Applied { .. }) => {
                if let Some(number) = number {
                    self.tracking.metrics.released();
                    after.stored.is_undescribed = true;
                    // Another image may be told by another registry.
                    after.description = Retry::default();
                    tracing::info!("formed release {number} of `{}`", member.stored.name);
                }
                after.know(&reading);
                after.has_lost_secrets &= reading.application.is_none();
                after.stored.state = state;
                after.read = None;
                after.stored.observed = Some(now);
                Looked::new(uid, ending, Some(after))
            }
            // Whoever was first is asked for what there is now, and then it is looked at again.
            Ok(ApplyOutcome::Discarded) => Looked::new(uid, Ending::Again(now + AGAIN), None),
            Err(error) => {
                tracing::warn!(
                    "what was seen of `{}` is not stored: {error}",
                    member.stored.name
                );
                let mut unchanged = member.clone();
                unchanged.observed = Some(now);
                unchanged.last_failure = Some(error.to_string());
                let failed = Ending::Failed {
                    failure: Failure::Passing,
                    not_before: None,
                };
                Looked::new(uid, failed, Some(unchanged))
            }
        }
    }
}

impl Looked {
    fn new(uid: String, ending: Ending, after: Option<FollowedTracker>) -> Self {
        Self {
            uid,
            ending,
            after,
            requests: Vec::new(),
        }
    }
}

impl Reading {
    fn of(member: &FollowedTracker, source: &Source) -> Self {
        let mut reading = Self {
            read: SourceRead::Unchanged,
            application: None,
            known: source.known.clone(),
            trouble: None,
        };
        match &source.answer {
            Ok(SourceAnswer::Unchanged | SourceAnswer::Moved { .. }) => {}
            Ok(SourceAnswer::Read {
                commit,
                blob,
                content,
            }) => match read_application(content, member) {
                Ok(application) => {
                    reading.read = SourceRead::Read(application.configuration(commit, blob));
                    reading.application = Some(application);
                }
                Err(message) => {
                    let problem = SourceProblem::ConfigInvalid;
                    reading.read = SourceRead::Problem(problem);
                    reading.trouble = Some(Trouble {
                        problem,
                        message,
                        not_before: None,
                        is_held: false,
                    });
                }
            },
            Err(trouble) => {
                reading.read = SourceRead::Problem(trouble.problem);
                reading.trouble = Some(trouble.clone());
            }
        }
        reading
    }

    /// Returns the reason why the file is not valid, which was found now or when it was read.
    fn invalid(&self, member: &FollowedTracker) -> Option<String> {
        match (&self.read, &self.trouble) {
            (SourceRead::Unchanged, _) => member.invalid.clone(),
            (SourceRead::Problem(SourceProblem::ConfigInvalid), Some(trouble)) => {
                Some(trouble.message.clone())
            }
            _ => None,
        }
    }

    /// Returns the tracker as it asks registries from now on: with the login that the configuration brings.
    fn reader(&self, member: &FollowedTracker) -> FollowedTracker {
        let mut reader = member.clone();
        if let Some(application) = &self.application {
            let hash = application.config_hash().to_owned();
            let (document, secrets) = application.split();
            if let Some(login) = login::of_document(&secrets.merged_into(&document)) {
                reader.logins.insert(hash, login);
            }
        }
        if let SourceRead::Read(configuration) = &self.read {
            reader.read = Some(configuration.clone());
        }
        reader
    }
}

impl FollowedTracker {
    /// Takes note of the file as it was read; what could not be read is as it was.
    fn know(&mut self, reading: &Reading) {
        if let Some(known) = &reading.known {
            self.stored.known_source = Some(stored_known(known));
        }
    }
}

/// Returns the time since when others may have asked for an answer that will do. One from before the tracker was looked at
/// last would take it back to an image that has been replaced.
fn oldest_answer(
    member: &FollowedTracker,
    begun: Timestamp,
    interval: SignedDuration,
) -> Timestamp {
    let recent = begun - interval / 2;
    member
        .observed
        .map_or(recent, |observed| observed.max(recent))
}

/// Returns how a round ends for those whose secrets cannot be opened: nobody is asked.
fn refused(members: Vec<FollowedTracker>) -> Vec<Looked> {
    let refused = Ending::Failed {
        failure: Failure::Refused,
        not_before: None,
    };
    let refuse = |mut member: FollowedTracker| {
        member.last_failure.clone_from(&member.locked);
        Looked::new(member.stored.uid.clone(), refused, Some(member))
    };
    members.into_iter().map(refuse).collect()
}

/// Returns how a round ends that was broken off.
pub(super) fn broken_off(members: &[String]) -> Vec<Looked> {
    let failed = Ending::Failed {
        failure: Failure::Passing,
        not_before: None,
    };
    members
        .iter()
        .map(|uid| Looked::new(uid.clone(), failed, None))
        .collect()
}

impl RegistryAnswers {
    fn add(&mut self, more: Self) {
        self.read.answers.extend(more.read.answers);
        self.read.problem = self.read.problem.or(more.read.problem);
        self.trouble = self.trouble.take().or(more.trouble);
    }
}

/// Returns the file as all trackers of a round know it; nothing if one of them knows another one, or has to read it.
fn common(members: &[FollowedTracker]) -> Option<Known> {
    let known = |member: &FollowedTracker| {
        let known = member.stored.known_source.as_ref();
        let known = known.filter(|it| !it.commit.is_empty())?;
        // What was wrong with the file is said only when it is read.
        (!member.has_unexplained_problem()).then(|| Known {
            commit: known.commit.clone(),
            blob: known.blob.clone(),
        })
    };
    let first = known(members.first()?)?;
    let is_same = |member: &FollowedTracker| known(member).as_ref() == Some(&first);
    members.iter().all(is_same).then_some(first)
}

/// Returns a question that the configuration asks which was just read, and that nobody has asked yet.
fn unasked(
    member: &FollowedTracker,
    reading: &Reading,
    queries: &[ImageQuery],
) -> Option<ImageQuery> {
    let SourceRead::Read(configuration) = &reading.read else {
        return None;
    };
    let wanted = member.stored.state.queries(Some(configuration));
    wanted.into_iter().find(|it| !queries.contains(it))
}

fn read_application(content: &[u8], member: &FollowedTracker) -> Result<Application, String> {
    let text = std::str::from_utf8(content).map_err(|_| "the file is not UTF-8".to_owned())?;
    let path = member.stored.source.path.file();
    Application::read(text, &member.stored.name).map_err(|error| format!("{path}: {error}"))
}

fn stored_known(known: &Known) -> KnownSource {
    KnownSource {
        commit: known.commit.clone(),
        blob: known.blob.clone(),
        validator: None,
    }
}

/// Returns what went wrong, in words.
fn words(answers: &RegistryAnswers, reading: &Reading, after: &FollowedTracker) -> Option<String> {
    let of_source = reading.trouble.as_ref().map(|it| it.message.clone());
    let of_registry = answers.trouble.as_ref().map(|it| it.message.clone());
    let words = [of_source.or_else(|| after.invalid.clone()), of_registry];
    let words: Vec<String> = words.into_iter().flatten().collect();
    (!words.is_empty()).then(|| words.join("; "))
}

fn ending(
    answers: &RegistryAnswers,
    reading: &Reading,
    outcome: &Outcome,
    state: &tracker::Tracker,
    (member, interval): (&FollowedTracker, SignedDuration),
) -> Ending {
    let of_source = reading
        .trouble
        .as_ref()
        .and_then(Trouble::<SourceProblem>::ending);
    let of_registry = answers
        .trouble
        .as_ref()
        .map(Trouble::<RegistryProblem>::ending);
    if let Some(failed) = of_source.or(of_registry) {
        return failed;
    }
    if let Some(at) = outcome.read_again_at {
        return Ending::Again(at);
    }
    let is_commit = matches!(member.stored.source.reference, Reference::Commit(_));
    let is_digest = |release: &pathline_release::Release| {
        release.configuration.label.kind() == Kind::Digest && state.pending().is_none()
    };
    match is_commit && state.last_release().is_some_and(is_digest) {
        true => Ending::Done,
        false => Ending::Succeeded { interval },
    }
}
