//! Secrets are nowhere but where they belong.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use pathline_testkit::git_server::Options;
use pathline_testkit::postgres::Server;
use pathline_testkit::registry::{
    self, Auth, Crane, MORE_USERS, PASSWORD, Program, RealRegistry, TokenService, USER,
};
use pathline_testkit::{Leash, free_port, rest, skip};
use serde_json::{Value, json};

use super::repository::Repository;
use super::world::{Config, World};
use crate::program::Ended;
use crate::secrets::places::{self, assert_none_below, files, readings, record_stream};
use crate::secrets::sentinel::Sentinels;

const TOKEN: &str = "ghs_tokenSENTINELtoken01";
const SECRET_FILE: &str = "fileSENTINELsecret04";
const INGEST: &str = "ingestSENTINELsecret05";
const WRONG_TOKEN: &str = "ghs_wrongSENTINELtoken06";
const LEDGER_PASSWORD: &str = "ledgerSENTINELpassword09";
const SEAL_KEY: &str = "5e47131ed5ea15e47131ed5ea15e47131ed5ea15e47131ed5ea15e47131ed5ea";

/// Trackers that release something, each with another login for its registry.
const TRACKERS: [&str; 4] = ["config.web", "group.web", "docker.web", "helper.web"];

/// Keeps running, so that its arguments and its environment can be looked at.
const WORKERS: &str = "
apiVersion: pathline.dev/v1alpha1
kind: Task
metadata: {name: works, namespace: default}
spec: {command: [sh, -c, 'echo $$ > TASK; exec sleep 100000']}
---
apiVersion: pathline.dev/v1alpha1
kind: Process
metadata: {name: serves, namespace: default}
spec: {command: [sh, -c, 'echo $$ > PROCESS; exec sleep 100000']}
";

/// A program that knows a login, and notes what it was given.
const HELPER: &str = r#"#!/bin/sh
{ cat /proc/$$/environ; ls -l /proc/$$/fd; } > "$0.given"
cat > /dev/null
echo '{"ServerURL": "x", "Username": "USER", "Secret": "PASSWORD"}'
"#;

/// Two real registries that want logins, a repository that wants a token, and a Pathline that knows all of them.
struct Story {
    world: World,
    repository: Repository,
    service: TokenService,
    sentinels: Sentinels,
    _registries: [RealRegistry; 2],
}

impl Story {
    /// Begins; nothing where a registry cannot be had.
    fn begin(suite: &str, environment: &[(&str, &str)]) -> Option<Self> {
        let crane = Crane::find(suite)?;
        let service = TokenService::start();
        let start = |program, auth| {
            let options = registry::Options {
                auth,
                ..registry::Options::default()
            };
            RealRegistry::start(suite, program, &options)
        };
        let debian = start(Program::Debian, Auth::Basic)?;
        let distribution = start(Program::Distribution, service.auth())?;
        for registry in [&debian, &distribution] {
            crane.log_in(registry.host(), USER, PASSWORD);
            for (group, _) in MORE_USERS {
                crane.push(&format!("{}/{group}/web:latest", registry.host()), &[]);
            }
        }
        // Each registry has two names, and each name a login of its own.
        let named = |it: &RealRegistry| it.host().replace("127.0.0.1", "localhost");
        let hosts = [
            debian.host().to_owned(),
            named(&debian),
            distribution.host().to_owned(),
            named(&distribution),
        ];
        let pair = STANDARD.encode(format!("x-access-token:{TOKEN}"));
        let options = Options {
            authorization: Some(format!("Basic {pair}")),
            ..Options::default()
        };
        let repository = Repository::with_options(&application(&hosts), options);
        let leash = Leash::new("pathline-secrecy-").expect("a scratch directory");
        let path = prepare(&leash, &hosts);
        let config = configuration(&repository, &hosts)
            .registry(json!({"name": service.host(), "http": true, "perSecond": 1000}));
        let mut given = vec![
            ("PATHLINE_SEAL_KEY", SEAL_KEY),
            ("PATH", path.as_str()),
            ("RUST_BACKTRACE", "1"),
        ];
        given.extend(environment);
        let world = World::start_in(leash, &config, &["--log", "trace"], &given);
        let mut sentinels = sentinels();
        sentinels.add(
            "the token of the administrator",
            world.rest_token().as_bytes(),
        );
        Some(Self {
            world,
            repository,
            service,
            sentinels,
            _registries: [debian, distribution],
        })
    }

