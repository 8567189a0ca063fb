//! A wait for a release in an environment.

use std::time::Duration;

use pathline_client::api::{Impossible, ReleaseWait, WaitState};
use pathline_ledger::Topic;
use pathline_ledger::trackers::StoredTracker;
use pathline_release::TrackerName;
use pathline_release::environment::Environments;
use pathline_release::queue::{Awaited, EntryState, Queues, Why};
use tokio::sync::{OwnedSemaphorePermit, watch};

use crate::AppState;
use crate::auth::{Caller, StreamSession};
use crate::error::ApiError;
use crate::views::answers::{Answer, Answers};
use crate::views::environments;
use crate::views::presence::Presence;
use crate::views::{trackers, why};

/// The interval at which environments are looked at again: nobody tells when those of the cluster change, or a freeze ends.
const REFRESH: Duration = Duration::from_secs(10);

/// The interval at which a release is looked at again that was deployed and is not live: nobody tells that it is.
const LIVE_REFRESH: Duration = Duration::from_secs(1);

/// The release that is waited for.
#[derive(Clone, Debug)]
pub(crate) enum AwaitedRelease {
    /// The one of this number.
    Number(u64),
    /// Any of a commit, by digits of it.
    Commit(String),
}

/// A wait for a release, and its last answer.
pub(crate) struct ReleaseWaiting {
    session: StreamSession,
    state: AppState,
    tracker: StoredTracker,
    environment: String,
    awaited: AwaitedRelease,
    moves: watch::Receiver<i64>,
    observed: watch::Receiver<i64>,
    last: Option<ReleaseWait>,
    _room: OwnedSemaphorePermit,
}

impl ReleaseWaiting {
    /// Begins to wait. The tracker and the environment have to be there, and so has a release that is named by its number;
    /// one of a commit may be formed later.
    pub(crate) async fn start(
        state: &AppState,
        caller: Caller,
        name: &TrackerName,
        environment: String,
        awaited: AwaitedRelease,
    ) -> Result<Self, ApiError> {
        let room = state.waiters().clone().try_acquire_owned();
        let room = room.map_err(|_| ApiError::too_many("too many clients wait at once"))?;
        let session = StreamSession::begin(state, caller).await?;
        let ledger = state.ledger()?;
        // Before anything is read, so that nothing is missed.
        let moves = ledger.subscribe(Topic::Releases);
        let observed = ledger.subscribe(Topic::Trackers);
        let tracker = trackers::find(state, name).await?;
        let known = environments::load(state).await?;
        environments::find(known.flow(), &environment)?;
        if let AwaitedRelease::Number(number) = awaited {
            let found = ledger.releases().numbered(&tracker.uid, number).await?;
            found.ok_or_else(|| why::no_release(&tracker.name, number))?;
        }
        Ok(Self {
            session,
            state: state.clone(),
            tracker,
            environment,
            awaited,
            moves,
            observed,
            last: None,
            _room: room,
        })
    }

    async fn evaluate(&self) -> Result<ReleaseWait, ApiError> {
        let trackers = self.state.ledger()?.trackers();
        let present = trackers.get(&self.tracker.name).await?;
        if present.is_none_or(|it| it.uid != self.tracker.uid) {
            return Ok(self.gone(format!("the tracker `{}` was deleted", self.tracker.name)));
        }
        let known = self.state.environments().get(&self.state).await?;
        if known.flow().get(&self.environment).is_none() {
            let message = format!("the environment `{}` was removed", self.environment);
            return Ok(self.gone(message));
        }
        let releases = self.releases().await?;
        let Some(newest) = releases.iter().copied().max() else {
            return self.unreleased().await;
        };
        let halts = environments::halts(self.state.ledger()?.releases()).await?;
        let queues = why::queues(&self.state, &self.tracker.uid, Some(newest)).await?;
        let now = self.state.clock().now();
        let course = (known.flow(), &halts);
        let place = (self.environment.as_str(), releases.as_slice());
        let answer = queues
            .as_ref()
            .and_then(|it| it.awaited(course, place, now));
        if let (Some(Awaited::Deployed(release)), Some(queues)) = (&answer, &queues)
            && let Some(missing) = self.missing(&known, queues, *release).await
        {
            return Ok(missing);
        }
        Ok(match answer {
            Some(answer) => self.told(newest, answer),
            None => self.gone(format!("release {newest} is not known any more")),
        })
    }

    /// Returns the numbers of the releases that are waited for.
    async fn releases(&self) -> Result<Vec<u64>, ApiError> {
        match &self.awaited {
            AwaitedRelease::Number(number) => Ok(vec![*number]),
            AwaitedRelease::Commit(commit) => {
                let found = why::of_commit(&self.state, &self.tracker, commit).await?;
                Ok(found.iter().map(|it| it.release.number).collect())
            }
        }
    }

