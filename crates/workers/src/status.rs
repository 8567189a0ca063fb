//! Conditions, and writing status.

use std::fmt::Debug;
use std::time::Duration;

use backon::{BackoffBuilder, ExponentialBuilder};
use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use kube::api::{Patch, PatchParams};
use kube::core::NamespaceResourceScope;
use kube::{Api, Client, Resource, ResourceExt};
use pathline_clock::Clock;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::explain::explain;

/// The owner of the fields that the workers write.
pub(crate) const FIELD_MANAGER: &str = "pathline-workers";
/// The condition of an object that is kept as it says.
pub(crate) const READY: &str = "Ready";
/// The condition of an object that nobody tries again until it is changed.
const STALLED: &str = "Stalled";
/// The most bytes of a message: it may quote what somebody else wrote, and has to fit into an object.
const LONGEST_MESSAGE: usize = 4_096;
/// The time that the last status of a stopped run may take.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// The current time, in whole seconds as Kubernetes writes it.
pub(crate) fn now(clock: &Clock) -> Time {
    Time(Timestamp::from_second(clock.now().as_second()).expect("the present is representable"))
}

/// The generation that a condition speaks of, and the time at which it is said.
#[derive(Clone, Debug)]
pub(crate) struct Occasion {
    pub(crate) generation: Option<i64>,
    time: Time,
}

impl Occasion {
    /// Speaks of a generation, now.
    pub(crate) fn new(generation: Option<i64>, clock: &Clock) -> Self {
        Self {
            generation,
            time: now(clock),
        }
    }
}

/// The content of a condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Verdict {
    pub(crate) status: &'static str,
    pub(crate) reason: &'static str,
    pub(crate) message: String,
}

impl Verdict {
    pub(crate) fn yes(reason: &'static str, message: impl Into<String>) -> Self {
        Self {
            status: "True",
            reason,
            message: message.into(),
        }
    }

    pub(crate) fn no(reason: &'static str, message: impl Into<String>) -> Self {
        Self {
            status: "False",
            reason,
            message: message.into(),
        }
    }

    pub(crate) fn unknown(reason: &'static str, message: impl Into<String>) -> Self {
        Self {
            status: "Unknown",
            reason,
            message: message.into(),
        }
    }
}

/// Puts a verdict into a list of conditions; the time of the last transition stays unless the
/// status changes.
pub(crate) fn set_condition(
    conditions: &mut Vec<Condition>,
    type_: &str,
    occasion: &Occasion,
    verdict: Verdict,
) {
    let known = conditions
        .iter()
        .position(|condition| condition.type_ == type_);
    let last_transition_time = known
        .map(|at| &conditions[at])
        .filter(|condition| condition.status == verdict.status)
        .map_or(&occasion.time, |condition| &condition.last_transition_time);
    let condition = Condition {
        type_: type_.into(),
        status: verdict.status.into(),
        reason: verdict.reason.into(),
        message: shortened(verdict.message),
        observed_generation: occasion.generation,
        last_transition_time: last_transition_time.clone(),
    };
    match known {
        Some(at) => conditions[at] = condition,
        None => conditions.push(condition),
    }
}

/// Cuts a message where it gets too long.
fn shortened(mut message: String) -> String {
    if message.len() > LONGEST_MESSAGE {
        message.truncate(message.floor_char_boundary(LONGEST_MESSAGE));
        message.push('…');
    }
    message
}

/// Says, as kstatus and Flux do, whether nothing will happen until the object is changed.
///
/// `why` is the verdict on an object that nobody tries again; without one the condition is absent.
pub(crate) fn set_stalled(
    conditions: &mut Vec<Condition>,
    occasion: &Occasion,
    why: Option<&Verdict>,
) {
    match why {
        Some(Verdict {
            reason, message, ..
        }) => {
            let stalled = Verdict::yes(reason, message);
            set_condition(conditions, STALLED, occasion, stalled);
        }
        None => conditions.retain(|it| it.type_ != STALLED),
    }
}

/// Says that work on a generation begins, unless there is a verdict on it: one that is tried again
/// keeps the reason why. Returns whether that is news.
pub(crate) fn set_progressing(
    conditions: &mut Vec<Condition>,
    occasion: &Occasion,
    message: &str,
) -> bool {
    let known = conditions.iter().find(|it| it.type_ == READY);
    if known.is_some_and(|it| it.observed_generation == occasion.generation) {
        return false;
    }
    let verdict = Verdict::unknown("Progressing", message);
    set_condition(conditions, READY, occasion, verdict);
    set_stalled(conditions, occasion, None);
    true
}

/// Tells whether a condition has been decided for this generation.
pub(crate) fn is_decided(conditions: &[Condition], type_: &str, generation: Option<i64>) -> bool {
    conditions.iter().any(|condition| {
        condition.type_ == type_
            && condition.observed_generation == generation
            && condition.status != "Unknown"
    })
}

