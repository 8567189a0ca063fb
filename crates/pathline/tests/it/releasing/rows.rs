//! The rows of the table that deploy, told by real parts: images are pushed, files are committed, environments tick, and
//! what is deployed is a Task that ends when the row says so.
//!
//! An environment "ticks" while nobody holds the tracker there. Steps and states are those of `pathline tracker simulate`,
//! which is also asked: what the simulator says is what happens.

use std::fs;
use std::time::{Duration, Instant};

use pathline_release::simulate::simulate;
use pathline_testkit::{Dice, is_nightly, seed};
use serde_json::{Value, json};

use super::story::{ENVIRONMENTS, Story};

const SUITE: &str = "rows of the table with real objects";
/// Far longer than anything here takes; only a hang is cut off by it.
const TIMEOUT: Duration = Duration::from_secs(120);
/// The time in which something would happen that must not: environments tick each second.
const NOTHING: Duration = Duration::from_millis(1500);

/// A path that ends with a test, which waits until somebody says how it ends.
const PATH: &str = r#"
apiVersion: carto.run/v1alpha1
kind: ClusterTemplate
metadata: {name: row}
spec:
  healthRule: {singleConditionType: Succeeded}
  template:
    apiVersion: pathline.dev/v1alpha1
    kind: Task
    metadata: {name: $(workload.metadata.name)$}
    spec:
      timeout: 5m
      command:
        - sh
        - -c
        - 'until [ -e "$0/end-$1-$2" ]; do sleep 0.05; done; echo it ends; exit `cat "$0/end-$1-$2"`'
        - HOME
        - $(workload.metadata.namespace)$
        - n$(params.release.number)$
        - $(workload.spec.image)$
---
apiVersion: carto.run/v1alpha1
kind: ClusterSupplyChain
metadata: {name: row}
spec:
  selectorMatchExpressions: [{key: pathline.dev/tracker, operator: Exists}]
  resources: [{name: run, templateRef: {kind: ClusterTemplate, name: row}}]
"#;

/// A row that is being played.
struct Row {
    story: Story,
    is_followed: bool,
    is_deleted: bool,
    /// The digests by the names that steps have for them.
    digests: Vec<(String, String)>,
}

impl Row {
    fn begin(group: &'static str, omitted: &[&str]) -> Option<Self> {
        let leave_out = json!({"omitFromDeploy": [group]});
        let settings: Vec<_> = omitted.iter().map(|it| (*it, leave_out.clone())).collect();
        let story = Story::prepare(SUITE, group, &settings)?;
        let home = story.world.home.to_str().expect("a path").to_owned();
        story.apply_text(&PATH.replace("HOME", &home));
        Some(Self {
            story,
            is_followed: false,
            is_deleted: false,
            digests: Vec::new(),
        })
    }

    fn play(&mut self, step: &str) {
        let words: Vec<&str> = step.split(' ').collect();
        match words[..] {
            ["p", ref seen @ ..] => self.poll(seen),
            ["t", ref environments @ ..] => self.tick(environments),
            ["k", environment] => self.end(environment, 0),
            ["x", environment] => self.end(environment, 1),
            ["restart"] => {
                let leash = self.story.world.kill();
                self.story.world.start_again(leash);
            }
            ["del"] => {
                let asked = format!("DELETE /trackers/{}", self.story.id);
                assert_eq!(self.story.world.rest(&asked, None).status, 204);
                self.is_deleted = true;
            }
            _ => panic!("there is no step {step:?}"),
        }
    }

    /// Pushes and commits what a step says, and looks at it.
    fn poll(&mut self, seen: &[&str]) {
        for seen in seen {
            if let Some(image) = seen.strip_prefix("r=latest:") {
                let digest = self.story.push(image);
                self.digests.push((image.to_owned(), digest));
            } else if let Some(config) = seen.strip_prefix("g=") {
                let config = config.strip_suffix("@latest").expect("the one label");
                self.story.configure("true", config);
            } else {
                panic!("nobody can see {seen:?}");
            }
        }
        if !self.is_followed {
            self.is_followed = true;
            // Nothing is taken before the tracker can be held.
            for environment in ENVIRONMENTS {
                self.story.told(&["hold", environment]);
            }
            self.story.follow();
            self.story.world.until_released(&self.story.id, 1);
            for environment in ENVIRONMENTS {
                self.story.told(&["hold", environment, &self.story.id]);
                self.story.told(&["resume", environment]);
            }
        } else if self.is_deleted {
            let asked = format!("POST /trackers/{}/poll", self.story.id);
            assert_eq!(self.story.world.rest(&asked, None).status, 404);
            std::thread::sleep(NOTHING);
        } else {
            self.story.world.look(&self.story.id);
        }
    }

