//! Environments of files: ours, and Fathomable's templates.

use pathline_document::{Format, Limits};
use pathline_release::environment::{FileEnvironments, check_together, read, read_file, usual};
use serde_json::{Value, json};

fn documents(text: &str) -> Vec<Value> {
    let documents = Format::Yaml.read_with(text, &Limits::default());
    let documents = documents.unwrap_or_else(|error| panic!("{error}\n{text}"));
    documents.iter().map(|it| it.to_json()).collect()
}

fn read_text(text: &str) -> FileEnvironments {
    read_file(&documents(text)).unwrap_or_else(|problems| panic!("{problems:?}\n{text}"))
}

/// Returns the specs of a file, by name.
fn specs(text: &str) -> Vec<(String, Value)> {
    let environments = read_text(text).environments.into_iter();
    environments
        .map(|it| (it.name, it.object["spec"].clone()))
        .collect()
}

fn problems(text: &str) -> Vec<String> {
    let problems = read_file(&documents(text)).expect_err(text);
    problems.iter().map(ToString::to_string).collect()
}

#[test]
fn four_environments_are_there_unless_somebody_has_others() {
    let usual = usual();
    let names: Vec<_> = usual.iter().map(|it| (&*it.name, &*it.namespace)).collect();
    assert_eq!(
        names,
        [
            ("dev", "dev"),
            ("ha", "ha"),
            ("preprod", "preprod"),
            ("prod", "prod")
        ]
    );
    for environment in &usual {
        let spec = &environment.object["spec"];
        assert_eq!(spec["releaseFrequency"], json!({}));
        assert!(read(&environment.name, spec).is_ok());
    }
    assert_eq!(check_together(&usual), Ok(()));
}

#[test]
fn environments_of_ours_are_taken_as_they_are() {
    let file = "
apiVersion: pathline.dev/v1alpha1
kind: Environment
metadata: {name: canary, labels: {team: shop}}
spec: {position: 350, soak: 1h}
---
apiVersion: pathline.dev/v1alpha1
kind: Environment
metadata: {name: prod}
spec: {type: prod, namespace: shop}
status: {conditions: []}
---
";
    let FileEnvironments {
        environments,
        warnings,
    } = read_text(file);
    let expected = json!({
        "apiVersion": "pathline.dev/v1alpha1", "kind": "Environment",
        "metadata": {"name": "canary", "labels": {"team": "shop"}}, "spec": {"position": 350, "soak": "1h"},
    });
    assert_eq!(environments[0].object, expected);
    assert_eq!(environments[1].namespace, "shop");
    assert_eq!(environments[1].object.get("status"), None);
    assert!(warnings.is_empty());
}

#[test]
fn fathomables_templates_become_environments() {
    let specs = specs(
        "
dev:
ha:
  type: []
perf:
  deployments: {releaseFrequency: {dayOfWeek: [0, '5-6'], hour: 17, minute: 0}}
prod:
  deployments: {releaseFrequency: {}}
  environmental: {JAVA_OPTS: '', WORKERS: 4}
  omitFromDeploy: [stub, '*.stub', stub.stubbed]
  resources: {container: {defaultmax: {cpu: 250m, memory: 1Gi}, defaultmin: {cpu: 100m}}}
",
    );
    let timed = json!({"dayOfWeek": [0, "5-6"], "hour": 17, "minute": 0});
    let template = json!({
        "environment": {"variable": {"JAVA_OPTS": "", "WORKERS": 4}},
        "resource": {"max": {"cpu": "250m", "memory": "1Gi"}, "min": {"cpu": "100m"}},
    });
    let prod = json!({
        "type": "prod", "releaseFrequency": {}, "omitFromDeploy": ["stub", "*.stub", "stub.stubbed"], "template": template,
    });
    let expected = [
        ("dev", json!({"type": "dev", "releaseFrequency": {}})),
        ("ha", json!({"type": "ha", "releaseFrequency": {}})),
        (
            "preprod",
            json!({"type": "preprod", "releaseFrequency": timed}),
        ),
        ("prod", prod),
    ];
    let expected = expected.map(|(name, spec)| (name.to_owned(), spec));
    assert_eq!(specs, expected);
}

#[test]
fn types_are_told_by_words_or_by_the_name() {
    for (template, of_type) in [
        ("other: {}", "dev"),
        ("other: {type: []}", "dev"),
        ("prod: {type: []}", "prod"),
        ("preprod: {}", "preprod"),
        ("other: {type: [DEVLIKE]}", "dev"),
        ("other: {type: [HADEV]}", "ha"),
        ("other: {type: [HALIKE]}", "ha"),
        ("other: {type: [PRODLIKE, HALIKE]}", "preprod"),
        ("other: {operatingEnvironment: [PRODLIKE]}", "prod"),
        ("other: {type: PRODLIKE}", "prod"),
        ("other: {type: perf}", "preprod"),
        ("prod: {type: [DEVLIKE]}", "dev"),
    ] {
        assert_eq!(specs(template)[0].1["type"], of_type, "{template}");
    }
}

