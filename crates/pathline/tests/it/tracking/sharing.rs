//! Answers that trackers share.

use pathline_testkit::registry::{Options, Program, Pusher, RealRegistry};
use serde_json::json;

use super::repository::Repository;
use super::world::{Config, World};

#[test]
fn shared_answer_is_never_older_than_what_a_tracker_has_seen() {
    let suite = "answers that trackers share";
    let Some(registry) = RealRegistry::start(suite, Program::Debian, &Options::default()) else {
        return;
    };
    let host = registry.host();
    let pusher = Pusher::new(host);
    let file = |variables: &str| {
        let application = format!(
            "{{version: '1.x', repository: {{image: {{name: web}}}}, environment: {{variable: {variables}}}}}"
        );
        format!(
            "shop: {{group: {{repository: {{image: {{domain: '{host}'}}}}}}, early: {application}, late: {application}}}"
        )
    };
    let repository = Repository::with(&file("{A: a}"));
    // Nobody is looked at unless something is changed or asked for.
    let config = Config::of(&[&repository], &[host]).set("polling", json!({"interval": "10h"}));
    let world = World::start(&config);
    pusher.push("shop/web", "1.0.0", "first");
    for id in ["shop.early", "shop.late"] {
        world.follow(id, &repository);
        world.until_released(id, 1);
    }
    pusher.push("shop/web", "1.1.0", "second");
    world.poll("shop.early");
    world.until_released("shop.early", 2);
    // Asks which version follows 1.1.0, and is told of the second image.
    world.look("shop.early");

    let third = pusher.push("shop/web", "1.1.0", "third");
    world.poll("shop.late");
    let release = world.until_released("shop.late", 2);
    assert_eq!(release["image"]["digest"], third.as_str());
    // Asks the same now, and nobody waits for the answer.
    let commit = repository.commit(&file("{A: b}"));
    let body = json!({"token": "gho_1", "repo": repository.url(), "sourcePath": ""});
    let replaced = world.rest("PUT /trackers/shop.late", Some(&body));
    assert_eq!(replaced.status, 200, "{replaced:?}");
    world.until("shop.late", "looked at", |status| {
        status["source"]["commit"] == commit
    });
    let history = world.history("shop.late");
    assert_eq!(
        history.len(),
        2,
        "the second image does not come back: {history:?}"
    );
}
