//! Every answer to those who wait, and every exit code.

use pathline_lineage::wait::{Impossible, Options, Verdict, WaitFor, Waiter, judge};
use pathline_lineage::{Artifact, Health, Live, Origin, Snapshot, Stage};
use serde_json::json;

use crate::paths::done;
use crate::story::{Story, config, debug, image, source};

const ARRIVED: Options = Options {
    live: false,
    accept_assumed: false,
    since_generation: None,
};
const LIVE: Options = Options {
    live: true,
    ..ARRIVED
};

fn awaited(texts: &[&str]) -> Vec<WaitFor> {
    let parse = |text: &&str| text.parse().expect("it can be waited for");
    texts.iter().map(parse).collect()
}

fn ask(story: &Story, texts: &[&str], options: Options) -> Verdict {
    judge(&story.lineage, &awaited(texts), options)
}

#[track_caller]
fn missing(verdict: &Verdict) -> Vec<String> {
    let Verdict::Waiting(progress) = verdict else {
        panic!("{verdict:?} does not wait");
    };
    progress.iter().flat_map(|it| it.missing.clone()).collect()
}

#[track_caller]
fn impossible(verdict: &Verdict) -> (Impossible, String) {
    let Verdict::Impossible(impossible) = verdict else {
        panic!("{verdict:?} may still happen");
    };
    assert_eq!(verdict.exit_code(), Some(1));
    (impossible.clone(), impossible.to_string())
}

#[test]
fn all_wishes_hold_in_one_state_or_not_at_all() {
    let mut story = Story::running();
    let both = ["source=2222222", "param:debug=on"];
    story.owner("on");
    story.fetch("2222222");
    assert_eq!(ask(&story, &both, ARRIVED).exit_code(), None);
    story.config("on", "debug: on");
    story.deploy("app:1", "debug: on");
    let waiting = ask(&story, &both, ARRIVED);
    assert_eq!(missing(&waiting), ["`build` has not been given it yet"]);
    story.build("2222222", "app:2");
    assert_eq!(ask(&story, &both, ARRIVED).exit_code(), None);
    story.deploy("app:2", "debug: on");
    assert_eq!(ask(&story, &both, ARRIVED).exit_code(), Some(0));
    assert_eq!(ask(&story, &both, LIVE).exit_code(), None);
    story.rollout(Stage::Done);
    assert_eq!(ask(&story, &both, LIVE).exit_code(), Some(0));
}

#[test]
fn progress_says_where_each_input_is() {
    let mut story = Story::running();
    story.owner("on");
    story.config("on", "debug: on");
    let waiting = ask(&story, &["param:debug=on"], LIVE);
    let Verdict::Waiting(progress) = waiting else {
        panic!("{waiting:?}");
    };
    assert_eq!(progress[0].input, "param:debug");
    assert_eq!(progress[0].value, "on");
    assert_eq!(progress[0].reached, ["config"]);
    story.deploy("app:1", "debug: on");
    let waiting = ask(&story, &["param:debug=on"], LIVE);
    assert_eq!(
        missing(&waiting),
        ["`deploy`: what runs has not been observed yet"]
    );
    story.rollout(Stage::Progressing {
        why: "1 of 3 pods are new".into(),
    });
    let waiting = ask(&story, &["param:debug=on"], LIVE);
    assert_eq!(
        missing(&waiting),
        ["`deploy` rolls out: 1 of 3 pods are new"]
    );
}

#[test]
fn rollback_waits_for_the_new_rollout_of_the_old_content() {
    let mut story = Story::running();
    story.owner("on");
    story.config("on", "debug: on");
    story.deploy("app:1", "debug: on");
    story.rollout(Stage::Done);
    assert_eq!(ask(&story, &["param:debug=on"], LIVE).exit_code(), Some(0));
    story.owner("off");
    assert_eq!(ask(&story, &["param:debug=off"], LIVE).exit_code(), None);
    story.config("off", "debug: off");
    assert_eq!(ask(&story, &["param:debug=off"], LIVE).exit_code(), None);
    story.deploy("app:1", "debug: off");
    assert_eq!(ask(&story, &["param:debug=off"], LIVE).exit_code(), None);
    story.rollout(Stage::Done);
    assert_eq!(ask(&story, &["param:debug=off"], LIVE).exit_code(), Some(0));
}

