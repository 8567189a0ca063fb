//! What somebody waits for, as the query says it.

use std::time::Duration;

use axum::http::HeaderMap;
use pathline_lineage::wait::{self, Options, Wish};
use utoipa::IntoParams;

use super::id::WaitId;
use crate::refusal::Refusal;

/// The most things one may wait for at once.
const MOST: usize = 64;
/// The longest time-out of an answer that is not a stream, in seconds.
const LONGEST: u64 = 600;

/// What to wait for.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Asked {
    /// `source=REV`, `image=REF`, `param:NAME=VALUE`, `field:PATH=VALUE` or `current`; repeat it for
    /// more. Without, `current`: everything that the owner says now.
    #[param(rename = "for", required = false, example = json!(["param:debug=on"]))]
    wishes: Vec<String>,
    /// To have arrived is not enough: it has to run.
    #[param(required = false)]
    live: bool,
    /// Edges that nothing proves are good enough.
    #[param(rename = "acceptAssumed", required = false)]
    accept_assumed: bool,
    /// After so many seconds an answer comes in any case. A stream goes on.
    #[param(required = false, minimum = 0, maximum = 600)]
    timeout: u64,
    #[param(ignore)]
    before: Option<WaitId>,
}

impl Asked {
    /// Reads the query and, for a stream that goes on, the id of its last event.
    pub(super) fn read(query: &[(String, String)], headers: &HeaderMap) -> Result<Self, Refusal> {
        let mut asked = Self {
            wishes: Vec::new(),
            live: false,
            accept_assumed: false,
            timeout: 30,
            before: last_seen(headers)?,
        };
        for (name, value) in query {
            match name.as_str() {
                "for" => asked.wishes.push(value.clone()),
                "live" => asked.live = flag(name, value)?,
                "acceptAssumed" => asked.accept_assumed = flag(name, value)?,
                "timeout" => asked.timeout = seconds(value)?,
                other => {
                    return Err(Refusal::bad_request(format!(
                        "there is no parameter `{other}`; there are for, live, acceptAssumed and timeout"
                    )));
                }
            }
        }
        if asked.wishes.len() > MOST {
            let message = format!("for: at most {MOST} can be waited for at once");
            return Err(Refusal::bad_request(message));
        }
        Ok(asked)
    }

    /// Returns what is waited for.
    pub(super) fn wishes(&self) -> Result<Vec<Wish>, Refusal> {
        if self.wishes.is_empty() {
            return Ok(vec![Wish::Current]);
        }
        let wishes = self.wishes.iter().map(|wish| wish.parse::<Wish>());
        let wishes: Result<Vec<_>, _> = wishes.collect();
        let checked = wishes.and_then(|wishes| wait::check(&wishes).map(|()| wishes));
        checked.map_err(|error| Refusal::bad_request(format!("for: {error}")))
    }

    /// Returns what is enough; `generation` is what the owner has now.
    pub(super) fn options(&self, generation: i64) -> Options {
        let since = self.before.as_ref().map(|before| before.generation);
        Options {
            live: self.live,
            accept_assumed: self.accept_assumed,
            since_generation: Some(since.unwrap_or(generation).min(generation)),
        }
    }

    /// Returns which of the wishes had been carried when the waiting was broken off.
    pub(super) fn carried(&self) -> &[bool] {
        let before = self.before.as_ref();
        before.map_or(&[], |before| before.carried.as_slice())
    }

    pub(super) fn timeout(&self) -> Duration {
        Duration::from_secs(self.timeout)
    }
}

fn flag(name: &str, value: &str) -> Result<bool, Refusal> {
    match value {
        "true" | "" => Ok(true),
        "false" => Ok(false),
        _ => Err(Refusal::bad_request(format!(
            "{name}: true or false is expected"
        ))),
    }
}

fn seconds(value: &str) -> Result<u64, Refusal> {
    let read = value.parse().ok().filter(|seconds| *seconds <= LONGEST);
    read.ok_or_else(|| {
        let message = format!("timeout: a number of seconds from 0 to {LONGEST} is expected");
        Refusal::bad_request(message)
    })
}

fn last_seen(headers: &HeaderMap) -> Result<Option<WaitId>, Refusal> {
    let Some(given) = headers.get("last-event-id") else {
        return Ok(None);
    };
    let read = given.to_str().ok().and_then(|text| text.parse().ok());
    let refused = || Refusal::bad_request("Last-Event-ID: the `id` of an answer is expected");
    read.map(Some).ok_or_else(refused)
}
