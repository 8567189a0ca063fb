//! Secrets are nowhere but where they belong.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use pathline_testkit::doubles::registry::{Auth, Behaviour, Registry};
use pathline_testkit::git_server::Options;
use pathline_testkit::{Leash, free_port, rest, skip};
use serde_json::json;

use super::repository::Repository;
use super::world::{Config, World};

const TOKEN: &str = "ghs_tokenSENTINELtoken01";
const PASSWORD: &str = "registrySENTINELpassword02";
const GROUP_PASSWORD: &str = "groupSENTINELpassword03";
const SECRET_FILE: &str = "fileSENTINELsecret04";
const INGEST: &str = "ingestSENTINELsecret05";
const WRONG_TOKEN: &str = "ghs_wrongSENTINELtoken06";
const SEAL_KEY: &str = "5e47131ed5ea15e47131ed5ea15e47131ed5ea15e47131ed5ea15e47131ed5ea";

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

/// A secret, in all forms in which somebody could find it.
struct Sentinel {
    name: &'static str,
    forms: Vec<Vec<u8>>,
}

impl Sentinel {
    fn new(name: &'static str, secret: &[u8]) -> Self {
        let hex = |is_upper: bool| {
            let digits = secret.iter().map(|byte| match is_upper {
                true => format!("{byte:02X}"),
                false => format!("{byte:02x}"),
            });
            digits.collect::<String>().into_bytes()
        };
        let mut forms = vec![secret.to_vec(), hex(false), hex(true)];
        // Inside of a longer text, base64 depends on where it begins.
        for before in 0..3 {
            let mut padded = vec![0; before];
            padded.extend(secret);
            let encoded = STANDARD.encode(&padded);
            let begin = [0, 2, 3][before];
            let end = padded.len() * 8 / 6;
            let inner = encoded[begin..end].to_owned();
            forms.push(inner.replace('+', "-").replace('/', "_").into_bytes());
            forms.push(inner.into_bytes());
        }
        Self { name, forms }
    }

    fn is_in(&self, content: &[u8]) -> bool {
        let holds = |form: &Vec<u8>| content.windows(form.len()).any(|it| it == form);
        self.forms.iter().any(holds)
    }
}

fn sentinels(seal_key: &str) -> Vec<Sentinel> {
    let digits = seal_key.as_bytes().chunks(2);
    let bytes: Vec<u8> = digits
        .map(|it| u8::from_str_radix(std::str::from_utf8(it).expect("digits"), 16).expect("digits"))
        .collect();
    vec![
        Sentinel::new("the token", TOKEN.as_bytes()),
        Sentinel::new("the wrong token", WRONG_TOKEN.as_bytes()),
        Sentinel::new("the password of the registry", PASSWORD.as_bytes()),
        Sentinel::new("the password of the group", GROUP_PASSWORD.as_bytes()),
        Sentinel::new("the secret file", SECRET_FILE.as_bytes()),
        Sentinel::new("the secret of the sender", INGEST.as_bytes()),
        Sentinel::new("the seal key", seal_key.as_bytes()),
        Sentinel::new("the bytes of the seal key", &bytes),
    ]
}

/// Fails if a secret is in a content.
fn assert_none(sentinels: &[Sentinel], place: &str, content: &[u8]) {
    for sentinel in sentinels {
        assert!(!sentinel.is_in(content), "{} is in {place}", sentinel.name);
    }
}

/// Returns all files below a directory.
fn files(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![directory.to_owned()];
    while let Some(directory) = open.pop() {
        let Ok(entries) = fs::read_dir(directory) else {
            continue;
        };
        for entry in entries.flatten() {
            let kind = entry.file_type();
            match kind.is_ok_and(|it| it.is_dir()) {
                true => open.push(entry.path()),
                false => found.push(entry.path()),
            }
        }
    }
    found
}

#[test]
fn sentinel_is_found_in_every_form() {
    let sentinel = Sentinel::new("it", b"0123456789");
    for before in ["", "a", "ab", "abc"] {
        for after in ["", "z", "zy"] {
            let text = format!("{before}0123456789{after}");
            assert!(sentinel.is_in(text.as_bytes()));
            assert!(sentinel.is_in(STANDARD.encode(&text).as_bytes()), "{text}");
        }
    }
    assert!(sentinel.is_in(b"30313233343536373839"));
    assert!(!sentinel.is_in(b"012345678"));
}