    /// Says what is wrong with a release that was deployed, and is not live any more.
    async fn missing(
        &self,
        known: &Environments,
        queues: &Queues,
        release: u64,
    ) -> Option<ReleaseWait> {
        let presence = Presence::load(&self.state, Some(&self.tracker.name)).await;
        let mut why = Why {
            environment: self.environment.clone(),
            state: Some(EntryState::Deployed),
            sentence: format!("release {release} was deployed"),
            earliest: None,
            never: false,
        };
        let of_tracker = (&self.tracker.name, queues);
        let live = presence.tell(known, of_tracker, release, &mut why);
        (live == Some(false)).then(|| self.of_why(release, why))
    }

    fn told(&self, newest: u64, awaited: Awaited) -> ReleaseWait {
        let environment = &self.environment;
        match awaited {
            Awaited::Deployed(release) => ReleaseWait {
                state: WaitState::Holds,
                release: Some(release),
                entry: Some("deployed".to_owned()),
                ..self.answer(format!("release {release} is deployed in `{environment}`"))
            },
            Awaited::Waiting(why) => self.of_why(newest, why),
            Awaited::Failed(why) => impossible("failed", self.of_why(newest, why)),
            Awaited::Never(why) => impossible("never", self.of_why(newest, why)),
            Awaited::Superseded { by } => {
                let sentence =
                    format!("release {newest} was superseded by release {by} in `{environment}`");
                let told = ReleaseWait {
                    release: Some(newest),
                    ..self.answer(sentence)
                };
                impossible("superseded", told)
            }
        }
    }

    fn of_why(&self, release: u64, why: Why) -> ReleaseWait {
        ReleaseWait {
            release: Some(release),
            entry: why.state.map(|it| it.to_string()),
            earliest: why.earliest,
            ..self.answer(why.sentence)
        }
    }

    /// Says what a release of the commit waits for to be formed.
    async fn unreleased(&self) -> Result<ReleaseWait, ApiError> {
        let tracker = trackers::get(&self.state, &self.tracker.name).await?;
        let commit = match &self.awaited {
            AwaitedRelease::Commit(commit) => commit.as_str(),
            AwaitedRelease::Number(_) => "",
        };
        let mut sentence = format!("there is no release of commit {commit} yet");
        for reason in why::waiting(&tracker) {
            sentence += "; ";
            sentence += &reason;
        }
        Ok(self.answer(sentence))
    }

    fn gone(&self, message: String) -> ReleaseWait {
        impossible("gone", self.answer(message))
    }

    fn answer(&self, sentence: String) -> ReleaseWait {
        ReleaseWait {
            state: WaitState::Waiting,
            tracker: self.tracker.name.to_string(),
            environment: self.environment.clone(),
            release: None,
            entry: None,
            sentence,
            earliest: None,
            impossible: None,
        }
    }

    /// Waits until there may be something new. Tells whether one can go on at all.
    async fn disturbed(&mut self) -> bool {
        let is_deployed = |it: &ReleaseWait| it.entry.as_deref() == Some("deployed");
        let refresh = match self.last.as_ref().is_some_and(is_deployed) {
            true => LIVE_REFRESH,
            false => REFRESH,
        };
        tokio::select! {
            changed = self.moves.changed() => changed.is_ok(),
            changed = self.observed.changed() => changed.is_ok(),
            () = tokio::time::sleep(refresh) => true,
            goes_on = self.session.disturbed() => goes_on,
        }
    }
}

fn impossible(reason: &str, told: ReleaseWait) -> ReleaseWait {
    ReleaseWait {
        state: WaitState::Impossible,
        impossible: Some(Impossible {
            reason: reason.to_owned(),
            message: told.sentence.clone(),
            resource: None,
            input: None,
            by: None,
        }),
        ..told
    }
}

impl Answers for ReleaseWaiting {
    type Answer = ReleaseWait;

    async fn next(&mut self) -> Result<ReleaseWait, ApiError> {
        loop {
            self.session.check().await?;
            self.moves.mark_unchanged();
            self.observed.mark_unchanged();
            // In a box of its own: it takes far more memory than to wait.
            let answer = Box::pin(self.evaluate()).await?;
            if self.last.as_ref() != Some(&answer) {
                self.last = Some(answer.clone());
                return Ok(answer);
            }
            if !self.disturbed().await {
                return Err(ApiError::unavailable("the ledger is closed"));
            }
        }
    }

    fn last(&self) -> Option<ReleaseWait> {
        self.last.clone()
    }
}

impl Answer for ReleaseWait {
    fn is_decided(&self) -> bool {
        Self::is_decided(self)
    }

    /// Nothing has to be brought along: the ledger knows how far it is.
    fn id(&self) -> &str {
        ""
    }
}
