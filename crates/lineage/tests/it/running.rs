//! A pod stays what it is while its owner moves on.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use pathline_lineage::chain::{Chain, Resource};
use pathline_lineage::running::{Level, Revision, Running, Sight};
use pathline_lineage::{
    Applied, Artifact, Inputs, InputsId, Kind, Origin, OwnerLineage, Rollout, Stage, Stamp, State,
    Template,
};
use serde_json::json;

fn inputs(image: &str) -> Inputs {
    let image = Artifact::value(Kind::Image, &json!(image));
    let debug = Artifact::param("debug", &json!("on"));
    BTreeMap::from([
        (Origin::resource("build"), image),
        (Origin::owner("param:debug"), debug),
    ])
}

fn id(image: &str) -> Option<InputsId> {
    Some(InputsId::of(&inputs(image)))
}

/// A deployer that was applied with one image after the other, each a generation.
fn deployed(images: &[&str], stage: Stage) -> OwnerLineage {
    let names = |names: &[&str]| {
        names
            .iter()
            .map(|&it| it.to_owned())
            .collect::<BTreeSet<_>>()
    };
    let resource = |name: &str, upstream: &[&str], reads: &[&str]| Resource {
        name: name.to_owned(),
        upstream: names(upstream),
        reads: names(reads),
        ..Resource::default()
    };
    let chain = Chain::new(vec![
        resource("build", &[], &[]),
        resource("deployer", &["build"], &["param:debug"]),
    ]);
    let mut state = State::new(chain.expect("a path"));
    for (generation, image) in (1..).zip(images) {
        let stamp = Stamp {
            template: Template::default(),
            uid: "deployment".into(),
            generation: Some(generation),
            inputs: inputs(image),
            offered: BTreeSet::new(),
            applied: Applied::Object,
            rendered: Some(format!("with {image}")),
            time: Timestamp::UNIX_EPOCH,
        };
        state.stamped("deployer", stamp).expect("it is on the path");
    }
    let rollout = Rollout {
        uid: "deployment".into(),
        generation: i64::try_from(images.len()).ok(),
        stage,
        ..Rollout::default()
    };
    OwnerLineage {
        state,
        rollouts: BTreeMap::from([("deployer".into(), rollout)]),
        ..OwnerLineage::default()
    }
}

fn progressing() -> Stage {
    Stage::Progressing {
        why: "1 of 2 pods are ready".into(),
    }
}

fn look(lineage: &OwnerLineage, newest: &str, generation: i64, level: Level) -> Running {
    let sight = Sight {
        uid: "deployment".into(),
        generation: Some(generation),
        inputs_id: id(newest),
        level,
    };
    lineage.running(&sight, "workload", 100).expect("it runs")
}

fn below(image: &str, carried: Option<InputsId>) -> Level {
    Level::Below {
        inputs_id: carried,
        is_newest: false,
        images: vec![image.to_owned()],
    }
}

fn images(running: &Running) -> Vec<&str> {
    let made = running.made.iter().flat_map(|made| &made.from);
    let images = made.filter(|it| it.kind == Kind::Image);
    images.map(|it| it.value.as_str()).collect()
}

fn why(running: &Running) -> &str {
    match &running.revision {
        Revision::Unknown { why } => why,
        known => panic!("{known:?}"),
    }
}

#[test]
fn pod_of_the_old_revision_keeps_the_old_inputs() {
    let lineage = deployed(&["app:1", "app:2"], progressing());
    let old = look(&lineage, "app:2", 2, below("app:1", id("app:1")));
    assert_eq!(old.revision, Revision::Older);
    assert_eq!(images(&old), ["app:1"]);
    assert_eq!(old.rollout, Some(progressing()));
    let new = look(&lineage, "app:2", 2, below("app:2", id("app:2")));
    assert_eq!(new.revision, Revision::Current);
    assert_eq!(images(&new), ["app:2"]);
    assert_eq!(new.resource, "deployer");
}

#[test]
fn pod_that_carries_nothing_is_known_only_when_all_is_rolled_out() {
    let rolling = deployed(&["app:1", "app:2"], progressing());
    let unknown = look(&rolling, "app:2", 2, below("app:2", None));
    assert!(
        why(&unknown).contains("1 of 2 pods are ready"),
        "{unknown:?}"
    );
    assert_eq!(unknown.made, None);

    let done = deployed(&["app:1", "app:2"], Stage::Done);
    let current = look(&done, "app:2", 2, below("app:2", None));
    assert_eq!(current.revision, Revision::Current);
    let changed_since = look(&done, "app:3", 3, below("app:2", None));
    assert!(why(&changed_since).contains("has just been changed"));
}