    /// Lets environments tick, and waits until what was queued there is taken.
    fn tick(&self, environments: &[&str]) {
        for environment in environments {
            self.story.told(&["resume", environment, &self.story.id]);
        }
        let end = Instant::now() + TIMEOUT;
        let is_over = || {
            let entries = self.entries();
            let is_there = |environment: &str, state: &str| {
                let mut entries = entries.iter();
                entries.any(|it| it.environment == environment && it.state == state)
            };
            let mut left = environments
                .iter()
                .filter(|it| is_there(it, "queued") && !is_there(it, "deploying"));
            left.next().is_none()
        };
        while !is_over() {
            assert!(Instant::now() < end, "nothing is taken: {}", self.states());
            std::thread::sleep(Duration::from_millis(50));
        }
        // Nothing else may be taken.
        std::thread::sleep(NOTHING);
        for environment in environments {
            self.story.told(&["hold", environment, &self.story.id]);
        }
    }

    /// Lets what is being deployed end.
    fn end(&self, environment: &str, code: i32) {
        let entries = self.entries();
        let deploying = entries
            .iter()
            .find(|it| it.environment == environment && it.state == "deploying");
        let Some(deploying) = deploying else {
            // It has ended; it may say so again.
            std::thread::sleep(NOTHING);
            return;
        };
        let number = deploying.number;
        // The task is of this release: it shows the image, by its digest.
        let home = &self.story.world.home;
        let file = home.join(format!("end-{environment}-n{number}"));
        fs::write(file, code.to_string()).expect("it is writable");
        let state = if code == 0 { "deployed" } else { "failed" };
        let message = self.story.until(number, environment, state);
        assert_eq!(state == "failed", message.contains("it ends"), "{message}");
    }

    fn entries(&self) -> Vec<Entry> {
        let mut all = Vec::new();
        for release in self.releases() {
            let number = release["number"].as_u64().expect("a number");
            for entry in release["entries"].as_array().expect("entries") {
                let text = |key: &str| entry[key].as_str().expect("a text").to_owned();
                all.push(Entry {
                    environment: text("environment"),
                    number,
                    state: text("state"),
                });
            }
        }
        let place = |it: &Entry| ENVIRONMENTS.iter().position(|name| *name == it.environment);
        all.sort_by_key(|it| (place(it), it.number));
        all
    }

    fn releases(&self) -> Vec<Value> {
        let asked = format!("GET /releases?tracker={}&limit=500", self.story.id);
        let answer = self.story.world.rest(&asked, None);
        assert_eq!(answer.status, 200, "{answer:?}");
        let mut releases = answer.json()["items"].as_array().expect("releases").clone();
        releases.reverse();
        releases
    }

    /// Returns the entries in the notation of the table.
    fn states(&self) -> String {
        let entries = self.entries();
        let states = entries
            .iter()
            .map(|it| format!("{}.{}={}", it.environment, it.number, it.state));
        states.collect::<Vec<_>>().join(" ")
    }

    /// Asserts that the Workloads are those of what is deployed, or being deployed, last.
    fn assert_objects(&self) {
        for environment in ENVIRONMENTS {
            let entries = self.entries();
            let written = entries.iter().rfind(|it| {
                let was_written = ["deploying", "deployed", "failed"].contains(&&*it.state);
                it.environment == environment && was_written
            });
            let owner = self.story.owner(environment);
            let Some(written) = written else {
                assert_eq!(owner, None, "nothing is written to {environment}");
                continue;
            };
            let owner = owner.unwrap_or_else(|| panic!("there is no Workload in {environment}"));
            let number = &owner["metadata"]["annotations"]["pathline.dev/release"];
            assert_eq!(number, &json!(written.number.to_string()), "{environment}");
            let image = owner["spec"]["image"].as_str().expect("an image");
            let releases = self.releases();
            let digest = releases.iter().find(|it| it["number"] == written.number);
            let digest = digest.expect("it is there")["image"]["digest"].clone();
            assert!(image.ends_with(digest.as_str().expect("a text")), "{image}");
            assert!(
                self.digests.iter().any(|(_, it)| digest == it.as_str()),
                "{digest} was pushed"
            );
        }
    }
}

/// A release in an environment.
struct Entry {
    environment: String,
    number: u64,
    state: String,
}

