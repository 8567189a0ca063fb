//! The way of releases through all environments.

use serde_json::json;

use super::story::{ENVIRONMENTS, Story, says};

const SUITE: &str = "releases on their way";

#[test]
fn seed_release_walks_dev_ha_preprod_and_prod_and_counts_as_deployed_when_it_runs() {
    let Some(story) = Story::begin(SUITE, "walk", &[]) else {
        return;
    };
    story.world.until_released(&story.id, 1);
    story.until(1, "dev", "deploying");
    let why = story.until_told((1, "dev"), |it| says(it, "NoPath"));
    assert!(
        says(&why, "pathline release path | pathline apply -f -"),
        "{why}"
    );
    assert_eq!(story.entry(1, "dev").0, "deploying", "it may still get one");

    story.install_path();
    for environment in ENVIRONMENTS {
        story.until(1, environment, "deployed");
        let (release, greeting, digest) = story.runs_with(environment);
        assert_eq!(release, "1", "{environment}");
        let is_prod = environment == "prod";
        assert_eq!(greeting, if is_prod { "1-prod" } else { "1" });
        assert!(digest.starts_with("sha256:"), "{digest}");
    }
    let commit = story.world.releases(&story.id)[0]["from"]["commit"].clone();
    let commit = commit.as_str().expect("a commit");
    story.told(&["wait", &story.id, "--commit", commit, "--in", "prod"]);
}

#[test]
fn seed_pull_queue_of_each_namespace_is_taken_from_at_its_own_next_scheduled_release() {
    // Nobody waits for it here.
    let rarely = json!({"releaseFrequency": {"year": 2099}, "namespace": "highly-available"});
    let Some(story) = Story::begin(SUITE, "pull", &[("ha", rarely)]) else {
        return;
    };
    story.install_path();
    story.apply(&json!({
        "apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "highly-available"},
    }));
    // What is generated for the last one can be seen before anything is there.
    let release = story.world.until_released(&story.id, 1);
    let id = release["id"].as_str().expect("an id");
    let generated = story.told(&["show", id, "--env", "prod", "-o", "yaml"]);
    for part in ["kind: Workload", "kind: ConfigMap", "namespace: prod"] {
        assert!(generated.contains(part), "no {part} in {generated}");
    }
    story.until(1, "dev", "deployed");
    story.until(1, "ha", "queued");
    let why = story.why_in(1, "ha");
    assert_eq!(why["earliest"], "2099-01-01T00:00:00Z", "{why}");
    assert_eq!(story.runs_with("highly-available").0, "");
    for after in ["preprod", "prod"] {
        assert_eq!(story.entry(1, after).0, "", "it waits in ha");
    }

    // A newer one overtakes it in this queue, and in no other.
    story.release("two", 2);
    story.until(2, "dev", "deployed");
    story.until(1, "ha", "superseded");
    story.until(2, "ha", "queued");
    story.set_environment("ha", &[("ha", json!({"namespace": "highly-available"}))]);
    story.until(2, "prod", "deployed");
    assert_eq!(story.runs_with("highly-available").0, "2");
    assert_eq!(story.runs_with("prod").0, "2");
}

#[test]
fn seed_config_maps_of_prod_are_its_own() {
    let Some(story) = Story::begin(SUITE, "maps", &[]) else {
        return;
    };
    story.install_path();
    story.until(1, "dev", "deployed");
    let release = story.world.until_released(&story.id, 1);
    let id = release["id"].as_str().expect("an id");
    let data = |environment: &str| {
        let asked = format!("GET /releases/{id}/objects?environment={environment}");
        let answer = story.world.rest(&asked, None);
        assert_eq!(answer.status, 200, "{answer:?}");
        let objects = answer.json()["objects"]
            .as_array()
            .expect("objects")
            .clone();
        let found = objects.iter().find(|it| it["kind"] == "ConfigMap");
        let found = found.expect("a ConfigMap").clone();
        (
            found["metadata"]["name"].clone(),
            found["data"]["a.ini"].clone(),
        )
    };
    let (dev, prod) = (data("dev"), data("prod"));
    assert_eq!((&dev.1, &prod.1), (&json!("1"), &json!("1-prod")));
    assert_ne!(dev.0, prod.0, "they are immutable");
}

#[test]
fn crash_loop_fails_with_its_words_and_restore_brings_back_what_ran() {
    let restore = json!({"onFailure": "restore"});
    let Some(story) = Story::begin(SUITE, "crash", &[("dev", restore)]) else {
        return;
    };
    story.install_path();
    story.until(1, "dev", "deployed");
    story.configure("echo it is broken; exit 3", "2");
    story.release("two", 2);
    let message = story.until(2, "dev", "failed");
    assert!(message.contains("it is broken"), "{message}");
    story.until_told((2, "dev"), |it| says(it, "release 1 is restored"));
    assert_eq!(story.runs_with("dev").0, "1");
    assert_eq!(story.entry(2, "ha").0, "", "what failed goes no further");

    story.configure(&story.steady(), "3");
    story.release("three", 3);
    story.until(3, "prod", "deployed");
    assert_eq!(story.runs_with("prod").1, "3-prod");
}

#[test]
fn owner_of_somebody_else_is_not_taken_over() {
    let here = json!({"namespace": "default"});
    let Some(story) = Story::prepare(SUITE, "foreign", &[("dev", here)]) else {
        return;
    };
    story.install_path();
    story.apply(&json!({
        "apiVersion": "carto.run/v1alpha1",
        "kind": "Workload",
        "metadata": {"name": "foreign-web", "namespace": "default"},
        "spec": {"image": "registry.example/mine"},
    }));
    story.follow();
    let message = story.until(1, "dev", "failed");
    assert!(message.contains("made by somebody else"), "{message}");
    assert!(
        message.contains("pathline.dev/tracker=foreign.web"),
        "{message}"
    );
}

#[test]
fn account_that_is_not_there_fails_at_once_and_leaves_nothing() {
    let robot = json!({"owner": {"serviceAccountName": "robot"}});
    let Some(story) = Story::begin(SUITE, "robot", &[("dev", robot)]) else {
        return;
    };
    story.install_path();
    let message = story.until(1, "dev", "failed");
    assert!(message.contains("robot"), "{message}");
    assert!(message.contains("owner.serviceAccountName"), "{message}");
    story.set_environment("dev", &[]);
    story.told(&["promote", "dev", &story.id]);
    story.until(1, "dev", "deployed");
}
