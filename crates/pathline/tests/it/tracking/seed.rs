//! The sentences of the seed about trackers, one test for each.

use std::fs;

use pathline_testkit::registry::{Crane, RealRegistry};
use serde_json::{Value, json};

use super::registry;
use super::repository::Repository;
use super::world::{Config, World};

const SUITE: &str = "trackers, as the seed describes them";

/// Returns a file with one application, `web`, of a group; `greeting` tells two configurations apart.
fn file(registry: &str, group: &str, label: &str, greeting: &str) -> String {
    format!(
        "{group}:\n  group: {{repository: {{image: {{domain: '{registry}'}}}}}}\n  web:\n    \
         version: '{label}'\n    environment: {{variable: {{GREETING: {greeting}}}}}\n"
    )
}

/// One application, `web` of a group, that is followed.
struct Story {
    world: World,
    repository: Repository,
    registry: &'static RealRegistry,
    crane: Crane,
    group: &'static str,
    id: String,
}

impl Story {
    /// Pushes an image, commits the first configuration, and follows it until it is released.
    fn begin(group: &'static str, label: &str, tag: &str) -> Option<Self> {
        let (registry, crane) = registry(SUITE)?;
        let repository = Repository::with(&file(registry.host(), group, label, "one"));
        let config = Config::of(&[&repository], &[registry.host()]);
        let story = Self {
            world: World::start(&config),
            repository,
            registry,
            crane,
            group,
            id: format!("{group}.web"),
        };
        story.push(tag, "1");
        story.world.follow(&story.id, &story.repository);
        story.world.until_released(&story.id, 1);
        Some(story)
    }

    /// Pushes an image, and returns its digest.
    fn push(&self, tag: &str, content: &str) -> String {
        let labels = [
            ("content", content),
            ("org.opencontainers.image.revision", content),
        ];
        // Pushed in steps, and tagged in one: no poll sees half of it.
        let built = self.image("build");
        let digest = self.crane.push(&built, &labels);
        self.crane.run(&["tag", &built, tag]);
        digest
    }

    fn image(&self, tag: &str) -> String {
        format!("{}/{}/web:{tag}", self.registry.host(), self.group)
    }

    /// Commits another configuration.
    fn configure(&self, label: &str, greeting: &str) -> String {
        let file = file(self.registry.host(), self.group, label, greeting);
        self.repository.commit(&file)
    }

    fn poll(&self) {
        self.world.poll(&self.id);
    }

    /// Returns the number of the release that waits in the first queue; nothing is in any other.
    fn queued_in_dev(&self) -> Value {
        let tracker = self.world.tracker(&self.id);
        let environments = tracker["status"]["environments"].as_array();
        let environments = environments.expect("environments");
        assert_eq!(environments[0]["name"], "dev");
        for other in &environments[1..] {
            for state in ["queued", "held", "deploying", "deployed", "failed"] {
                assert!(other[state].is_null(), "{other}");
            }
        }
        environments[0]["queued"].clone()
    }

    /// Returns the value of a key that a release brings.
    fn greeting(&self, release: &Value) -> String {
        let id = release["id"].as_str().expect("an id");
        let shown = self.world.told(&["release", "show", id, "-o", "json"]);
        let shown: Value = serde_json::from_str(&shown).expect("JSON");
        let changes = shown["changes"].as_array().expect("changes").clone();
        let greeting = changes.iter().find(|it| {
            it["key"]
                .as_str()
                .is_some_and(|key| key.ends_with("GREETING"))
        });
        greeting
            .map_or("the same", |it| it["after"].as_str().unwrap_or_default())
            .to_owned()
    }
}

