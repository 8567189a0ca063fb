//! The aftermath of a release that was deployed, or has failed: it goes away, it is tried again, Pathline was not there.

use std::fs;
use std::time::Duration;

use serde_json::json;

use super::application::PASSWORD;
use super::story::{Story, says};
use crate::program::stderr;

const SUITE: &str = "releases afterwards";

#[test]
fn soak_that_ends_while_pathline_is_down_goes_on_when_it_is_back() {
    let soak = json!({"soak": "3s"});
    let Some(mut story) = Story::begin(SUITE, "soak", &[("prod", soak)]) else {
        return;
    };
    story.install_path();
    story.until(1, "preprod", "deployed");
    let leash = story.world.kill();
    std::thread::sleep(Duration::from_secs(4));
    story.world.start_again(leash);
    story.until(1, "prod", "deployed");
}

#[test]
fn soak_goes_on_when_what_was_down_is_live_again() {
    let soak = json!({"soak": "4s"});
    let Some(story) = Story::prepare(SUITE, "again", &[("prod", soak)]) else {
        return;
    };
    // It crashes as long as there is a file that says so.
    let down = story.world.home.join("down");
    let command = format!(
        "while [ ! -e {0} ]; do sleep 0.1; done; exit 1",
        down.display()
    );
    story.configure(&command, "1");
    story.follow();
    story.install_path();
    story.until(1, "preprod", "deployed");
    fs::write(&down, "").expect("it is writable");
    story.until_told((1, "prod"), |it| says(it, "not live"));
    fs::remove_file(&down).expect("it is there");
    story.until(1, "prod", "deployed");
}

#[test]
fn what_was_deployed_and_is_gone_changed_or_down_is_not_told_to_be_there() {
    let Some(story) = Story::begin(SUITE, "gone", &[]) else {
        return;
    };
    story.install_path();
    story.until(1, "prod", "deployed");
    story.until_told((1, "prod"), |it| it["live"] == true);
    let wait = [
        "release",
        "wait",
        &story.id,
        "--release",
        "1",
        "--in",
        "prod",
    ];
    story.world.told(&wait);

    story.patch_owner("prod", &json!({"spec": {"image": "registry.example/evil"}}));
    let why = story.until_told((1, "prod"), |it| it["live"] == false);
    assert!(
        says(&why, "somebody has changed Workload `gone-web`"),
        "{why}"
    );
    story.delete_owner("prod");
    let why = story.until_told((1, "prod"), |it| says(it, "is gone"));
    assert_eq!(
        (&why["live"], &why["state"]),
        (&json!(false), &json!("deployed"))
    );
    let board = story.told(&["board"]);
    assert!(board.contains("1 not live"), "{board}");
    let output = story.world.run(&[&wait[..], &["--timeout", "2s"]].concat());
    assert_eq!(output.status.code(), Some(124), "{}", stderr(&output));

    // What it says to do helps.
    assert!(
        says(
            &why,
            "`pathline release rollback prod gone.web --release 1`"
        ),
        "{why}"
    );
    story.told(&["rollback", "prod", &story.id, "--release", "1"]);
    story.until(2, "prod", "deployed");
    assert_eq!(story.runs_with("prod").0, "2");
    let board = story.told(&["list", "--tracker", &story.id]);
    assert!(board.contains("prod replaced by 2"), "{board}");
}

#[test]
fn release_that_has_failed_is_started_again_when_it_is_promoted() {
    let Some(story) = Story::prepare(SUITE, "retry", &[]) else {
        return;
    };
    let mended = story.world.home.join("mended");
    let command = format!(
        "test -e {} || {{ echo it is broken; exit 3; }}; {}",
        mended.display(),
        story.steady()
    );
    story.configure(&command, "1");
    story.follow();
    story.install_path();
    story.until(1, "dev", "failed");
    fs::write(&mended, "").expect("it is writable");
    story.told(&["promote", "dev", &story.id]);
    story.until(1, "dev", "deployed");
    assert_eq!(story.runs_with("dev").0, "1");
}

#[test]
fn what_has_failed_is_told_where_it_is_kept() {
    let Some(story) = Story::begin(SUITE, "kept", &[]) else {
        return;
    };
    story.install_path();
    story.until(1, "dev", "deployed");
    story.configure("echo it is broken with $DB_PASSWORD; exit 3", "2");
    story.release("two", 2);
    let message = story.until(2, "dev", "failed");
    assert!(message.contains("it is broken"), "{message}");
    let why = story.why_in(1, "dev");
    assert!(
        says(
            &why,
            "release 2, which has failed, was written in its place"
        ),
        "{why}"
    );
    let (code, said) = story.refused(&["wait", &story.id, "--release", "1", "--in", "dev"]);
    assert_eq!(code, Some(1), "{said}");

    // No secret is in the last words of a process, nor in what repeats it.
    assert!(message.contains("[redacted]"), "{message}");
    let releases = story.world.releases(&story.id);
    for release in &releases {
        let id = release["id"].as_str().expect("an id");
        let shown = story.world.rest(&format!("GET /releases/{id}"), None);
        assert!(!format!("{shown:?}").contains(PASSWORD), "{shown:?}");
    }
    let ledger = fs::read(story.world.data_dir().join("ledger.db")).expect("a ledger");
    assert!(!String::from_utf8_lossy(&ledger).contains(PASSWORD));
}

#[test]
fn deployment_waits_for_its_namespace() {
    let later = json!({"namespace": "later"});
    let Some(story) = Story::begin(SUITE, "place", &[("dev", later)]) else {
        return;
    };
    story.install_path();
    story.world.until_released(&story.id, 1);
    let why = story.until_told((1, "dev"), |it| says(it, "kubectl create namespace later"));
    assert_eq!(why["state"], "deploying", "{why}");
    story.apply(&json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "later"}}));
    story.until(1, "dev", "deployed");
}

#[test]
fn environment_that_is_made_anew_lets_nothing_past_it() {
    let Some(story) = Story::begin(SUITE, "anew", &[]) else {
        return;
    };
    story.install_path();
    story.until(1, "prod", "deployed");
    story.told(&["hold", "preprod", "--reason", "until Friday"]);
    story.release("two", 2);
    story.until(2, "ha", "deployed");
    story.until(2, "preprod", "queued");
    story.delete_environment("preprod");
    // Many ticks of prod pass meanwhile.
    std::thread::sleep(Duration::from_secs(3));
    assert_eq!(story.entry(2, "prod").0, "", "its place is kept");
    story.set_environment("preprod", &[]);
    std::thread::sleep(Duration::from_secs(3));
    assert_eq!(story.entry(2, "prod").0, "", "it is held before");
    let why = story.why_in(2, "prod");
    assert!(says(&why, "until Friday"), "{why}");

    // One that comes in between is waited for, also by what is queued behind it.
    story.told(&["hold", "prod", &story.id]);
    story.told(&["resume", "preprod"]);
    story.until(2, "prod", "queued");
    story.apply(&json!({
        "apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "audit"},
    }));
    story.apply(&json!({
        "apiVersion": "pathline.dev/v1alpha1", "kind": "Environment", "metadata": {"name": "audit"},
        "spec": {"position": 350, "promotion": "manual", "releaseFrequency": {"second": ["0-59"]}},
    }));
    story.until(2, "audit", "held");
    story.told(&["resume", "prod", &story.id]);
    std::thread::sleep(Duration::from_secs(3));
    assert_ne!(story.entry(2, "prod").0, "deployed");
    assert_eq!(story.runs_with("prod").0, "1");
    story.told(&["promote", "audit", &story.id]);
    story.until(2, "prod", "deployed");
}
