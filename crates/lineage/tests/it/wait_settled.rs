//! Work that is still under way, so that nobody is told too soon that it is over.

use std::collections::BTreeMap;

use pathline_lineage::chain::Resource;
use pathline_lineage::wait::{Impossible, Options, Verdict, judge};
use pathline_lineage::{
    Applied, Artifact, Chain, Health, InputsId, Origin, OwnerLineage, Snapshot, Stamp, State,
    Tracing,
};
use serde_json::json;

use crate::paths::{done, resource, stamp};
use crate::story::{config, image};

fn a(value: &str) -> Artifact {
    Artifact::param("a", &json!(value))
}

fn made_of(value: &str) -> [(Origin, Artifact); 1] {
    [(Origin::owner("param:a"), a(value))]
}

fn owned(lineage: &mut OwnerLineage, value: &str) {
    let inputs = BTreeMap::from([("param:a".to_owned(), a(value))]);
    lineage.state.own(inputs);
}

fn following(resources: Vec<Resource>) -> OwnerLineage {
    OwnerLineage {
        state: State::new(Chain::new(resources).expect("a path")),
        ..OwnerLineage::default()
    }
}

fn as_runs(resource: Resource) -> Resource {
    let tracing = Tracing {
        immutable: true,
        ..Tracing::default()
    };
    Resource {
        tracing,
        ..resource
    }
}

fn wait_for(lineage: &OwnerLineage, value: &str) -> Verdict {
    let wait_for = format!("param:a={value}")
        .parse()
        .expect("it can be waited for");
    judge(lineage, &[wait_for], Options::default())
}

/// An apply that changes metadata can't be proven by its generation. The next apply made a new one,
/// and was forgotten: once it is repeated, that generation proves it.
#[test]
fn generation_that_no_remembered_apply_made_has_not_settled() {
    let mut lineage = following(vec![resource("build", &[], &["param:a"])]);
    owned(&mut lineage, "2");
    for value in ["1", "2"] {
        let stamped = lineage
            .state
            .stamped("build", stamp("build", 2, made_of(value)));
        stamped.expect("it is on the path");
    }
    let seen = |generation| Snapshot {
        held: Some(true),
        inputs_id: Some(InputsId::of(&made_of("2").into())),
        ..done("build", generation, Some(image("app:1")))
    };
    let see = |lineage: &mut OwnerLineage, generation| {
        let seen = lineage.state.seen("build", &seen(generation));
        seen.expect("it is on the path");
    };
    see(&mut lineage, 2);
    assert_eq!(wait_for(&lineage, "2").exit_code(), Some(3));
    see(&mut lineage, 5);
    assert_eq!(wait_for(&lineage, "2").exit_code(), None);
    let repeated = lineage
        .state
        .stamped("build", stamp("build", 5, made_of("2")));
    repeated.expect("it is on the path");
    see(&mut lineage, 5);
    assert_eq!(wait_for(&lineage, "2").exit_code(), Some(0));
}

/// The output of an older run still goes down the path until the newest one has ended.
#[test]
fn value_of_a_run_that_can_still_end_is_not_superseded() {
    let run = as_runs(resource("build", &[], &["param:a"]));
    let mut lineage = following(vec![run, resource("deploy", &["build"], &[])]);
    for (uid, value) in [("run-1", "1"), ("run-2", "2")] {
        owned(&mut lineage, value);
        let stamped = lineage
            .state
            .stamped("build", stamp(uid, 1, made_of(value)));
        stamped.expect("it is on the path");
    }
    assert_eq!(wait_for(&lineage, "1").exit_code(), None);
    let end = |lineage: &mut OwnerLineage, uid, output| {
        let seen = lineage.state.seen("build", &done(uid, 1, Some(output)));
        seen.expect("it is on the path");
    };
    end(&mut lineage, "run-1", image("app:1"));
    assert_eq!(wait_for(&lineage, "1").exit_code(), None);
    end(&mut lineage, "run-2", image("app:2"));
    let gone = wait_for(&lineage, "1");
    assert!(
        matches!(gone, Verdict::Impossible(Impossible::Superseded { .. })),
        "{gone:?}"
    );
}

/// The output of an older apply may come late, and still goes down the path.
#[test]
fn value_that_an_object_is_still_at_is_not_superseded() {
    let build = Resource {
        emits: true,
        ..resource("build", &[], &["param:a"])
    };
    let mut lineage = following(vec![build, resource("deploy", &["build"], &[])]);
    for (generation, value) in [(1, "1"), (2, "2")] {
        owned(&mut lineage, value);
        let stamp = stamp("build", generation, made_of(value));
        let stamped = lineage.state.stamped("build", stamp);
        stamped.expect("it is on the path");
    }
    let see = |lineage: &mut OwnerLineage, generation, observed| {
        let seen = Snapshot {
            observed: Some(observed),
            health: Health::Unknown,
            ..done("build", generation, None)
        };
        let seen = lineage.state.seen("build", &seen);
        seen.expect("it is on the path");
    };
    for (generation, observed) in [(1, 1), (2, 1)] {
        see(&mut lineage, generation, observed);
        assert_eq!(wait_for(&lineage, "1").exit_code(), None);
    }
    let before = lineage.state.clone();
    see(&mut lineage, 2, 2);
    assert!(
        !lineage.state.concludes_the_same(&before),
        "who waits is told"
    );
    let gone = wait_for(&lineage, "1");
    assert!(
        matches!(gone, Verdict::Impossible(Impossible::Superseded { .. })),
        "{gone:?}"
    );
}