#[test]
fn seed_routes_of_trackers_are_delete_get_post_and_put_by_group_and_name() {
    let repository = Repository::with("shop: {web: {version: latest}}");
    let world = World::start(&Config::of(&[&repository], &[]));
    let empty = world.rest("GET /trackers/", Some(&json!({})));
    assert_eq!((empty.status, empty.json()), (200, json!([])));

    let body = json!({"id": "shop.web", "token": "gho_0123456789", "repo": repository.url(),
                      "sourcePath": "deploy", "branch": "main"});
    let made = world.rest("POST /trackers/", Some(&body));
    assert_eq!(made.status, 201, "{made:?}");
    assert!(
        made.head
            .to_ascii_lowercase()
            .contains("location: /trackers/shop.web"),
        "{made:?}"
    );
    assert_eq!(world.rest("POST /trackers/", Some(&body)).status, 409);
    let one = world
        .rest("GET /trackers/shop.web", Some(&json!({})))
        .json();
    for (field, value) in [
        ("id", "shop.web"),
        ("group", "shop"),
        ("name", "web"),
        ("sourcePath", "deploy"),
        ("branch", "main"),
        ("repo", &repository.url()),
    ] {
        assert_eq!(one[field], value, "{one}");
    }
    let all = world.rest("GET /trackers/", None).json();
    assert_eq!(all.as_array().map(Vec::len), Some(1));
    assert_eq!(all[0]["id"], "shop.web");

    let other = json!({"repo": repository.url(), "sourcePath": "", "tag": "v1"});
    let replaced = world.rest("PUT /trackers/shop.web", Some(&other));
    assert_eq!(replaced.status, 200, "{replaced:?}");
    let replaced = replaced.json();
    assert_eq!(
        (&replaced["tag"], &replaced["branch"]),
        (&json!("v1"), &Value::Null)
    );
    let commit = "0123456789012345678901234567890123456789";
    let other = json!({"repo": repository.url(), "sourcePath": "", "commit": commit});
    assert_eq!(
        world.rest("PUT /trackers/shop.web", Some(&other)).json()["commit"],
        commit
    );
    assert_eq!(
        world.rest("PUT /trackers/shop.other", Some(&other)).status,
        404
    );
    assert_eq!(world.rest("GET /trackers/shop", None).status, 400);

    assert_eq!(world.rest("DELETE /trackers/shop.web", None).status, 204);
    assert_eq!(world.rest("DELETE /trackers/shop.web", None).status, 404);
    assert_eq!(world.rest("GET /trackers/", None).json(), json!([]));
}

#[test]
fn seed_list_of_trackers_has_no_tokens() {
    let repository = Repository::with("shop: {web: {version: latest}}");
    let world = World::start(&Config::of(&[&repository], &[]));
    world.follow_so("shop.web", &repository, &json!({"token": "gho_SENTINEL"}));
    for request in ["GET /trackers/", "GET /trackers/shop.web", "GET /trackers"] {
        let answer = world.rest(request, None);
        assert!(!format!("{answer:?}").contains("SENTINEL"), "{answer:?}");
        assert!(!answer.body.contains("\"token\""), "{answer:?}");
        assert!(answer.body.contains("\"hasToken\":true"), "{answer:?}");
    }
}

#[test]
fn seed_tag_branch_and_commit_say_which_fathomable_yaml_is_ingested() {
    let Some((registry, crane)) = registry(SUITE) else {
        return;
    };
    let file = |label: &str| file(registry.host(), "refs", label, "x");
    let repository = Repository::with(&file("of-commit"));
    let commit = repository.git(&["rev-parse", "HEAD"]);
    repository.commit(&file("of-tag"));
    repository.git(&["tag", "-a", "v1", "-m", "v1"]);
    repository.commit(&file("of-branch"));
    repository.git(&["branch", "next"]);
    repository.commit(&file("of-head"));
    repository.commit_at("deploy/fathomable.yaml", &file("of-directory"));
    repository.commit_at("deploy/other.yaml", &file("of-file"));
    for tag in [
        "of-commit",
        "of-tag",
        "of-branch",
        "of-head",
        "of-directory",
        "of-file",
    ] {
        crane.push(&format!("{}/refs/web:{tag}", registry.host()), &[]);
    }
    let world = World::start(&Config::of(&[&repository], &[registry.host()]));
    world.follow("refs.web", &repository);
    let mut number = 1;
    assert_eq!(
        world.until_released("refs.web", number)["image"]["tag"],
        "of-head"
    );
    for (fields, tag) in [
        (json!({"sourcePath": "", "tag": "v1"}), "of-tag"),
        (json!({"sourcePath": "", "branch": "next"}), "of-branch"),
        (json!({"sourcePath": "", "commit": commit}), "of-commit"),
        (json!({"sourcePath": "deploy"}), "of-directory"),
        (json!({"sourcePath": "deploy/other.yaml"}), "of-file"),
    ] {
        let mut body = fields;
        body["repo"] = repository.url().into();
        let replaced = world.rest("PUT /trackers/refs.web", Some(&body));
        assert_eq!(replaced.status, 200, "{replaced:?}");
        number += 1;
        let release = world.until_released("refs.web", number);
        assert_eq!(release["image"]["tag"], tag);
        assert_eq!(release["cause"], "label_changed");
    }
}

