//! A Pathline that is killed, at any moment, while images and configurations change.

use std::collections::BTreeMap;
use std::thread::sleep;
use std::time::{Duration, Instant};

use pathline_testkit::postgres::Server;
use pathline_testkit::registry::{Options, Program, RealRegistry};
use pathline_testkit::{Dice, is_nightly, seed};
use serde_json::{Value, json};

use super::oracle::Past;
use super::upstream::{Application, Upstream};
use super::world::{Config, World};

/// The number of applications.
const APPLICATIONS: usize = 50;
/// The number of applications that are followed before the first kill.
const AT_FIRST: usize = 20;
/// The longest time that is waited for something to kill Pathline in.
const MAX_WAIT: Duration = Duration::from_secs(1);

/// The moment at which Pathline is killed.
#[derive(Clone, Copy, Debug)]
enum Moment {
    /// A tracker was made, and that has been answered.
    Followed,
    /// A poll was asked for.
    Polled,
    /// Some time has passed.
    AnyTime,
    /// An image was read for a release, which is about to be written.
    Writing,
    /// A release can be seen.
    Released,
}

const MOMENTS: [Moment; 5] = [
    Moment::Followed,
    Moment::Polled,
    Moment::AnyTime,
    Moment::Writing,
    Moment::Released,
];

/// A Pathline, and all that it follows.
struct Story {
    dice: Dice,
    upstream: Upstream,
    world: World,
    /// The number of applications that are followed.
    followed: usize,
    /// The releases that could be seen, by tracker and number.
    seen: BTreeMap<(String, u64), Value>,
}

impl Story {
    fn begin(name: &str, registry: RealRegistry, arguments: &[&str]) -> Self {
        let mut dice = Dice::new(seed(name));
        let upstream = Upstream::begin(registry, APPLICATIONS, &mut dice);
        let repositories: Vec<_> = upstream.repositories.iter().collect();
        let config = Config::of(&repositories, &[upstream.registry.host()]);
        let mut story = Self {
            world: World::start_with(&config, arguments, &[]),
            dice,
            upstream,
            followed: 0,
            seen: BTreeMap::new(),
        };
        for _ in 0..AT_FIRST {
            story.follow();
        }
        story
    }

    /// Follows one more application, if there is one.
    fn follow(&mut self) {
        let Some(application) = self.upstream.applications.get(self.followed) else {
            return;
        };
        let (repository, path) = self.upstream.place(application);
        let fields = json!({"token": "gho_0", "sourcePath": path});
        self.world.follow_so(&application.id, repository, &fields);
        self.followed += 1;
    }

    /// Changes something, and lets some of those be looked at who may see it.
    fn change(&mut self) {
        self.upstream.change(&mut self.dice);
        for _ in 0..self.dice.below(4) {
            self.poll();
        }
    }

    fn poll(&mut self) {
        let index = self.dice.index(self.followed);
        self.world.poll(&self.upstream.applications[index].id);
    }

    /// Comes to the moment of a kill.
    fn come_to(&mut self, moment: Moment) {
        match moment {
            Moment::Followed => self.follow(),
            Moment::Polled => self.poll(),
            Moment::AnyTime => sleep(Duration::from_millis(self.dice.below(100))),
            Moment::Writing => self.come_to_a_write(),
            Moment::Released => self.come_to_a_release(),
        }
    }

    /// Waits until Pathline reads an image, which it does for a release alone.
    fn come_to_a_write(&mut self) {
        let begin = self.upstream.registry.log_size();
        let application = self.one_that_moves();
        self.move_image(&application);
        let end = Instant::now() + MAX_WAIT;
        let is_read = |log: String| log.contains("/blobs/");
        while !is_read(self.upstream.registry.log_after(begin)) && Instant::now() < end {
            sleep(Duration::from_millis(1));
        }
        sleep(Duration::from_micros(self.dice.below(8_000)));
    }

