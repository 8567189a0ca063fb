//! Environments as people write them: what they mean, and what is wrong with them.

use jiff::SignedDuration;
use pathline_release::Level;
use pathline_release::environment::{
    EnvironmentObject, Environments, OwnerKind, OwnerSettings, Refused, read,
};
use pathline_release::queue::{Environment, Freeze, Holds, OnFailure, Promotion};
use pathline_release::timeline::{Rule, Timeline, time_zone};
use serde_json::{Value, json};

use crate::support::{deploy, mk_queues, mk_release, second, tick};

fn mk_object(name: &str, created: i64, spec: Value) -> EnvironmentObject {
    EnvironmentObject {
        name: name.to_owned(),
        created: Some(second(created)),
        spec,
        is_terminating: false,
    }
}

/// Returns the problems of a spec that has nothing else wrong, each as `field: message`.
fn problems(mut spec: Value) -> Vec<String> {
    let has_place = spec.get("type").is_some() || spec.get("position").is_some();
    if let (Some(fields), false) = (spec.as_object_mut(), has_place) {
        fields.insert("type".to_owned(), json!("prod"));
    }
    let problems = read("prod", &spec).expect_err("it is wrong");
    problems.iter().map(ToString::to_string).collect()
}

#[test]
fn every_field_has_its_meaning() {
    let spec = json!({
        "type": "perf",
        "namespace": "shop-perf",
        "releaseFrequency": {"dayOfWeek": ["1-5"], "hour": 9, "minute": 0},
        "timeZone": "Europe/Berlin",
        "promotion": "manual",
        "accepts": "minor",
        "soak": "1h30m",
        "freezes": [{"from": "2026-12-24T00:00:00+01:00", "until": "2027-01-02T00:00:00+01:00", "reason": "holidays"}],
        "readyTimeout": "5m",
        "onFailure": "restore",
        "omitFromDeploy": ["tools", "*.batch", "shop.old"],
        "owner": {"kind": "Deliverable", "labels": {"app.kubernetes.io/part-of": "shop"}, "serviceAccountName": "deployer"},
        "template": {"environment": {"variable": {"LOG": "info"}}, "resource": {"max": {"cpu": "250m"}}},
    });
    let read = read("perf-eu", &spec).expect("it is right");
    let rule = json!({"dayOfWeek": ["1-5"], "hour": 9, "minute": 0});
    let rule = Rule::from_json(&rule).expect("a rule");
    let environment = Environment {
        of_type: Some("preprod".to_owned()),
        promotion: Promotion::Manual,
        accepts: Some(Level::Minor),
        soak: SignedDuration::from_mins(90),
        freezes: vec![Freeze {
            from: "2026-12-23T23:00:00Z".parse().expect("an instant"),
            until: "2027-01-01T23:00:00Z".parse().expect("an instant"),
            reason: "holidays".to_owned(),
        }],
        timeline: Timeline::new(rule, time_zone("Europe/Berlin").expect("a zone")),
        omits: vec![
            "tools".to_owned(),
            "*.batch".to_owned(),
            "shop.old".to_owned(),
        ],
        ready_timeout: SignedDuration::from_mins(5),
        on_failure: OnFailure::Restore,
        ..Environment::new("perf-eu", 300)
    };
    assert_eq!(read.environment, environment);
    assert_eq!(read.namespace, "shop-perf");
    let labels = [("app.kubernetes.io/part-of".to_owned(), "shop".to_owned())];
    let owner = OwnerSettings {
        kind: OwnerKind::Deliverable,
        labels: labels.into(),
        service_account_name: Some("deployer".to_owned()),
    };
    assert_eq!(read.owner, owner);
    let template =
        json!({"environment": {"variable": {"LOG": "info"}}, "resource": {"max": {"cpu": 250}}});
    assert_eq!(read.template, template, "cores are counted in thousandths");
}

#[test]
fn what_is_absent_or_null_has_its_default() {
    for spec in [
        json!({"type": "prod"}),
        json!({"type": "prod", "position": null, "releaseFrequency": {}, "freezes": null, "owner": {}, "template": {}}),
    ] {
        let read = read("prod", &spec).expect("it is right");
        let environment = Environment {
            of_type: Some("prod".to_owned()),
            ..Environment::new("prod", 400)
        };
        assert_eq!(read.environment, environment);
        assert_eq!((&*read.namespace, &read.template), ("prod", &json!({})));
        assert_eq!(read.owner, OwnerSettings::default());
    }
    let anywhere = read("canary", &json!({"position": 0})).expect("it is right");
    assert_eq!(anywhere.environment, Environment::new("canary", 0));
}

