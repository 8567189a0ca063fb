//! A smoke test at the end of a path: `run` keeps something running, and `test` takes what runs and tries it.

use std::collections::BTreeMap;

use pathline_lineage::rollout::{self, Below};
use pathline_lineage::wait::{Impossible, Options, Verdict, judge};
use pathline_lineage::{
    Applied, Artifact, Chain, Kind, Live, Origin, OwnerLineage, Rollout, Stage, Stamp, State,
};
use serde_json::json;

use crate::paths::{done, resource, stamp};
use crate::story::debug;

struct Path {
    lineage: OwnerLineage,
    /// The generation of the process, and that of the task.
    process: i64,
    task: i64,
}

impl Path {
    fn new() -> Self {
        let chain = Chain::new(vec![
            resource("run", &[], &["param:debug"]),
            resource("test", &["run"], &[]),
        ]);
        let lineage = OwnerLineage {
            state: State::new(chain.expect("a path")),
            ..OwnerLineage::default()
        };
        Self {
            lineage,
            process: 0,
            task: 0,
        }
    }

    /// A path whose test has passed.
    fn tested(flag: &str) -> Self {
        let mut path = Self::new();
        path.start(flag);
        path.test("True");
        path
    }

    /// The owner wants a value, and the process is started with it.
    fn start(&mut self, flag: &str) {
        self.lineage.generation += 1;
        let owned = BTreeMap::from([("param:debug".to_owned(), debug(flag))]);
        self.lineage.state.own(owned);
        self.process += 1;
        let inputs = [(Origin::owner("param:debug"), debug(flag))];
        let stamped = stamp("run", self.process, inputs);
        self.lineage.state.stamped("run", stamped).expect("a path");
        let seen = done("run", self.process, Some(self.running()));
        self.lineage.state.seen("run", &seen).expect("a path");
        self.roll_out("run", Stage::Done);
    }

    /// The word of the process on what it runs: its generation is a part of it, so each start is tested.
    fn running(&self) -> Artifact {
        Artifact::value(Kind::Config, &json!({"generation": self.process}))
    }

    /// The task is given what runs; its run says so of itself.
    fn test(&mut self, succeeded: &str) {
        self.give();
        self.say(self.task, succeeded);
    }

    /// The task is given what runs, and has not been looked at since.
    fn give(&mut self) {
        self.task += 1;
        let inputs = [(Origin::resource("run"), self.running())];
        let stamped = Stamp {
            applied: Applied::Object,
            ..stamp("test", self.task, inputs)
        };
        self.lineage.state.stamped("test", stamped).expect("a path");
        let seen = done("test", self.task, None);
        self.lineage.state.seen("test", &seen).expect("a path");
    }

    /// The status of the task speaks of a generation.
    fn say(&mut self, generation: i64, succeeded: &str) {
        let task = json!({
            "apiVersion": "pathline.dev/v1alpha1", "kind": "Task",
            "metadata": {"name": "test", "uid": "test", "generation": self.task},
            "status": {
                "observedGeneration": generation, "logTail": "no page\n",
                "conditions": [{
                    "type": "Succeeded", "status": succeeded, "observedGeneration": generation,
                    "message": format!("succeeded: {succeeded}"),
                }],
            },
        });
        let judged = rollout::judge(&rollout::Object::read(&task), &Below::default(), &[]);
        self.lineage.rollouts.insert("test".into(), judged);
        self.lineage.note_live();
    }

    fn roll_out(&mut self, name: &str, stage: Stage) {
        let rollout = Rollout {
            uid: name.to_owned(),
            generation: Some(self.process),
            stage,
            ..Rollout::default()
        };
        self.lineage.rollouts.insert(name.to_owned(), rollout);
        self.lineage.note_live();
    }

    fn wait(&self, texts: &[&str]) -> Verdict {
        let awaited: Vec<_> = texts.iter().map(|it| it.parse().expect("valid")).collect();
        let live = Options {
            live: true,
            ..Options::default()
        };
        judge(&self.lineage, &awaited, live)
    }

    #[track_caller]
    fn waits(&self, flag: &str) {
        let value = format!("param:debug={flag}");
        for asked in [value.as_str(), "current"] {
            let verdict = self.wait(&[asked]);
            assert!(matches!(verdict, Verdict::Waiting(_)), "{verdict:?}");
        }
        assert_ne!(self.lineage.live(), Live::True);
    }

    #[track_caller]
    fn holds(&self, flag: &str) {
        let value = format!("param:debug={flag}");
        let verdict = self.wait(&[&value, "current"]);
        assert!(matches!(verdict, Verdict::Holds(_)), "{verdict:?}");
        assert_eq!(self.lineage.live(), Live::True);
    }

    #[track_caller]
    fn fails(&self, flag: &str) -> (String, String) {
        let value = format!("param:debug={flag}");
        match self.wait(&[&value]) {
            Verdict::Impossible(Impossible::Failed { resource, message }) => (resource, message),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn nothing_is_live_before_its_test_has_passed() {
    let mut path = Path::new();
    path.start("on");
    path.waits("on");
    path.give();
    path.waits("on");
    path.say(1, "Unknown");
    path.waits("on");
    path.say(1, "True");
    path.holds("on");
}

#[test]
fn smoke_test_that_fails_ends_the_wait_with_its_message_and_the_end_of_its_log() {
    let mut path = Path::tested("off");
    path.start("on");
    path.test("False");
    let (resource, message) = path.fails("on");
    assert_eq!(resource, "test");
    assert_eq!(message, "succeeded: False; it said: no page");
}

#[test]
fn value_that_comes_back_is_live_after_a_run_of_its_own() {
    let mut path = Path::tested("a");
    path.holds("a");
    path.start("b");
    path.test("True");
    path.holds("b");
    path.start("a");
    path.waits("a");
    path.give();
    // The status is still of the run for `b`, then of none; that the first `a` passed is history.
    for generation in [1, 2] {
        path.say(generation, "True");
        path.waits("a");
    }
    path.say(3, "Unknown");
    path.waits("a");
    path.say(3, "True");
    path.holds("a");
}

#[test]
fn what_ends_after_its_test_is_no_longer_live() {
    let mut path = Path::tested("on");
    path.roll_out(
        "run",
        Stage::Progressing {
            why: "it exited".into(),
        },
    );
    path.waits("on");
    path.roll_out(
        "run",
        Stage::Failed {
            reason: "it ended 4 times in a row".into(),
        },
    );
    assert_eq!(path.lineage.live(), Live::False);
    assert_eq!(
        path.fails("on"),
        ("run".to_owned(), "it ended 4 times in a row".to_owned())
    );
    path.roll_out("run", Stage::Done);
    path.holds("on");
}

#[test]
fn what_crashes_before_its_test_fails_with_its_own_reason() {
    let mut path = Path::tested("off");
    path.start("on");
    path.roll_out(
        "run",
        Stage::Failed {
            reason: "no config".into(),
        },
    );
    assert_eq!(path.fails("on"), ("run".to_owned(), "no config".to_owned()));
}