/// Writes the status of one object, and remembers it.
pub(crate) struct Reporter<K> {
    api: Api<K>,
    name: String,
    uid: Option<String>,
    written: Option<Value>,
}

impl<K> Reporter<K>
where
    K: Resource<DynamicType = (), Scope = NamespaceResourceScope>,
    K: Clone + Debug + DeserializeOwned + Serialize,
{
    /// Reports on `object`.
    pub(crate) fn new(client: &Client, object: &K) -> Self {
        let namespace = object.namespace().unwrap_or_default();
        let written = serde_json::to_value(object)
            .ok()
            .and_then(|value| value.get("status").cloned());
        Self {
            api: Api::namespaced(client.clone(), &namespace),
            name: object.name_any(),
            uid: object.uid(),
            written,
        }
    }

    /// The object as the server has it now; nothing when it was deleted or replaced.
    pub(crate) async fn current(&mut self) -> Result<Option<K>, kube::Error> {
        let found = self.api.get_opt(&self.name).await?;
        let found = found.filter(|object| object.uid() == self.uid);
        if let Some(object) = &found {
            self.written = serde_json::to_value(object)
                .ok()
                .and_then(|it| it.get("status").cloned());
        }
        Ok(found)
    }

    /// Applies `status` unless it is what was written last.
    pub(crate) async fn write(&mut self, status: &impl Serialize) -> Result<(), kube::Error> {
        let status = serde_json::to_value(status).map_err(kube::Error::SerdeError)?;
        if self.written.as_ref() == Some(&status) {
            return Ok(());
        }
        let body = json!({
            "apiVersion": K::api_version(&()),
            "kind": K::kind(&()),
            // With the uid, an object of the same name that came later is not touched.
            "metadata": { "name": self.name, "uid": self.uid },
            "status": status,
        });
        let parameters = PatchParams::apply(FIELD_MANAGER).force();
        match self
            .api
            .patch_status(&self.name, &parameters, &Patch::Apply(&body))
            .await
        {
            Ok(_) => {
                self.written = Some(status);
                Ok(())
            }
            Err(kube::Error::Api(refusal)) if refusal.is_not_found() || refusal.is_conflict() => {
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    /// Writes until it works, as the server may be away for a while; not for long once the run is
    /// told to stop.
    pub(crate) async fn insist(&mut self, status: &impl Serialize, stop: &CancellationToken) {
        let (kind, name) = (K::kind(&()), self.name.clone());
        let mut pauses = ExponentialBuilder::new()
            .with_min_delay(Duration::from_millis(100))
            .with_max_delay(Duration::from_secs(10))
            .without_max_times()
            .build();
        let written = async {
            while let Err(error) = self.write(status).await {
                let error = explain(&error);
                tracing::warn!(%kind, %name, error, "cannot write status; trying again");
                tokio::time::sleep(pauses.next().unwrap_or(LAST_WORDS)).await;
            }
        };
        let stopped = async {
            stop.cancelled().await;
            tokio::time::sleep(LAST_WORDS).await;
        };
        tokio::select! {
            () = written => {}
            () = stopped => tracing::warn!(%kind, %name, "stopped before the status was written"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(generation: i64) -> Occasion {
        Occasion::new(Some(generation), &Clock::system())
    }

    #[test]
    fn message_that_quotes_something_long_is_cut() {
        let mut conditions = Vec::new();
        let verdict = Verdict::no("Long", "é".repeat(1_000_000));
        set_condition(&mut conditions, READY, &of(1), verdict);
        let message = &conditions[0].message;
        assert!(message.len() < 5_000, "{}", message.len());
        assert!(message.ends_with("é…"), "{message}");
    }

    #[test]
    fn the_time_of_transition_changes_with_the_status_only() {
        let mut conditions = Vec::new();
        set_condition(&mut conditions, "Ready", &of(1), Verdict::no("A", "first"));
        let long_ago = Time(Timestamp::UNIX_EPOCH);
        conditions[0].last_transition_time = long_ago.clone();
        set_condition(&mut conditions, "Ready", &of(2), Verdict::no("B", "second"));
        assert_eq!(conditions[0].last_transition_time, long_ago);
        assert_eq!((conditions[0].reason.as_str(), conditions.len()), ("B", 1));
        set_condition(&mut conditions, "Ready", &of(2), Verdict::yes("C", "third"));
        assert!(conditions[0].last_transition_time > long_ago);
    }

    #[test]
    fn only_a_verdict_on_this_generation_decides() {
        let mut conditions = Vec::new();
        set_condition(
            &mut conditions,
            "Succeeded",
            &of(1),
            Verdict::yes("Done", ""),
        );
        assert!(is_decided(&conditions, "Succeeded", Some(1)));
        assert!(!is_decided(&conditions, "Succeeded", Some(2)));
        set_condition(
            &mut conditions,
            "Succeeded",
            &of(1),
            Verdict::unknown("Running", ""),
        );
        assert!(!is_decided(&conditions, "Succeeded", Some(1)));
    }
}