#[test]
fn crash_of_what_was_waited_for_fails_with_its_reason() {
    let mut story = Story::running();
    story.owner("on");
    story.config("on", "debug: on");
    story.deploy("app:1", "debug: on");
    story.rollout(Stage::Failed {
        reason: "container app exits with 1: no config".into(),
    });
    let (reason, text) = impossible(&ask(&story, &["param:debug=on"], LIVE));
    assert!(matches!(reason, Impossible::Failed { resource, .. } if resource == "deploy"));
    assert!(
        text.contains("no config") && text.contains("wait again"),
        "{text}"
    );
    assert_eq!(
        ask(&story, &["param:debug=on"], ARRIVED).exit_code(),
        Some(0)
    );
    // What crashed is not what is waited for next.
    story.owner("off");
    assert_eq!(ask(&story, &["param:debug=off"], LIVE).exit_code(), None);
}

#[test]
fn crash_of_what_is_about_to_be_replaced_does_not_fail_the_wait() {
    let mut story = Story::running();
    story.fetch("2222222");
    story.build("2222222", "app:2");
    story.deploy("app:2", "debug: off");
    story.rollout(Stage::Failed {
        reason: "container app exits with 1: no config".into(),
    });
    impossible(&ask(&story, &["param:debug=off"], LIVE));
    story.fetch("1111111");
    let back = ["source=1111111", "param:debug=off"];
    assert_eq!(ask(&story, &back, LIVE).exit_code(), None);
    story.build("1111111", "app:1");
    assert_eq!(ask(&story, &back, LIVE).exit_code(), None);
    story.deploy("app:1", "debug: off");
    assert_eq!(ask(&story, &back, LIVE).exit_code(), None);
    story.rollout(Stage::Done);
    assert_eq!(ask(&story, &back, LIVE).exit_code(), Some(0));
}

#[test]
fn resource_that_can_not_go_on_fails_the_wait() {
    let mut story = Story::running();
    story.owner("on");
    story
        .lineage
        .failures
        .insert("build".into(), "no builder".into());
    let waiting = ask(&story, &["param:debug=on"], LIVE);
    assert_eq!(waiting.exit_code(), None, "build is not on its way");
    story
        .lineage
        .failures
        .insert("config".into(), "ytt: no such value `debug`".into());
    let (_, text) = impossible(&ask(&story, &["param:debug=on"], LIVE));
    assert!(
        text.contains("`config` failed: ytt: no such value"),
        "{text}"
    );
}

#[test]
fn point_1_object_that_is_not_healthy_is_waited_for_until_it_says_that_it_failed() {
    let mut story = Story::running();
    story.fetch("2222222");
    let generation = story.apply("build", [(Origin::resource("fetch"), source("2222222"))]);
    let unhealthy = Snapshot {
        health: Health::False,
        ..done("build", generation, Some(image("app:1")))
    };
    let see = |story: &mut Story, snapshot: &Snapshot| {
        let seen = story.lineage.state.seen("build", snapshot);
        seen.expect("it is on the path");
    };
    see(&mut story, &unhealthy);
    let troubles = &mut story.lineage.troubles;
    troubles.insert("build".into(), "it is being started".into());
    let waiting = ask(&story, &["source=2222222"], ARRIVED);
    assert_eq!(missing(&waiting), ["`build` says: it is being started"]);
    let failed = Snapshot {
        failed: Some("exit code 1".into()),
        ..unhealthy
    };
    see(&mut story, &failed);
    let (reason, text) = impossible(&ask(&story, &["source=2222222"], ARRIVED));
    assert!(matches!(reason, Impossible::Failed { resource, .. } if resource == "build"));
    assert!(text.contains("exit code 1"), "{text}");
    // The first source is what runs, whatever became of the second.
    assert_eq!(
        ask(&story, &["param:debug=off"], ARRIVED).exit_code(),
        Some(0)
    );
}

#[test]
fn owner_without_a_path_waits_and_says_why() {
    let mut story = Story::running();
    story.lineage.failure = Some("no supply chain selects it".into());
    assert_eq!(ask(&story, &["current"], LIVE).exit_code(), Some(0));
    story.owner("on");
    let waiting = missing(&ask(&story, &["param:debug=on"], LIVE));
    let told = "the owner can't go on: no supply chain selects it";
    assert_eq!(waiting.last().map(String::as_str), Some(told));
    story
        .lineage
        .state
        .follow(pathline_lineage::Chain::default());
    let waiting = missing(&ask(&story, &["current"], LIVE));
    assert_eq!(
        waiting,
        ["no path has been chosen yet; the owner can't go on: no supply chain selects it"]
    );
}

