//! An input that gets into the metadata of an object alone is in the object, and starts nothing.

use std::collections::{BTreeMap, BTreeSet};

use pathline_lineage::running::{Level, Sight};
use pathline_lineage::wait::{Options, Verdict, judge};
use pathline_lineage::{
    Applied, Artifact, Chain, Evidence, InputsId, Live, Origin, OwnerLineage, Rollout, Snapshot,
    Stage, Stamp, State,
};
use serde_json::json;

use crate::paths::{done, resource, stamp};

const LIVE: Options = Options {
    live: true,
    accept_assumed: false,
    since_generation: None,
};

/// A process that `run` stamps: `note` goes into an annotation of it, `debug` into its spec.
struct Process {
    lineage: OwnerLineage,
    generation: i64,
    /// The inputs whose correlation rules the template has, all of which match.
    ruled: BTreeSet<Origin>,
}

fn param(name: &str, value: &str) -> (Origin, Artifact) {
    let origin = Origin::owner(format!("param:{name}"));
    (origin, Artifact::param(name, &json!(value)))
}

fn inputs(note: &str, debug: &str) -> BTreeMap<Origin, Artifact> {
    [param("note", note), param("debug", debug)].into()
}

impl Process {
    fn started(note: &str, debug: &str) -> Self {
        Self::ruled(&[], note, debug)
    }

    fn ruled(rules: &[&str], note: &str, debug: &str) -> Self {
        let mut run = resource("run", &[], &["param:note", "param:debug"]);
        let ruled: BTreeSet<_> = rules.iter().map(|it| Origin::owner(*it)).collect();
        run.tracing.rules.clone_from(&ruled);
        let chain = Chain::new(vec![run]).expect("a path");
        let lineage = OwnerLineage {
            state: State::new(chain),
            ..OwnerLineage::default()
        };
        let mut process = Self {
            lineage,
            generation: 0,
            ruled,
        };
        process.apply_spec(note, debug);
        process
    }

    /// Applies what makes a new generation, which is started.
    fn apply_spec(&mut self, note: &str, debug: &str) {
        self.generation += 1;
        self.apply(note, debug);
    }

    /// Applies to the generation that there is: nothing is started.
    fn apply(&mut self, note: &str, debug: &str) {
        let owner = inputs(note, debug).into_iter();
        let owner = owner.map(|(origin, it)| (origin.name().to_owned(), it));
        self.lineage.state.own(owner.collect());
        let stamp = Stamp {
            applied: Applied::Object,
            rendered: Some(format!("{note} {debug}")),
            ..stamp("process", self.generation, inputs(note, debug))
        };
        let state = &mut self.lineage.state;
        state.stamped("run", stamp).expect("it is on the path");
        let snapshot = Snapshot {
            held: Some(true),
            matched: Some(self.ruled.clone()),
            inputs_id: Some(InputsId::of(&inputs(note, debug))),
            ..done("process", self.generation, None)
        };
        state.seen("run", &snapshot).expect("it is on the path");
        let rollout = Rollout {
            uid: "process".into(),
            generation: Some(self.generation),
            stage: Stage::Done,
            ..Rollout::default()
        };
        self.lineage.rollouts.insert("run".into(), rollout);
        self.lineage.note_live();
    }

    fn wait(&self, awaited: &str, options: Options) -> Verdict {
        let awaited = awaited.parse().expect("it can be waited for");
        judge(&self.lineage, &[awaited], options)
    }

    fn exit_code(&self, awaited: &str) -> Option<u8> {
        self.wait(awaited, LIVE).exit_code()
    }

    /// Returns the evidence of an input of the object itself, or of what runs as it.
    fn evidence(&self, name: &str, note: &str, debug: &str, level: Level) -> Option<Evidence> {
        let sight = Sight {
            uid: "process".into(),
            generation: Some(self.generation),
            inputs_id: Some(InputsId::of(&inputs(note, debug))),
            level,
        };
        let running = self.lineage.running(&sight, "workload", 100);
        let made = running.and_then(|it| it.made).expect("it is known");
        let edge = made.from.iter().find(|it| it.name.as_deref() == Some(name));
        edge.and_then(|it| it.evidence)
    }
}

