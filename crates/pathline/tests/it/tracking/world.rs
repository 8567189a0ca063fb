//! A `pathline up` that follows applications, and those who ask it.

use std::fs;
use std::path::PathBuf;
use std::process::Output;
use std::time::{Duration, Instant};

use pathline_testkit::Leash;
use pathline_testkit::rest::{self, Answer};
use rustix::process::Signal;
use serde_json::{Value, json};

use super::repository::Repository;
use crate::program::{Ended, Running, pathline, stderr, stdout};
use crate::up::UP;

/// Far longer than anything here takes; only a hang is cut off by it.
const TIMEOUT: Duration = Duration::from_secs(120);
/// The pause between two questions whether something has happened.
const PAUSE: Duration = Duration::from_millis(25);

/// The text of a configuration file.
#[derive(Clone, Debug)]
pub(crate) struct Config {
    hosts: Vec<Value>,
    registries: Vec<Value>,
    more: Value,
}

impl Config {
    /// A configuration that lets repositories and registries be asked without encryption, as often as tests do.
    pub(crate) fn of(repositories: &[&Repository], registries: &[&str]) -> Self {
        let mut hosts: Vec<Value> = Vec::new();
        for it in repositories {
            let host = json!({"name": it.host(), "schemes": [it.scheme()], "perSecond": 1000});
            // Directories of this machine have no host, and are one all together.
            if !hosts.contains(&host) {
                hosts.push(host);
            }
        }
        let registries = registries
            .iter()
            .map(|it| json!({"name": it, "http": true, "perSecond": 1000}));
        Self {
            hosts,
            registries: registries.collect(),
            more: json!({"polling": {"interval": "15s"}}),
        }
    }

    /// Adds a registry.
    pub(crate) fn registry(mut self, registry: Value) -> Self {
        self.registries.push(registry);
        self
    }

    /// Adds a host of repositories.
    pub(crate) fn host(mut self, host: Value) -> Self {
        self.hosts.push(host);
        self
    }

    /// Sets another key.
    pub(crate) fn set(mut self, key: &str, value: Value) -> Self {
        self.more[key] = value;
        self
    }

    pub(crate) fn text(&self) -> String {
        let mut all = self.more.clone();
        all["hosts"] = self.hosts.clone().into();
        all["registries"] = self.registries.clone().into();
        // JSON is YAML.
        all.to_string()
    }
}

/// A Pathline that runs.
pub(crate) struct World {
    up: Option<Running>,
    pub(crate) home: PathBuf,
    /// The words of the command line before `--config`.
    command: Vec<String>,
    arguments: Vec<String>,
    environment: Vec<(String, String)>,
    address: String,
    token: String,
}

impl World {
    /// Starts it in a directory of its own.
    pub(crate) fn start(config: &Config) -> Self {
        Self::start_with(config, &[], &[])
    }

    pub(crate) fn start_with(
        config: &Config,
        arguments: &[&str],
        environment: &[(&str, &str)],
    ) -> Self {
        let leash = Leash::new("pathline-tracking-").expect("a scratch directory");
        Self::start_in(leash, config, arguments, environment)
    }

    /// Starts it in a directory of its own, with environments that take what is queued.
    pub(crate) fn start_moving(config: &Config, arguments: &[&str]) -> Self {
        let leash = Leash::new("pathline-releasing-").expect("a scratch directory");
        Self::start_as(&UP, leash, config, arguments, &[])
    }

    /// Starts it in a directory that others have prepared. What is released stays in the queue of dev, where tests of
    /// trackers look for it.
    pub(crate) fn start_in(
        leash: Leash,
        config: &Config,
        arguments: &[&str],
        environment: &[(&str, &str)],
    ) -> Self {
        let world = Self::start_as(&UP, leash, config, arguments, environment);
        let body = json!({"reason": "a test looks at the queue"});
        let held = world.rest("POST /environments/dev/hold", Some(&body));
        assert_eq!(held.status, 200, "{held:?}");
        world
    }