#[test]
fn value_that_was_replaced_is_superseded() {
    let mut story = Story::running();
    let never_had = ask(&story, &["param:debug=on"], ARRIVED);
    assert_eq!(
        missing(&never_had),
        ["the owner does not say `on`; it says `off`"]
    );
    story.owner("on");
    assert_eq!(ask(&story, &["param:debug=on"], ARRIVED).exit_code(), None);
    story.owner("off");
    let (reason, text) = impossible(&ask(&story, &["param:debug=on"], ARRIVED));
    assert_eq!(
        reason,
        Impossible::Superseded {
            input: "param:debug".into(),
            wanted: "on".into(),
            now: Some("off".into())
        }
    );
    assert!(text.contains("it is `off` now"), "{text}");
}

#[test]
fn what_was_known_before_the_change_says_nothing() {
    let mut story = Story::running();
    let options = Options {
        since_generation: Some(2),
        ..ARRIVED
    };
    let waiting = ask(&story, &["param:debug=on"], options);
    assert_eq!(
        missing(&waiting),
        ["generation 2 of the owner has not been observed yet"]
    );
    story.owner("on");
    story.config("on", "debug: on");
    story.deploy("app:1", "debug: on");
    assert_eq!(
        ask(&story, &["param:debug=on"], options).exit_code(),
        Some(0)
    );
}

#[test]
fn commit_that_no_poll_has_found_yet_is_waited_for() {
    let mut story = Story::running();
    let mut waiter = Waiter::new(awaited(&["source=2222222"]), LIVE);
    assert_eq!(
        missing(&waiter.judge(&story.lineage))[0],
        "`fetch` has `1111111`; 2222222 is still to come, or was replaced"
    );
    story.fetch("2222222");
    assert_eq!(waiter.judge(&story.lineage).exit_code(), None);
    story.fetch("3333333");
    let (reason, text) = impossible(&waiter.judge(&story.lineage));
    assert!(matches!(reason, Impossible::Superseded { .. }));
    assert!(text.contains("it is `3333333` now"), "{text}");
}

#[test]
fn template_that_is_not_there_is_named() {
    let mut story = Story::running();
    story.lineage.failure = Some("did not find the template".into());
    story.lineage.used.insert("ClusterTemplate/biuld".into(), 0);
    story.lineage.used.insert("ClusterTemplate/run".into(), 3);
    let told = missing(&ask(&story, &["source=2222222"], LIVE));
    let named =
        "the owner can't go on: did not find the template: there is no ClusterTemplate/biuld";
    assert_eq!(told[1], named);
}

#[test]
fn commit_that_does_not_come_is_missed_with_what_keeps_the_source() {
    let mut story = Story::running();
    let trouble = "cannot reach the repository".to_owned();
    story.lineage.troubles.insert("fetch".into(), trouble);
    let waiting = ask(&story, &["source=2222222"], LIVE);
    assert_eq!(
        missing(&waiting),
        [
            "`fetch` has `1111111`; 2222222 is still to come, or was replaced; \
             `fetch` says: cannot reach the repository"
        ]
    );
}

#[test]
fn source_that_was_never_found_is_missed_with_what_keeps_it() {
    let chain = pathline_lineage::Chain::new(vec![crate::paths::resource("fetch", &[], &[])]);
    let mut story = Story::new();
    story.lineage.state.follow(chain.expect("a path"));
    let trouble = "cannot reach the repository".to_owned();
    story.lineage.troubles.insert("fetch".into(), trouble);
    let waiting = ask(&story, &["source=2222222"], LIVE);
    let told = missing(&waiting);
    assert!(
        told[0].ends_with("; `fetch` says: cannot reach the repository"),
        "{told:?}"
    );
}

#[test]
fn input_that_nothing_reads_is_unused() {
    let story = Story::running();
    let (reason, text) = impossible(&ask(&story, &["param:debgu=on"], ARRIVED));
    assert!(matches!(reason, Impossible::Unused { .. }));
    assert!(text.contains("read are field:url, param:debug"), "{text}");
}

