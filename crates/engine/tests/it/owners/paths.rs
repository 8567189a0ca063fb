//! Blueprints with several paths: what is on the path is stamped, what leaves it goes in time.

use serde_json::{Value, json};

use super::{config_map, test_object};
use crate::world::{World, conditions_of, message, resource};

/// The rows of the table that the issue gives: the option, `ok` for a single template, `-` for skipped.
const TABLE: [(&str, &str, &str, &str); 8] = [
    ("url", "git", "", "0 - - 1 0 -"),
    ("url-tests", "git", "has-tests=true", "0 ok - 0 0 -"),
    (
        "source-image-tests",
        "source-image",
        "has-tests=true",
        "1 ok - 0 0 -",
    ),
    ("image-tests", "image", "has-tests=true", "- - ok - 1 -"),
    ("image-and-url", "image git", "", "0 - ok 1 0 -"),
    ("url-gitops", "git", "target=gitops", "0 - - 1 0 0"),
    (
        "image-registry",
        "image",
        "target=repostiory",
        "- - ok - 1 1",
    ),
    ("nothing", "", "target=gitops", "- - - - - -"),
];

pub(crate) async fn the_seed_is_stamped_as_its_table_says(world: &mut World) {
    apply_seed(world).await;
    for (name, spec, label, _) in TABLE {
        apply_row(world, name, spec, label).await;
    }
    // The producer is selected but slow: its consumer must not take the other path meanwhile.
    for slow in ["url-tests", "source-image-tests"] {
        let waiting = ["ResourceSubmitted", "Unknown", "WaitingForInputs"];
        let owner = world
            .wait_for("Workload", slow, "waiting for its tests", |owner| {
                let resources = owner["status"]["resources"].as_array();
                resources
                    .is_some_and(|all| all.iter().any(|one| conditions_of(one).contains(&waiting)))
            })
            .await;
        let builder = resource(&owner, "image-builder");
        assert_eq!(
            message(builder, "ResourceSubmitted"),
            "waiting for input [source] from resource [source-tester]"
        );
        assert_eq!(
            world.get("ConfigMap", &format!("{slow}-build-image")).await,
            None
        );
        let tested = json!({"url": "tested", "revision": "1"});
        world
            .set_status(&format!("{slow}-test-source-with-tekton"), tested)
            .await;
    }
    for (name, _, _, expected) in TABLE {
        if name == "nothing" {
            continue;
        }
        let owner = world.wait_ready("Workload", name).await;
        assert_eq!(spell(&owner), expected, "{name}");
        for entry in owner["status"]["path"].as_array().unwrap() {
            let reported = resource(&owner, entry["resource"].as_str().unwrap());
            let is_stamped = reported.get("stampedRef").is_some();
            assert_eq!(is_stamped, entry["state"] == "selected", "{name}: {entry}");
        }
    }
    let built = world
        .get("ConfigMap", "url-tests-build-image")
        .await
        .unwrap();
    assert_eq!(built["data"]["image"], "tested@1");
    let built = world.get("ConfigMap", "url-build-image").await.unwrap();
    assert_eq!(built["data"]["image"], "https://host/app@git");

    let nothing = ["Ready", "False", "NothingSelected"];
    let owner = world.wait_condition("Workload", "nothing", nothing).await;
    assert_eq!(spell(&owner), "- - - - - -");
    assert_eq!(
        conditions_of(resource(&owner, "gitops")),
        [["Selected", "False", "NoOptionSelected"]]
    );
    assert_eq!(
        message(resource(&owner, "configure"), "Selected"),
        "no option is selected: option 0: the producer [image-builder] of input [image] is skipped; \
         option 1: the producer [image-provider] of input [image] is skipped"
    );
}

/// Returns the path of an owner as the table writes it.
fn spell(owner: &Value) -> String {
    let path = owner["status"]["path"].as_array().expect("there is a path");
    let spelled = path
        .iter()
        .map(|entry| match (&entry["state"], &entry["option"]) {
            (state, Value::Null) if state == "selected" => "ok".to_owned(),
            (state, option) if state == "selected" => option.to_string(),
            (state, _) if state == "skipped" => "-".to_owned(),
            _ => entry.to_string(),
        });
    spelled.collect::<Vec<_>>().join(" ")
}

