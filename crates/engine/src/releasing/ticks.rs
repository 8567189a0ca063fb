//! Ticks: when environments take what is queued there.

use std::collections::BTreeMap;

use jiff::Timestamp;
use pathline_release::environment::Environments;
use pathline_release::timeline::MISFIRE_GRACE;

/// The ticks of all environments: which were handled, and which come next.
#[derive(Debug, Default)]
pub(super) struct Ticks {
    handled: BTreeMap<String, Timestamp>,
    /// The next tick of each environment. It is kept, since one that never comes is sought for long.
    next: BTreeMap<String, Option<Timestamp>>,
}

impl Ticks {
    /// Goes on from the ticks that were handled.
    pub(super) fn new(handled: BTreeMap<String, Timestamp>) -> Self {
        Self {
            handled,
            next: BTreeMap::new(),
        }
    }

    /// Takes in that environments are others now.
    pub(super) fn environments_changed(&mut self) {
        self.next.clear();
    }

    /// Returns the ticks that are due; the clock may have been set, so that one may have been missed.
    pub(super) fn due(
        &mut self,
        environments: &Environments,
        now: Timestamp,
    ) -> Vec<(String, Timestamp)> {
        let mut due = Vec::new();
        for environment in environments.flow().environments() {
            let name = &environment.name;
            let timeline = &environment.timeline;
            let next = self.next.get(name);
            if next.is_some_and(|next| next.is_none_or(|next| next > now)) {
                continue;
            }
            // Before an environment was created it had no ticks.
            let created = environments.created(name).unwrap_or(now);
            let handled = self.handled.get(name).copied().unwrap_or(created);
            if let Some(tick) = timeline.due(handled, now, MISFIRE_GRACE) {
                due.push((name.clone(), tick));
            }
            self.next.insert(name.clone(), timeline.next_after(now));
        }
        due
    }

    /// Takes note that ticks were handled.
    pub(super) fn done(&mut self, ticks: Vec<(String, Timestamp)>) {
        self.handled.extend(ticks);
    }

    /// Takes note that ticks could not be handled: they are still due.
    pub(super) fn failed(&mut self, ticks: &[(String, Timestamp)]) {
        for (name, _) in ticks {
            self.next.remove(name);
        }
    }

    /// Returns the next tick of any environment.
    pub(super) fn next(&self) -> Option<Timestamp> {
        self.next.values().flatten().min().copied()
    }
}

#[cfg(test)]
mod tests {
    use pathline_release::environment::EnvironmentObject;
    use serde_json::{Value, json};

    use super::*;

    fn mk_environments(rule: &Value) -> Environments {
        Environments::of(&[EnvironmentObject {
            name: "dev".to_owned(),
            created: Some(at("2026-08-22T09:00:00Z")),
            spec: json!({"type": "dev", "releaseFrequency": rule}),
            is_terminating: false,
        }])
    }

    fn at(time: &str) -> Timestamp {
        time.parse().expect("a time")
    }

    #[test]
    fn tick_is_due_once() {
        let environments = mk_environments(&json!({"hour": 17, "minute": 0}));
        let mut ticks = Ticks::default();
        assert_eq!(ticks.due(&environments, at("2026-08-22T16:59:59Z")), []);
        assert_eq!(ticks.next(), Some(at("2026-08-22T17:00:00Z")));
        let due = ticks.due(&environments, at("2026-08-22T17:00:01Z"));
        assert_eq!(due, [("dev".to_owned(), at("2026-08-22T17:00:00Z"))]);
        ticks.done(due);
        assert_eq!(ticks.due(&environments, at("2026-08-22T17:00:02Z")), []);
        assert_eq!(ticks.next(), Some(at("2026-08-23T17:00:00Z")));
    }

    #[test]
    fn tick_that_failed_is_due_again() {
        let environments = mk_environments(&json!({}));
        let mut ticks = Ticks::default();
        let due = ticks.due(&environments, at("2026-08-22T17:00:01Z"));
        assert_eq!(due.len(), 1);
        ticks.failed(&due);
        assert_eq!(ticks.due(&environments, at("2026-08-22T17:00:03Z")), due);
    }

    #[test]
    fn environment_has_no_ticks_before_it_was_created() {
        let environments = mk_environments(&json!({"hour": 8, "minute": 58}));
        let mut ticks = Ticks::default();
        assert_eq!(ticks.due(&environments, at("2026-08-22T09:00:01Z")), []);
    }

    #[test]
    fn tick_that_was_missed_while_nobody_ran_is_due_within_its_grace() {
        let environments = mk_environments(&json!({"hour": 17, "minute": 0}));
        let handled = [("dev".to_owned(), at("2026-08-21T17:00:00Z"))];
        let mk_ticks = || Ticks::new(handled.clone().into());
        let due = mk_ticks().due(&environments, at("2026-08-22T17:04:00Z"));
        assert_eq!(due.len(), 1);
        assert_eq!(
            mk_ticks().due(&environments, at("2026-08-22T17:06:00Z")),
            []
        );
    }
}
