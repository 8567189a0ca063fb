//! `pathline wait`: has my change arrived, is it live?

mod ending;
mod running;
mod view;

use std::time::Duration;

use jiff::SignedDuration;
use pathline_client::api::WaitResult;
use pathline_clock::instant;
use pathline_lineage::wait::WaitFor;
use serde::de::DeserializeOwned;
use tokio::time::{Instant, timeout_at};

pub(crate) use self::ending::{Ending, unasked};
pub(crate) use self::view::View;
use crate::cli::{OwnerName, WaitArgs};
use crate::commands::apply::Changes;
use crate::terminal::client::{Client, ClientError};
use crate::terminal::output::{Format, print_data, print_text, say};
use crate::terminal::report::{CommandError, Exit};

/// The time that the first answer may take, whatever the time-out.
pub(crate) const FIRST_ANSWER_TIMEOUT: Duration = Duration::from_secs(2);

/// A wait: for what, and for how long.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) owner: OwnerName,
    pub(crate) namespace: String,
    pub(crate) awaited: Vec<WaitFor>,
    /// The changes of an apply, which are waited for, too.
    pub(crate) changes: Option<Changes>,
    /// Blueprints and templates that the owner must have been looked at with, if it uses them.
    pub(crate) seen: Vec<String>,
    pub(crate) live: bool,
    pub(crate) accept_assumed: bool,
    pub(crate) timeout: Duration,
}

pub(crate) async fn run(args: &WaitArgs) -> Result<Exit, CommandError> {
    check(&args.awaited)?;
    let request = Request {
        owner: args.owner.clone(),
        namespace: args.namespace.clone(),
        awaited: args.awaited.clone(),
        changes: None,
        seen: Vec::new(),
        live: args.enough.live,
        accept_assumed: args.enough.accept_assumed,
        timeout: timeout(args.enough.timeout)?,
    };
    let deadline = instant() + request.timeout;
    let away = |error: &ClientError| say(&format!("{error}; waiting until one is started"));
    let ending = match Client::await_server(&args.server.options(), deadline, away).await {
        Err(error) if error.is_stopped() => Ending::Unasked(Some(error)),
        client => follow(&client?, &request, deadline).await?,
    };
    report(ending, &request, args.output.format)
}

/// Refuses what can't all be true.
pub(crate) fn check(awaited: &[WaitFor]) -> Result<(), CommandError> {
    let checked = pathline_lineage::wait::check(awaited);
    checked.map_err(|error| CommandError::new(error.to_string()).with_exit(Exit::Usage))
}

/// Returns how long to wait at most.
pub(crate) fn timeout(timeout: SignedDuration) -> Result<Duration, CommandError> {
    Duration::try_from(timeout)
        .map_err(|_| CommandError::new("`--timeout` must not be negative").with_exit(Exit::Usage))
}

/// Follows until it is decided or time is up, and shows where everything is meanwhile.
pub(crate) async fn follow(
    client: &Client,
    request: &Request,
    deadline: Instant,
) -> Result<Ending, CommandError> {
    let path = request.path();
    let path: Vec<_> = path.iter().map(String::as_str).collect();
    let query = request.query();
    let query: Vec<_> = query
        .iter()
        .map(|(key, value)| (*key, value.as_str()))
        .collect();
    let mut events = client.events(&path, &query);
    let mut view = View::new(&request.owner());
    let mut last = None;
    // Whoever gives no time wants to know how it is.
    let first = deadline.max(instant() + FIRST_ANSWER_TIMEOUT);
    loop {
        let next = events.next(|error| view.broken(error));
        let until = if last.is_none() { first } else { deadline };
        let Ok(event) = timeout_at(until, next).await else {
            return Ok(if events.is_connected() {
                Ending::TimedOut(last)
            } else {
                Ending::Unasked(events.trouble())
            });
        };
        let waited: WaitResult = read(&event?.data)?;
        view.show(&waited);
        if waited.is_decided() {
            return Ok(Ending::Decided(waited));
        }
        last = Some(waited);
    }
}

/// Says how it ended: as data on stdout, and on stderr why it has not happened.
fn report(ending: Ending, request: &Request, format: Format) -> Result<Exit, CommandError> {
    if let Some(waited) = ending.waited()
        && format != Format::Text
    {
        print_data(format, waited, |_| Ok(()))?;
    }
    tell(ending, request, format)
}

/// Says how it ended, for people.
pub(crate) fn tell(
    ending: Ending,
    request: &Request,
    format: Format,
) -> Result<Exit, CommandError> {
    let notes = ending.waited().map(|waited| waited.notes.as_slice());
    for note in notes.unwrap_or_default() {
        say(&format!("note: {note}"));
    }
    if ending.holds() && format == Format::Text {
        print_text(|out| ending.write(request, out))?;
    }
    match ending.failure(request) {
        Some(failure) => Err(failure),
        None => Ok(Exit::Yes),
    }
}

/// Reads the data of an event.
pub(crate) fn read<T: DeserializeOwned>(data: &str) -> Result<T, CommandError> {
    serde_json::from_str(data).map_err(|_| {
        CommandError::new("the server tells something that this version does not understand")
            .with_hint("use the `pathline` of the version that runs there")
            .with_exit(Exit::Unknown)
    })
}

impl Request {
    fn path(&self) -> [String; 4] {
        let (namespace, name) = (self.namespace.clone(), self.owner.name.clone());
        [self.owner.plural(), namespace, name, "wait".to_owned()]
    }

    fn query(&self) -> Vec<(&'static str, String)> {
        let awaited = self
            .awaited
            .iter()
            .map(|wait_for| ("for", wait_for.to_string()));
        let mut query: Vec<_> = awaited.collect();
        query.extend(self.changes.iter().flat_map(Changes::query));
        query.extend(self.seen.iter().map(|it| ("seen", it.clone())));
        if self.live {
            query.push(("live", "true".to_owned()));
        }
        if self.accept_assumed {
            query.push(("acceptAssumed", "true".to_owned()));
        }
        query
    }

    /// Returns what is waited for: `workload default/hello`.
    pub(crate) fn owner(&self) -> String {
        let OwnerName { kind, name } = &self.owner;
        format!("{} {}/{name}", kind.noun(), self.namespace)
    }
}