/// A pod whose revision carries inputs, and has the template of its stamped object or not.
fn of_revision(image: &str, carried: Option<InputsId>, is_newest: bool) -> Level {
    Level::Below {
        inputs_id: carried,
        is_newest,
        images: vec![image.to_owned()],
    }
}

#[test]
fn pod_with_a_revision_is_known_while_it_is_rolled_out() {
    let lineage = deployed(&["app:1", "app:2"], progressing());
    let (one, two) = (id("app:1"), id("app:2"));
    for (pod, expected) in [
        (of_revision("app:2", None, true), Some(Revision::Current)),
        (of_revision("app:2", two, true), Some(Revision::Current)),
        // The template has not changed since: it is of the newest inputs nevertheless.
        (
            of_revision("app:2", one.clone(), true),
            Some(Revision::Current),
        ),
        (of_revision("app:1", one, false), Some(Revision::Older)),
        (of_revision("app:1", None, false), None),
        (of_revision("app:0", id("app:0"), false), None),
        (of_revision("evil:1", None, true), None),
    ] {
        let told = format!("{pod:?}");
        let Level::Below { images: runs, .. } = &pod else {
            panic!("{told}")
        };
        let runs = runs.clone();
        let found = look(&lineage, "app:2", 2, pod);
        match expected {
            Some(expected) => {
                assert_eq!(found.revision, expected, "{told}");
                assert_eq!(images(&found), runs, "{told}");
            }
            None => assert!(!why(&found).is_empty(), "{told}"),
        }
    }
}

#[test]
fn newest_template_proves_nothing_when_somebody_else_wrote_it() {
    let lineage = deployed(&["app:1", "app:2"], progressing());
    let pod = || of_revision("app:2", None, true);
    let written_by_others = look(&lineage, "app:2", 3, pod());
    assert!(why(&written_by_others).contains("is being rolled out"));
    let applied_since = look(&lineage, "app:3", 3, pod());
    assert!(why(&applied_since).contains("is being rolled out"));
}

#[test]
fn what_was_rolled_back_to_is_current_again() {
    let lineage = deployed(&["app:1", "app:2", "app:1"], progressing());
    let back = look(&lineage, "app:1", 3, below("app:1", id("app:1")));
    assert_eq!(back.revision, Revision::Current);
    let between = look(&lineage, "app:1", 3, below("app:2", id("app:2")));
    assert_eq!(between.revision, Revision::Older);
    let object = look(&lineage, "app:1", 3, Level::Stamped);
    assert_eq!(object.revision, Revision::Current);
}

#[test]
fn object_that_was_never_anything_else_needs_no_roll_out() {
    let job = deployed(&["app:1"], progressing());
    let current = look(&job, "app:1", 1, below("app:1", None));
    assert_eq!(current.revision, Revision::Current);
    assert_eq!(images(&current), ["app:1"]);
}

#[test]
fn apply_that_nobody_remembers_and_images_that_do_not_fit_are_not_guessed() {
    let lineage = deployed(&["app:1", "app:2"], Stage::Done);
    let forgotten = look(&lineage, "app:2", 2, below("app:0", id("app:0")));
    assert!(why(&forgotten).contains("no longer remembered"));
    let foreign = look(&lineage, "app:2", 2, below("evil:1", id("app:2")));
    assert!(why(&foreign).contains("somebody else has changed"));
}

#[test]
fn stamped_object_is_what_was_applied_and_what_runs_follows() {
    let lineage = deployed(&["app:1", "app:2"], progressing());
    let object = look(&lineage, "app:2", 2, Level::Stamped);
    assert_eq!(object.revision, Revision::Current);
    assert_eq!(images(&object), ["app:2"]);
    let process = look(&lineage, "app:2", 2, Level::Runs);
    assert!(matches!(process.revision, Revision::Unknown { .. }));
    let stranger = Sight {
        uid: "another".into(),
        ..Sight::default()
    };
    assert_eq!(lineage.running(&stranger, "workload", 100), None);
}