#[test]
fn param_that_the_blueprint_fixes_can_not_be_waited_for() {
    let mut story = Story::running();
    story.lineage.fixed.insert("tier".into(), "gold".into());
    let (reason, text) = impossible(&ask(&story, &["param:tier=gold"], ARRIVED));
    assert!(matches!(reason, Impossible::Fixed { .. }));
    assert!(text.contains("fixes param `tier` to `gold`"), "{text}");
}

#[test]
fn source_that_nothing_finds_is_not_on_the_path() {
    let chain = pathline_lineage::Chain::new(vec![crate::paths::resource(
        "config",
        &[],
        &["param:debug"],
    )]);
    let mut story = Story::new();
    story.lineage.state.follow(chain.expect("a path"));
    story.owner("on");
    assert_eq!(ask(&story, &["source=1111111"], ARRIVED).exit_code(), None);
    story.config("on", "debug: on");
    let (reason, text) = impossible(&ask(&story, &["source=1111111"], ARRIVED));
    assert!(matches!(reason, Impossible::NotOnPath { .. }));
    assert!(text.contains("finds or makes a source"), "{text}");
}

#[test]
fn image_is_waited_for_where_it_is_built() {
    let mut story = Story::running();
    assert_eq!(ask(&story, &["image=app:1"], LIVE).exit_code(), Some(0));
    assert_eq!(ask(&story, &["image=app:2"], LIVE).exit_code(), None);
    story.fetch("2222222");
    story.build("2222222", "app:2");
    assert_eq!(ask(&story, &["image=app:2"], LIVE).exit_code(), None);
    story.deploy("app:2", "debug: off");
    story.rollout(Stage::Done);
    assert_eq!(ask(&story, &["image=app:2"], LIVE).exit_code(), Some(0));
}

#[test]
fn only_proof_is_missing_once_all_has_settled() {
    let mut story = Story::running();
    story.owner("on");
    let generation = story.apply("config", [(Origin::owner("param:debug"), debug("on"))]);
    let silent = Snapshot {
        observed: None,
        ..done("config", generation, Some(config("debug: on")))
    };
    story
        .lineage
        .state
        .seen("config", &silent)
        .expect("it is on the path");
    assert_eq!(
        ask(&story, &["param:debug=on"], LIVE).exit_code(),
        None,
        "deploy has the old one"
    );
    story.deploy("app:1", "debug: on");
    let verdict = ask(&story, &["param:debug=on"], LIVE);
    let Verdict::Unproven(missing) = &verdict else {
        panic!("{verdict:?}");
    };
    assert_eq!(verdict.exit_code(), Some(3));
    assert_eq!(missing[0].resource, "config");
    assert!(
        missing[0]
            .to_string()
            .contains("a correlationRule for it would"),
        "{}",
        missing[0]
    );
    let accepting = Options {
        accept_assumed: true,
        ..LIVE
    };
    assert_eq!(
        ask(&story, &["param:debug=on"], accepting).exit_code(),
        None
    );
    story.rollout(Stage::Done);
    assert_eq!(
        ask(&story, &["param:debug=on"], accepting).exit_code(),
        Some(0)
    );
    assert_eq!(
        ask(&story, &["param:debug=on", "source=9999999"], LIVE).exit_code(),
        None
    );
}

#[test]
fn image_without_a_digest_names_who_makes_it() {
    let mut story = Story::running();
    story.fetch("2222222");
    let tagged = Artifact::image("registry.example/app:2");
    let generation = story.apply("build", [(Origin::resource("fetch"), source("2222222"))]);
    let built = done("build", generation, Some(tagged.clone()));
    story
        .lineage
        .state
        .seen("build", &built)
        .expect("it is on the path");
    let inputs = [
        (Origin::resource("build"), tagged),
        (Origin::resource("config"), config("debug: off")),
    ];
    let generation = story.apply("deploy", inputs);
    story
        .lineage
        .state
        .seen("deploy", &done("deploy", generation, None))
        .expect("it is on the path");
    let verdict = ask(&story, &["source=2222222"], ARRIVED);
    let Verdict::Unproven(missing) = &verdict else {
        panic!("{verdict:?}");
    };
    assert_eq!(missing[0].resource, "build");
    assert!(missing[0].why.contains("digest"), "{}", missing[0]);
}

