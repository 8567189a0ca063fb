//! Hosts that fail: what is wrong is said in words, nothing is released twice, and it goes on by itself.

use jiff::{SignedDuration, Timestamp};
use pathline_testkit::doubles::Reply;
use pathline_testkit::doubles::registry::{Auth, Behaviour, Registry};
use pathline_testkit::git_server::Options;
use serde_json::{Value, json};

use super::proxy::{Proxy, Way};
use super::repository::Repository;
use super::world::{Config, World};

fn file(registry: &str, label: &str, greeting: &str) -> String {
    format!(
        "shop:\n  group: {{repository: {{image: {{domain: '{registry}'}}}}}}\n  \
         web: {{version: '{label}', environment: {{variable: {{GREETING: {greeting}}}}}}}\n"
    )
}

/// The application `shop.web`, which is released, and its hosts.
struct Story {
    world: World,
    repository: Repository,
    registry: Registry,
    name: String,
}

impl Story {
    fn begin(label: &str, tag: &str) -> Self {
        let registry = Registry::start(Behaviour::default());
        let name = registry.host();
        Self::begin_with(registry, name, label, tag)
    }

    /// Begins with a registry that is known by another name.
    fn begin_with(registry: Registry, name: String, label: &str, tag: &str) -> Self {
        registry.push("shop/web", tag, &[("number", "1")]);
        let repository = Repository::with(&file(&name, label, "one"));
        let world = World::start(&Config::of(&[&repository], &[&name]));
        world.follow("shop.web", &repository);
        world.until_released("shop.web", 1);
        Self {
            world,
            repository,
            registry,
            name,
        }
    }

    fn push(&self, tag: &str, number: &str) -> String {
        self.registry.push("shop/web", tag, &[("number", number)])
    }

    fn poll(&self) {
        self.world.poll("shop.web");
    }

    /// Waits for a condition that the state of the tracker explains, whether or not a poll has failed.
    fn standing(&self, name: &str) -> String {
        self.world.until_condition("shop.web", name)
    }

    /// Waits for a condition that a poll which failed explains, and asserts what is read of it: over REST, and on a terminal.
    fn condition(&self, name: &str, needed: &[&str]) {
        let message = self.world.until_explained("shop.web", name);
        assert_says(&message, needed);
        let shown = self.world.told(&["tracker", "get", "shop.web"]);
        let mut lines = shown.lines().map(str::trim);
        match lines.find(|it| it.starts_with(&format!("{name}: "))) {
            Some(line) => assert_says(line, needed),
            // It may have been asked again meanwhile, and be well.
            None => assert!(!self.holds(name), "{shown}"),
        }
    }

    fn holds(&self, name: &str) -> bool {
        has(&self.world.tracker("shop.web")["status"], name)
    }

    /// Waits until no condition holds, without asking for a look.
    fn until_well(&self) {
        self.world.until("shop.web", "well", |it| {
            it["conditions"].as_array().is_some_and(Vec::is_empty)
        });
    }

    fn numbers(&self) -> Vec<u64> {
        let releases = self.world.releases("shop.web");
        releases
            .iter()
            .filter_map(|it| it["number"].as_u64())
            .collect()
    }
}

/// Asserts that a message says what somebody needs who reads it at night.
fn assert_says(message: &str, needed: &[&str]) {
    for words in needed {
        assert!(message.contains(words), "`{words}` is missing: {message}");
    }
}

fn has(status: &Value, condition: &str) -> bool {
    let mut all = status["conditions"].as_array().expect("conditions").iter();
    all.any(|it| it["type"] == condition)
}

#[test]
fn registry_that_fails_once_is_asked_again_without_anybody_asking() {
    let story = Story::begin("latest", "latest");
    // A look that was under way is over, so that it is not answered instead.
    story.world.look("shop.web");
    let digest = story.push("latest", "2");
    story.registry.server.reply_next(Reply::new(500));
    story.poll();
    let tag = format!("{}/v2/shop/web/manifests/latest", story.name);
    story.condition("RegistryError", &[&tag, "answers 500", "is asked again"]);
    let release = story.world.until_released("shop.web", 2);
    assert_eq!(release["image"]["digest"], digest);
    story.until_well();
    assert_eq!(story.numbers(), [1, 2]);
}

#[test]
fn p08_registry_that_wants_to_be_left_alone_is_not_asked_before_its_time() {
    let story = Story::begin("latest", "latest");
    // A look that was under way is over.
    story.world.look("shop.web");
    story.push("latest", "2");
    story.registry.server.take_requests();
    story
        .registry
        .server
        .reply_next(Reply::new(429).header("retry-after", "3600"));
    let before = Timestamp::now();
    story.poll();
    let needed = [&*story.name, "429", "is asked again when it allows it"];
    story.condition("RateLimited", &needed);
    let asked = || story.registry.server.take_requests().len();
    assert_eq!(asked(), 1);
    let tracker = story.world.look("shop.web");
    assert_eq!(asked(), 0, "not even if somebody wants it");
    let polls = &tracker["status"]["polls"];
    let next: Timestamp = polls["nextPollAt"]
        .as_str()
        .expect("a time")
        .parse()
        .expect("a time");
    assert!(
        next.duration_since(before) >= SignedDuration::from_secs(3600),
        "{next}"
    );
    let words = polls["lastFailure"].as_str().unwrap_or_default();
    assert_says(words, &[&story.name, "does not want to be asked before"]);
    assert_eq!(story.numbers(), [1]);
}