    /// Asks, fails if a secret is in the answer, and returns its status.
    fn ask(&self, request: &str, body: Option<&Value>) -> u16 {
        places::ask(&self.sentinels, &self.world, request, body)
    }

    /// Runs a command, and fails if a secret is in what it says.
    fn run(&self, arguments: &[&str]) {
        places::run(&self.sentinels, &self.world, arguments);
    }

    fn body(&self, id: &str, token: &str) -> Value {
        json!({"id": id, "token": token, "repo": self.repository.url(), "sourcePath": ""})
    }

    /// Follows applications with right tokens, wrong ones, and such that are none.
    fn follow(&self) {
        for id in TRACKERS {
            assert_eq!(
                self.ask("POST /trackers/", Some(&self.body(id, TOKEN))),
                201
            );
            assert_eq!(
                self.ask("POST /trackers/", Some(&self.body(id, TOKEN))),
                409
            );
        }
        let wrong = self.body("config.wrong", WRONG_TOKEN);
        assert_eq!(self.ask("POST /trackers/", Some(&wrong)), 201);
        let in_url = format!("http://{TOKEN}@{}/shop/web", self.repository.host());
        for wrong in [
            self.body("a.b", &format!("{TOKEN}\n")),
            json!({"id": "a.b", "token": "", "repo": in_url, "sourcePath": ""}),
            json!({"id": "a.b", "token": [TOKEN], "repo": self.repository.url(), "sourcePath": ""}),
        ] {
            assert_eq!(self.ask("POST /trackers/", Some(&wrong)), 422);
        }
        for id in TRACKERS {
            self.world.until_released(id, 1);
        }
        self.world.until_condition("config.wrong", "AuthFailed");
    }

    /// Reads everything that can be read, over REST and from the command line.
    fn read(&self) {
        let ids = TRACKERS.iter().flat_map(|id| self.world.releases(id));
        let ids: Vec<String> = ids
            .map(|it| it["id"].as_str().expect("an id").to_owned())
            .collect();
        let trackers = [&TRACKERS[..], &["config.wrong", "nothing.there"]].concat();
        let readings = readings(&self.world, &trackers, &ids, ["default", "Task", "works"]);
        assert!(readings.len() > 15, "{readings:?}");
        for request in &readings {
            assert_ne!(self.ask(request, None), 500, "{request}");
        }
        for format in ["text", "json"] {
            self.run(&["tracker", "list", "-o", format]);
            self.run(&["release", "list", "-o", format]);
            self.run(&["token", "list", "-o", format]);
            for id in &trackers {
                self.run(&["tracker", "get", id, "-o", format]);
            }
            for id in &ids {
                self.run(&["release", "show", id, "-o", format]);
            }
        }
        fs::write(self.world.home.join("token"), TOKEN).expect("it is writable");
        let url = self.repository.url();
        let again = ["tracker", "add", TRACKERS[0], "--repo", &url];
        self.run(&[&again[..], &["--source-token-file", "token"]].concat());
    }

    /// Takes the token of a tracker away, which is told.
    fn replace(&self) {
        let body = json!({"token": WRONG_TOKEN, "repo": self.repository.url(), "sourcePath": ""});
        assert_eq!(self.ask("PUT /trackers/group.web", Some(&body)), 200);
        self.world.until_condition("group.web", "AuthFailed");
    }

    /// Sends messages, with the right secret, with a wrong one, and with one in the URL.
    fn send(&self) {
        let bearer = format!("Bearer {INGEST}");
        for (path, authorization) in [
            ("/ingest/header", bearer.as_str()),
            ("/ingest/signed", bearer.as_str()),
            (&format!("/ingest/key?key={INGEST}"), ""),
            (&format!("/ingest/header?key={INGEST}"), ""),
            (&format!("/ingest/nobody?key={INGEST}"), ""),
        ] {
            let headers = [
                ("Authorization", authorization),
                ("Content-Type", "application/json"),
            ];
            let request = format!("POST {path}");
            let body = "{\"events\": []}";
            let answer = rest::ask(self.world.address(), &request, &headers, body);
            let told = format!("{:?}", answer.expect("it answers"));
            self.sentinels
                .assert_none("the answer to a message", told.as_bytes());
        }
    }