#[test]
fn live_needs_a_last_mile() {
    let mut story = Story::running();
    story.rollout(Stage::None);
    let verdict = ask(&story, &["param:debug=off"], LIVE);
    assert_eq!(verdict.exit_code(), Some(3));
    let Verdict::Unproven(missing) = verdict else {
        panic!("{verdict:?}");
    };
    assert!(missing[0].why.contains("liveSelector"), "{}", missing[0]);
    assert_eq!(
        ask(&story, &["param:debug=off"], ARRIVED).exit_code(),
        Some(0)
    );
}

#[test]
fn what_nothing_follows_yet_is_waited_for_and_is_not_live() {
    let mut story = Story::running();
    let why = "no delivery follows it yet".to_owned();
    story.rollout(Stage::NoFollower { why });
    let missing = missing(&ask(&story, &["param:debug=off"], LIVE));
    assert!(
        missing[0].contains("no delivery follows it yet"),
        "{missing:?}"
    );
    assert_eq!(story.lineage.live(), Live::Unknown);
}

#[test]
fn current_is_everything_the_owner_says_now() {
    let mut story = Story::running();
    assert_eq!(ask(&story, &["current"], LIVE).exit_code(), Some(0));
    story.owner("on");
    assert_eq!(ask(&story, &["current"], LIVE).exit_code(), None);
    story.config("on", "debug: on");
    story.deploy("app:1", "debug: on");
    assert_eq!(ask(&story, &["current"], ARRIVED).exit_code(), Some(0));
    assert_eq!(ask(&story, &["current"], LIVE).exit_code(), None);
    story.rollout(Stage::Done);
    assert_eq!(ask(&story, &["current"], LIVE).exit_code(), Some(0));
    let notes = Waiter::new(awaited(&["current"]), LIVE).notes(&story.lineage);
    assert!(notes[0].contains("add --for source=REV"), "{notes:?}");
    let notes = Waiter::new(awaited(&["current", "source=1111111"]), LIVE).notes(&story.lineage);
    assert!(notes.is_empty(), "{notes:?}");
}

#[test]
fn source_that_the_owner_fixes_is_followed_from_the_owner() {
    let chain =
        pathline_lineage::Chain::new(vec![crate::paths::resource("fetch", &[], &["source"])]);
    let mut story = Story::new();
    story.lineage.state.follow(chain.expect("a path"));
    let own = |story: &mut Story, revision: &str| {
        story
            .lineage
            .state
            .own([("source".to_owned(), source(revision))].into());
    };
    let fetch = |story: &mut Story, revision: &str| {
        let generation = story.apply("fetch", [(Origin::owner("source"), source(revision))]);
        let fetched = done("fetch", generation, Some(source(revision)));
        story
            .lineage
            .state
            .seen("fetch", &fetched)
            .expect("it is on the path");
    };
    own(&mut story, "1111111aaaa");
    fetch(&mut story, "1111111aaaa");
    assert_eq!(
        ask(&story, &["source=1111111"], ARRIVED).exit_code(),
        Some(0)
    );
    own(&mut story, "2222222aaaa");
    assert_eq!(ask(&story, &["source=2222222"], ARRIVED).exit_code(), None);
    fetch(&mut story, "2222222aaaa");
    assert_eq!(
        ask(&story, &["source=2222222"], ARRIVED).exit_code(),
        Some(0)
    );
    impossible(&ask(&story, &["source=1111111"], ARRIVED));
}

#[test]
fn field_inside_of_what_was_read_can_be_waited_for() {
    let chain = pathline_lineage::Chain::new(vec![crate::paths::resource(
        "fetch",
        &[],
        &["field:spec.source"],
    )]);
    let mut story = Story::new();
    story.lineage.state.follow(chain.expect("a path"));
    let read = Artifact::field("spec.source", &json!({"git": {"ref": {"branch": "main"}}}));
    story
        .lineage
        .state
        .own([("field:spec.source".to_owned(), read.clone())].into());
    let generation = story.apply("fetch", [(Origin::owner("field:spec.source"), read)]);
    let fetched = done("fetch", generation, Some(source("1111111")));
    story
        .lineage
        .state
        .seen("fetch", &fetched)
        .expect("it is on the path");
    assert_eq!(
        ask(&story, &["field:spec.source.git.ref.branch=main"], ARRIVED).exit_code(),
        Some(0)
    );
    let dev = ask(&story, &["field:spec.source.git.ref.branch=dev"], ARRIVED);
    let said = "the owner does not say `dev`; it says `main`";
    assert_eq!(missing(&dev), [said]);
}

