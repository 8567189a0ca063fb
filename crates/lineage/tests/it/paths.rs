//! Paths that change, pass through, or are chosen by a label.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use pathline_lineage::chain::Resource;
use pathline_lineage::{
    Applied, Artifact, Chain, Evidence, Health, InputsId, Kind, Missing, Origin, Snapshot, Stamp,
    State, Template, Tracing, Trust,
};
use serde_json::json;

/// A resource whose template declares where the observed generation is.
pub(crate) fn resource(name: &str, upstream: &[&str], reads: &[&str]) -> Resource {
    let texts = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    Resource {
        name: name.to_owned(),
        upstream: texts(upstream),
        reads: texts(reads),
        tracing: Tracing {
            trust: Trust::Declared,
            ..Tracing::default()
        },
        ..Resource::default()
    }
}

pub(crate) fn stamp(
    uid: &str,
    generation: i64,
    inputs: impl IntoIterator<Item = (Origin, Artifact)>,
) -> Stamp {
    Stamp {
        template: Template::default(),
        uid: uid.to_owned(),
        generation: Some(generation),
        inputs: inputs.into_iter().collect(),
        offered: BTreeSet::new(),
        applied: Applied::Elsewhere,
        rendered: None,
        time: Timestamp::UNIX_EPOCH,
    }
}

pub(crate) fn done(uid: &str, generation: i64, output: Option<Artifact>) -> Snapshot {
    Snapshot {
        template: Template::default(),
        uid: uid.to_owned(),
        generation: Some(generation),
        observed: Some(generation),
        condition_observed: None,
        health: Health::True,
        held: None,
        matched: Some(BTreeSet::new()),
        failed: None,
        inputs_id: None,
        earlier: Vec::new(),
        output,
        time: Timestamp::UNIX_EPOCH,
    }
}

fn image(value: &str) -> Artifact {
    Artifact::value(Kind::Image, &json!(value))
}

fn label(value: &str) -> Artifact {
    Artifact::field("metadata.labels.tested", &json!(value))
}

fn tested() -> Origin {
    Origin::owner("field:metadata.labels.tested")
}

fn source(revision: &str) -> Artifact {
    Artifact::source("https://git.example/app", Some(revision))
}

fn chain(resources: Vec<Resource>) -> Chain {
    Chain::new(resources).expect("a path")
}

/// Applies and sees a resource whose object is named like it.
fn make(
    state: &mut State,
    name: &str,
    generation: i64,
    inputs: &[(Origin, Artifact)],
    output: Option<Artifact>,
) {
    let stamped = state.stamped(name, stamp(name, generation, inputs.iter().cloned()));
    stamped.expect("it is on the path");
    let seen = state.seen(name, &done(name, generation, output));
    seen.expect("it is on the path");
}

fn arrived(state: &State, origin: &Origin, wanted: &Artifact) -> bool {
    state.arrival(origin, |it| it == wanted).arrived()
}

#[test]
fn path_switch_makes_history_of_what_came_by_the_old_path() {
    let fetch = || resource("fetch", &[], &["field:url"]);
    let test = || resource("test", &["fetch"], &[]);
    let url = (
        Origin::owner("field:url"),
        Artifact::field("url", &json!("u")),
    );
    let fetched = (Origin::resource("fetch"), source("r1"));
    let mut state = State::new(chain(vec![
        fetch(),
        test(),
        resource("build", &["test"], &[]),
    ]));
    make(
        &mut state,
        "fetch",
        1,
        std::slice::from_ref(&url),
        Some(source("r1")),
    );
    make(
        &mut state,
        "test",
        1,
        std::slice::from_ref(&fetched),
        Some(source("r1")),
    );
    let by_test = (Origin::resource("test"), source("r1"));
    make(&mut state, "build", 1, &[by_test], Some(image("i1")));
    assert!(arrived(&state, &url.0, &url.1));

    state.follow(chain(vec![fetch(), resource("build", &["fetch"], &[])]));
    assert!(
        !arrived(&state, &url.0, &url.1),
        "the image came by the tester"
    );
    assert_eq!(state.current("test"), None);
    make(&mut state, "build", 2, &[fetched], Some(image("i1")));
    assert!(arrived(&state, &url.0, &url.1));
    let old = state.stamped("test", stamp("test", 2, []));
    assert_eq!(
        old.unwrap_err().to_string(),
        "resource `test` is not on the path"
    );
}