#[test]
fn seed_post_enables_tracking_and_the_file_is_ingested_for_each_application() {
    let Some((registry, crane)) = registry(SUITE) else {
        return;
    };
    let applications = format!(
        "vanilla:\n  group: {{repository: {{image: {{domain: '{0}'}}}}}}\n  web: {{version: latest}}\n  \
         api: {{version: latest, repository: {{image: {{owner: elsewhere, name: backend}}}}}}\n",
        registry.host()
    );
    let repository = Repository::with(&applications);
    let web = crane.push(&format!("{}/vanilla/web:latest", registry.host()), &[]);
    let api = crane.push(
        &format!("{}/elsewhere/backend:latest", registry.host()),
        &[],
    );
    let world = World::start(&Config::of(&[&repository], &[registry.host()]));
    assert_eq!(
        world.told(&["tracker", "list"]),
        "nothing is tracked; `pathline tracker add --help` shows how to begin\n"
    );

    let url = repository.url();
    let added = world.told(&["tracker", "add", "vanilla.web", "--repo", &url]);
    assert!(added.starts_with("added vanilla.web\n"), "{added}");
    world.follow("vanilla.api", &repository);
    for (id, digest) in [("vanilla.web", &web), ("vanilla.api", &api)] {
        let release = world.until_released(id, 1);
        assert_eq!(&release["image"]["digest"], digest);
        assert_eq!(release["cause"], "initial");
        assert_eq!(
            release["from"]["commit"],
            repository.git(&["rev-parse", "HEAD"])
        );
    }
    let listed = world.told(&["tracker", "list"]);
    assert_eq!(listed.lines().count(), 3, "{listed}");
    let shown = world.told(&["tracker", "get", "vanilla.web"]);
    assert!(
        shown.contains("queued 1") && shown.contains(&web[..14]),
        "{shown}"
    );

    assert!(
        world
            .told(&["tracker", "rm", "vanilla.api"])
            .contains("its releases stay")
    );
    assert_eq!(world.releases("vanilla.api").len(), 1);
}

#[test]
fn seed_newly_tracked_application_begins_in_the_queue_of_dev_alone() {
    let Some(story) = Story::begin("newly", "latest", "latest") else {
        return;
    };
    assert_eq!(story.queued_in_dev(), 1);
    let entries = story.world.releases(&story.id)[0]["entries"].clone();
    assert_eq!(entries.as_array().map(Vec::len), Some(1), "{entries}");
    assert_eq!(
        (&entries[0]["environment"], &entries[0]["state"]),
        (&json!("dev"), &json!("queued"))
    );
}

#[test]
fn seed_scenario_1_configuration_that_changes_alone_is_queued() {
    let Some(story) = Story::begin("scenario1", "latest", "latest") else {
        return;
    };
    let commit = story.configure("latest", "two");
    story.poll();
    story.world.until_condition(&story.id, "ConfigQueued");
    let tracker = story.world.look(&story.id);
    assert_eq!(tracker["status"]["pending"]["commit"], commit);
    assert_eq!(tracker["status"]["phase"], "tracking", "{tracker:#}");
    let newest = story.configure("latest", "three");
    story.poll();
    story.world.until(&story.id, "the newest one", |it| {
        it["pending"]["commit"] == newest
    });
    let tracker = story.world.look(&story.id);
    assert_eq!(tracker["status"]["lastRelease"]["number"], 1, "{tracker:#}");
    assert_eq!(story.queued_in_dev(), 1);
    let shown = story.world.told(&["tracker", "get", &story.id]);
    assert!(
        shown.contains("  waits  ") && shown.contains("ConfigQueued: "),
        "{shown}"
    );

    // As it was: there is nothing that waits any more.
    story.configure("latest", "one");
    story.poll();
    story
        .world
        .until(&story.id, "nothing waits", |it| it["pending"].is_null());
    assert_eq!(story.world.releases(&story.id).len(), 1);
}

