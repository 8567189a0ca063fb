//! A Pathline that is killed, at any moment, while images and configurations change.

use std::collections::BTreeMap;
use std::thread::sleep;
use std::time::Duration;

use pathline_testkit::doubles::registry::{Behaviour, Registry};
use pathline_testkit::postgres::Server;
use pathline_testkit::{Dice, is_nightly, seed};
use serde_json::{Value, json};

use super::repository::Repository;
use super::world::{Config, World};

/// The applications, with their labels: fixed ones and ranges.
const APPLICATIONS: [(&str, &str); 4] = [
    ("web", "latest"),
    ("api", "1.x"),
    ("db", "stable"),
    ("jobs", ">=1.0.0"),
];

/// Everything that was ever pushed and committed.
struct Upstream {
    registry: Registry,
    repository: Repository,
    /// Digests by application, in their order.
    pushed: BTreeMap<&'static str, Vec<String>>,
    commits: Vec<String>,
}

impl Upstream {
    fn begin() -> Self {
        let registry = Registry::start(Behaviour::default());
        let repository = Repository::with("empty: {}");
        let mut upstream = Self {
            registry,
            repository,
            pushed: BTreeMap::new(),
            commits: Vec::new(),
        };
        for (name, label) in APPLICATIONS {
            upstream.push(name, label);
        }
        upstream.commit();
        upstream
    }

    /// Moves a fixed label, or pushes the next version.
    fn push(&mut self, name: &'static str, label: &str) {
        let pushed = self.pushed.entry(name).or_default();
        let number = pushed.len();
        let tag = match label.contains(['x', '>']) {
            true => format!("1.{number}.0"),
            false => label.to_owned(),
        };
        let number = number.to_string();
        let digest = self
            .registry
            .push(&format!("shop/{name}"), &tag, &[("number", &number)]);
        pushed.push(digest);
    }

    /// Commits another configuration of all applications.
    fn commit(&mut self) {
        let number = self.commits.len();
        let host = self.registry.host();
        let mut file = format!("shop:\n  group: {{repository: {{image: {{domain: '{host}'}}}}}}\n");
        for (name, label) in APPLICATIONS {
            file += &format!(
                "  {name}: {{version: '{label}', environment: {{variable: {{NUMBER: '{number}'}}}}}}\n"
            );
        }
        self.commits.push(self.repository.commit(&file));
    }

    fn change(&mut self, dice: &mut Dice) {
        match dice.below(3) {
            0 => self.commit(),
            _ => {
                let (name, label) = dice.one_of(&APPLICATIONS);
                self.push(name, label);
            }
        }
    }

    /// Fails unless the releases of an application are what was pushed and committed, each once and in order.
    fn check(&self, world: &World, name: &str) {
        let releases = world.releases(&format!("shop.{name}"));
        let numbers: Vec<_> = releases
            .iter()
            .filter_map(|it| it["number"].as_u64())
            .collect();
        let expected: Vec<u64> = (1..=releases.len() as u64).collect();
        assert_eq!(numbers, expected, "without gaps");
        let place = |all: &[String], it: &Value| {
            let found = all.iter().position(|known| it == known.as_str());
            found.unwrap_or_else(|| panic!("nobody has pushed {it}"))
        };
        let pushed = &self.pushed[name];
        let images: Vec<_> = releases
            .iter()
            .map(|it| place(pushed, &it["image"]["digest"]))
            .collect();
        assert!(
            images.is_sorted_by(|a, b| a < b),
            "each image once, in order: {images:?}"
        );
        assert_eq!(
            images.last(),
            Some(&(pushed.len() - 1)),
            "the last one, too"
        );
        let commits: Vec<_> = releases
            .iter()
            .map(|it| place(&self.commits, &it["from"]["commit"]))
            .collect();
        assert!(
            commits.is_sorted(),
            "no configuration comes back: {commits:?}"
        );
        for (index, release) in releases.iter().enumerate() {
            let previous = release["previous"].as_u64().unwrap_or_default();
            assert_eq!(previous, index as u64);
            let entries = release["entries"].as_array().expect("entries");
            let state = match index + 1 == releases.len() {
                true => "queued",
                false => "superseded",
            };
            assert_eq!(entries.len(), 1, "{release:#}");
            assert_eq!(entries[0]["state"], state, "{release:#}");
        }
    }
}

/// Kills Pathline again and again while everything changes.
fn play(name: &str, arguments: &[&str], kills: u32) {
    let mut dice = Dice::new(seed(name));
    let mut upstream = Upstream::begin();
    let config = Config::of(&[&upstream.repository], &[&upstream.registry.host()]);
    let mut world = World::start_with(&config, arguments, &[]);
    for (name, _) in APPLICATIONS {
        world.follow_so(
            &format!("shop.{name}"),
            &upstream.repository,
            &json!({"token": "gho_0"}),
        );
    }
    for _ in 0..kills {
        for _ in 0..dice.below(4) {
            upstream.change(&mut dice);
            for (name, _) in APPLICATIONS {
                if dice.chance(70) {
                    world.poll(&format!("shop.{name}"));
                }
            }
        }
        // Any moment will do: nothing is waited for.
        sleep(Duration::from_millis(dice.below(120)));
        let leash = world.kill();
        for _ in 0..dice.below(2) {
            upstream.change(&mut dice);
        }
        world.start_again(leash);
    }
    for (name, label) in APPLICATIONS {
        upstream.push(name, label);
        world.poll(&format!("shop.{name}"));
    }
    for (name, _) in APPLICATIONS {
        let id = format!("shop.{name}");
        let last = upstream.pushed[name].last().cloned().expect("there is one");
        world.until(&id, "the last image", |status| {
            let image = status["lastRelease"]["image"].as_str();
            image.is_some_and(|it| it.ends_with(&last))
        });
        world.look(&id);
        upstream.check(&world, name);
    }
}

fn kills() -> u32 {
    match is_nightly() {
        true => 50,
        false => 5,
    }
}

#[test]
fn c01_to_c03_release_is_formed_once_however_often_pathline_is_killed() {
    play("killed while it tracks", &[], kills());
}

#[test]
fn c01_to_c03_release_is_formed_once_with_a_ledger_in_postgresql() -> anyhow::Result<()> {
    let Some(server) = Server::shared("trackers in PostgreSQL, killed") else {
        return Ok(());
    };
    let home = tempfile::tempdir()?;
    let key = home.path().join("seal.key");
    std::fs::write(&key, "ab".repeat(32))?;
    let key = key.to_str().expect("a path");
    let arguments = ["--ledger", &server.database(), "--seal-key", key];
    play(
        "killed while it tracks in PostgreSQL",
        &arguments,
        kills().div_ceil(2),
    );
    Ok(())
}
