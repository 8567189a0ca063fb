//! Actions on releases by hand.

use pathline_client::api::{HeldPlace, Promoted, Release, ReleaseTransition};
use pathline_ledger::releases::{ActOutcome, By, QueueAction, QueuesOf, TrackerRef};
use pathline_ledger::trackers::RequestOutcome;
use pathline_release::TrackerName;
use pathline_release::environment::Environments;
use pathline_release::queue::{
    EntryState, Flow, Hold, NotPromoted, NotRolledBack, Queues, Transition,
};
use pathline_release::request::Body;
use pathline_release::tracker::NotRequested;

use crate::AppState;
use crate::error::ApiError;
use crate::views::environments::{self, hold as hold_view};
use crate::views::{releases, trackers};

/// Releases the configuration of a tracker that waits, with the image that is released.
pub(crate) async fn request(
    state: &AppState,
    name: &TrackerName,
    body: &[u8],
    who: &str,
) -> Result<Release, ApiError> {
    let reason = read(body)?.release_request().map_err(ApiError::invalid)?;
    let environments = environments::load(state).await?;
    let name = &trackers::find(state, name).await?.name;
    let by = By::new(who, reason.as_deref());
    let now = state.clock().now();
    let ledger = state.ledger()?;
    let requested = ledger
        .trackers()
        .request(name, environments.flow(), &by, now)
        .await?;
    match requested {
        RequestOutcome::Formed(formed) => {
            tracing::info!("`{who}` had release {} of `{name}`", formed.release.number);
            Ok(releases::view(*formed, environments.flow()))
        }
        RequestOutcome::Missing => Err(trackers::missing(name)),
        RequestOutcome::Refused(NotRequested::Nothing) => Err(nothing_waits(state, name).await?),
        RequestOutcome::Refused(refusal) => {
            let hint = format!("`pathline release why {name}` says what it waits for");
            Err(ApiError::conflict(refusal.to_string()).with_hint(hint))
        }
    }
}

/// Says that no configuration waits; if the tracker is degraded, what keeps one from being known.
async fn nothing_waits(state: &AppState, name: &TrackerName) -> Result<ApiError, ApiError> {
    let status = trackers::get(state, name).await?.status;
    let asking = format!("`pathline tracker get {name}` shows more");
    let conditions = status.conditions.iter();
    let troubles = conditions.map(|it| format!("{}: {}", it.of_type, it.message));
    let troubles: Vec<_> = troubles.collect();
    Ok(match status.phase == "degraded" {
        true => ApiError::conflict(format!("no configuration waits; {}", troubles.join("; ")))
            .with_hint(asking),
        false => ApiError::conflict(NotRequested::Nothing.to_string()).with_hint(asking),
    })
}

/// Queues a release that is held or has failed, or deploys it at once.
pub(crate) async fn promote(
    state: &AppState,
    environment: &str,
    body: &[u8],
    who: &str,
) -> Result<Promoted, ApiError> {
    let body = read(body)?.promotion().map_err(ApiError::invalid)?;
    let environments = usable(state, environment).await?;
    let action = QueueAction::Promote {
        environment: environment.to_owned(),
        release: body.release,
        now: body.now,
    };
    let tracker = &trackers::find(state, &body.tracker).await?.name;
    let acting = Acting {
        state,
        flow: environments.flow(),
        tracker,
        by: By::new(who, body.reason.as_deref()),
    };
    match acting.act(action).await? {
        ActOutcome::Done { transitions, .. } => {
            tracing::info!("`{who}` promoted `{tracker}` in `{environment}`");
            Ok(Promoted {
                transitions: transitions.into_iter().map(transition).collect(),
            })
        }
        ActOutcome::NotPromoted(refusal) => Err(acting.not_promoted(environment, refusal).await?),
        other => Err(acting.refused(environment, other)),
    }
}

/// Holds an environment, or a tracker in it.
pub(crate) async fn hold(
    state: &AppState,
    environment: &str,
    body: &[u8],
    who: &str,
) -> Result<HeldPlace, ApiError> {
    let body = read(body)?.hold().map_err(ApiError::invalid)?;
    let environments = environments::load(state).await?;
    environments::find(environments.flow(), environment)?;
    let by = By::new(who, body.reason.as_deref());
    let Some(tracker) = &body.tracker else {
        return hold_whole(state, environment, by).await;
    };
    let tracker = &trackers::find(state, tracker).await?.name;
    let acting = Acting {
        state,
        flow: environments.flow(),
        tracker,
        by,
    };
    let action = QueueAction::Hold {
        environment: environment.to_owned(),
    };
    let before = acting.hold_of(environment).await?;
    match acting.act(action).await? {
        ActOutcome::Done { .. } => {
            tracing::info!("`{who}` holds `{tracker}` in `{environment}`");
            let held = acting.hold_of(environment).await?;
            let held =
                held.ok_or_else(|| ApiError::conflict("somebody has resumed it meanwhile"))?;
            Ok(replacing(
                place(environment, Some(tracker), &held),
                before.as_ref(),
            ))
        }
        other => Err(acting.refused(environment, other)),
    }
}