    /// Waits for a release, which must be there ever after.
    fn come_to_a_release(&mut self) {
        let application = self.one_that_moves();
        let number = |status: &Value| status["lastRelease"]["number"].as_u64().unwrap_or_default();
        let before = number(&self.world.tracker(&application.id)["status"]);
        self.move_image(&application);
        self.world.until(&application.id, "a release", |status| {
            number(status) > before
        });
        for release in self.world.releases(&application.id) {
            let key = (
                application.id.clone(),
                release["number"].as_u64().expect("a number"),
            );
            self.seen.insert(key, identity(&release));
        }
    }

    /// Returns an application whose next image is released in any case.
    fn one_that_moves(&mut self) -> Application {
        let followed = &self.upstream.applications[..self.followed];
        let moves: Vec<_> = followed.iter().filter(|it| it.follows_a_tag()).collect();
        moves[self.dice.index(moves.len())].clone()
    }

    /// Lets an application have something to release, and be looked at.
    fn move_image(&mut self, application: &Application) {
        self.upstream.move_image(application);
        self.world.poll(&application.id);
    }

    fn kill(&mut self) {
        for _ in 0..self.dice.below(4) {
            self.change();
        }
        let moment = self.dice.one_of(&MOMENTS);
        self.come_to(moment);
        let leash = self.world.kill();
        for _ in 0..self.dice.below(2) {
            self.upstream.change(&mut self.dice);
        }
        self.world.start_again(leash);
        let last = &self.upstream.applications[self.followed - 1];
        assert_eq!(
            self.world.tracker(&last.id)["id"],
            *last.id,
            "what was answered is there"
        );
    }

    /// Looks at everything, and fails unless all releases are as the rules say.
    fn check(&self) {
        let followed = &self.upstream.applications[..self.followed];
        let ids: Vec<&str> = followed.iter().map(|it| it.id.as_str()).collect();
        self.world.look_all(&ids);
        for application in followed {
            let releases = self.world.releases(&application.id);
            let pending = &self.world.tracker(&application.id)["status"]["pending"];
            Past::of(&self.upstream, application).check(&releases, pending);
            for release in &releases {
                let number = release["number"].as_u64().expect("a number");
                let seen = self.seen.get(&(application.id.clone(), number));
                assert!(
                    seen.is_none_or(|it| *it == identity(release)),
                    "{release:#}"
                );
            }
        }
    }
}

/// Returns what of a release never changes.
fn identity(release: &Value) -> Value {
    json!([release["id"], release["image"], release["from"]])
}

/// Kills Pathline again and again while everything changes.
fn play(name: &str, registry: RealRegistry, arguments: &[&str]) {
    let kills = match is_nightly() {
        true => 500,
        false => 50,
    };
    let mut story = Story::begin(name, registry, arguments);
    for kill in 1..=kills {
        story.kill();
        if kill % 25 == 0 {
            story.check();
        }
    }
    while story.followed < APPLICATIONS {
        story.follow();
    }
    story.check();
}

#[test]
fn c01_to_c03_release_is_formed_once_however_often_pathline_is_killed() {
    let suite = "trackers, killed";
    if let Some(registry) = RealRegistry::start(suite, Program::Debian, &Options::default()) {
        play("killed while it tracks", registry, &[]);
    }
}

#[test]
fn c01_to_c03_release_is_formed_once_with_a_ledger_in_postgresql() -> anyhow::Result<()> {
    let suite = "trackers in PostgreSQL, killed";
    let Some(server) = Server::shared(suite) else {
        return Ok(());
    };
    let Some(registry) = RealRegistry::start(suite, Program::Distribution, &Options::default())
    else {
        return Ok(());
    };
    let home = tempfile::tempdir()?;
    let key = home.path().join("seal.key");
    std::fs::write(&key, "ab".repeat(32))?;
    let key = key.to_str().expect("a path");
    let arguments = ["--ledger", &server.database(), "--seal-key", key];
    play("killed while it tracks in PostgreSQL", registry, &arguments);
    Ok(())
}