#[test]
fn each_wrong_field_is_named_with_what_to_write() {
    for (spec, field, message) in [
        (
            json!({"type": "prod", "position": 1}),
            "spec.position",
            "write one of the two",
        ),
        (
            json!({"type": "production"}),
            "spec.type",
            "none of dev, ha, preprod, prod",
        ),
        (json!({"type": 1}), "spec.type", "a text is expected"),
        (
            json!({"position": -1}),
            "spec.position",
            "from 0 to 1000000",
        ),
        (
            json!({"position": 1_000_001}),
            "spec.position",
            "from 0 to 1000000",
        ),
        (json!({"position": 1.5}), "spec.position", "a whole number"),
        (json!({"position": "1"}), "spec.position", "a whole number"),
        (
            json!({"namespace": "Prod"}),
            "spec.namespace",
            "no name of a namespace",
        ),
        (
            json!({"namespace": "a.b"}),
            "spec.namespace",
            "no name of a namespace",
        ),
        (
            json!({"namespace": ""}),
            "spec.namespace",
            "no name of a namespace",
        ),
        (
            json!({"namespace": 1}),
            "spec.namespace",
            "a text is expected",
        ),
        (
            json!({"timeZone": "Mars/Phobos"}),
            "spec.timeZone",
            "there is no time zone `Mars/Phobos`",
        ),
        (
            json!({"timeZone": "Europe/Berln"}),
            "spec.timeZone",
            "did you mean `Europe/Berlin`?",
        ),
        (
            json!({"timeZone": "+01:00"}),
            "spec.timeZone",
            "there is no time zone",
        ),
        (
            json!({"releaseFrequency": "daily"}),
            "spec.releaseFrequency",
            "a mapping is expected",
        ),
        (
            json!({"releaseFrequency": {"hour": 24}}),
            "spec.releaseFrequency.hour",
            "24 is out of range",
        ),
        (
            json!({"releaseFrequency": {"hours": 2}}),
            "spec.releaseFrequency.hours",
            "no such field",
        ),
        (
            json!({"releaseFrequency": {"tz": "UTC"}}),
            "spec.releaseFrequency.tz",
            "belongs to the environment",
        ),
        (
            json!({"releaseFrequency": {"minute": []}}),
            "spec.releaseFrequency.minute",
            "never ticks",
        ),
        (
            json!({"releaseFrequency": {"date": 31, "month": 1}}),
            "spec.releaseFrequency",
            "no such day in any year",
        ),
        (
            json!({"promotion": "sometimes"}),
            "spec.promotion",
            "none of auto, manual",
        ),
        (
            json!({"accepts": "huge"}),
            "spec.accepts",
            "none of digest, patch, minor, major",
        ),
        (
            json!({"soak": "1 hour"}),
            "spec.soak",
            "such as `90s`, `15m` or `1h30m`",
        ),
        (json!({"soak": "1d"}), "spec.soak", "a day is `24h`"),
        (json!({"soak": 60}), "spec.soak", "a text is expected"),
        (json!({"soak": "-1h"}), "spec.soak", "cannot be negative"),
        (json!({"soak": "99999999h"}), "spec.soak", "ten years"),
        (
            json!({"readyTimeout": "0s"}),
            "spec.readyTimeout",
            "leave it out for 15m",
        ),
        (
            json!({"readyTimeout": "soon"}),
            "spec.readyTimeout",
            "a duration such as",
        ),
        (
            json!({"onFailure": "retry"}),
            "spec.onFailure",
            "none of keep, restore",
        ),
        (json!({"freezes": {}}), "spec.freezes", "a list is expected"),
        (
            json!({"freezes": ["always"]}),
            "spec.freezes[0]",
            "a mapping is expected",
        ),
        (
            json!({"freezes": [{"from": "2026-01-01T00:00:00Z"}]}),
            "spec.freezes[0].until",
            "an instant is missing",
        ),
        (
            json!({"freezes": [{"from": "2026-01-02T00:00:00Z", "until": "2026-01-01T00:00:00Z"}]}),
            "spec.freezes[0].until",
            "ends before it begins",
        ),
        (
            json!({"freezes": [{"from": "2026-01-02T00:00:00Z", "until": "2026-01-02T01:00:00+01:00"}]}),
            "spec.freezes[0].until",
            "ends before it begins",
        ),
        (
            json!({"freezes": [{"from": "2026-01-01", "until": "2026-01-02T00:00:00Z"}]}),
            "spec.freezes[0].from",
            "with its offset",
        ),
        (
            json!({"freezes": [{"from": "2026-01-01T00:00:00Z", "until": "2026-01-02T00:00:00Z", "why": "x"}]}),
            "spec.freezes[0].why",
            "means nothing here",
        ),
        (
            json!({"omitFromDeploy": "shop"}),
            "spec.omitFromDeploy",
            "a list is expected",
        ),
        (
            json!({"omitFromDeploy": ["shop.*"]}),
            "spec.omitFromDeploy[0]",
            "`GROUP`, `*.NAME` or `GROUP.NAME`",
        ),
        (
            json!({"omitFromDeploy": ["a", "a.b.c"]}),
            "spec.omitFromDeploy[1]",
            "`GROUP`, `*.NAME`",
        ),
        (
            json!({"omitFromDeploy": [""]}),
            "spec.omitFromDeploy[0]",
            "`GROUP`, `*.NAME`",
        ),
        (
            json!({"omitFromDeploy": [{"group": "shop"}]}),
            "spec.omitFromDeploy[0]",
            "`GROUP`, `*.NAME`",
        ),
        (
            json!({"owner": "Workload"}),
            "spec.owner",
            "a mapping is expected",
        ),
        (
            json!({"owner": {"kind": "Deployment"}}),
            "spec.owner.kind",
            "none of Workload, Deliverable",
        ),
        (
            json!({"owner": {"labels": []}}),
            "spec.owner.labels",
            "a mapping is expected",
        ),
        (
            json!({"owner": {"labels": {"a b": "c"}}}),
            "spec.owner.labels.a b",
            "no name of a label",
        ),
        (
            json!({"owner": {"labels": {"a": "b c"}}}),
            "spec.owner.labels.a",
            "no value of a label",
        ),
        (
            json!({"owner": {"labels": {"a": true}}}),
            "spec.owner.labels.a",
            "a text is expected; quote it",
        ),
        (
            json!({"owner": {"labels": {"pathline.dev/tracker": "a"}}}),
            "spec.owner.labels.pathline.dev/tracker",
            "Pathline writes this label itself",
        ),
        (
            json!({"owner": {"serviceAccountName": "A"}}),
            "spec.owner.serviceAccountName",
            "no name of a service account",
        ),
        (
            json!({"owner": {"serviceAccount": "a"}}),
            "spec.owner.serviceAccount",
            "there is kind, labels",
        ),
        (
            json!({"template": []}),
            "spec.template",
            "a mapping with `environment` and `resource`",
        ),
        (
            json!({"template": {"enviroment": {}}}),
            "spec.template.enviroment",
            "did you mean `environment`?",
        ),
        (
            json!({"template": {"version": "1"}}),
            "spec.template.version",
            "means nothing here",
        ),
        (
            json!({"template": {"environment": {"variable": {"A": ["b"]}}}}),
            "spec.template.environment.variable.A",
            "a text is expected",
        ),
        (
            json!({"template": {"environment": {"variable": {"A": 1.1}}}}),
            "spec.template.environment.variable.A",
            "quote the value",
        ),
        (
            json!({"template": {"environment": []}}),
            "spec.template.environment",
            "a map is expected",
        ),
        (
            json!({"template": {"environment": {"file": {"config": {"a": {"mountPath": "b"}}}}}}),
            "spec.template.environment.file.config.a.mountPath",
            "an absolute path",
        ),
        (
            json!({"template": {"environment": {"file": {"config": {"a": {"data": [{"value": "b"}]}}}}}}),
            "spec.template.environment.file.config.a.data[0]",
            "a file has to have a `name`",
        ),
        (
            json!({"template": {"environment": {"file": {"secret": {"a": {}}}}}}),
            "spec.template.environment.file.secret",
            "secrets belong to groups and applications",
        ),
        (
            json!({"template": {"resource": {"min": {"cpu": "lots"}}}}),
            "spec.template.resource.min.cpu",
            "thousandths of a core",
        ),
        (json!({"Soak": "1h"}), "spec.Soak", "did you mean `soak`?"),
        (
            json!({"freeze": []}),
            "spec.freeze",
            "did you mean `freezes`?",
        ),
        (
            json!({"colour": "red"}),
            "spec.colour",
            "there is type, position, namespace",
        ),
    ] {
        let told = problems(spec.clone());
        let [told] = &told[..] else {
            panic!("{spec}: {told:?}");
        };
        let (named, said) = told.split_once(": ").expect("a field and a message");
        assert_eq!(named, field, "{spec}: {told}");
        assert!(said.contains(message), "{spec}: {told}");
    }
    for (spec, message) in [
        (
            json!({}),
            "spec.type: a type (dev, ha, preprod or prod) or a `position`",
        ),
        (Value::Null, "spec.type: a type"),
        (json!([]), "spec: a mapping is expected"),
        (json!("prod"), "spec: a mapping is expected"),
    ] {
        let told = read("prod", &spec).expect_err("it is wrong");
        assert_eq!(told.len(), 1, "{told:?}");
        assert!(told[0].to_string().starts_with(message), "{told:?}");
    }
    let dotted = read("eu.prod", &json!({"type": "prod"})).expect_err("no namespace");
    assert!(
        dotted[0]
            .to_string()
            .starts_with("spec.namespace: the name of the environment is no")
    );
}

