//! Runs: objects that a change makes anew instead of changing them.
//!
//! The runs of one resource, or of one Runnable, form a set. One of them is *current*: it carries
//! what was rendered last. Which of them gives the output, and which may go, is decided here.

use std::cmp::Reverse;

use jiff::Timestamp;
use pathline_kinds::carto::{ConditionStatus, HealthRule, Lifecycle, RetentionPolicy};
use serde_json::Value;

use crate::health;
use crate::template::TemplateKind;

/// The annotation that says when a run was asked for, finer than a creation time can.
pub const STARTED_ANNOTATION: &str = "pathline.dev/run-started";

/// Names longer than this fit no label, and some kinds refuse them.
const NAME_LIMIT: usize = 63;

/// Enough of a digest to tell the runs of a set apart; the whole one is written on the run.
const DIGEST_CHARACTERS: usize = 10;

/// Returns the name of the run with this digest (`sha256:<hex>`): one rendering has one name.
pub fn name(prefix: &str, digest: &str) -> String {
    let hex = digest.rsplit(':').next().unwrap_or(digest);
    let suffix = &hex[..hex.len().min(DIGEST_CHARACTERS)];
    let prefix: String = prefix
        .chars()
        .take(NAME_LIMIT - DIGEST_CHARACTERS)
        .collect();
    format!("{prefix}{suffix}")
}

/// Returns the health rule of a lifecycle whose template has none.
pub fn default_rule(lifecycle: Lifecycle) -> Option<HealthRule> {
    (lifecycle == Lifecycle::Tekton).then(|| HealthRule {
        single_condition_type: Some("Succeeded".to_owned()),
        ..HealthRule::default()
    })
}

/// The runs of one set, newest first.
#[derive(Debug)]
pub struct Runs<'o> {
    runs: Vec<Run<'o>>,
}

#[derive(Debug)]
struct Run<'o> {
    object: &'o Value,
    health: ConditionStatus,
    is_current: bool,
}

impl<'o> Runs<'o> {
    /// Judges the objects of a set by a health rule; without one, to exist is to be healthy.
    ///
    /// `current` is the name of the run that carries what was rendered last.
    pub fn new(
        objects: impl IntoIterator<Item = &'o Value>,
        rule: Option<&HealthRule>,
        current: &str,
    ) -> Self {
        let judged = |object: &'o Value| Run {
            object,
            health: health::judge(rule, TemplateKind::Plain, Some(object), false).status,
            is_current: object["metadata"]["name"] == current,
        };
        let mut runs: Vec<Run<'o>> = objects.into_iter().map(judged).collect();
        runs.sort_by_cached_key(|run| Reverse(age_key(run.object)));
        Self { runs }
    }

    /// Returns the run whose output counts: the current one if it is healthy, else the newest that is.
    pub fn producing(&self) -> Option<&'o Value> {
        let healthy = self
            .runs
            .iter()
            .filter(|run| run.health == ConditionStatus::True);
        let current = healthy.clone().find(|run| run.is_current);
        current
            .or_else(|| healthy.clone().next())
            .map(|run| run.object)
    }

    /// Returns the runs that are too many. The current one, and those that have not ended, stay.
    pub fn expired(&self, retention: &RetentionPolicy) -> Vec<&'o Value> {
        let beyond = |health: ConditionStatus, limit: i64| {
            let ended = self.runs.iter().filter(move |run| run.health == health);
            ended.skip(usize::try_from(limit).unwrap_or(0))
        };
        let healthy = beyond(ConditionStatus::True, retention.max_successful_runs);
        let failed = beyond(ConditionStatus::False, retention.max_failed_runs);
        let expired = healthy.chain(failed);
        let expired = expired.filter(|run| !run.is_current && !is_going(run.object));
        expired.map(|run| run.object).collect()
    }
}

/// Returns the times at which a run was created and was asked for, then its name, so that the order
/// is total.
fn age_key(object: &Value) -> (Option<Timestamp>, Option<Timestamp>, String) {
    let metadata = &object["metadata"];
    let time = |value: &Value| value.as_str().and_then(|text| text.parse().ok());
    (
        time(&metadata["creationTimestamp"]),
        time(&metadata["annotations"][STARTED_ANNOTATION]),
        metadata["name"].as_str().unwrap_or_default().to_owned(),
    )
}