#[test]
fn seed_scenario_2_container_that_is_updated_goes_to_the_queue_of_dev() {
    let Some(story) = Story::begin("scenario2", "latest", "latest") else {
        return;
    };
    let digest = story.push("latest", "2");
    story.poll();
    let release = story.world.until_released(&story.id, 2);
    assert_eq!(release["cause"], "container_updated");
    assert_eq!(release["image"]["digest"], digest);
    let release = story.world.until_described(&release);
    assert_eq!(release["image"]["revision"], "2");
    assert_eq!(story.queued_in_dev(), 2);
    assert_eq!(story.greeting(&release), "the same");
    let first = &story.world.releases(&story.id)[0]["entries"][0];
    assert_eq!(
        (&first["state"], &first["supersededBy"]),
        (&json!("superseded"), &json!(2))
    );
}

#[test]
fn seed_scenario_3_new_version_of_the_container_goes_to_the_queue_of_dev() {
    let Some(story) = Story::begin("scenario3", "1.x", "1.0.0") else {
        return;
    };
    story.push("2.0.0", "outside of the range");
    story.push("1.1.0-rc.1", "not yet a version");
    let digest = story.push("1.1.0", "3");
    story.poll();
    let release = story.world.until_released(&story.id, 2);
    assert_eq!(release["cause"], "version_created");
    assert_eq!(release["image"]["tag"], "1.1.0");
    assert_eq!(release["image"]["digest"], digest);
    assert_eq!(story.queued_in_dev(), 2);
    story.world.look(&story.id);
    assert_eq!(story.world.releases(&story.id).len(), 2);
}

#[test]
fn seed_queued_configuration_ships_with_the_next_container_and_not_before() {
    let Some(story) = Story::begin("prepped", "latest", "latest") else {
        return;
    };
    story.configure("latest", "two");
    story.configure("latest", "three");
    story.poll();
    story.world.until_condition(&story.id, "ConfigQueued");
    story.push("latest", "2");
    story.poll();
    let release = story.world.until_released(&story.id, 2);
    assert_eq!(story.greeting(&release), "three");
    assert!(story.world.tracker(&story.id)["status"]["pending"].is_null());

    // Both at once, as a pipeline does it: configuration first.
    let commit = story.configure("latest", "four");
    story.push("latest", "3");
    story.poll();
    let release = story.world.until_released(&story.id, 3);
    assert_eq!(release["from"]["commit"], commit);
    assert_eq!(story.greeting(&release), "four");
}

#[test]
fn seed_configuration_for_a_container_that_is_not_there_waits_for_it() {
    let Some(story) = Story::begin("waits", "1.0.0", "1.0.0") else {
        return;
    };
    story.configure("1.1.0", "two");
    story.poll();
    let message = story.world.until_condition(&story.id, "AwaitingContainer");
    assert!(!message.is_empty());
    story.push("1.0.5", "not what it waits for");
    let tracker = story.world.look(&story.id);
    assert_eq!(tracker["status"]["lastRelease"]["number"], 1);
    assert!(
        tracker["status"]["pending"]["waitingFor"]
            .as_str()
            .is_some_and(|it| it.ends_with("waits/web:1.1.0"))
    );
    story.push("1.1.0", "2");
    story.poll();
    let release = story.world.until_released(&story.id, 2);
    assert_eq!(
        (&release["cause"], story.greeting(&release).as_str()),
        (&json!("version_created"), "two")
    );
}

