//! The parameters of a wait.

use std::time::Duration;

use axum::http::HeaderMap;
use pathline_lineage::wait::{self, Setting, WaitFor};
use utoipa::IntoParams;

use crate::error::ApiError;
use crate::views::concern::ObjectVersion;
use crate::views::wait::{WaitId, WaitQuestion};

/// The most things one may wait for at once.
const MAX_ASKED: usize = 512;
/// The longest time-out of an answer that is not a stream, in seconds.
const MAX_TIMEOUT_SECONDS: u64 = 600;

/// The parameters of a wait.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct WaitParams {
    /// `source=REV`, `image=REF`, `param:NAME=VALUE`, `field:PATH=VALUE` or `current`; repeat it for
    /// more. Without, `current`: everything that the owner says now.
    #[param(rename = "for", value_type = Vec<String>, required = false, example = json!(["param:debug=on"]))]
    awaited: Vec<WaitFor>,
    /// A value that an apply has set, `param:NAME=JSON` or `field:PATH=JSON`; repeat it for more. It is
    /// waited for as it was applied, and with `live` for everything final to run. What nothing reads,
    /// or the blueprint fixes, is a note; what another apply has replaced is `superseded`, with by whom.
    #[param(value_type = Vec<String>, required = false, example = json!(["param:debug=\"on\""]))]
    applied: Vec<Setting>,
    /// An input that an apply has removed, `param:NAME` or `field:PATH`; repeat it for more.
    #[param(required = false, example = json!(["param:debug"]))]
    removed: Vec<String>,
    /// The generation that an apply has made: what was known of earlier ones says nothing. Without,
    /// the one that the owner has now.
    #[param(required = false, minimum = 0)]
    generation: Option<i64>,
    /// The uid of the owner that was applied: another one of that name is not it.
    #[param(required = false, max_length = 128)]
    uid: Option<String>,
    /// A blueprint or template that the owner must have been reconciled with, if it uses it or did:
    /// `KIND/NAME@GENERATION`; repeat it for more. A resource that can't be stamped has failed then.
    #[param(value_type = Vec<String>, required = false, example = json!(["ClusterTemplate/run@2"]))]
    seen: Vec<ObjectVersion>,
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

impl WaitParams {
    /// Reads the query and, for a stream that goes on, the id of its last event.
    pub(super) fn read(query: &[(String, String)], headers: &HeaderMap) -> Result<Self, ApiError> {
        let mut asked = Self {
            awaited: Vec::new(),
            applied: Vec::new(),
            removed: Vec::new(),
            generation: None,
            uid: None,
            seen: Vec::new(),
            live: false,
            accept_assumed: false,
            timeout: 30,
            before: last_seen(headers)?,
        };
        for (name, value) in query {
            asked.take(name, value)?;
        }
        let many = asked.awaited.len() + asked.applied.len() + asked.removed.len();
        if many > MAX_ASKED || asked.seen.len() > MAX_ASKED {
            let message = format!("for: at most {MAX_ASKED} can be waited for at once");
            return Err(ApiError::bad_request(message));
        }
        let checked = wait::check(&asked.awaited);
        checked.map_err(|error| ApiError::bad_request(format!("for: {error}")))?;
        if many == 0 {
            asked.awaited.push(WaitFor::Current);
        }
        Ok(asked)
    }

    fn take(&mut self, name: &str, value: &str) -> Result<(), ApiError> {
        match name {
            "for" => self.awaited.push(wait_for(value)?),
            "applied" => self.applied.push(setting(value)?),
            "removed" => self.removed.push(input(value)?),
            "generation" => self.generation = Some(generation(value)?),
            "seen" => self.seen.push(object_version(value)?),
            "uid" => self.uid = Some(value.to_owned()),
            "live" => self.live = flag(name, value)?,
            "acceptAssumed" => self.accept_assumed = flag(name, value)?,
            "timeout" => self.timeout = seconds(value)?,
            other => {
                return Err(ApiError::bad_request(format!(
                    "there is no parameter `{other}`; there are for, applied, removed, generation, uid, \
                     seen, live, acceptAssumed and timeout"
                )));
            }
        }
        Ok(())
    }

    /// Returns the question that the parameters ask.
    pub(super) fn question(self) -> WaitQuestion {
        WaitQuestion {
            awaited: self.awaited,
            applied: self.applied,
            removed: self.removed,
            generation: self.generation,
            uid: self.uid,
            seen: self.seen,
            live: self.live,
            accept_assumed: self.accept_assumed,
            before: self.before,
        }
    }

    /// Returns how long an answer that is not a stream may take.
    pub(super) fn timeout(&self) -> Duration {
        Duration::from_secs(self.timeout)
    }
}

fn wait_for(text: &str) -> Result<WaitFor, ApiError> {
    let read = text.parse();
    read.map_err(|error| ApiError::bad_request(format!("for: {error}")))
}

pub(crate) fn object_version(text: &str) -> Result<ObjectVersion, ApiError> {
    let read = text.parse();
    read.map_err(|error| ApiError::bad_request(format!("seen: {error}")))
}

fn setting(text: &str) -> Result<Setting, ApiError> {
    let read = text.parse();
    read.map_err(|error| ApiError::bad_request(format!("applied: {error}")))
}

fn input(text: &str) -> Result<String, ApiError> {
    let name = text.strip_prefix("param:");
    let name = name.or_else(|| text.strip_prefix("field:"));
    let read = name.filter(|name| !name.is_empty());
    let refused = || ApiError::bad_request("removed: param:NAME or field:PATH is expected");
    read.map(|_| text.to_owned()).ok_or_else(refused)
}

fn generation(text: &str) -> Result<i64, ApiError> {
    let read = text.parse().ok().filter(|generation| *generation >= 0);
    read.ok_or_else(|| ApiError::bad_request("generation: a number from 0 is expected"))
}

fn flag(name: &str, value: &str) -> Result<bool, ApiError> {
    match value {
        "true" | "" => Ok(true),
        "false" => Ok(false),
        _ => Err(ApiError::bad_request(format!(
            "{name}: true or false is expected"
        ))),
    }
}

pub(crate) fn seconds(value: &str) -> Result<u64, ApiError> {
    let read = value
        .parse()
        .ok()
        .filter(|seconds| *seconds <= MAX_TIMEOUT_SECONDS);
    read.ok_or_else(|| {
        let message =
            format!("timeout: a number of seconds from 0 to {MAX_TIMEOUT_SECONDS} is expected");
        ApiError::bad_request(message)
    })
}

fn last_seen(headers: &HeaderMap) -> Result<Option<WaitId>, ApiError> {
    let Some(given) = headers.get("last-event-id") else {
        return Ok(None);
    };
    let read = given.to_str().ok().and_then(|text| text.parse().ok());
    let refused = || ApiError::bad_request("Last-Event-ID: the `id` of an answer is expected");
    read.map(Some).ok_or_else(refused)
}