    /// Looks at everything that runs below Pathline, or has.
    fn look_below(&mut self) {
        let world = &mut self.world;
        fs::write(world.home.join("workers.yaml"), WORKERS).expect("it is writable");
        world.told(&["apply", "-f", "workers.yaml"]);
        let pathline = world.running().pid();
        for name in ["TASK", "PROCESS"] {
            let pid = until_some(|| {
                let note = files(&world.home)
                    .into_iter()
                    .find(|it| it.ends_with(name))?;
                let pid = fs::read_to_string(note).ok()?;
                pid.strip_suffix('\n')?.parse().ok()
            });
            assert_none_below(&self.sentinels, pathline, pid);
        }
        let given = world.home.join("bin/docker-credential-sentinel.given");
        let given = fs::read(given).expect("the helper was asked");
        self.sentinels.assert_none("what a helper is given", &given);
    }

    /// Looks into all files, and at their names.
    fn look_into_files(&self) {
        let own = ["rest.token"];
        let files = files(&self.world.data_dir());
        let known = self.repository.host();
        let holds = |what: &str| {
            let mut contents = files.iter().map(|it| fs::read(it).unwrap_or_default());
            contents.any(|it| String::from_utf8_lossy(&it).contains(what))
        };
        assert!(holds("PROCESS; exec sleep"), "objects are found");
        let is_elsewhere = !self.world.data_dir().join("ledger.db").exists();
        assert!(is_elsewhere || holds(&known), "trackers are found");
        for file in &files {
            // What is in a pack could not be searched.
            assert!(!file.to_string_lossy().ends_with(".pack"), "{file:?}");
            if !own.iter().any(|it| file.ends_with(it)) {
                self.sentinels.assert_none_in_file(file);
            }
        }
    }

    /// Tells the whole story, and returns what was said on the way.
    fn tell(mut self) -> (Self, Ended) {
        let stream = record_stream(&self.world);
        self.follow();
        self.read();
        self.replace();
        self.send();
        self.look_below();
        self.look_into_files();
        let ended = self.world.stop();
        for token in self.service.given() {
            self.sentinels
                .add("a token of the token service", token.as_bytes());
        }
        let stream = stream.join().expect("it is read");
        for part in ["200 OK", "event: release", "helper.web", "config.wrong"] {
            assert!(stream.contains(part), "no {part} in {stream}");
        }
        self.sentinels.assert_none("the stream", stream.as_bytes());
        assert!(
            ended.stderr.contains("TRACE"),
            "there is a log of everything"
        );
        self.sentinels
            .assert_none("the log", ended.stderr.as_bytes());
        self.look_into_files();
        (self, ended)
    }
}

fn sentinels() -> Sentinels {
    let digits = SEAL_KEY.as_bytes().chunks(2);
    let digits = digits.map(|it| std::str::from_utf8(it).expect("digits"));
    let bytes: Vec<u8> = digits
        .map(|it| u8::from_str_radix(it, 16).expect("digits"))
        .collect();
    let mut sentinels = Sentinels::default();
    for (name, secret) in [
        ("the token", TOKEN.as_bytes()),
        ("the wrong token", WRONG_TOKEN.as_bytes()),
        ("the secret file", SECRET_FILE.as_bytes()),
        ("the secret of the sender", INGEST.as_bytes()),
        ("the password of the ledger", LEDGER_PASSWORD.as_bytes()),
        ("the seal key", SEAL_KEY.as_bytes()),
        ("the bytes of the seal key", &bytes),
    ] {
        sentinels.add(name, secret);
    }
    for (user, password) in MORE_USERS {
        sentinels.add(&format!("the password of `{user}`"), password.as_bytes());
    }
    sentinels
}

/// Returns a file with a group for each registry: one has a login, one a secret file.
fn application(hosts: &[String; 4]) -> String {
    let secret = STANDARD.encode(SECRET_FILE);
    let mut file = String::new();
    for ((group, password), host) in MORE_USERS.iter().zip(hosts) {
        let own = match *group {
            "group" => format!(
                ", auth: '{}'",
                STANDARD.encode(format!("{group}:{password}"))
            ),
            _ => String::new(),
        };
        file += &format!(
            "{group}:\n  group: {{repository: {{image: {{domain: '{host}'{own}}}}}}}\n  web:\n    version: latest\n    \
             environment: {{file: {{secret: {{key: {{mountPath: /k, data: [{{name: a, value: {secret}}}]}}}}}}}}\n"
        );
    }
    file
}