/// Plays a row, and asserts what there is after it.
#[track_caller]
fn row(group: &'static str, steps: &[&str], omitted: &[&str], expected: Option<&str>) {
    let case = json!({"steps": steps, "options": {"omit": omitted}});
    let simulated = simulate(&case).expect("a case");
    if let Some(expected) = expected {
        assert_eq!(simulated.environments, expected, "{steps:?}");
    }
    let Some(mut row) = Row::begin(group, omitted) else {
        return;
    };
    for step in steps {
        row.play(step);
    }
    assert_eq!(row.states(), simulated.environments, "{steps:?}");
    row.assert_objects();
}

/// Declares a test for each row: its name, its steps, what is omitted, and the states after it.
macro_rules! rows {
    ($($name:ident: $group:literal, $steps:expr, $omitted:expr, $expected:literal;)*) => {
        $(
            #[test]
            fn $name() {
                row($group, &$steps, &$omitted, Some($expected));
            }
        )*
    };
}

const FIRST: &str = "p r=latest:D1 g=C1@latest";

rows! {
    s40_dev_tick_deploys: "s40", [FIRST, "t dev"], [], "dev.1=deploying";
    s41_ready_in_dev_queues_ha: "s41", [FIRST, "t dev", "k dev"], [], "dev.1=deployed ha.1=queued";
    s43_tick_before_anything_queued_is_a_no_op: "s43", [FIRST, "t ha", "t prod"], [], "dev.1=queued";
    s44_simultaneous_ticks_never_move_one_release_two_steps: "s44",
        [FIRST, "t dev", "k dev", "t dev ha preprod prod"], [], "dev.1=deployed ha.1=deploying";
    s46_failed_in_dev_never_reaches_ha: "s46", [FIRST, "t dev", "x dev", "t ha"], [], "dev.1=failed";
    s47_failed_release_is_not_retried_by_later_ticks: "s47",
        [FIRST, "t dev", "x dev", "t dev", "t dev"], [], "dev.1=failed";
    s49_new_release_while_dev_is_deploying_waits_for_the_next_tick: "s49",
        [FIRST, "t dev", "p r=latest:D2", "t dev", "k dev"], [],
        "dev.1=deployed dev.2=queued ha.1=queued";
    s50_newest_ready_wins_where_ha_is_slow: "s50",
        [FIRST, "t dev", "k dev", "p r=latest:D2", "t dev", "k dev", "t ha", "k ha"], [],
        "dev.1=deployed dev.2=deployed ha.1=superseded ha.2=deployed preprod.2=queued";
    s52_failure_in_ha_stops_that_release_only: "s52",
        [FIRST, "t dev", "k dev", "t ha", "x ha", "p r=latest:D2", "t dev", "k dev", "t ha", "k ha"], [],
        "dev.1=deployed dev.2=deployed ha.1=failed ha.2=deployed preprod.2=queued";
    s53_omitted_environment_is_skipped: "s53", [FIRST, "t dev", "k dev"], ["ha"],
        "dev.1=deployed ha.1=skipped preprod.1=queued";
    s55_restart_while_deploying_is_the_same_attempt: "s55",
        [FIRST, "t dev", "restart", "t dev", "k dev"], [], "dev.1=deployed ha.1=queued";
    s56_ready_is_told_twice: "s56", [FIRST, "t dev", "k dev", "k dev"], [], "dev.1=deployed ha.1=queued";
    s58_deployment_of_a_deleted_tracker_finishes_and_does_not_advance: "s58",
        [FIRST, "t dev", "del", "k dev"], [], "dev.1=deployed";
    s59_deleted_tracker_drops_what_is_queued_and_is_not_polled: "s59",
        [FIRST, "p g=C2@latest", "del", "p r=latest:D2"], [], "dev.1=cancelled";
}

/// Draws steps that a row could have.
fn draw(dice: &mut Dice) -> Vec<String> {
    let mut steps = vec![FIRST.to_owned()];
    let (mut images, mut configs) = (1, 1);
    for _ in 0..10 {
        let environment = ENVIRONMENTS[dice.below(3) as usize];
        steps.push(match dice.below(12) {
            0..=4 => format!("t {environment}"),
            5..=7 => format!("k {environment}"),
            8 => format!("x {environment}"),
            9 => {
                images += 1;
                format!("p r=latest:D{images}")
            }
            10 => {
                configs += 1;
                format!("p g=C{configs}@latest")
            }
            _ => "restart".to_owned(),
        });
    }
    steps
}

#[test]
fn what_is_simulated_is_what_happens() {
    let mut dice = Dice::new(seed(SUITE));
    let rounds = if is_nightly() { 40 } else { 2 };
    for _ in 0..rounds {
        let steps = draw(&mut dice);
        let steps: Vec<&str> = steps.iter().map(String::as_str).collect();
        row("drawn", &steps, &[], None);
    }
}