#[test]
fn all_problems_are_told_at_once_in_the_order_of_the_fields() {
    let told = problems(json!({
        "type": "moon",
        "timeZone": "Mars/Phobos",
        "releaseFrequency": {"hour": 99, "minute": 99},
        "soak": "-1h",
        "freezes": [{"from": "x", "until": "y"}],
        "template": {"environment": {"variable": {"A": [], "B": {}}}},
        "unknown": 1,
    }));
    let fields: Vec<_> = told.iter().filter_map(|it| it.split_once(": ")).collect();
    let fields: Vec<_> = fields.iter().map(|it| it.0).collect();
    let expected = [
        "spec.type",
        "spec.releaseFrequency.hour",
        "spec.releaseFrequency.minute",
        "spec.timeZone",
        "spec.soak",
        "spec.freezes[0].from",
        "spec.freezes[0].until",
        "spec.template.environment.variable.A",
        "spec.template.environment.variable.B",
        "spec.unknown",
    ];
    assert_eq!(fields, expected, "{told:#?}");
}

#[test]
fn problems_are_short_whatever_is_wrong() {
    let long = "x".repeat(100_000);
    let told = problems(json!({
        "type": long, "timeZone": long, "promotion": long, "soak": long, long.clone(): 1,
        "owner": {"labels": {long.clone(): long}}, "releaseFrequency": {"hour": long},
    }));
    assert!(told.join("").len() < 10_000, "{}", told.join("").len());
}