#[test]
fn passed_through_input_is_the_same_artifact_at_once() {
    let mut state = State::new(chain(vec![
        resource("fetch", &[], &["source"]),
        resource("test", &["fetch"], &["field:metadata.labels.tested"]),
        resource("build", &["test"], &[]),
    ]));
    state.own(BTreeMap::from([("source".to_owned(), source("r1"))]));
    make(
        &mut state,
        "fetch",
        1,
        &[(Origin::owner("source"), source("r1"))],
        Some(source("r1")),
    );
    let fetched = Origin::resource("fetch");
    let inputs = BTreeMap::from([(fetched.clone(), source("r1")), (tested(), label("no"))]);
    let passed = state.passed_through("test", &fetched, inputs, Timestamp::UNIX_EPOCH);
    let passed = passed.expect("it is on the path").expect("it is new");
    assert_eq!(passed.from[&fetched].evidence, Evidence::Same);
    assert_eq!(passed.from[&tested()].evidence, Evidence::Applied);
    let by_test = (Origin::resource("test"), source("r1"));
    make(&mut state, "build", 1, &[by_test], Some(image("i1")));
    assert!(arrived(&state, &Origin::owner("source"), &source("r1")));
    assert!(arrived(&state, &tested(), &label("no")));
    let outputs = state.outputs("workload", 10);
    assert_eq!(outputs[0].from[0].passed, ["workload", "fetch", "test"]);
}

#[test]
fn label_that_only_chooses_an_option_arrives_without_another_build() {
    let mut state = State::new(chain(vec![resource(
        "build",
        &[],
        &["field:metadata.labels.tested"],
    )]));
    let rendered = |value: &str| Stamp {
        rendered: Some("the same object".to_owned()),
        ..stamp("build", 1, [(tested(), label(value))])
    };
    state
        .stamped("build", rendered("yes"))
        .expect("on the path");
    let first = done("build", 1, Some(image("i1")));
    state.seen("build", &first).expect("on the path");
    assert!(arrived(&state, &tested(), &label("yes")));
    state
        .stamped("build", rendered("of course"))
        .expect("on the path");
    assert!(!arrived(&state, &tested(), &label("yes")));
    state.seen("build", &first).expect("on the path");
    assert!(arrived(&state, &tested(), &label("of course")));
}

#[test]
fn going_back_to_old_inputs_goes_back_to_the_run_they_made() {
    let mut build = resource("build", &[], &["param:p"]);
    build.tracing.immutable = true;
    let mut state = State::new(chain(vec![build]));
    let origin = Origin::owner("param:p");
    let param = |value: &str| Artifact::param("p", &json!(value));
    for (value, run) in [("1", "run-1"), ("2", "run-2"), ("1", "run-1")] {
        let stamped = stamp(run, 1, [(origin.clone(), param(value))]);
        state.stamped("build", stamped).expect("on the path");
        let seen = done(run, 1, Some(image(run)));
        state.seen("build", &seen).expect("on the path");
        assert!(arrived(&state, &origin, &param(value)), "{value}");
        assert_eq!(state.outputs("workload", 10)[0].value, run);
    }
}

#[test]
fn object_that_has_not_given_its_output_yet_is_no_result() {
    let mut build = resource("build", &[], &["param:p"]);
    build.emits = true;
    let mut state = State::new(chain(vec![build]));
    let param = (Origin::owner("param:p"), Artifact::param("p", &json!("1")));
    state
        .stamped("build", stamp("build", 1, [param]))
        .expect("on the path");
    state
        .seen("build", &done("build", 1, None))
        .expect("on the path");
    assert!(state.outputs("workload", 10).is_empty());
}

#[test]
fn inputs_that_were_only_offered_say_so() {
    let mut state = State::new(chain(vec![resource("build", &[], &["param:p"])]));
    let origin = Origin::owner("param:p");
    let param = Artifact::param("p", &json!("1"));
    let stamped = Stamp {
        offered: BTreeSet::from([origin.clone()]),
        ..stamp("build", 1, [(origin, param)])
    };
    state.stamped("build", stamped).expect("on the path");
    let seen = done("build", 1, Some(image("i1")));
    let before = state.clone();
    state.seen("build", &seen).expect("on the path");
    assert!(!state.concludes_the_same(&before));
    assert!(state.outputs("workload", 10)[0].from[0].offered);
    let later = Snapshot {
        time: Timestamp::MAX,
        ..seen
    };
    let before = state.clone();
    state.seen("build", &later).expect("on the path");
    assert!(state.concludes_the_same(&before));
}

