//! A Pathline that is killed while it deploys: every release is deployed once in each environment, in order.

use std::collections::BTreeMap;
use std::process::Command;
use std::time::Duration;

use pathline_testkit::{Dice, is_nightly, seed};

use super::moves::{CHANGES, assert_deployed_once_and_in_order};
use super::story::{ENVIRONMENTS, Story};
use crate::program::stdout;

const SUITE: &str = "releases and kill -9";

#[test]
fn c04_c05_killed_at_any_moment_each_release_is_deployed_once_and_in_order() {
    let Some(mut story) = Story::begin(SUITE, "kill", &[]) else {
        return;
    };
    let mut dice = Dice::new(seed(SUITE));
    story.install_path();
    let kills = if is_nightly() { 500 } else { 50 };
    let (mut released, mut killed) = (1, 0);
    story.world.until_released(&story.id, 1);
    while killed < kills {
        std::thread::sleep(Duration::from_millis(dice.below(1500)));
        let leash = story.world.kill();
        story.world.start_again(leash);
        killed += 1;
        // Now and then another one sets out.
        if dice.below(5) == 0 {
            released += 1;
            let digest = story.release(&format!("content {released}"), released);
            assert!(digest.starts_with("sha256:"));
        }
    }
    story.until(released, "prod", "deployed");
    let mut deployed: BTreeMap<&str, Vec<u64>> = BTreeMap::new();
    for release in story.world.releases(&story.id) {
        let number = release["number"].as_u64().expect("a number");
        for entry in release["entries"].as_array().expect("entries") {
            let environment = entry["environment"].as_str().expect("a name");
            let state = entry["state"].as_str().expect("a state");
            assert!(
                ["deployed", "superseded"].contains(&state),
                "release {number} is {state} in {environment}: {}",
                entry["message"]
            );
            let known = ENVIRONMENTS.iter().find(|it| **it == environment);
            if state == "deployed" {
                let numbers = deployed.entry(known.expect("one of them")).or_default();
                numbers.push(number);
            }
        }
    }
    for environment in ENVIRONMENTS {
        let numbers = &deployed[environment];
        assert!(numbers.is_sorted(), "{environment}: {numbers:?}");
        assert_eq!(numbers.last(), Some(&released), "{environment}");
        assert_eq!(story.runs_with(environment).0, released.to_string());
    }
    story.world.stop();
    let ledger = story.world.data_dir().join("ledger.db");
    let output = Command::new("sqlite3").arg(ledger).arg(CHANGES).output();
    assert_deployed_once_and_in_order(&stdout(&output.expect("sqlite3 runs")));
}