#[test]
fn environments_are_in_order_and_may_share_a_position() {
    let objects = [
        mk_object("prod", 1, json!({"type": "prod"})),
        mk_object("ha-eu", 2, json!({"type": "ha"})),
        mk_object("canary", 3, json!({"position": 350})),
        mk_object("dev", 4, json!({"type": "dev"})),
        mk_object("ha-us", 5, json!({"position": 200})),
    ];
    let environments = Environments::of(&objects);
    let flow = environments.flow().environments().iter();
    let order: Vec<_> = flow.map(|it| (it.name.as_str(), it.position)).collect();
    let expected = [
        ("dev", 100),
        ("ha-eu", 200),
        ("ha-us", 200),
        ("canary", 350),
        ("prod", 400),
    ];
    assert_eq!(order, expected);
    assert_eq!(environments.refused().count(), 0);
    assert_eq!(
        environments.get("canary").map(|it| &*it.namespace),
        Some("canary")
    );
    assert_eq!(environments.iter().count(), 5);
    assert_eq!(Environments::of(&[]), Environments::default());
}

#[test]
fn oldest_environment_keeps_a_namespace_that_two_want() {
    let wants =
        |name, created| mk_object(name, created, json!({"position": 1, "namespace": "shop"}));
    for (objects, keeper) in [
        (vec![wants("b", 1), wants("a", 2)], "b"),
        (vec![wants("a", 2), wants("b", 1)], "b"),
        (vec![wants("b", 1), wants("a", 1)], "a"),
        (
            vec![
                EnvironmentObject {
                    created: None,
                    ..wants("a", 0)
                },
                wants("b", 9),
            ],
            "b",
        ),
    ] {
        let environments = Environments::of(&objects);
        let kept: Vec<_> = environments
            .iter()
            .map(|it| &*it.environment.name)
            .collect();
        assert_eq!(kept, [keeper], "{objects:?}");
        let (_, refused) = environments.refused().next().expect("the other one");
        assert_eq!(refused.reason(), "NamespaceTaken");
        let message = format!("the namespace `shop` belongs to the Environment `{keeper}`");
        assert!(refused.to_string().starts_with(&message), "{refused}");
    }
}

