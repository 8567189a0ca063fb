//! What somebody waits for, as the query says it.

use std::time::Duration;

use axum::http::HeaderMap;
use pathline_lineage::wait::{self, Applied, Options, Setting, Waiter, Wish};
use utoipa::IntoParams;

use super::id::{self, WaitId};
use crate::concern::Named;
use crate::refusal::Refusal;

/// The most things one may wait for at once.
const MAX_ASKED: usize = 512;
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
    /// A value that an apply has set, `param:NAME=JSON` or `field:PATH=JSON`; repeat it for more. It is
    /// waited for as it was applied, and with `live` for everything final to run. What nothing reads,
    /// or the blueprint fixes, is a note; what another apply has replaced is `superseded`, with by whom.
    #[param(value_type = Vec<String>, required = false, example = json!(["param:debug=\"on\""]))]
    applied: Vec<Setting>,
    /// What an apply has removed, `param:NAME` or `field:PATH`; repeat it for more.
    #[param(required = false, example = json!(["param:debug"]))]
    removed: Vec<String>,
    /// The generation that an apply has made: what was known of earlier ones says nothing. Without,
    /// the one that the owner has now.
    #[param(required = false, minimum = 0)]
    generation: Option<i64>,
    /// The uid of the owner that was applied: another one of that name is not it.
    #[param(required = false, max_length = 128)]
    uid: Option<String>,
    /// A blueprint or template that the owner must have been looked at with, if it uses it or did:
    /// `KIND/NAME@GENERATION`; repeat it for more. A resource that can't be stamped has failed then.
    #[param(value_type = Vec<String>, required = false, example = json!(["ClusterTemplate/run@2"]))]
    seen: Vec<Named>,
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
        let many = asked.wishes.len() + asked.applied.len() + asked.removed.len();
        if many > MAX_ASKED || asked.seen.len() > MAX_ASKED {
            let message = format!("for: at most {MAX_ASKED} can be waited for at once");
            return Err(Refusal::bad_request(message));
        }
        let checked = wait::check(&asked.wishes);
        checked.map_err(|error| Refusal::bad_request(format!("for: {error}")))?;
        if many == 0 {
            asked.wishes.push(Wish::Current);
        }
        Ok(asked)
    }

    fn take(&mut self, name: &str, value: &str) -> Result<(), Refusal> {
        match name {
            "for" => self.wishes.push(wish(value)?),
            "applied" => self.applied.push(setting(value)?),
            "removed" => self.removed.push(input(value)?),
            "generation" => self.generation = Some(generation(value)?),
            "seen" => self.seen.push(named(value)?),
            "uid" => self.uid = Some(value.to_owned()),
            "live" => self.live = flag(name, value)?,
            "acceptAssumed" => self.accept_assumed = flag(name, value)?,
            "timeout" => self.timeout = seconds(value)?,
            other => {
                return Err(Refusal::bad_request(format!(
                    "there is no parameter `{other}`; there are for, applied, removed, generation, uid, \
                     seen, live, acceptAssumed and timeout"
                )));
            }
        }
        Ok(())
    }

    /// Returns what is waited for, as it was asked.
    pub(super) fn asked(&self) -> impl Iterator<Item = String> {
        let wishes = self.wishes.iter().map(ToString::to_string);
        wishes.chain(self.applied.iter().map(ToString::to_string))
    }

    /// Begins to wait for it; `generation` is what the owner has now. Returns the generation that
    /// counts, too.
    pub(super) fn waiter(&self, generation: i64) -> (Waiter, i64) {
        let before = self.since().map(|since| since.min(generation));
        let since = before.or(self.generation).unwrap_or(generation);
        let options = Options {
            live: self.live,
            accept_assumed: self.accept_assumed,
            since_generation: Some(since),
        };
        let mut waiter = Waiter::new(self.wishes.clone(), options).remembering(self.carried());
        if self.is_after_apply() {
            let (applied, removed) = (self.applied.clone(), self.removed.clone());
            waiter = waiter.with_applied(Applied::new(applied, removed));
        }
        if !self.seen.is_empty() {
            waiter = waiter.with_stamping();
        }
        (waiter, since)
    }

    /// Tells whether it has to run.
    pub(super) fn is_live(&self) -> bool {
        self.live
    }

    /// Returns the blueprints and templates that the owner must have been looked at with.
    pub(super) fn seen(&self) -> &[Named] {
        &self.seen
    }

    /// Tells whether something was applied or removed that is waited for.
    pub(super) fn is_after_apply(&self) -> bool {
        !self.applied.is_empty() || !self.removed.is_empty()
    }

    /// Returns the names of what an apply has removed.
    pub(super) fn removed(&self) -> &[String] {
        &self.removed
    }

    /// Returns the generation that the owner had when the waiting began, if it was there before the
    /// waiting was broken off.
    pub(super) fn since(&self) -> Option<i64> {
        let before = self.before.as_ref().map(|before| before.generation);
        before.filter(|generation| *generation > 0)
    }

    /// Tells whether the owner was there before, because it was applied or seen.
    pub(super) fn has_seen_owner(&self) -> bool {
        self.since().is_some() || self.uid.is_some()
    }

    /// Tells whether an owner is the one that was applied, or that was there before.
    pub(super) fn is_same(&self, uid: &str) -> bool {
        let before = self.before.as_ref();
        let before = before.and_then(|before| before.owner.as_ref());
        let applied = self.uid.as_ref();
        before.is_none_or(|before| *before == id::digest(uid)) && applied.is_none_or(|it| it == uid)
    }

    /// Returns what is known without having seen the owner.
    pub(super) fn id(&self) -> String {
        let before = self.before.clone();
        before.unwrap_or_else(WaitId::unmet).to_string()
    }

    /// Returns which of the wishes had been carried when the waiting was broken off.
    fn carried(&self) -> &[bool] {
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

pub(crate) fn named(text: &str) -> Result<Named, Refusal> {
    let read = text.parse();
    read.map_err(|error| Refusal::bad_request(format!("seen: {error}")))
}

fn setting(text: &str) -> Result<Setting, Refusal> {
    let read = text.parse();
    read.map_err(|error| Refusal::bad_request(format!("applied: {error}")))
}

fn input(text: &str) -> Result<String, Refusal> {
    let name = text.strip_prefix("param:");
    let name = name.or_else(|| text.strip_prefix("field:"));
    let read = name.filter(|name| !name.is_empty());
    let refused = || Refusal::bad_request("removed: param:NAME or field:PATH is expected");
    read.map(|_| text.to_owned()).ok_or_else(refused)
}

fn generation(text: &str) -> Result<i64, Refusal> {
    let read = text.parse().ok().filter(|generation| *generation >= 0);
    read.ok_or_else(|| Refusal::bad_request("generation: a number from 0 is expected"))
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

pub(crate) fn seconds(value: &str) -> Result<u64, Refusal> {
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