/// Applies the blueprint of seed 001 as it is written there, with a selector, and its templates.
async fn apply_seed(world: &World) {
    let named = |template: &str, data: Value| {
        config_map(&format!("$(workload.metadata.name)$-{template}"), data)
    };
    let source = |body: Value, place: &str| json!({"template": body, "urlPath": format!("{place}.url"), "revisionPath": format!("{place}.revision")});
    let git = json!({"url": "$(workload.spec.source.git.url)$", "revision": "git"});
    let registry = json!({"url": "$(workload.spec.source.image)$", "revision": "registry"});
    let pushed = json!({"url": "$(config.config)$", "revision": "pushed"});
    let sources = [
        ("source-from-git-repo", git),
        ("source-from-image-registry", registry),
        ("git-pusher", pushed.clone()),
        ("registry-pusher", pushed),
    ];
    for (name, data) in sources {
        let spec = source(named(name, data), "data");
        world.apply_spec("ClusterSourceTemplate", name, spec).await;
    }
    let tester = "test-source-with-tekton";
    let tests = test_object(
        &format!("$(workload.metadata.name)$-{tester}"),
        json!({"revision": "$(source.revision)$"}),
    );
    let tests = source(tests, "status");
    world
        .apply_spec("ClusterSourceTemplate", tester, tests)
        .await;
    let images = [
        ("image-from-image-registry", "$(workload.spec.image)$"),
        ("build-image", "$(source.url)$@$(source.revision)$"),
    ];
    for (name, image) in images {
        let body = named(name, json!({"image": image}));
        let spec = json!({"template": body, "imagePath": "data.image"});
        world.apply_spec("ClusterImageTemplate", name, spec).await;
    }
    let body = named("configure", json!({"config": "$(image)$"}));
    let spec = json!({"template": body, "configPath": "data"});
    world
        .apply_spec("ClusterConfigTemplate", "configure", spec)
        .await;

    let exists = |key: &str| json!({"matchFields": {"key": key, "operation": "exists"}});
    let labelled = |key: &str, value: &str| json!({"matchLabels": {key: value}});
    let from = |resource: &str, name: &str| json!([{"resource": resource, "name": name}]);
    world.apply_chain("supply-chain", json!([
        {"name": "source-provider", "templateRef": {"kind": "ClusterSourceTemplate", "options": [
            {"name": "source-from-git-repo", "selector": exists("spec.source.url")},
            {"name": "source-from-image-registry", "selector": exists("spec.source.image")},
        ]}},
        {
            "name": "source-tester",
            "templateRef": {"kind": "ClusterSourceTemplate", "name": tester},
            "selector": labelled("has-tests", "true"),
            "sources": from("source-provider", "source"),
        },
        {
            "name": "image-provider",
            "templateRef": {"kind": "ClusterImageTemplate", "name": "image-from-image-registry"},
            "selector": exists("spec.image"),
        },
        {"name": "image-builder", "templateRef": {"kind": "ClusterImageTemplate", "options": [
            {"name": "build-image", "images": from("source-tester", "source")},
            {"name": "build-image", "images": from("source-provider", "source")},
        ]}},
        {"name": "configure", "templateRef": {"kind": "ClusterConfigTemplate", "options": [
            {"name": "configure", "sources": from("image-builder", "image")},
            {"name": "configure", "sources": from("image-provider", "image")},
        ]}},
        {"name": "gitops", "templateRef": {"kind": "ClusterSourceTemplate", "options": [
            {"name": "git-pusher", "selector": labelled("target", "gitops"), "configs": from("configure", "config")},
            {"name": "registry-pusher", "selector": labelled("target", "repostiory"), "configs": from("configure", "config")},
        ]}},
    ]))
    .await;
}

async fn apply_row(world: &World, name: &str, fields: &str, label: &str) {
    let mut spec = json!({});
    for field in fields.split_whitespace() {
        match field {
            "git" => spec["source"]["git"] = json!({"url": "https://host/app"}),
            "source-image" => spec["source"]["image"] = json!("registry/source"),
            _ => spec["image"] = json!("registry/app"),
        }
    }
    let mut labels = json!({"app": world.namespace});
    if let Some((key, value)) = label.split_once('=') {
        labels[key] = json!(value);
    }
    let workload = json!({"metadata": {"labels": labels}, "spec": spec});
    world.apply("Workload", name, workload).await;
}

/// Makes a chain in which `test` stands between `fetch` and `build` only for those that have tests.
async fn apply_detour(world: &World) {
    let source = |name: &str, spec: Value| json!({"template": test_object(name, spec), "urlPath": "status.url", "revisionPath": "status.revision"});
    let fetch = source("fetch", json!({"url": "$(workload.spec.source.git.url)$"}));
    let test = source("test", json!({"revision": "$(source.revision)$"}));
    let build = json!({
        "template": test_object("build", json!({"from": "$(source.url)$"})),
        "imagePath": "status.image",
        "healthRule": {"singleConditionType": "Ready"},
    });
    world
        .apply_spec("ClusterSourceTemplate", "fetch", fetch)
        .await;
    world
        .apply_spec("ClusterSourceTemplate", "test", test)
        .await;
    world
        .apply_spec("ClusterImageTemplate", "build", build)
        .await;
    world.apply_chain("detour", json!([
        {"name": "fetch", "templateRef": {"kind": "ClusterSourceTemplate", "name": "fetch"}},
        {
            "name": "test",
            "templateRef": {"kind": "ClusterSourceTemplate", "name": "test"},
            "selector": {"matchLabels": {"has-tests": "true"}},
            "sources": [{"name": "code", "resource": "fetch"}],
        },
        {"name": "build", "templateRef": {"kind": "ClusterImageTemplate", "options": [
            {"name": "build", "sources": [{"name": "code", "resource": "test"}]},
            {"name": "build", "sources": [{"name": "code", "resource": "fetch"}]},
        ]}},
    ]))
    .await;
}