/// The input of the run is made of the value, and no longer what its producer makes.
#[test]
fn value_that_only_a_run_under_way_goes_back_to_is_not_superseded() {
    let mut lineage = following(vec![
        resource("config", &[], &["param:a"]),
        as_runs(resource("build", &["config"], &[])),
        resource("deploy", &["build"], &[]),
    ]);
    let given = |value: &str| [(Origin::resource("config"), config(value))];
    for (generation, uid, value) in [(1, "run-1", "1"), (2, "run-2", "2")] {
        owned(&mut lineage, value);
        let stamp_of_config = stamp("config", generation, made_of(value));
        let stamped = lineage.state.stamped("config", stamp_of_config);
        stamped.expect("it is on the path");
        let seen = done("config", generation, Some(config(value)));
        let seen = lineage.state.seen("config", &seen);
        seen.expect("it is on the path");
        let stamped = lineage.state.stamped("build", stamp(uid, 1, given(value)));
        stamped.expect("it is on the path");
    }
    assert_eq!(wait_for(&lineage, "1").exit_code(), None);
    let seen = done("run-2", 1, Some(image("app:2")));
    let seen = lineage.state.seen("build", &seen);
    seen.expect("it is on the path");
    let gone = wait_for(&lineage, "1");
    assert!(
        matches!(gone, Verdict::Impossible(Impossible::Superseded { .. })),
        "{gone:?}"
    );
}

/// Whoever replaced a field that was applied has it applied again.
#[test]
fn output_that_somebody_else_replaced_has_not_settled() {
    let mut lineage = following(vec![resource("config", &[], &["param:a"])]);
    owned(&mut lineage, "1");
    let applied = Stamp {
        generation: None,
        applied: Applied::Output(config("ours").id()),
        ..stamp("config", 0, made_of("1"))
    };
    let seen = |output: &str| Snapshot {
        generation: None,
        observed: None,
        ..done("config", 0, Some(config(output)))
    };
    for (output, code) in [("somebody else's", None), ("ours", Some(0))] {
        let stamped = lineage.state.stamped("config", applied.clone());
        stamped.expect("it is on the path");
        let seen = lineage.state.seen("config", &seen(output));
        seen.expect("it is on the path");
        assert_eq!(wait_for(&lineage, "1").exit_code(), code, "{output}");
    }
}

/// A late state of a stranger took the place of our object for a while. What ours showed meanwhile, it
/// showed before the next apply, however often it was seen.
#[test]
fn output_that_was_seen_while_a_stranger_was_there_is_no_work_on_a_later_apply() {
    let lagging = Resource {
        tracing: Tracing::default(),
        ..resource("build", &[], &["param:a"])
    };
    let mut lineage = following(vec![lagging]);
    let apply = |lineage: &mut OwnerLineage, generation, value| {
        owned(lineage, value);
        let stamp = stamp("ours", generation, made_of(value));
        let stamped = lineage.state.stamped("build", stamp);
        stamped.expect("it is on the path");
    };
    let see = |lineage: &mut OwnerLineage, uid, generation, output: Option<&str>| {
        let seen = done(uid, generation, output.map(image));
        let seen = lineage.state.seen("build", &seen);
        seen.expect("it is on the path");
    };
    apply(&mut lineage, 1, "1");
    see(&mut lineage, "stranger", 1, None);
    see(&mut lineage, "ours", 1, Some("app:1"));
    see(&mut lineage, "ours", 2, Some("app:1"));
    apply(&mut lineage, 2, "2");
    see(&mut lineage, "ours", 2, Some("app:1"));
    assert_eq!(wait_for(&lineage, "2").exit_code(), None);
    see(&mut lineage, "ours", 2, Some("app:2"));
    assert_eq!(wait_for(&lineage, "2").exit_code(), Some(3));
}

/// The image is not on the way of the value; but what is needs it, and never had one.
#[test]
fn value_that_waits_beside_what_has_failed_before_it_made_anything_has_failed() {
    let mut lineage = following(vec![
        resource("config", &[], &["param:a"]),
        resource("image", &[], &["param:b"]),
        resource("run", &["config", "image"], &[]),
    ]);
    let both = BTreeMap::from([("param:a", "1"), ("param:b", "1")]);
    let both = both.into_iter().map(|(name, value)| {
        let param = Artifact::param(&name["param:".len()..], &json!(value));
        (name.to_owned(), param)
    });
    lineage.state.own(both.collect());
    let of_image = Artifact::param("b", &json!("1"));
    let of_image = [(Origin::owner("param:b"), of_image)];
    for (name, stamp) in [
        ("config", stamp("config", 1, made_of("1"))),
        ("image", stamp("image", 1, of_image)),
    ] {
        lineage
            .state
            .stamped(name, stamp)
            .expect("it is on the path");
    }
    let made = done("config", 1, Some(config("1")));
    lineage
        .state
        .seen("config", &made)
        .expect("it is on the path");
    assert_eq!(wait_for(&lineage, "1").exit_code(), None);
    let stalled = Snapshot {
        health: Health::False,
        failed: Some("no such base".to_owned()),
        ..done("image", 1, None)
    };
    lineage
        .state
        .seen("image", &stalled)
        .expect("it is on the path");
    let failed = wait_for(&lineage, "1");
    assert!(
        matches!(&failed, Verdict::Impossible(Impossible::Failed { resource, .. }) if resource == "image"),
        "{failed:?}"
    );
    // With an output of before, the value goes on with that.
    let made = done("image", 1, Some(image("app:1")));
    lineage
        .state
        .seen("image", &made)
        .expect("it is on the path");
    lineage
        .state
        .seen("image", &stalled)
        .expect("it is on the path");
    assert_eq!(wait_for(&lineage, "1").exit_code(), None);
}