/// A file with a login of its group, and with a secret file.
fn application(own: &str, of_group: &str) -> String {
    let auth = STANDARD.encode(format!("bot:{GROUP_PASSWORD}"));
    let secret = STANDARD.encode(SECRET_FILE);
    format!(
        "plain:\n  group: {{repository: {{image: {{domain: '{own}'}}}}}}\n  web:\n    version: latest\n    \
         environment: {{file: {{secret: {{key: {{mountPath: /k, data: [{{name: a, value: {secret}}}]}}}}}}}}\n\
         login:\n  group: {{repository: {{image: {{domain: '{of_group}', auth: '{auth}'}}}}}}\n  \
         web: {{version: latest}}\n"
    )
}

fn basic(password: &str) -> Registry {
    Registry::start(Behaviour {
        auth: Auth::Basic("bot".to_owned(), password.to_owned()),
        ..Behaviour::default()
    })
}

#[test]
fn c14_secret_is_in_no_answer_no_log_no_file_and_no_environment() {
    let (own, of_group) = (basic(PASSWORD), basic(GROUP_PASSWORD));
    own.push("plain/web", "latest", &[]);
    of_group.push("login/web", "latest", &[]);
    let pair = STANDARD.encode(format!("x-access-token:{TOKEN}"));
    let options = Options {
        authorization: Some(format!("Basic {pair}")),
        ..Options::default()
    };
    let file = application(&own.host(), &of_group.host());
    let repository = Repository::with_options(&file, options);
    let leash = Leash::new("pathline-secrecy-").expect("a scratch directory");
    for (name, secret) in [("password", PASSWORD), ("ingest", INGEST)] {
        fs::write(leash.directory().join(name), secret).expect("it is writable");
    }
    let hook = |name: &str, of_type: &str, auth: &str| json!({"name": name, "type": of_type, "auth": auth, "secretFile": "ingest"});
    let config = Config::of(&[&repository], &[&of_group.host()])
        .registry(json!({"name": own.host(), "http": true, "perSecond": 1000,
                         "username": "bot", "passwordFile": "password"}))
        .set(
            "ingest",
            json!([
                hook("header", "generic", "header"),
                hook("key", "distribution", "key"),
                hook("signed", "github", "hmac")
            ]),
        );
    let environment = [("PATHLINE_SEAL_KEY", SEAL_KEY)];
    let mut world = World::start_in(leash, &config, &["--log", "trace"], &environment);
    let sentinels = sentinels(SEAL_KEY);
    let mut answers = Vec::new();
    let mut ask = |request: &str, body: Option<&serde_json::Value>| {
        let answer = world.rest(request, body);
        answers.push((request.to_owned(), format!("{answer:?}")));
        answer.status
    };

    for id in ["plain.web", "login.web", "plain.wrong"] {
        let token = match id {
            "plain.wrong" => WRONG_TOKEN,
            _ => TOKEN,
        };
        let body = json!({"id": id, "token": token, "repo": repository.url(), "sourcePath": ""});
        assert_eq!(ask("POST /trackers/", Some(&body)), 201);
        assert_eq!(ask("POST /trackers/", Some(&body)), 409);
    }
    // Bodies that are wrong hold secrets, too.
    let url = format!("http://{TOKEN}@{}/shop/web", repository.host());
    for wrong in [
        json!({"id": "a.b", "token": format!("{TOKEN}\n"), "repo": repository.url(), "sourcePath": ""}),
        json!({"id": "a.b", "token": "", "repo": url, "sourcePath": ""}),
        json!({"id": "a.b", "token": [TOKEN], "repo": repository.url(), "sourcePath": ""}),
    ] {
        assert_eq!(ask("POST /trackers/", Some(&wrong)), 422);
    }
    for id in ["plain.web", "login.web"] {
        world.until_released(id, 1);
    }
    world.until_condition("plain.wrong", "AuthFailed");
    for request in [
        "GET /trackers/",
        "GET /trackers/plain.web",
        "GET /trackers/login.web",
        "GET /trackers/plain.wrong",
        "GET /releases",
        "GET /metrics",
        "GET /openapi.json",
        "GET /healthz",
        "GET /readyz",
        "POST /trackers/plain.web/poll",
        "GET /trackers/nothing.there",
        "GET /tokens",
    ] {
        assert_ne!(ask(request, None), 500, "{request}");
    }
    for id in ["plain.web", "login.web"] {
        for release in world.releases(id) {
            let id = release["id"].as_str().expect("an id");
            assert_eq!(ask(&format!("GET /releases/{id}"), None), 200);
            for format in ["text", "json"] {
                let shown = world.run(&["release", "show", id, "-o", format]);
                assert!(shown.status.success(), "{shown:?}");
                assert_none(
                    &sentinels,
                    "`release show`",
                    format!("{shown:?}").as_bytes(),
                );
            }
        }
        for format in ["text", "json"] {
            let shown = world.run(&["tracker", "get", id, "-o", format]);
            assert!(shown.status.success(), "{shown:?}");
            assert_none(&sentinels, "`tracker get`", format!("{shown:?}").as_bytes());
        }
    }
    assert_eq!(
        ask(
            "PUT /trackers/login.web",
            Some(&json!({"token": WRONG_TOKEN, "repo": repository.url(),
                                                           "sourcePath": ""}))
        ),
        200
    );
    world.until_condition("login.web", "AuthFailed");

    // Messages, with the right secret, with a wrong one, and with one in the URL.
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
        let answer = rest::ask(
            world.address(),
            &format!("POST {path}"),
            &headers,
            "{\"events\": []}",
        );
        let answer = answer.expect("it answers");
        answers.push(("POST /ingest".to_owned(), format!("{answer:?}")));
    }
    for (request, answer) in &answers {
        assert_none(
            &sentinels,
            &format!("the answer to {request}: {answer}"),
            answer.as_bytes(),
        );
    }

    fs::write(world.home.join("workers.yaml"), WORKERS).expect("it is writable");
    world.told(&["apply", "-f", "workers.yaml"]);
    for name in ["TASK", "PROCESS"] {
        let pid = until_some(|| {
            let note = files(&world.home)
                .into_iter()
                .find(|it| it.ends_with(name))?;
            let pid = fs::read_to_string(note).ok()?;
            pid.ends_with('\n').then(|| pid.trim().to_owned())
        });
        for file in ["environ", "cmdline"] {
            let content = fs::read(format!("/proc/{pid}/{file}")).expect("it runs");
            assert!(!content.is_empty());
            assert_none(&sentinels, &format!("{file} of a {name}"), &content);
        }
    }

    let stream = stream(&world);
    assert!(stream.contains("200 OK"), "{stream}");
    assert_none(&sentinels, "the stream", stream.as_bytes());
    let ended = world.stop();
    let log = &ended.stderr;
    assert!(log.contains("TRACE"), "there is a log of everything");
    for line in log.lines() {
        assert_none(&sentinels, &format!("the log: {line}"), line.as_bytes());
    }
    let files = files(&world.data_dir());
    assert!(
        files.iter().any(|it| it.ends_with("ledger.db")),
        "{files:?}"
    );
    let known = Sentinel::new("the repository", repository.host().as_bytes());
    let is_known = |it: &PathBuf| known.is_in(&fs::read(it).unwrap_or_default());
    assert!(files.iter().any(is_known), "what is no secret is found");
    for file in files {
        // What is in a pack could not be searched.
        assert!(!file.to_string_lossy().contains("git-sources"), "{file:?}");
        let content = fs::read(&file).unwrap_or_default();
        assert_none(&sentinels, &file.display().to_string(), &content);
    }
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

/// Returns what the stream tells first.
fn stream(world: &World) -> String {
    let mut stream = TcpStream::connect(world.address()).expect("it answers");
    let head = format!(
        "GET /stream HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {}\r\nLast-Event-ID: 0\r\n\r\n",
        world.rest_token()
    );
    stream.write_all(head.as_bytes()).expect("it is taken");
    let mut piece = [0; 65536];
    let mut told = String::new();
    while !told.contains("\n\n") && !told.contains("\r\n\r\n") {
        let count = stream.read(&mut piece).expect("it answers");
        assert_ne!(count, 0, "{told}");
        told += &String::from_utf8_lossy(&piece[..count]);
    }
    told
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