#[test]
fn later_spelling_of_templates_is_read_too() {
    let specs = specs(
        "prod: {operatingEnvironment: [PRODLIKE], environment: {variable: {LOG: warn}}, resource: {min: {cpu: 100}}, omitFromDeploy: {}}",
    );
    let template =
        json!({"environment": {"variable": {"LOG": "warn"}}, "resource": {"min": {"cpu": 100}}});
    let expected = json!({"type": "prod", "releaseFrequency": {}, "template": template});
    assert_eq!(specs, [("prod".to_owned(), expected)]);
}

#[test]
fn settings_that_mean_nothing_here_are_told() {
    let read = read_text(
        "dev: {deployments: {enableProfiler: false, revisionHistoryLimit: 1}, ingress: {}, resources: {container: {max: {cpu: 1}}}}",
    );
    assert_eq!(read.environments.len(), 1);
    let expected = [
        "dev.deployments.enableProfiler means nothing here",
        "dev.deployments.revisionHistoryLimit means nothing here",
        "dev.ingress means nothing here",
        "dev.resources.container.max means nothing here",
    ];
    assert_eq!(read.warnings, expected);
}

#[test]
fn mistakes_in_files_are_told_where_they_are() {
    for (text, message) in [
        ("[]", "the document: an Environment is expected"),
        ("prod: 1", "prod: a mapping is expected"),
        (
            "mandatory: {}",
            "mandatory: applications for all environments are not supported",
        ),
        (
            "prod: {typ: []}",
            "prod.typ: `typ` means nothing here; did you mean `type`?",
        ),
        (
            "prod: {type: [LIKE]}",
            "prod.type: a list of DEVLIKE, HALIKE and PRODLIKE",
        ),
        (
            "prod: {type: [DEVLIKE, PRODLIKE]}",
            "prod.type: a list of DEVLIKE",
        ),
        ("prod: {type: 1}", "prod.type: a list of DEVLIKE"),
        (
            "Prod: {}",
            "metadata.name: `Prod` is no name of an Environment",
        ),
        (
            "eu.prod: {}",
            "eu.prod.namespace: the name of the environment is no name of a namespace",
        ),
        (
            "prod: {deployments: {releaseFrequency: {hour: 24}}}",
            "prod.deployments.releaseFrequency.hour: 24 is out of range",
        ),
        (
            "prod: {environmental: {A: 1.10}}",
            "prod.environmental.A: quote the value",
        ),
        (
            "prod: {environmental: {A: []}}",
            "prod.environmental.A: a text is expected",
        ),
        (
            "prod: {environment: {variable: {A: []}}}",
            "prod.environment.variable.A: a text is expected",
        ),
        (
            "prod: {environment: {}, environmental: {}}",
            "prod.environmental: `environmental` is an older word",
        ),
        (
            "prod: {omitFromDeploy: [a.b.c]}",
            "prod.omitFromDeploy[0]: `GROUP`",
        ),
        (
            "prod: {resources: {container: {defaultmin: {cpu: lots}}}}",
            "prod.resources.container.defaultmin.cpu: thousandths",
        ),
        (
            "apiVersion: v1\nkind: Namespace\nmetadata: {name: a}",
            "apiVersion: `pathline.dev/v1alpha1` is expected",
        ),
        (
            "apiVersion: pathline.dev/v1alpha1\nkind: Environment\nspec: {type: dev}",
            "metadata.name: a name is expected",
        ),
        (
            "apiVersion: pathline.dev/v1alpha1\nkind: Environment\nmetadata: {name: a}\nspec: {soak: 1}",
            "a: spec.type: a type",
        ),
        (
            "apiVersion: pathline.dev/v1alpha1\nkind: Environment\nmetadata: {name: a}\nspecs: {}\nspec: {type: dev}",
            "specs: `specs` means nothing here; did you mean `spec`?",
        ),
    ] {
        let told = problems(text);
        assert!(
            told.iter().any(|it| it.starts_with(message)),
            "{text}: {told:?}"
        );
    }
    let all = problems("dev: {type: 1}\nprod: {ingres: {}}");
    assert_eq!(all.len(), 2, "{all:?}");
}

#[test]
fn environments_of_several_files_fit_beside_each_other() {
    let one = read_text("dev: {}\nprod: {}").environments;
    let ours = |name: &str, namespace: &str| {
        let text = format!(
            "apiVersion: pathline.dev/v1alpha1\nkind: Environment\nmetadata: {{name: {name}}}\nspec: {{type: dev, namespace: {namespace}}}"
        );
        read_text(&text).environments
    };
    let with = |more| [one.clone(), more].concat();
    assert_eq!(check_together(&with(ours("other", "other"))), Ok(()));
    let twice = check_together(&with(ours("dev", "other"))).expect_err("two of one name");
    assert_eq!(
        twice[0].to_string(),
        "dev: there is another one of this name"
    );
    let taken = check_together(&with(ours("other", "prod"))).expect_err("two of one namespace");
    assert!(
        taken[0].message.contains("belongs to the Environment"),
        "{taken:?}"
    );
}