    /// Starts it as another command than `up`.
    pub(crate) fn start_as(
        command: &[&str],
        leash: Leash,
        config: &Config,
        arguments: &[&str],
        environment: &[(&str, &str)],
    ) -> Self {
        let home = leash.directory().canonicalize().expect("it is there");
        fs::write(home.join("pathline.yaml"), config.text()).expect("it is writable");
        let mut world = Self {
            up: None,
            home,
            command: command.iter().map(|&it| it.to_owned()).collect(),
            arguments: arguments.iter().map(|&it| it.to_owned()).collect(),
            environment: environment
                .iter()
                .map(|&(name, value)| (name.to_owned(), value.to_owned()))
                .collect(),
            address: String::new(),
            token: String::new(),
        };
        world.start_again(leash);
        world
    }

    /// Starts it once more, with the same arguments.
    pub(crate) fn start_again(&mut self, leash: Leash) {
        let mut command = pathline();
        command.args(&self.command);
        command.args(["--config", "pathline.yaml"]);
        command.args(&self.arguments);
        for (name, value) in &self.environment {
            command.env(name, value);
        }
        let mut up = Running::spawn(leash, command);
        let ready = up.json();
        let url = ready["url"].as_str().expect("`ready` names it");
        self.address = url.trim_start_matches("http://").to_owned();
        let token = fs::read_to_string(self.data_dir().join("rest.token"));
        self.token = token.expect("there is a token").trim().to_owned();
        self.up = Some(up);
    }

    /// Stops it in order, and returns what it has said; its directory stays.
    pub(crate) fn stop(&mut self) -> Ended {
        let up = self.up.take().expect("it runs");
        up.signal(Signal::TERM);
        let ended = up.wait();
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        ended
    }

    /// Kills it.
    pub(crate) fn kill(&mut self) -> Leash {
        let up = self.up.take().expect("it runs");
        up.signal(Signal::KILL);
        up.wait().leash
    }

    /// Returns the process.
    pub(crate) fn running(&mut self) -> &mut Running {
        self.up.as_mut().expect("it runs")
    }

    pub(crate) fn data_dir(&self) -> PathBuf {
        self.home.join(".pathline")
    }

    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    pub(crate) fn rest_token(&self) -> &str {
        &self.token
    }
}

/// Questions
impl World {
    pub(crate) fn rest(&self, request: &str, body: Option<&Value>) -> Answer {
        let authorization = format!("Bearer {}", self.token);
        let mut headers = vec![("Authorization", authorization.as_str())];
        headers.extend(body.map(|_| ("Content-Type", "application/json")));
        let body = body.map(Value::to_string).unwrap_or_default();
        let asked = rest::ask(&self.address, request, &headers, &body);
        asked.expect("it answers")
    }

