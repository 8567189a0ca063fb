//! Waiting for all whom applied blueprints and templates concern.

use std::fmt::Write;
use std::time::Duration;

use jiff::SignedDuration;
use pathline_server::api::{Concerned, ConcernedOwner, WaitState};
use tokio::time::{Instant, timeout_at};

use crate::client::Client;
use crate::commands::wait;
use crate::output::say;
use crate::report::{Exit, Failure};

/// Follows until everybody has been looked at with what was applied, or time is up. Keeps what was told
/// last in `told`.
pub(super) async fn follow(
    client: &Client,
    seen: &[String],
    timeout: Duration,
    told: &mut Option<Concerned>,
) -> Result<Exit, Failure> {
    let deadline = Instant::now() + timeout;
    let query: Vec<_> = seen.iter().map(|it| ("seen", it.as_str())).collect();
    let mut events = client.events(&["concerned"], &query);
    loop {
        let next = events.next(|error| say(&format!("{error}; trying again")));
        let Ok(event) = timeout_at(deadline, next).await else {
            return Err(match events.is_connected() {
                true => late(told.as_ref(), timeout),
                false => wait::unasked(timeout, events.trouble()),
            });
        };
        let concerned: Concerned = wait::read(&event?.data)?;
        let state = concerned.state;
        show(&concerned, told.as_ref());
        let concerned = told.insert(concerned);
        match state {
            WaitState::Waiting => {}
            WaitState::Holds => return Ok(Exit::Yes),
            WaitState::Never | WaitState::Unproven => return Err(failed(concerned)),
        }
    }
}

/// Says in one line whom it concerned.
pub(super) fn sum_up(concerned: &Concerned) -> String {
    let names: Vec<_> = concerned.owners.iter().map(name).collect();
    match names.as_slice() {
        [] => "no workload and no deliverable uses what was applied".to_owned(),
        names => format!("seen by {}", names.join(", ")),
    }
}

/// Says what is new about those who are missing.
fn show(concerned: &Concerned, before: Option<&Concerned>) {
    let before = before.map(|it| it.owners.as_slice()).unwrap_or_default();
    let news = concerned.owners.iter().filter(|it| !before.contains(it));
    for owner in news.filter(|it| !it.missing.is_empty()) {
        say(&format!("{}: {}", name(owner), owner.missing.join("; ")));
    }
}

fn failed(concerned: &Concerned) -> Failure {
    let mut message = "it made some fail:".to_owned();
    for owner in concerned.owners.iter().filter(|it| !it.failed.is_empty()) {
        let _ = write!(message, "\n  {}: {}", name(owner), owner.failed.join("; "));
    }
    Failure::new(message).with_hint("mend that and apply it again")
}

fn late(told: Option<&Concerned>, timeout: Duration) -> Failure {
    let time = SignedDuration::try_from(timeout).unwrap_or(SignedDuration::MAX);
    let mut message = format!("after {time:#} not all have seen it");
    let owners = told.map(|it| it.owners.as_slice()).unwrap_or_default();
    for owner in owners.iter().filter(|it| !it.missing.is_empty()) {
        let _ = write!(message, "\n  {}: {}", name(owner), owner.missing.join("; "));
    }
    Failure::new(message).with_exit(Exit::TimedOut)
}

fn name(owner: &ConcernedOwner) -> String {
    let ConcernedOwner {
        kind,
        namespace,
        name,
        ..
    } = owner;
    format!("{kind} {namespace}/{name}")
}
