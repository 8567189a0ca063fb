//! Releases that somebody holds, promotes and rolls back.

use jiff::{SignedDuration, Timestamp};
use serde_json::json;

use super::story::{Story, instant};

const SUITE: &str = "releases by hand";

#[test]
fn rollback_brings_old_content_back_and_stays_until_it_is_resumed() {
    let Some(story) = Story::begin(SUITE, "back", &[]) else {
        return;
    };
    story.install_path();
    story.until(1, "prod", "deployed");
    let first = story.runs_with("prod").2;
    let second = story.release("two", 2);
    story.until(2, "prod", "deployed");
    assert_eq!(story.runs_with("prod").2, second);

    story.told(&["rollback", "prod", &story.id, "--reason", "slow"]);
    story.until(3, "prod", "deployed");
    assert_eq!(story.runs_with("prod").2, first);
    assert_eq!(story.runs_with("dev").2, second, "it is of prod alone");

    let third = story.release("three", 4);
    story.until(4, "preprod", "deployed");
    story.until(4, "prod", "queued");
    let why = story.why_in(4, "prod")["sentence"].to_string();
    assert!(why.contains("slow"), "{why}");
    assert!(why.contains("release resume prod"), "{why}");
    story.told(&["resume", "prod", &story.id]);
    story.until(4, "prod", "deployed");
    assert_eq!(story.runs_with("prod").2, third);
}

#[test]
fn release_is_held_where_it_is_promoted_by_hand_and_soaks_before() {
    let careful = json!({"promotion": "manual", "soak": "1h"});
    let Some(story) = Story::begin(SUITE, "care", &[("prod", careful)]) else {
        return;
    };
    story.install_path();
    story.until(1, "preprod", "deployed");
    let why = story.why_in(1, "prod");
    assert!(why["sentence"].to_string().contains("soaks"), "{why}");
    let (code, said) = story.refused(&["promote", "prod", &story.id]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("soaked") || said.contains("waits"), "{said}");
    story.told(&["promote", "prod", &story.id, "--release", "1", "--now"]);
    story.until(1, "prod", "deployed");
}

#[test]
fn freeze_holds_and_opens_when_it_was_said_to() {
    let from = Timestamp::UNIX_EPOCH;
    // As long as the release needs to get there.
    #[expect(
        clippy::disallowed_methods,
        reason = "the program goes by the same clock"
    )]
    let until = Timestamp::now() + SignedDuration::from_secs(25);
    let freeze = json!({"freezes": [{"from": from.to_string(), "until": until.to_string(), "reason": "audit"}]});
    let Some(story) = Story::begin(SUITE, "freeze", &[("dev", freeze)]) else {
        return;
    };
    story.install_path();
    story.until(1, "dev", "queued");
    let why = story.why_in(1, "dev");
    assert!(why["sentence"].to_string().contains("audit"), "{why}");
    assert!(instant(&why["earliest"]) >= until, "{why}");
    story.until(1, "dev", "deployed");
    let since = story.since(1, "dev");
    assert!(since >= until, "{since} is before {until}");
}

#[test]
fn configuration_that_waits_is_released_on_request_with_the_present_image() {
    let Some(story) = Story::begin(SUITE, "ask", &[]) else {
        return;
    };
    story.install_path();
    story.until(1, "dev", "deployed");
    let digest = story.runs_with("dev").2;
    let (code, said) = story.refused(&["now", &story.id]);
    assert_eq!(code, Some(1), "{said}");
    story.configure(&story.steady(), "2");
    story.world.poll(&story.id);
    story.world.until_condition(&story.id, "ConfigQueued");
    story.told(&["now", &story.id, "--reason", "it cannot wait"]);
    story.until(2, "dev", "deployed");
    let (release, greeting, now) = story.runs_with("dev");
    assert_eq!((release.as_str(), greeting.as_str()), ("2", "2"));
    assert_eq!(now, digest);
    assert_eq!(story.world.releases(&story.id)[1]["cause"], "requested");
}

#[test]
fn environment_that_is_held_takes_nothing_until_it_is_resumed() {
    let Some(story) = Story::begin(SUITE, "stop", &[]) else {
        return;
    };
    story.told(&["hold", "ha", "--reason", "maintenance"]);
    story.install_path();
    story.until(1, "dev", "deployed");
    story.until(1, "ha", "queued");
    let why = story.why_in(1, "ha")["sentence"].to_string();
    assert!(why.contains("maintenance"), "{why}");
    let (code, said) = story.refused(&["resume", "preprod"]);
    assert_eq!(code, Some(1), "{said}");
    story.told(&["resume", "ha"]);
    story.until(1, "prod", "deployed");
}
