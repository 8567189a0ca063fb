//! Environments as wire types.

use std::collections::BTreeMap;

use jiff::Timestamp;
use pathline_client::api::{
    Environment, EnvironmentCounts, EnvironmentFreeze, EnvironmentHold, EnvironmentRefusal,
    TrackerHold,
};
use pathline_ledger::releases;
use pathline_release::environment::{EnvironmentObject, Environments};
use pathline_release::queue::{Freeze, Hold, Holds};
use serde_json::{Value, json};

use super::next_tick;

/// All that is shown of environments besides their settings.
pub(super) struct Present<'a> {
    pub(super) environments: &'a Environments,
    pub(super) halts: Holds,
    pub(super) tracker_holds: Vec<releases::TrackerHold>,
    pub(super) counts: BTreeMap<String, releases::EnvironmentCounts>,
    pub(super) now: Timestamp,
}

impl Present<'_> {
    /// Returns an environment as it is shown. Settings are shown as somebody wrote them.
    pub(super) fn view(&self, object: &EnvironmentObject) -> Environment {
        let name = object.name.as_str();
        let valid = self.environments.get(name);
        let text = |field: &str| object.spec.get(field).and_then(Value::as_str);
        let text_or = |field: &str, usual: &str| text(field).unwrap_or(usual).to_owned();
        let place = self.environments.flow().get(name);
        let freezes = valid.map(|it| it.environment.freezes.as_slice());
        let freezes = freezes.unwrap_or_default();
        let frozen = freezes.iter().find(|it| it.contains(self.now));
        let counts = self.counts.get(name).copied().unwrap_or_default();
        let frequency = object.spec.get("releaseFrequency").cloned();
        Environment {
            name: name.to_owned(),
            of_type: text("type").map(str::to_owned),
            position: place.map(|it| it.position),
            namespace: text_or("namespace", name),
            release_frequency: frequency.unwrap_or_else(|| json!({})),
            time_zone: text_or("timeZone", "UTC"),
            promotion: text_or("promotion", "auto"),
            accepts: text("accepts").map(str::to_owned),
            soak: text_or("soak", "0s"),
            freezes: freezes.iter().map(freeze).collect(),
            ready_timeout: text_or("readyTimeout", "15m"),
            on_failure: text_or("onFailure", "keep"),
            next_tick: match self.halts.get(name) {
                None => next_tick(self.environments, name, self.now),
                Some(_) => None,
            },
            hold: self.halts.get(name).map(hold),
            tracker_holds: {
                let holds = self.tracker_holds.iter();
                let there = holds.filter(|it| it.environment == name);
                there.map(tracker_hold).collect()
            },
            frozen: frozen.map(freeze),
            refused: self
                .environments
                .refusal(name)
                .map(|it| EnvironmentRefusal {
                    reason: it.reason().to_owned(),
                    message: it.to_string(),
                }),
            counts: EnvironmentCounts {
                queued: counts.queued,
                held: counts.held,
                deploying: counts.deploying,
            },
        }
    }
}

/// Returns a hold as it is shown.
pub(crate) fn hold(hold: &Hold) -> EnvironmentHold {
    EnvironmentHold {
        by: hold.by.clone(),
        reason: hold.reason.clone(),
        since: hold.since,
    }
}

fn tracker_hold(held: &releases::TrackerHold) -> TrackerHold {
    TrackerHold {
        tracker: held.tracker.to_string(),
        hold: hold(&held.hold),
    }
}

fn freeze(freeze: &Freeze) -> EnvironmentFreeze {
    EnvironmentFreeze {
        from: freeze.from,
        until: freeze.until,
        reason: freeze.reason.clone(),
    }
}
