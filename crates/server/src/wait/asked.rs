//! What somebody waits for, as the query says it.

use std::time::Duration;

use axum::http::HeaderMap;
use pathline_lineage::wait::{Options, Wish};
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
    #[param(rename = "for", value_type = Vec<String>, required = false, example = json!(["param:debug=on"]))]
    wishes: Vec<Wish>,
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
                "for" => asked.wishes.push(wish(value)?),
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
        if asked.wishes.is_empty() {
            asked.wishes.push(Wish::Current);
        }
        Ok(asked)
    }

    /// Returns what is waited for.
    pub(super) fn wishes(&self) -> &[Wish] {
        &self.wishes
    }

    /// Returns what is enough; `generation` is what the owner has now.
    pub(super) fn options(&self, generation: i64) -> Options {
        Options {
            live: self.live,
            accept_assumed: self.accept_assumed,
            since_generation: Some(self.since().unwrap_or(generation).min(generation)),
        }
    }

    /// Returns the generation that the owner had when the waiting began, if it was there before the
    /// waiting was broken off.
    pub(super) fn since(&self) -> Option<i64> {
        let before = self.before.as_ref().map(|before| before.generation);
        before.filter(|generation| *generation > 0)
    }

    /// Tells whether the owner was there before the waiting was broken off.
    pub(super) fn has_seen_owner(&self) -> bool {
        self.since().is_some()
    }

    /// Returns which owner it was that was there before, as a digest of its uid.
    pub(super) fn owner(&self) -> Option<&str> {
        self.before.as_ref()?.owner.as_deref()
    }

    /// Returns what is known without having seen the owner.
    pub(super) fn id(&self) -> String {
        let before = self.before.clone();
        before.unwrap_or_else(WaitId::unmet).to_string()
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

fn wish(text: &str) -> Result<Wish, Refusal> {
    let read = text.parse();
    read.map_err(|error| Refusal::bad_request(format!("for: {error}")))
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