fn is_going(object: &Value) -> bool {
    !object["metadata"]["deletionTimestamp"].is_null()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use pathline_testkit::cases;
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    /// A run of a given second, with a status of its condition `Succeeded`.
    fn run(name: &str, second: i64, succeeded: &str) -> Value {
        let created = Timestamp::from_second(second).unwrap().to_string();
        json!({
            "metadata": {"name": name, "creationTimestamp": created},
            "status": {"conditions": [{"type": "Succeeded", "status": succeeded}]},
        })
    }

    fn rule() -> HealthRule {
        default_rule(Lifecycle::Tekton).unwrap()
    }

    fn names(objects: &[&Value]) -> Vec<String> {
        let name = |object: &&Value| object["metadata"]["name"].as_str().unwrap().to_owned();
        objects.iter().map(name).collect()
    }

    #[test]
    fn the_output_is_that_of_the_current_run_if_it_is_healthy() {
        type States = &'static [(&'static str, &'static str)];
        // Each row: runs with their states from old to new, the current one, whose output counts.
        let rows: [(States, &str, Option<&str>); 7] = [
            (&[("a", "True")], "a", Some("a")),
            (&[("a", "Unknown")], "a", None),
            (&[("a", "True"), ("b", "Unknown")], "b", Some("a")),
            (&[("a", "True"), ("b", "False")], "b", Some("a")),
            (&[("a", "True"), ("b", "True")], "a", Some("a")),
            (
                &[("a", "False"), ("b", "True"), ("c", "True")],
                "a",
                Some("c"),
            ),
            (&[("a", "True")], "not created yet", Some("a")),
        ];
        for (states, current, expected) in rows {
            let objects: Vec<Value> = (0..)
                .zip(states)
                .map(|(second, (name, state))| run(name, second, state))
                .collect();
            let producing = Runs::new(&objects, Some(&rule()), current).producing();
            let producing = producing.map(|run| run["metadata"]["name"].as_str().unwrap());
            assert_eq!(producing, expected, "{states:?}, current {current}");
        }
    }

    #[test]
    fn runs_of_one_second_are_told_apart_by_when_they_were_asked_for() {
        let mut runs = [run("z", 5, "True"), run("a", 5, "True")];
        runs[0]["metadata"]["annotations"][STARTED_ANNOTATION] = json!("1970-01-01T00:00:05.1Z");
        runs[1]["metadata"]["annotations"][STARTED_ANNOTATION] = json!("1970-01-01T00:00:05.2Z");
        let producing = Runs::new(&runs, Some(&rule()), "gone").producing().unwrap();
        assert_eq!(producing["metadata"]["name"], "a");
    }

    #[test]
    fn the_oldest_go_first_but_never_the_current_one() {
        let runs = [
            run("good-1", 1, "True"),
            run("bad-1", 2, "False"),
            run("going-on", 3, "Unknown"),
            run("good-2", 4, "True"),
            run("bad-2", 5, "False"),
        ];
        let keep_one = RetentionPolicy {
            max_failed_runs: 1,
            max_successful_runs: 1,
        };
        let expired = |current| names(&Runs::new(&runs, Some(&rule()), current).expired(&keep_one));
        assert_eq!(expired("bad-2"), ["good-1", "bad-1"]);
        assert_eq!(expired("good-1"), ["bad-1"], "A, B, and A again");
        assert!(
            Runs::new(&runs, Some(&rule()), "")
                .expired(&RetentionPolicy::default())
                .is_empty()
        );
    }

    #[test]
    fn a_run_that_is_being_deleted_is_not_deleted_again() {
        let mut runs = [run("old", 1, "True"), run("new", 2, "True")];
        runs[0]["metadata"]["deletionTimestamp"] = json!("1970-01-01T00:00:09Z");
        let keep_one = RetentionPolicy {
            max_failed_runs: 1,
            max_successful_runs: 1,
        };
        assert!(
            Runs::new(&runs, Some(&rule()), "new")
                .expired(&keep_one)
                .is_empty()
        );
    }

    #[test]
    fn without_a_rule_to_exist_is_to_be_healthy() {
        let object = json!({"metadata": {"name": "a"}});
        assert!(Runs::new([&object], None, "a").producing().is_some());
    }

    #[test]
    fn a_long_prefix_is_cut_and_the_digest_stays() {
        let name = name(&"x".repeat(200), "sha256:0123456789abcdef");
        assert_eq!(name.len(), NAME_LIMIT);
        assert!(name.ends_with("x0123456789"));
    }

    proptest! {
        #![proptest_config(cases(256))]

        #[test]
        fn retention_keeps_what_it_promises(
            states in proptest::collection::vec(0..3_usize, 0..40),
            current in 0..40_usize,
            good in 1..5_i64,
            bad in 1..5_i64,
        ) {
            let status = ["True", "False", "Unknown"];
            let runs: Vec<Value> = states
                .iter()
                .zip(0..)
                .map(|(state, second)| run(&format!("r{second}"), second, status[*state]))
                .collect();
            let current = format!("r{current}");
            let retention = RetentionPolicy { max_failed_runs: bad, max_successful_runs: good };
            let rule = rule();
            let set = Runs::new(&runs, Some(&rule), &current);
            let expired: HashSet<String> = names(&set.expired(&retention)).into_iter().collect();
            for (state, limit) in [("True", good), ("False", bad), ("Unknown", i64::MAX)] {
                let of_state: Vec<String> = runs
                    .iter()
                    .rev()
                    .filter(|run| run["status"]["conditions"][0]["status"] == state)
                    .map(|run| run["metadata"]["name"].as_str().unwrap().to_owned())
                    .collect();
                for (position, name) in of_state.iter().enumerate() {
                    let is_kept = i64::try_from(position).unwrap() < limit || *name == current;
                    prop_assert_eq!(is_kept, !expired.contains(name));
                }
            }
            if let Some(producing) = set.producing() {
                let name = producing["metadata"]["name"].as_str().unwrap();
                prop_assert!(!expired.contains(name), "the run that gives the output stays");
            }
        }
    }
}