#[test]
fn invalid_and_deleted_environments_take_no_namespace() {
    let deleted = EnvironmentObject {
        is_terminating: true,
        ..mk_object("old", 1, json!({"type": "prod", "namespace": "shop"}))
    };
    let objects = [
        deleted,
        mk_object(
            "wrong",
            2,
            json!({"type": "prod", "namespace": "shop", "soak": "x"}),
        ),
        mk_object("prod", 3, json!({"type": "prod", "namespace": "shop"})),
    ];
    let environments = Environments::of(&objects);
    assert!(environments.get("prod").is_some());
    assert_eq!(environments.refusal("old"), Some(&Refused::Terminating));
    assert!(
        matches!(environments.refusal("wrong"), Some(Refused::Invalid(problems)) if problems.len() == 1)
    );
    let flow = environments.flow();
    assert!(flow.get("old").is_none(), "what is deleted leaves the flow");
}

#[test]
fn environment_that_cannot_be_used_takes_nothing_and_lets_nothing_past() {
    let objects = [
        mk_object("dev", 1, json!({"type": "dev"})),
        mk_object("ha", 2, json!({"type": "ha", "soak": "soon"})),
        mk_object("prod", 3, json!({"type": "prod"})),
        mk_object("lost", 4, json!({"type": "nowhere"})),
    ];
    let environments = Environments::of(&objects);
    let flow = environments.flow();
    assert!(flow.get("lost").is_none(), "nobody knows where it belongs");
    let mut queues = mk_queues();
    queues.enter(flow, &mk_release(1, "1.0.0"), second(0));
    deploy(&mut queues, flow, &["dev"], second(60));
    let moved = tick(&mut queues, flow, &["ha", "prod"], second(120));
    assert_eq!(moved, [], "it waits for `ha`, which is mended first");
    let why = queues.why((flow, &Holds::default()), 1, second(120));
    let [_, ha, prod] = &why[..] else {
        panic!("{why:?}");
    };
    assert!(
        ha.sentence
            .contains("`ha` takes nothing: the Environment cannot be used: spec.soak"),
        "{ha:?}"
    );
    assert_eq!((ha.earliest, prod.earliest), (None, None));
}

#[test]
fn environment_that_was_deleted_just_now_keeps_its_place_and_takes_nothing() {
    let [dev, preprod, prod] =
        ["dev", "preprod", "prod"].map(|it| mk_object(it, 1, json!({"type": it})));
    let without = [dev.clone(), prod.clone()];
    let all = Environments::with_departed(&without, std::slice::from_ref(&preprod));
    let names: Vec<_> = all
        .flow()
        .environments()
        .iter()
        .map(|it| it.name.as_str())
        .collect();
    assert_eq!(names, ["dev", "preprod", "prod"]);
    assert!(all.get("preprod").is_none());
    let closed = all.flow().get("preprod").expect("it has a place");
    assert!(closed.freezes[0].contains(jiff::Timestamp::UNIX_EPOCH));
    assert!(closed.freezes[0].reason.contains("deleted a moment ago"));
    // One that is back is what it is now.
    let back = Environments::with_departed(&[dev, preprod.clone(), prod], &[preprod]);
    assert!(back.get("preprod").is_some());
    assert!(back.refusal("preprod").is_none());
}