/// Plays the controller of `build`: it has worked on this generation, and is so.
async fn built(world: &World, generation: i64, ready: &str) {
    let ready = json!([{"type": "Ready", "status": ready, "message": ""}]);
    let status = json!({"image": "image", "observedGeneration": generation, "conditions": ready});
    world.set_status("build", status).await;
}

fn states(owner: &Value) -> Vec<[&str; 2]> {
    let path = owner["status"]["path"].as_array().into_iter().flatten();
    path.map(|entry| ["resource", "state"].map(|name| entry[name].as_str().unwrap_or_default()))
        .collect()
}

pub(crate) async fn an_object_that_leaves_the_path_stays_until_its_consumer_works_without_it(
    world: &mut World,
) {
    apply_detour(world).await;
    apply_row(world, "app", "git", "has-tests=true").await;
    world
        .set_status("fetch", json!({"url": "fetched", "revision": "1"}))
        .await;
    world
        .set_status("test", json!({"url": "tested", "revision": "1"}))
        .await;
    let is_from = |from: &'static str| move |build: &Value| build["spec"]["from"] == from;
    world
        .wait_for("Test", "build", "from tests", is_from("tested"))
        .await;
    built(world, 1, "True").await;
    world.wait_ready("Workload", "app").await;

    apply_row(world, "app", "git", "").await;
    let build = world
        .wait_for("Test", "build", "past tests", is_from("fetched"))
        .await;
    assert_eq!(build["metadata"]["generation"], 2);
    let retiring = [
        ["fetch", "selected"],
        ["test", "retiring"],
        ["build", "selected"],
    ];
    let owner = world
        .wait_for("Workload", "app", "on the other path", |owner| {
            states(owner) == retiring
        })
        .await;
    assert_eq!(
        owner["status"]["path"][1]["reason"],
        "its object stays until [build] is applied with new inputs and healthy"
    );
    assert_eq!(conditions_of(resource(&owner, "test"))[0][0], "Selected");
    world
        .wait_event("PathChanged", "[build] takes option 1, [test] leaves")
        .await;

    // Healthy, but this is about the inputs of before; then about those of now, but not healthy.
    built(world, 2, "False").await;
    let unhealthy = ["ResourcesHealthy", "False", "HealthyConditionRule"];
    let owner = world.wait_condition("Workload", "app", unhealthy).await;
    assert_eq!(states(&owner), retiring);
    assert!(world.get("Test", "test").await.is_some());
    // A restart forgets nothing of this.
    world.stop_engine().await;
    world.start_engine();
    built(world, 2, "True").await;
    world.wait_gone("Test", "test").await;
    world
        .wait_event("StampedObjectRemoved", "tests.test.pathline.dev/test")
        .await;
    let skipped = [
        ["fetch", "selected"],
        ["test", "skipped"],
        ["build", "selected"],
    ];
    world
        .wait_for("Workload", "app", "without tests", |owner| {
            states(owner) == skipped && resource(owner, "test").get("stampedRef").is_none()
        })
        .await;
}

pub(crate) async fn what_joins_the_path_is_waited_for_and_changes_nothing_before(
    world: &mut World,
) {
    apply_detour(world).await;
    apply_row(world, "app", "git", "").await;
    world
        .set_status("fetch", json!({"url": "fetched", "revision": "1"}))
        .await;
    world
        .wait_for("Test", "build", "stamped", |build| {
            build["spec"]["from"] == "fetched"
        })
        .await;
    built(world, 1, "True").await;
    world.wait_ready("Workload", "app").await;
    apply_row(world, "app", "git", "has-tests=true").await;
    let waiting = ["ResourceSubmitted", "Unknown", "WaitingForInputs"];
    let owner = world
        .wait_for("Workload", "app", "waiting for tests", |owner| {
            conditions_of(resource(owner, "build")).contains(&waiting)
        })
        .await;
    assert_eq!(resource(&owner, "build")["stampedRef"]["name"], "build");
    let build = world.get("Test", "build").await.unwrap();
    assert_eq!(build["spec"]["from"], "fetched", "it stays as it is");
    world
        .set_status("test", json!({"url": "tested", "revision": "1"}))
        .await;
    world
        .wait_for("Test", "build", "from tests", |build| {
            build["spec"]["from"] == "tested"
        })
        .await;
}
