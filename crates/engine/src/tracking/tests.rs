//! Rounds against doubles of hosts, with a clock that stands.

mod describing;
mod requests;
mod secrecy;
mod waiting;

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use pathline_ledger::{Ledger, Location};
use pathline_release::environment::Environments;
use pathline_release::poll::{Budget, Ending};
use pathline_release::request::{Body, Host, Scheme};
use pathline_remote::git::Git;
use pathline_testkit::doubles::github::GitHub;
use pathline_testkit::doubles::registry::{Behaviour, Registry};
use tempfile::TempDir;
use tokio::sync::watch;
use url::Url;

use super::followed::{Followed, FollowedTracker};
use super::round::{Circumstances, Looker};
use super::settings::{GitHost, RegistryHost, TrackingSettings};
use super::{Tracker, Tracking};
use crate::releasing::environments::EnvironmentsReceiver;
use crate::runtime::clock::Clock;

/// A budget that nobody waits for.
const AMPLE: Budget = Budget {
    per_second: 1_000_000,
    in_flight: 4,
};

/// A registry, a repository, and a ledger with trackers.
struct World {
    home: TempDir,
    clock: Clock,
    registry: Registry,
    github: GitHub,
    tracking: Tracking,
    ledger: Ledger,
    followed: Followed,
    looker: Looker,
    commits: usize,
}

impl World {
    async fn new() -> Self {
        Self::with(Behaviour::default()).await
    }

    async fn with(behaviour: Behaviour) -> Self {
        let home = TempDir::new().unwrap();
        let clock = Clock::standing("2026-08-22T10:00:00Z".parse().unwrap());
        let (registry, github) = (Registry::start(behaviour), GitHub::start());
        github.add("shop/web", &[]);
        let tracking = Tracking {
            settings: Arc::new(settings(&[&registry], &github)),
            ..Tracking::default()
        };
        let location = Location::File(home.path().join("ledger.db"));
        let ledger = Ledger::open(&location).await.unwrap();
        let (followed, looker) = begin(&ledger, &clock, &tracking, &home);
        Self {
            home,
            clock,
            registry,
            github,
            tracking,
            ledger,
            followed,
            looker,
            commits: 0,
        }
    }

    /// Commits an application file in which `web` has a label.
    fn commit(&mut self, label: &str) {
        let text = file(&self.registry.host(), label);
        self.commits += 1;
        let commit = format!("{:040x}", self.commits);
        let files = [("fathomable.yaml", text.as_bytes())];
        self.github.commit("shop/web", &["HEAD"], &commit, &files);
    }

    /// Makes trackers, all of which read the same file.
    async fn follow(&mut self, names: &[&str]) {
        for name in names {
            create(
                &self.ledger,
                &self.tracking.settings,
                &self.github,
                name,
                "",
            )
            .await;
        }
        self.followed.load(&self.ledger).await.unwrap();
    }

    /// Looks at all trackers, which somebody wants or not, a second later.
    async fn poll_so(&mut self, is_wanted: bool) -> Vec<Ending> {
        self.pass(SignedDuration::from_secs(1));
        let members: Vec<FollowedTracker> = self.followed.all().cloned().collect();
        let circumstances = Circumstances {
            interval: self.tracking.settings.interval,
            is_wanted,
        };
        let place = self.looker.places().take(Vec::new());
        let looked = self.looker.poll(members, circumstances, place).await;
        let mut endings = Vec::new();
        for looked in looked {
            self.followed
                .observe(looked.after.expect("nobody else is here"));
            self.followed.learn(looked.requests);
            endings.push(looked.ending);
        }
        endings
    }

    async fn poll(&mut self) -> Vec<Ending> {
        self.poll_so(true).await
    }

    /// Lets time pass.
    fn pass(&self, time: SignedDuration) {
        self.clock.set(self.clock.now() + time);
    }

    /// Returns the methods and paths of the requests to the registry, and the number of those to the repository.
    fn asked(&self) -> (Vec<String>, usize) {
        let registry = self.registry.server.take_requests();
        let registry = registry.iter().map(|it| it.line()).collect();
        (registry, self.github.server.take_requests().len())
    }

    /// Returns the number of all requests.
    fn count(&self) -> usize {
        let (registry, repository) = self.asked();
        registry.len() + repository
    }

    /// Follows the trackers of the ledger anew, as after a restart.
    async fn restart(&mut self) {
        (self.followed, self.looker) = begin(&self.ledger, &self.clock, &self.tracking, &self.home);
        self.followed.load(&self.ledger).await.unwrap();
    }

    fn tracker(&self) -> &FollowedTracker {
        self.followed.all().next().unwrap()
    }
}

fn begin(
    ledger: &Ledger,
    clock: &Clock,
    tracking: &Tracking,
    home: &TempDir,
) -> (Followed, Looker) {
    let git = Git::new(home.path().join("git"));
    let looker = Looker::new(ledger, clock, tracking, git, mk_environments()).unwrap();
    let settings = Arc::clone(&tracking.settings);
    let followed = Followed::new(settings, looker.fingerprints().clone());
    (followed, looker)
}

fn settings(registries: &[&Registry], github: &GitHub) -> TrackingSettings {
    let registries = registries.iter().map(|it| RegistryHost {
        name: it.host(),
        allows_http: true,
        budget: AMPLE,
        login: None,
    });
    TrackingSettings {
        hosts: vec![GitHost {
            host: Host {
                name: github.server.address.to_string(),
                schemes: vec![Scheme::Http],
                has_nested_groups: false,
            },
            github_api: Some(Url::parse(&github.api()).unwrap()),
            budget: AMPLE,
        }],
        registries: registries.collect(),
        ..TrackingSettings::default()
    }
}

fn file(registry: &str, label: &str) -> String {
    let image = format!("{{repository: {{image: {{domain: '{registry}', name: web}}}}}}");
    let applications = (0..57).map(|it| format!("  web{it}: {{version: '{label}'}}\n"));
    let applications: String = applications.collect();
    format!("shop:\n  group: {image}\n  web: {{version: '{label}'}}\n{applications}")
}

async fn create(
    ledger: &Ledger,
    settings: &TrackingSettings,
    github: &GitHub,
    name: &str,
    path: &str,
) {
    let repo = format!("{}/shop/web", github.server.url());
    let body =
        format!(r#"{{"id": "{name}", "token": "", "repo": "{repo}", "sourcePath": "{path}"}}"#);
    let body = Body::read(body.as_bytes()).unwrap();
    let new = body.create(&settings.known_hosts()).unwrap();
    let at = Timestamp::UNIX_EPOCH;
    let created = ledger
        .trackers()
        .create(new, SignedDuration::ZERO, "ci", at);
    created.await.unwrap();
}

/// Returns the usual environments.
fn mk_environments() -> EnvironmentsReceiver {
    let (_, environments) = watch::channel(Some(Arc::new(Environments::usual())));
    environments
}