/// Ends the hold of an environment, or of a tracker in it. One that has been removed from the cluster may still be held.
pub(crate) async fn resume(
    state: &AppState,
    environment: &str,
    body: &[u8],
    who: &str,
) -> Result<HeldPlace, ApiError> {
    let body = read(body)?.hold().map_err(ApiError::invalid)?;
    let environments = environments::load(state).await?;
    let flow = environments.flow();
    let by = By::new(who, body.reason.as_deref());
    let tracker = match &body.tracker {
        None => None,
        Some(tracker) => Some(trackers::find(state, tracker).await?.name),
    };
    let ended = match &tracker {
        None => {
            let now = state.clock().now();
            let releases = state.ledger()?.releases();
            releases.resume_environment(environment, &by, now).await?
        }
        Some(tracker) => {
            let acting = Acting {
                state,
                flow,
                tracker,
                by,
            };
            let action = QueueAction::Resume {
                environment: environment.to_owned(),
            };
            match acting.act(action).await? {
                ActOutcome::Done { resumed, .. } => resumed,
                ActOutcome::NotHeld => None,
                other => return Err(acting.refused(environment, other)),
            }
        }
    };
    let ended = ended.ok_or_else(|| not_held(flow, environment, tracker.as_ref()))?;
    let of_tracker = tracker.as_ref().map(|it| format!(" for `{it}`"));
    tracing::info!(
        "`{who}` resumed `{environment}`{}",
        of_tracker.unwrap_or_default()
    );
    Ok(place(environment, tracker.as_ref(), &ended))
}

/// Forms a release with the content of an older one, and deploys it at once.
pub(crate) async fn roll_back(
    state: &AppState,
    environment: &str,
    body: &[u8],
    who: &str,
) -> Result<Release, ApiError> {
    let body = read(body)?.rollback().map_err(ApiError::invalid)?;
    let environments = usable(state, environment).await?;
    let action = QueueAction::Rollback {
        environment: environment.to_owned(),
        release: body.release,
    };
    let tracker = &trackers::find(state, &body.tracker).await?.name;
    let acting = Acting {
        state,
        flow: environments.flow(),
        tracker,
        by: By::new(who, body.reason.as_deref()),
    };
    match acting.act(action).await? {
        ActOutcome::Done {
            formed: Some(formed),
            ..
        } => {
            let number = formed.release.number;
            tracing::info!("`{who}` rolled `{tracker}` back in `{environment}`: release {number}");
            Ok(releases::view(*formed, environments.flow()))
        }
        ActOutcome::NotRolledBack(refusal) => Err(not_rolled_back(&refusal, tracker)),
        other => Err(acting.refused(environment, other)),
    }
}

/// Somebody who does something to the queues of a tracker.
struct Acting<'a> {
    state: &'a AppState,
    flow: &'a Flow,
    tracker: &'a TrackerName,
    by: By,
}

impl Acting<'_> {
    async fn act(&self, action: QueueAction) -> Result<ActOutcome, ApiError> {
        let tracker = TrackerRef::Name(self.tracker.clone());
        let releases = self.state.ledger()?.releases();
        let now = self.state.clock().now();
        Ok(releases
            .act(tracker, self.flow, action, &self.by, now)
            .await?)
    }

    /// Returns the hold of the tracker in an environment.
    async fn hold_of(&self, environment: &str) -> Result<Option<Hold>, ApiError> {
        Ok(self.queues().await?.holds().get(environment).cloned())
    }

    async fn queues(&self) -> Result<Queues, ApiError> {
        let tracker = TrackerRef::Name(self.tracker.clone());
        let which = QueuesOf::One {
            tracker: &tracker,
            release: None,
        };
        let found = self.state.ledger()?.releases().queues(which).await?;
        let found = found.into_iter().next();
        let found = found.ok_or_else(|| trackers::missing(self.tracker))?;
        Ok(found.queues)
    }

    /// Says of what is queued already, and stopped, what stops it; else why it is not promoted.
    async fn not_promoted(
        &self,
        environment: &str,
        refusal: NotPromoted,
    ) -> Result<ApiError, ApiError> {
        let is_queued = match &refusal {
            NotPromoted::Nothing { .. } => true,
            NotPromoted::Otherwise { state, .. } => *state == EntryState::Queued,
            _ => false,
        };
        let queues = self.queues().await?;
        let queued = queues.newest(environment, EntryState::Queued);
        let halts = environments::halts(self.state.ledger()?.releases()).await?;
        let place = self.flow.get(environment).filter(|_| is_queued);
        let stop = place.and_then(|it| {
            let stop = queues.stop(it, &halts, self.state.clock().now())?;
            Some(stop.sentence(it, self.tracker))
        });
        let (Some(release), Some(stop)) = (queued, stop) else {
            return Ok(not_promoted(&refusal, self.tracker));
        };
        let stopped = format!("release {release} is queued in `{environment}`, and {stop}");
        Ok(not_promoted(&NotPromoted::Stopped(stopped), self.tracker))
    }

    /// Returns the error of an outcome that is no success.
    fn refused(&self, environment: &str, outcome: ActOutcome) -> ApiError {
        match outcome {
            ActOutcome::Missing => trackers::missing(self.tracker),
            ActOutcome::NoEnvironment => environments::missing(self.flow, environment),
            ActOutcome::NotHeld => not_held(self.flow, environment, Some(self.tracker)),
            ActOutcome::NotPromoted(refusal) => not_promoted(&refusal, self.tracker),
            ActOutcome::NotRolledBack(refusal) => not_rolled_back(&refusal, self.tracker),
            ActOutcome::Done { .. } => ApiError::conflict("nothing was formed"),
        }
    }
}