#[test]
fn answers_that_are_cut_off_change_nothing_and_what_was_pushed_meanwhile_is_released() {
    let registry = Registry::start(Behaviour::default());
    let way = Way::To(registry.server.address);
    let proxy = Proxy::start(way);
    let story = Story::begin_with(registry, proxy.host(), "1.x", "1.0.0");
    for cut in [Way::Half, Way::Closed] {
        proxy.set(cut);
        story.poll();
        let list = format!("{}/v2/shop/web/tags/list", story.name);
        story.condition(
            "RegistryError",
            &[&list, "does not answer", "is asked again"],
        );
        proxy.set(way);
        story.poll();
        story.until_well();
    }
    proxy.set(Way::Closed);
    story.push("1.1.0", "2");
    story.repository.commit(&file(&story.name, "1.x", "two"));
    proxy.set(way);
    story.poll();
    let release = story.world.until_released("shop.web", 2);
    assert_eq!(release["image"]["tag"], "1.1.0");
    assert_eq!(
        release["from"]["commit"],
        story.repository.git(&["rev-parse", "HEAD"])
    );
    assert_eq!(story.numbers(), [1, 2]);
}

#[test]
fn s22_tag_that_disappears_and_returns_is_no_release() {
    let story = Story::begin("latest", "latest");
    story.registry.untag("shop/web", "latest");
    story.poll();
    let message = story.standing("SelectedTagGone");
    let image = format!("{}/shop/web", story.name);
    let todo = "push it again, or name another version in the application file";
    assert_says(&message, &[&image, "`latest` is released", todo]);
    story.push("latest", "1");
    story.poll();
    story.until_well();
    assert_eq!(story.numbers(), [1]);
    story.registry.untag("shop/web", "latest");
    story.poll();
    story.standing("SelectedTagGone");
    story.push("latest", "2");
    story.poll();
    story.world.until_released("shop.web", 2);
}

#[test]
fn s17_tag_that_moves_back_is_a_new_release() {
    let story = Story::begin("latest", "latest");
    let second = story.push("latest", "2");
    story.poll();
    story.world.until_released("shop.web", 2);
    let first = story.push("latest", "1");
    story.poll();
    let release = story.world.until_released("shop.web", 3);
    assert_eq!(release["image"]["digest"], first);
    let history = story.world.history("shop.web");
    assert_eq!(
        history,
        [
            format!("1 initial latest {first}"),
            format!("2 container_updated latest {second}"),
            format!("3 container_updated latest {first}"),
        ]
    );
}

#[test]
fn s28_highest_version_that_is_deleted_is_no_reason_to_go_back() {
    let story = Story::begin("1.x", "1.0.0");
    story.push("1.1.0", "2");
    story.poll();
    story.world.until_released("shop.web", 2);
    story.registry.untag("shop/web", "1.1.0");
    story.poll();
    let message = story.standing("VersionRegressed");
    let image = format!("{}/shop/web", story.name);
    let todo = "push a higher one, or name the version in the application file";
    assert_says(&message, &[&image, "`1.0.0`", "`1.1.0` is released", todo]);
    story.push("1.2.0", "3");
    story.poll();
    story.world.until_released("shop.web", 3);
    assert_eq!(story.numbers(), [1, 2, 3]);
}

#[test]
fn s19_repository_that_is_gone_holds_the_release_until_it_is_back() {
    let story = Story::begin("latest", "latest");
    story.repository.set_there(false);
    let digest = story.push("latest", "2");
    story.poll();
    let held = "an image is ready, and is released as soon as the configuration can be read";
    story.condition("WaitingForConfig", &[held]);
    let tracker = story.world.look("shop.web");
    assert_eq!(tracker["status"]["phase"], "degraded", "{tracker:#}");
    let words = tracker["status"]["polls"]["lastFailure"]
        .as_str()
        .unwrap_or_default();
    let repository = format!("{}/shop/web", story.repository.host());
    assert_says(words, &[&repository, "answers 404"]);
    assert_eq!(story.numbers(), [1]);
    story.repository.set_there(true);
    story.poll();
    let release = story.world.until_released("shop.web", 2);
    assert_eq!(release["image"]["digest"], digest);
    story.until_well();
}

#[test]
fn p09_token_that_is_refused_is_said_and_the_next_one_counts_at_once() {
    let registry = Registry::start(Behaviour::default());
    registry.push("shop/web", "latest", &[]);
    let options = Options {
        // `x-access-token:gho_1`
        authorization: Some("Basic eC1hY2Nlc3MtdG9rZW46Z2hvXzE=".to_owned()),
        ..Options::default()
    };
    let repository = Repository::with_options(&file(&registry.host(), "latest", "one"), options);
    let world = World::start(&Config::of(&[&repository], &[&registry.host()]));
    world.follow_so("shop.web", &repository, &json!({"token": "gho_0"}));
    let message = world.until_explained("shop.web", "AuthFailed");
    assert_says(
        &message,
        &[
            &repository.host(),
            "answers 401",
            "give the tracker another token",
        ],
    );
    std::fs::write(world.home.join("token"), "gho_1\n").expect("it is writable");
    let changed = world.told(&["tracker", "set", "shop.web", "--source-token-file", "token"]);
    assert_eq!(changed, "changed shop.web\n");
    world.until_released("shop.web", 1);
    let tracker = world.tracker("shop.web");
    assert_eq!(
        (&tracker["generation"], &tracker["tokenVersion"]),
        (&json!(1), &json!(2))
    );
}

#[test]
fn registry_that_refuses_the_login_is_said_and_asked_again_once_it_does_not() {
    let story = Story::begin("latest", "latest");
    story
        .registry
        .change(|it| it.auth = Auth::Basic("bot".to_owned(), "x".to_owned()));
    story.push("latest", "2");
    story.poll();
    let needed = [&*story.name, "answers 401", "the registry another login"];
    story.condition("AuthFailed", &needed);
    story.registry.change(|it| it.auth = Auth::Open);
    story.poll();
    story.world.until_released("shop.web", 2);
    story.until_well();
}