#[test]
fn seed_label_is_fixed_or_follows_semver() {
    let Some(story) = Story::begin("labels", "stable", "stable") else {
        return;
    };
    let label = |kind: &str| {
        let tracker = story.world.tracker(&story.id);
        assert_eq!(tracker["status"]["image"]["kind"], kind, "{tracker:#}");
    };
    label("fixed");
    story.push("1.0.0", "no version counts for a fixed label");
    story.world.look(&story.id);
    assert_eq!(story.world.releases(&story.id).len(), 1);
    let highest = story.push("1.10.0", "higher than 1.9.0");
    story.push("1.9.0", "pushed later");
    story.configure(">=1.0.0 <2.0.0", "two");
    story.poll();
    let release = story.world.until_released(&story.id, 2);
    label("follow");
    assert_eq!(
        (&release["image"]["tag"], &release["image"]["digest"]),
        (&json!("1.10.0"), &json!(highest))
    );
    story.configure("1.9.0", "three");
    story.poll();
    let release = story.world.until_released(&story.id, 3);
    label("pinned");
    assert_eq!(
        release["cause"], "label_changed",
        "a configuration may go back"
    );
    let message = {
        story.configure("1.0 - 2.0", "four");
        story.poll();
        story.world.until_condition(&story.id, "ConfigInvalid")
    };
    assert!(
        message.contains("fathomable.yaml") && message.contains("line 4"),
        "{message}"
    );
}

#[test]
fn seed_repository_and_registry_are_polled_without_anybody_asking() {
    let Some(story) = Story::begin("polled", "latest", "latest") else {
        return;
    };
    let commit = story.configure("latest", "two");
    let digest = story.push("latest", "2");
    let release = story.world.until_released(&story.id, 2);
    assert_eq!(release["image"]["digest"], digest);
    assert_eq!(release["from"]["commit"], commit);
}

#[test]
fn seed_images_are_compared_by_hashes_and_not_downloaded() {
    let Some(story) = Story::begin("hashes", "latest", "latest") else {
        return;
    };
    let images = ["amd64", "arm64"].map(|it| {
        let name = story.image(it);
        story.crane.push(&name, &[("architecture", it)]);
        name
    });
    let layers: Vec<String> = images
        .iter()
        .flat_map(|it| {
            let manifest: Value =
                serde_json::from_str(&story.crane.run(&["manifest", it])).expect("JSON");
            let layers = manifest["layers"].as_array().expect("layers").clone();
            layers
                .into_iter()
                .map(|it| it["digest"].as_str().expect("a digest").to_owned())
        })
        .collect();
    let index = story
        .crane
        .push_index(&story.image("latest"), &[&images[0], &images[1]]);
    story.poll();
    let release = story.world.until_released(&story.id, 2);
    assert_eq!(
        release["image"]["digest"], index,
        "that of the index, not of a platform"
    );
    story.world.look(&story.id);

    let log = story.registry.log();
    let asked = |it: &&str| it.contains("/v2/hashes/web/") && it.contains("pathline");
    let asked: Vec<&str> = log.lines().filter(asked).collect();
    assert!(asked.iter().any(|it| it.contains("HEAD")), "{log}");
    for line in asked {
        for layer in &layers {
            assert!(
                !line.contains(layer.as_str()),
                "a layer was asked for: {line}"
            );
        }
    }
}

#[test]
fn seed_repository_may_be_a_directory_of_this_machine() {
    let Some((registry, crane)) = registry(SUITE) else {
        return;
    };
    let repository = Repository::with(&file(registry.host(), "local", "latest", "one"));
    crane.push(&format!("{}/local/web:latest", registry.host()), &[]);
    let directories = json!({"name": "", "schemes": ["file"], "nestedGroups": true});
    let world = World::start(&Config::of(&[], &[registry.host()]).host(directories));
    let directory = fs::canonicalize(repository.directory()).expect("it is there");
    let url = format!("file://{}", directory.display());
    world.told(&["tracker", "add", "local.web", "--repo", &url]);
    world.until_released("local.web", 1);
}