#[test]
fn deployment_is_made_of_the_source_it_hands_on() {
    let mut deploy = resource("deploy", &["fetch"], &[]);
    deploy.tracing.trust = Trust::Never;
    let mut state = State::new(chain(vec![resource("fetch", &[], &[]), deploy]));
    make(&mut state, "fetch", 1, &[], Some(source("r1")));
    let deployed = Artifact::deployment("https://git.example/app", Some("r1"));
    let fetched = (Origin::resource("fetch"), source("r1"));
    make(&mut state, "deploy", 1, &[fetched], Some(deployed));
    let outputs = state.outputs("deliverable", 10);
    assert_eq!(outputs[0].kind, Kind::Deployment);
    assert_eq!(outputs[0].from[0].evidence, Some(Evidence::Same));
}

#[test]
fn delivery_fed_by_git_follows_the_revision_that_its_source_finds() {
    let mut deploy = resource("deploy", &["fetch"], &[]);
    deploy.tracing.trust = Trust::Condition;
    deploy.tracing.rules = BTreeSet::from([Origin::resource("fetch")]);
    let fetch = resource("fetch", &[], &["field:spec.source.git.ref.branch"]);
    let mut state = State::new(chain(vec![fetch, deploy]));
    let branch = Origin::owner("field:spec.source.git.ref.branch");
    let main = Artifact::field("spec.source.git.ref.branch", &json!("main"));
    let revision = |commit: &str| source(&format!("main@sha1:{commit}"));
    let of = |asked: &'static str| {
        move |it: &Artifact| pathline_lineage::revision::matches(asked, it.shown())
    };
    let fetched = Origin::resource("fetch");
    make(
        &mut state,
        "fetch",
        1,
        &[(branch.clone(), main.clone())],
        Some(revision("1111111aaa")),
    );
    let stamped = stamp("deploy", 1, [(fetched.clone(), revision("1111111aaa"))]);
    state.stamped("deploy", stamped).expect("on the path");
    assert!(!state.arrival(&fetched, of("1111111")).arrived());
    let deployed = Snapshot {
        observed: None,
        matched: Some(BTreeSet::from([fetched.clone()])),
        ..done("deploy", 1, Some(revision("1111111aaa")))
    };
    state.seen("deploy", &deployed).expect("on the path");
    assert!(state.arrival(&fetched, of("1111111")).arrived());
    assert!(state.arrival(&branch, |it| *it == main).arrived());

    // The branch moves on: the source finds it by itself, from the same inputs.
    let moved = done("fetch", 1, Some(revision("2222222bbb")));
    state.seen("fetch", &moved).expect("on the path");
    assert!(!state.arrival(&fetched, of("2222222")).arrived());
    assert!(
        state.arrival(&fetched, of("1111111")).arrived(),
        "it still runs"
    );
}

#[test]
fn value_that_nothing_carries_any_more_is_superseded() {
    let mut state = State::new(chain(vec![resource("build", &[], &["param:p"])]));
    let origin = Origin::owner("param:p");
    let param = |value: &str| Artifact::param("p", &json!(value));
    let own = |state: &mut State, value: &str| {
        state.own(BTreeMap::from([("param:p".to_owned(), param(value))]));
    };
    own(&mut state, "1");
    make(
        &mut state,
        "build",
        1,
        &[(origin.clone(), param("1"))],
        Some(image("i1")),
    );
    own(&mut state, "2");
    let missing = |state: &State, value: &str| {
        let wanted = param(value);
        state.arrival(&origin, |it| *it == wanted).missing
    };
    assert!(missing(&state, "1").is_empty(), "it still is what was made");
    make(
        &mut state,
        "build",
        2,
        &[(origin.clone(), param("2"))],
        Some(image("i2")),
    );
    assert_eq!(missing(&state, "1")[0], Missing::Superseded);
    assert_eq!(missing(&state, "2"), []);
    let unread = Origin::owner("param:unread");
    assert_eq!(state.arrival(&unread, |_| true).missing, [Missing::Unused]);
    let skipped = Origin::resource("test");
    assert_eq!(
        state.arrival(&skipped, |_| true).missing,
        [Missing::NotOnPath]
    );
}

