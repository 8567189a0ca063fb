//! The words of `pathline tracker` and `pathline release`, as people read them.

use std::fs;

use pathline_testkit::doubles::registry::{Behaviour, Registry};
use serde_json::{Value, json};

use super::repository::Repository;
use super::world::{Config, World};
use crate::program::{stderr, stdout};

const TOKEN: &str = "gho_0123456789";

#[test]
fn image_by_digest_is_told_in_short_and_keys_that_mean_nothing_are_told() {
    let registry = Registry::start(Behaviour::default());
    let digest = registry.push("shop/web", "latest", &[]);
    let host = registry.host();
    let file = format!(
        "shop: {{web: {{version: '{digest}', colour: red, repository: {{image: {{domain: '{host}'}}}}}}}}"
    );
    let repository = Repository::with(&file);
    let world = World::start(&Config::of(&[&repository], &[&host]));
    world.follow("shop.web", &repository);
    world.until_released("shop.web", 1);
    let short = format!("{}…", &digest[..14]);
    let shown = world.told(&["tracker", "get", "shop.web"]);
    for line in [
        format!("  image          {host}/shop/web@{short}, which is there\n"),
        format!("), {host}/shop/web@{short}\n"),
        // Behind the digest.
        format!(
            "  warning: line 1, column {}: shop.web.colour: `colour` means nothing here; there is ",
            "shop: {web: {version: '', ".len() + digest.len() + 1
        ),
    ] {
        assert!(shown.contains(&line), "{line} is not in\n{shown}");
    }
    let listed = world.told(&["release", "list"]);
    assert!(listed.contains(&format!("  {short}  initial")), "{listed}");
    for text in [&shown, &listed] {
        assert!(!text.contains(&digest), "{text}");
    }
    let data = world.told(&["tracker", "get", "shop.web", "-o", "json"]);
    assert!(data.contains(&digest), "{data}");
    let id = world.releases("shop.web")[0]["id"].clone();
    let shown = world.told(&["release", "show", id.as_str().expect("an id")]);
    assert_eq!(
        shown.matches(&digest).count(),
        2,
        "image and `version`: {shown}"
    );
    assert!(!shown.lines().any(|it| it.ends_with(" = ")), "{shown}");
}

#[test]
fn tracker_that_is_there_or_not_there_is_told_with_what_to_do() {
    let repository = Repository::with("shop: {web: {version: latest}}");
    let world = World::start(&Config::of(&[&repository], &[]));
    world.follow("shop.web", &repository);
    let url = repository.url();
    let twice = world.run(&["tracker", "add", "Shop.Web", "--repo", &url]);
    assert_eq!(twice.status.code(), Some(1));
    let said = stderr(&twice);
    assert!(
        said.contains("a tracker `shop.web` already")
            && said.contains("`pathline tracker set shop.web`"),
        "{said}"
    );

    let missing = world.run(&["release", "list", "--tracker", "nope.x"]);
    assert_eq!(missing.status.code(), Some(1));
    let said = stderr(&missing);
    assert!(
        said.contains("there are no releases of `nope.x`") && said.contains("no tracker `nope.x`"),
        "{said}"
    );
    let none = world.told(&["release", "list", "--tracker", "shop.web"]);
    assert_eq!(none, "no release\n");

    let wrong = world.run(&[
        "tracker",
        "add",
        "shop",
        "--repo",
        "http://x.example/a/b",
        "-o",
        "json",
    ]);
    assert_eq!(wrong.status.code(), Some(2));
    let told: Value = serde_json::from_str(&stdout(&wrong)).expect("nothing but JSON");
    let details = told["error"]["details"]
        .as_array()
        .expect("details")
        .clone();
    let fields: Vec<_> = details
        .iter()
        .map(|it| (&it["field"], &it["code"]))
        .collect();
    assert_eq!(
        fields,
        [
            (&json!("id"), &json!("malformed")),
            (&json!("repo"), &json!("unsupported-host"))
        ]
    );
    let message = told["error"]["message"].as_str().expect("a text");
    assert!(!message.contains('\n'), "{message}");
    let said = stderr(&wrong);
    assert!(
        said.contains("\n  repo: the host is not configured"),
        "{said}"
    );
}

#[test]
fn stored_secret_is_taken_away_by_those_alone_who_say_so() {
    let repository = Repository::with("shop: {web: {version: latest}}");
    let world = World::start(&Config::of(&[&repository], &[]));
    world.follow_so("shop.web", &repository, &json!({"token": TOKEN}));
    fs::write(world.home.join("empty"), "\n").expect("it is writable");
    let refused = world.run(&["tracker", "set", "shop.web", "--source-token-file", "empty"]);
    assert_eq!(refused.status.code(), Some(2));
    assert_eq!(world.tracker("shop.web")["hasToken"], true);
    world.told(&["tracker", "set", "shop.web", "--no-source-token"]);
    assert_eq!(world.tracker("shop.web")["hasToken"], false);
}