async fn hold_whole(state: &AppState, environment: &str, by: By) -> Result<HeldPlace, ApiError> {
    let hold = Hold {
        reason: by.reason.unwrap_or_default(),
        by: by.who,
        since: state.clock().now(),
    };
    let releases = state.ledger()?.releases();
    let before = releases.environment_holds().await?;
    releases.hold_environment(environment, hold.clone()).await?;
    tracing::info!("`{}` holds `{environment}`", hold.by);
    // It may have been held before, and has been since then.
    let held = releases.environment_holds().await?;
    let held = held.get(environment).unwrap_or(&hold);
    let before = before.get(environment);
    Ok(replacing(place(environment, None, held), before))
}

/// Returns the environments, if one of them can be deployed into.
async fn usable(state: &AppState, environment: &str) -> Result<Environments, ApiError> {
    let environments = environments::load(state).await?;
    environments::find(environments.flow(), environment)?;
    match environments.refusal(environment) {
        None => Ok(environments),
        Some(refusal) => Err(ApiError::conflict(format!(
            "the Environment `{environment}` cannot be used: {refusal}"
        ))
        .with_hint(format!(
            "mend it with `kubectl edit environment {environment}`"
        ))),
    }
}

/// Reads a body; one that is empty says nothing.
fn read(body: &[u8]) -> Result<Body, ApiError> {
    let body = if body.is_empty() { b"{}" } else { body };
    Body::read(body).map_err(|invalid| trackers::refuse_body(&invalid))
}

fn place(environment: &str, tracker: Option<&TrackerName>, held: &Hold) -> HeldPlace {
    HeldPlace {
        environment: environment.to_owned(),
        tracker: tracker.map(ToString::to_string),
        hold: hold_view(held),
        replaced: None,
    }
}

/// Adds to a hold that was set the one that it has replaced.
fn replacing(held: HeldPlace, before: Option<&Hold>) -> HeldPlace {
    HeldPlace {
        replaced: before.map(hold_view),
        ..held
    }
}

fn transition(transition: Transition) -> ReleaseTransition {
    ReleaseTransition {
        environment: transition.environment,
        release: transition.release,
        from: transition.from.map(|it| it.to_string()),
        to: transition.to.to_string(),
    }
}

fn not_held(flow: &Flow, environment: &str, tracker: Option<&TrackerName>) -> ApiError {
    if flow.get(environment).is_none() {
        return environments::missing(flow, environment);
    }
    let message = match tracker {
        Some(tracker) => format!("`{tracker}` is not held in `{environment}`"),
        None => format!("`{environment}` is not held as a whole"),
    };
    ApiError::conflict(message).with_hint("GET /environments tells holds; a freeze ends by itself")
}

fn not_promoted(refusal: &NotPromoted, tracker: &TrackerName) -> ApiError {
    let message = refusal.to_string();
    match refusal {
        NotPromoted::NoEnvironment(_) | NotPromoted::NoRelease(_) => {
            ApiError::not_found(message).with_hint(listing(tracker))
        }
        NotPromoted::Stopped(_) => ApiError::conflict(message).with_hint(
            "`pathline release resume` ends a hold; a freeze ends by itself, or with its Environment's `freezes`",
        ),
        _ => ApiError::conflict(message).with_hint(asking(tracker)),
    }
}

fn not_rolled_back(refusal: &NotRolledBack, tracker: &TrackerName) -> ApiError {
    let message = refusal.to_string();
    match refusal {
        NotRolledBack::NoEnvironment(_) | NotRolledBack::NoRelease(_) => {
            ApiError::not_found(message).with_hint(listing(tracker))
        }
        _ => ApiError::conflict(message).with_hint(listing(tracker)),
    }
}

fn listing(tracker: &TrackerName) -> String {
    format!("`pathline release list --tracker {tracker}` lists its releases, and where they are")
}

fn asking(tracker: &TrackerName) -> String {
    format!("`pathline release why {tracker}` says where its releases are")
}