#[test]
fn mutable_artifact_proves_nothing() {
    let mut state = State::new(chain(vec![
        resource("build", &[], &["param:p"]),
        resource("deploy", &["build"], &[]),
    ]));
    let tag = Artifact::image("app:latest");
    let param = (Origin::owner("param:p"), Artifact::param("p", &json!(1)));
    make(
        &mut state,
        "build",
        1,
        std::slice::from_ref(&param),
        Some(tag.clone()),
    );
    make(
        &mut state,
        "deploy",
        1,
        &[(Origin::resource("build"), tag)],
        None,
    );
    let edge = &state.current("deploy").expect("made").from[&Origin::resource("build")];
    assert_eq!(edge.evidence, Evidence::Assumed);
    let arrival = state.arrival(&param.0, |it| *it == param.1);
    assert!(arrival.only_assumed(), "{arrival:?}");
}

#[test]
fn apply_that_was_answered_after_the_watch_had_it_is_ours() {
    let mut state = State::new(chain(vec![resource("build", &[], &["param:p"])]));
    let origin = Origin::owner("param:p");
    let applied = stamp(
        "build",
        2,
        [(origin.clone(), Artifact::param("p", &json!(2)))],
    );
    let seen = Snapshot {
        inputs_id: Some(InputsId::of(&applied.inputs)),
        ..done("build", 2, Some(image("i2")))
    };
    state.seen("build", &seen).expect("on the path");
    state.stamped("build", applied).expect("on the path");
    state.seen("build", &seen).expect("on the path");
    let made = state.current("build").expect("made");
    assert_eq!(made.from[&origin].evidence, Evidence::Generation);
}

#[test]
fn memory_is_bounded_by_the_path_not_by_its_history() {
    let mut state = State::new(chain(vec![
        resource("build", &[], &["param:p"]),
        resource("deploy", &["build"], &[]),
    ]));
    let size = |state: &State| serde_json::to_string(state).expect("JSON").len();
    let mut after_200 = 0;
    for generation in 1..=2000 {
        let param = Artifact::param("p", &json!(generation));
        let built = image(&format!("i{generation}"));
        make(
            &mut state,
            "build",
            generation,
            &[(Origin::owner("param:p"), param)],
            Some(built.clone()),
        );
        make(
            &mut state,
            "deploy",
            generation,
            &[(Origin::resource("build"), built)],
            None,
        );
        if generation == 200 {
            after_200 = size(&state);
        }
    }
    assert!(size(&state) < 2 * after_200);
}

/// Applies that nobody remembers changed metadata of somebody else's generation, there and back.
#[test]
fn generation_of_somebody_else_seen_with_other_inputs_proves_nothing() {
    let chain = Chain::new(vec![resource("build", &[], &["param:debug"])]);
    let mut state = State::new(chain.expect("a path"));
    let debug = |value: &str| {
        let param = Artifact::param("debug", &json!(value));
        [(Origin::owner("param:debug"), param)]
    };
    let stamped = state.stamped("build", stamp("build", 1, debug("on")));
    stamped.expect("it is on the path");
    let mut evidence = |carried: &str, output: &str| {
        let snapshot = Snapshot {
            held: Some(carried == "on"),
            inputs_id: Some(InputsId::of(&debug(carried).into())),
            ..done(
                "build",
                2,
                Some(Artifact::value(Kind::Image, &json!(output))),
            )
        };
        state.seen("build", &snapshot).expect("it is on the path");
        let made = state.current("build").expect("it makes something");
        made.from[&Origin::owner("param:debug")].evidence
    };
    assert_eq!(evidence("on", "app:1"), Evidence::Generation);
    assert_eq!(evidence("off", "app:2"), Evidence::Assumed);
    assert_eq!(evidence("on", "app:2"), Evidence::Assumed);
}

#[test]
fn applies_that_were_missed_make_history_of_what_is_there() {
    let mut state = State::new(chain(vec![resource("build", &[], &["param:debug"])]));
    let debug = Artifact::param("debug", &json!("on"));
    let origin = Origin::owner("param:debug");
    let inputs = [(origin.clone(), debug.clone())];
    state.own(BTreeMap::from([("param:debug".to_owned(), debug.clone())]));
    let mut arrives = |generation, observed, missed| {
        if missed {
            state.missed();
        }
        let stamped = state.stamped("build", stamp("build", generation, inputs.clone()));
        stamped.expect("it is on the path");
        let seen = Snapshot {
            observed: Some(observed),
            ..done("build", generation, Some(image("app:1")))
        };
        state.seen("build", &seen).expect("it is on the path");
        state.arrival(&origin, |it| *it == debug).arrived()
    };
    assert!(arrives(1, 1, false));
    assert!(arrives(1, 1, true), "nothing has changed in between");
    assert!(!arrives(3, 1, true), "another value was applied in between");
    assert!(arrives(3, 3, false));
}