#[test]
fn input_in_metadata_alone_has_arrived_and_is_not_proven_to_run() {
    let mut process = Process::started("A", "on");
    assert_eq!(process.exit_code("param:note=A"), Some(0));
    process.apply("B", "on");
    let arrived = Options {
        live: false,
        ..LIVE
    };
    assert_eq!(
        process.wait("param:note=B", arrived).exit_code(),
        Some(0),
        "the object has it"
    );
    let verdict = process.wait("param:note=B", LIVE);
    let Verdict::Unproven(missing) = &verdict else {
        panic!("{verdict:?}");
    };
    assert_eq!(verdict.exit_code(), Some(3));
    assert!(
        missing[0].why.contains("param:note in its metadata alone"),
        "{missing:?}"
    );
    assert_eq!(process.exit_code("current"), Some(3));
    assert_eq!(
        process.exit_code("param:debug=on"),
        Some(0),
        "it was started with that"
    );
    let accepted = Options {
        accept_assumed: true,
        ..LIVE
    };
    assert_eq!(process.wait("param:note=B", accepted).exit_code(), Some(0));
}

#[test]
fn input_in_metadata_alone_leaves_open_whether_the_owner_is_live() {
    let mut process = Process::started("A", "on");
    assert_eq!(process.lineage.live(), Live::True);
    process.apply("B", "on");
    let live = |name: &str| {
        let inputs = process.lineage.inputs();
        let input = inputs.into_iter().find(|it| it.name == name);
        input.and_then(|it| it.live)
    };
    assert_eq!(live("param:note"), Some(Live::Unknown));
    assert_eq!(live("param:debug"), Some(Live::True));
    assert_eq!(process.lineage.live(), Live::Unknown);
    assert_eq!(process.lineage.live_generation, None);
}

#[test]
fn input_in_metadata_alone_is_assumed_of_what_runs_and_applied_of_the_object() {
    let mut process = Process::started("A", "on");
    process.apply("B", "on");
    let evidence = |name, level| process.evidence(name, "B", "on", level);
    assert_eq!(evidence("note", Level::Stamped), Some(Evidence::Applied));
    assert_eq!(evidence("note", Level::Runs), Some(Evidence::Assumed));
    assert_eq!(evidence("debug", Level::Runs), Some(Evidence::Applied));
}

#[test]
fn new_generation_starts_what_runs_with_all_that_its_object_has() {
    let mut process = Process::started("A", "on");
    process.apply("B", "on");
    process.apply_spec("B", "off");
    assert_eq!(process.exit_code("param:note=B"), Some(0));
    assert_eq!(process.lineage.live(), Live::True);
    let evidence = process.evidence("note", "B", "off", Level::Runs);
    assert_eq!(evidence, Some(Evidence::Applied));
}

#[test]
fn input_that_comes_back_into_metadata_has_started_nothing_either() {
    let mut process = Process::started("A", "on");
    process.apply("B", "on");
    process.apply("A", "on");
    assert_eq!(process.exit_code("param:note=A"), Some(3));
}

#[test]
fn what_a_correlation_rule_says_is_used_runs_whatever_was_started() {
    let mut process = Process::ruled(&["param:note"], "A", "on");
    process.apply("B", "on");
    assert_eq!(process.exit_code("param:note=B"), Some(0));
}

#[test]
fn input_in_metadata_is_waited_for_while_something_else_may_start_what_runs() {
    let mut process = Process::started("A", "on");
    process.apply("B", "on");
    // Debug is off now, which nobody has applied yet.
    let owner = inputs("B", "off").into_iter();
    let owner = owner.map(|(origin, it)| (origin.name().to_owned(), it));
    process.lineage.state.own(owner.collect());
    let verdict = process.wait("param:note=B", LIVE);
    let Verdict::Waiting(progress) = &verdict else {
        panic!("{verdict:?}");
    };
    assert_eq!(
        progress[0].missing,
        ["what `run` runs was started before its metadata was given param:note"]
    );
}