    /// Runs a command of somebody on the same machine.
    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        let mut command = pathline();
        command.args(arguments).arg("--data-dir");
        command.arg(self.data_dir()).current_dir(&self.home);
        command.output().expect("the binary runs")
    }

    /// Runs a command that must succeed, and returns what it prints.
    pub(crate) fn told(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert!(output.status.success(), "{}", stderr(&output));
        stdout(&output)
    }

    /// Follows an application of a repository.
    pub(crate) fn follow(&self, id: &str, repository: &Repository) {
        self.follow_so(id, repository, &json!({}));
    }

    /// Follows an application, with these fields.
    pub(crate) fn follow_so(&self, id: &str, repository: &Repository, fields: &Value) {
        let mut body = json!({"id": id, "token": "", "repo": repository.url(), "sourcePath": ""});
        let fields = fields.as_object().expect("fields").clone();
        body.as_object_mut().expect("fields").extend(fields);
        let answer = self.rest("POST /trackers/", Some(&body));
        assert_eq!(answer.status, 201, "{answer:?}");
    }

    pub(crate) fn tracker(&self, id: &str) -> Value {
        let answer = self.rest(&format!("GET /trackers/{id}"), None);
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.json()
    }

    /// Lets a tracker be looked at.
    pub(crate) fn poll(&self, id: &str) {
        let answer = self.rest(&format!("POST /trackers/{id}/poll"), None);
        assert_eq!(answer.status, 202, "{answer:?}");
    }

    /// Waits until a tracker is so; returns it.
    pub(crate) fn until(&self, id: &str, what: &str, is_so: impl Fn(&Value) -> bool) -> Value {
        let end = Instant::now() + TIMEOUT;
        loop {
            let tracker = self.tracker(id);
            if is_so(&tracker["status"]) {
                return tracker;
            }
            assert!(Instant::now() < end, "never {what}: {tracker:#}");
            std::thread::sleep(PAUSE);
        }
    }

    /// Waits until a tracker has a release of that number; returns the release.
    pub(crate) fn until_released(&self, id: &str, number: u64) -> Value {
        let tracker = self.until(id, &format!("release {number}"), |status| {
            status["lastRelease"]["number"].as_u64() >= Some(number)
        });
        assert_eq!(
            tracker["status"]["lastRelease"]["number"], number,
            "{tracker:#}"
        );
        self.releases(id).pop().expect("there is one")
    }

    /// Waits until it is read what the image of a release was made from, which it says; returns the release.
    pub(crate) fn until_described(&self, release: &Value) -> Value {
        let id = release["id"].as_str().expect("an id");
        let end = Instant::now() + TIMEOUT;
        loop {
            let answer = self.rest(&format!("GET /releases/{id}"), None);
            assert_eq!(answer.status, 200, "{answer:?}");
            let release = answer.json();
            if release["image"]["revision"].is_string() {
                return release;
            }
            assert!(Instant::now() < end, "never described: {release:#}");
            std::thread::sleep(PAUSE);
        }
    }

    /// Waits until a condition holds; returns its message.
    pub(crate) fn until_condition(&self, id: &str, condition: &str) -> String {
        let tracker = self.until(id, condition, |it| message(it, condition).is_some());
        message(&tracker["status"], condition).expect("it was there")
    }

    /// Waits until a condition holds, and it is said why; returns its message.
    pub(crate) fn until_explained(&self, id: &str, condition: &str) -> String {
        // The condition is stored first, and then shown with its reason.
        let tracker = self.until(id, condition, |it| {
            message(it, condition).is_some() && it["polls"]["lastFailure"].is_string()
        });
        message(&tracker["status"], condition).expect("it was there")
    }

    /// Looks at a tracker, and waits until that is over.
    pub(crate) fn look(&self, id: &str) -> Value {
        self.look_all(&[id]);
        self.tracker(id)
    }

    /// Looks at trackers, and waits until that is over.
    pub(crate) fn look_all(&self, ids: &[&str]) {
        // The first may be over because of a look that was under way; the second has begun after this.
        for _ in 0..2 {
            let observed = |id| self.tracker(id)["status"]["polls"]["observedAt"].clone();
            let before: Vec<_> = ids.iter().map(|id| observed(id)).collect();
            for id in ids {
                self.poll(id);
            }
            for (id, before) in ids.iter().zip(before) {
                self.until(id, "looked at", |status| {
                    status["polls"]["observedAt"] != before
                });
            }
        }
    }

    /// Returns the releases of a tracker, the oldest first.
    pub(crate) fn releases(&self, id: &str) -> Vec<Value> {
        let answer = self.rest(&format!("GET /releases?tracker={id}&limit=500"), None);
        assert_eq!(answer.status, 200, "{answer:?}");
        let mut releases = answer.json()["items"].as_array().expect("releases").clone();
        releases.reverse();
        releases
    }

    /// Returns the numbers, causes, tags and digests of releases, as the tables of tests have them.
    pub(crate) fn history(&self, id: &str) -> Vec<String> {
        let releases = self.releases(id);
        let text = |value: &Value| value.as_str().expect("a text").to_owned();
        let line = |it: &Value| {
            let image = &it["image"];
            format!(
                "{} {} {} {}",
                it["number"],
                text(&it["cause"]),
                text(&image["tag"]),
                text(&image["digest"])
            )
        };
        releases.iter().map(line).collect()
    }
}

/// Returns the message of a condition, if it holds.
fn message(status: &Value, condition: &str) -> Option<String> {
    let all = status["conditions"].as_array().expect("conditions");
    let found = all.iter().find(|it| it["type"] == condition);
    found.map(|it| it["message"].as_str().expect("a text").to_owned())
}