/// Writes the files that the configuration names; returns the path on which the helper is.
fn prepare(leash: &Leash, hosts: &[String; 4]) -> String {
    let home = leash.directory().canonicalize().expect("it is there");
    let write = |name: &str, content: &str| {
        fs::write(home.join(name), content).expect("it is writable");
    };
    let [(_, in_config), _, (docker, in_docker), (user, of_helper)] = MORE_USERS;
    write("password", in_config);
    write("ingest", INGEST);
    let auth = STANDARD.encode(format!("{docker}:{in_docker}"));
    let config = json!({
        "auths": {(hosts[2].as_str()): {"auth": auth}},
        "credHelpers": {(hosts[3].as_str()): "sentinel"},
    });
    write("config.json", &config.to_string());
    let bin = home.join("bin");
    fs::create_dir(&bin).expect("it is writable");
    let helper = HELPER.replace("USER", user).replace("PASSWORD", of_helper);
    write("bin/docker-credential-sentinel", &helper);
    let program = bin.join("docker-credential-sentinel");
    fs::set_permissions(program, fs::Permissions::from_mode(0o755)).expect("it is there");
    format!("{}:/usr/local/bin:/usr/bin:/bin", bin.display())
}

fn configuration(repository: &Repository, hosts: &[String; 4]) -> Config {
    let hook = |name: &str, of_type: &str, auth: &str| json!({"name": name, "type": of_type, "auth": auth, "secretFile": "ingest"});
    let others: Vec<&str> = hosts[1..].iter().map(String::as_str).collect();
    Config::of(&[repository], &others)
        .registry(json!({"name": hosts[0], "http": true, "perSecond": 1000,
                         "username": MORE_USERS[0].0, "passwordFile": "password"}))
        .set("dockerConfig", json!("config.json"))
        .set(
            "ingest",
            json!([
                hook("header", "generic", "header"),
                hook("key", "distribution", "key"),
                hook("signed", "github", "hmac")
            ]),
        )
}

#[test]
fn c14_secret_is_in_no_answer_no_log_no_file_and_no_environment() {
    if let Some(story) = Story::begin("secrets of trackers", &[]) {
        let _told = story.tell();
    }
}

#[test]
fn c14_secret_is_in_no_row_of_postgresql() {
    let suite = "secrets of trackers in PostgreSQL";
    let Some(server) = Server::shared(suite) else {
        return;
    };
    let url = server.database();
    // Everybody is let in, with any password.
    let with_password = url.replace("postgres@", &format!("postgres:{LEDGER_PASSWORD}@"));
    let Some(story) = Story::begin(suite, &[("PATHLINE_LEDGER", &with_password)]) else {
        return;
    };
    let (story, _ended) = story.tell();
    let dump = server.dump(&url).expect("it can be dumped");
    assert!(
        dump.contains(&story.repository.host()),
        "what is no secret is found"
    );
    story.sentinels.assert_none("the database", dump.as_bytes());
}

#[test]
fn c16_token_of_a_tracker_that_was_deleted_is_in_no_file_even_sealed() {
    let repository = Repository::with("shop: {web: {version: latest}}");
    let port = free_port();
    let mut world = World::start(&Config::of(&[&repository], &[&format!("127.0.0.1:{port}")]));
    world.follow_so("shop.web", &repository, &json!({"token": TOKEN}));
    let Some(sealed) = sealed_token(&world) else {
        return skip(
            "tokens of trackers that were deleted",
            "there is no sqlite3",
        );
    };
    assert!(!sealed.contains(TOKEN));
    let is_there = |world: &World| {
        let content = files(&world.data_dir())
            .into_iter()
            .map(|it| fs::read(it).unwrap_or_default());
        let mut content = content.collect::<Vec<_>>().into_iter();
        content.any(|it| it.windows(sealed.len()).any(|it| it == sealed.as_bytes()))
    };
    assert!(is_there(&world), "it can be found");
    assert_eq!(world.rest("DELETE /trackers/shop.web", None).status, 204);
    assert!(!is_there(&world), "while it runs");
    let ended = world.stop();
    assert!(ended.leash.directory().join(".pathline/ledger.db").exists());
    assert!(!is_there(&world), "after it was stopped");
}

/// Returns the sealed token, as `sqlite3` shows it; nothing where that is not installed.
fn sealed_token(world: &World) -> Option<String> {
    let output = std::process::Command::new("sqlite3")
        .arg(world.data_dir().join("ledger.db"))
        .arg("select token from tracker where token is not null")
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).expect("text");
    let text = text.trim().to_owned();
    assert!(text.len() > 20, "{text}");
    Some(text)
}

/// Waits until there is something.
fn until_some<T>(mut find: impl FnMut() -> Option<T>) -> T {
    let end = std::time::Instant::now() + std::time::Duration::from_secs(60);
    loop {
        if let Some(found) = find() {
            return found;
        }
        assert!(std::time::Instant::now() < end, "it never comes");
        std::thread::sleep(std::time::Duration::from_millis(25));
    }
}
