//! Waiting for all whom applied blueprints and templates concern.

use std::fmt::Write;
use std::time::Duration;

use jiff::SignedDuration;
use pathline_client::api::{Concerned, ConcernedOwner, WaitState};
use pathline_clock::instant;
use tokio::time::timeout_at;

use crate::commands::wait;
use crate::terminal::client::Client;
use crate::terminal::output::say;
use crate::terminal::report::{CommandError, Exit};

/// Follows until everybody has been looked at with what was applied, or time is up. Keeps the last
/// answer in `last`.
pub(super) async fn follow(
    client: &Client,
    seen: &[String],
    timeout: Duration,
    last: &mut Option<Concerned>,
) -> Result<Exit, CommandError> {
    let deadline = instant() + timeout;
    let query: Vec<_> = seen.iter().map(|it| ("seen", it.as_str())).collect();
    let mut events = client.events(&["concerned"], &query);
    loop {
        let next = events.next(|error| say(&format!("{error}; trying again")));
        let Ok(event) = timeout_at(deadline, next).await else {
            return Err(match events.is_connected() {
                true => late(last.as_ref(), timeout),
                false => wait::unasked(timeout, events.trouble()),
            });
        };
        let concerned: Concerned = wait::read(&event?.data)?;
        let state = concerned.state;
        show(&concerned, last.as_ref());
        let concerned = last.insert(concerned);
        match state {
            WaitState::Waiting => {}
            WaitState::Holds => return Ok(Exit::Yes),
            WaitState::Impossible | WaitState::Unproven => return Err(failed(concerned)),
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

fn failed(concerned: &Concerned) -> CommandError {
    let mut message = "it made some fail:".to_owned();
    for owner in concerned.owners.iter().filter(|it| !it.failed.is_empty()) {
        let _ = write!(message, "\n  {}: {}", name(owner), owner.failed.join("; "));
    }
    CommandError::new(message).with_hint("mend that and apply it again")
}

fn late(last: Option<&Concerned>, timeout: Duration) -> CommandError {
    let time = SignedDuration::try_from(timeout).unwrap_or(SignedDuration::MAX);
    let mut message = format!("after {time:#} not all get on with it");
    let owners = last.map(|it| it.owners.as_slice()).unwrap_or_default();
    let late: Vec<_> = owners.iter().filter(|it| !it.missing.is_empty()).collect();
    for owner in &late {
        let _ = write!(message, "\n  {}: {}", name(owner), owner.missing.join("; "));
    }
    let more = late.first().map_or_else(String::new, |owner| {
        let kind = owner.kind.to_lowercase();
        let (name, namespace) = (&owner.name, &owner.namespace);
        format!("; `pathline lineage {kind}/{name} -n {namespace}` shows more")
    });
    CommandError::new(message)
        .with_hint(format!(
            "mend what is named, or apply it again with a longer `--timeout`{more}"
        ))
        .with_exit(Exit::TimedOut)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn owner_that_cannot_be_stamped_in_time_is_not_said_not_to_have_seen_it() {
        let concerned: Concerned = serde_json::from_value(serde_json::json!({
            "state": "waiting", "id": "", "owners": [{
                "kind": "workload", "namespace": "dev", "name": "a", "uid": "u", "generation": 1,
                "missing": ["`commit` can't be stamped: no matches for kind [GitCommits]"],
                "failed": [],
            }],
        }))
        .unwrap();
        let failure = late(Some(&concerned), Duration::from_secs(20));
        assert_eq!(failure.exit(), Exit::TimedOut);
        let told = format!("{failure:?}");
        assert!(told.contains("after 20s not all get on with it"), "{told}");
        assert!(told.contains("no matches for kind"), "{told}");
        assert!(
            told.contains("`pathline lineage workload/a -n dev` shows more"),
            "{told}"
        );
    }
}