#[test]
fn verdicts_survive_json() {
    let story = Story::running();
    for verdict in [
        ask(&story, &["current"], LIVE),
        ask(&story, &["param:debug=on"], LIVE),
        ask(&story, &["source=7777777"], LIVE),
    ] {
        let text = serde_json::to_string(&verdict).expect("JSON");
        let read: Verdict = serde_json::from_str(&text).expect("what was written can be read");
        assert_eq!(read, verdict);
    }
}

#[test]
fn point_3_nothing_is_live_while_a_former_object_is_still_there() {
    let mut story = Story::running();
    let object = pathline_lineage::rollout::ObjectName {
        api_version: "apps/v1".into(),
        kind: "Deployment".into(),
        namespace: "dev".into(),
        name: "web-off".into(),
    };
    let retiring = pathline_lineage::Retiring {
        resource: "deploy".into(),
        object,
        uid: "former".into(),
        ..pathline_lineage::Retiring::default()
    };
    story.lineage.retiring = vec![retiring];
    assert_eq!(story.lineage.live(), Live::False);
    let waiting = ask(&story, &["param:debug=off"], LIVE);
    let said = "Deployment `web-off`, which nothing stamps any more, is still there";
    assert_eq!(missing(&waiting), [said]);
    story.lineage.retiring[0].pods = Some(2);
    assert!(missing(&ask(&story, &["current"], LIVE))[0].starts_with("2 pods of"));
    assert_eq!(ask(&story, &["current"], ARRIVED).exit_code(), Some(0));
    story.lineage.retiring.clear();
    assert_eq!(ask(&story, &["current"], LIVE).exit_code(), Some(0));
}

/// The source goes from A to B and back while `build` is at work.
#[test]
fn point_4_value_that_came_back_has_arrived_when_it_was_made_again() {
    let mut story = Story::running();
    let source_a = ["source=1111111"];
    story.fetch("2222222");
    story.apply("build", [(Origin::resource("fetch"), source("2222222"))]);
    assert_eq!(
        ask(&story, &source_a, LIVE).exit_code(),
        Some(0),
        "it is what runs, while the next one is built"
    );
    story.fetch("1111111");
    let generation = story.apply("build", [(Origin::resource("fetch"), source("1111111"))]);
    assert_eq!(missing(&ask(&story, &source_a, LIVE)), ["`build` runs"]);
    let seen = done("build", generation, Some(image("app:1")));
    let seen = story.lineage.state.seen("build", &seen);
    seen.expect("it is on the path");
    assert_eq!(ask(&story, &source_a, LIVE).exit_code(), Some(0));
}

#[test]
fn point_14_a_generation_is_live_only_as_long_as_it_is() {
    let mut story = Story::running();
    assert_eq!(story.lineage.live_generation, Some(1));
    story.rollout(Stage::Progressing {
        why: "a pod is gone".into(),
    });
    assert_eq!(story.lineage.live_generation, None);
    story.rollout(Stage::Done);
    assert_eq!(story.lineage.live_generation, Some(1));
}

#[test]
fn point_15_revisions_that_can_not_be_are_refused_at_once() {
    let mut story = Story::new();
    let commit = "8f1c2e7d00000000000000000000000000000000";
    story.owner("off");
    story.fetch(&format!("main@sha1:{commit}"));
    for asked in ["source=main", "source=8f1c2e"] {
        let (reason, text) = impossible(&ask(&story, &[asked], LIVE));
        assert!(
            matches!(reason, Impossible::NotARevision { .. }),
            "{reason:?}"
        );
        assert!(text.contains("at least 7 digits"), "{text}");
    }
    let (reason, text) = impossible(&ask(&story, &["source=1111111", "source=2222222"], LIVE));
    assert!(
        matches!(reason, Impossible::Contradiction { .. }),
        "{reason:?}"
    );
    assert!(text.contains("source=2222222"), "{text}");
    let one = ["source=8f1c2e7", &format!("source={commit}")];
    assert_eq!(ask(&story, &one, LIVE).exit_code(), None);
}
