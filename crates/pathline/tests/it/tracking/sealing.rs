//! The key that seals secrets: made, given, rotated, wrong and missing.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::sync::atomic::{AtomicU64, Ordering};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use pathline_testkit::git_server::Options;
use pathline_testkit::postgres::Server;
use pathline_testkit::{Leash, free_port};
use serde_json::{Value, json};

use super::repository::Repository;
use super::world::{Config, World};
use crate::program::{Running, pathline, run, stderr, stdout};
use crate::up::UP;

const TOKEN: &str = "gho_0123456789";
const KEY: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

/// A repository that only the token opens, and a registry that is not there.
fn closed() -> (Repository, Config) {
    let pair = STANDARD.encode(format!("x-access-token:{TOKEN}"));
    let options = Options {
        authorization: Some(format!("Basic {pair}")),
        ..Options::default()
    };
    let port = free_port();
    let file = format!(
        "shop: {{web: {{version: latest, repository: {{image: {{domain: '127.0.0.1:{port}'}}}}}}}}\n"
    );
    let repository = Repository::with_options(&file, options);
    let config = Config::of(&[&repository], &[&format!("127.0.0.1:{port}")]);
    (repository, config)
}

/// Fails unless the repository can be read with the token that is sealed.
fn assert_opens(world: &World, repository: &Repository) {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let path = repository.directory().join("fathomable.yaml");
    let file = fs::read_to_string(path).expect("it is there");
    let begin = file.find("version:").expect("it has a version");
    let end = begin + file[begin..].find(',').expect("it is not the last key");
    let file = format!("{}version: v{number}{}", &file[..begin], &file[end..]);
    let commit = repository.commit(&file);
    world.poll("shop.web");
    world.until("shop.web", "the newest commit", |it| {
        it["source"]["commit"] == commit
    });
}

/// Starts `up` in a directory, which must fail, and returns what it says.
fn refusal(world: &World, more: &[&str]) -> String {
    let mut command = pathline();
    command.args(UP).args(more).current_dir(&world.home);
    let refused = command.output().expect("the binary runs");
    assert!(!refused.status.success());
    stderr(&refused)
}

#[test]
fn seal_new_prints_a_key_and_no_two_are_the_same() {
    let keys = [(); 2].map(|()| stdout(&run(&["seal", "new"])));
    assert_ne!(keys[0], keys[1]);
    for key in keys {
        assert_eq!(key.len(), 65);
        assert!(key.trim_end().bytes().all(|it| it.is_ascii_hexdigit()));
    }
}

#[test]
fn key_is_made_for_its_user_alone_and_kept() {
    let (repository, config) = closed();
    let mut world = World::start(&config);
    let path = world.data_dir().join("seal.key");
    let mode = fs::metadata(&path)
        .expect("it is made")
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
    let key = fs::read_to_string(&path).expect("it is readable");
    world.follow_so("shop.web", &repository, &json!({"token": TOKEN}));
    assert_opens(&world, &repository);
    let leash = world.stop().leash;
    world.start_again(leash);
    assert_eq!(fs::read_to_string(&path).expect("it is readable"), key);
    assert_opens(&world, &repository);
}

#[test]
fn rotation_is_refused_while_pathline_runs_and_works_once_it_is_stopped() {
    let (repository, config) = closed();
    let mut world = World::start(&config);
    world.follow_so("shop.web", &repository, &json!({"token": TOKEN}));
    assert_opens(&world, &repository);
    let path = world.data_dir().join("seal.key");
    let old = fs::read_to_string(&path).expect("it is readable");

    let refused = world.run(&["seal", "rotate"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(
        stderr(&refused).contains("Pathline runs on this data directory"),
        "{refused:?}"
    );
    assert!(
        stderr(&refused).contains("hint: stop it first"),
        "{refused:?}"
    );
    assert_eq!(fs::read_to_string(&path).expect("it is readable"), old);
    assert!(!world.data_dir().join("seal.key.next").exists());

    let leash = world.stop().leash;
    let rotated = world.told(&["seal", "rotate", "-o", "json"]);
    let rotated: Value = serde_json::from_str(&rotated).expect("JSON");
    assert_eq!(rotated["resealed"], 1);
    let new = fs::read_to_string(&path).expect("it is readable");
    assert_ne!(new, old);
    let mode = fs::metadata(&path)
        .expect("it is there")
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
    world.start_again(leash);
    assert_opens(&world, &repository);
    let leash = world.stop().leash;

    // The old key opens nothing any more, and that is said.
    fs::write(&path, &old).expect("it is writable");
    let said = refusal(&world, &[]);
    assert!(said.contains("sealed with another key"), "{said}");
    assert!(
        said.contains("hint: put the copy of the key back"),
        "{said}"
    );
    fs::write(&path, &new).expect("it is writable");
    world.start_again(leash);
    assert_opens(&world, &repository);
}

#[test]
fn rotation_that_was_interrupted_is_finished_by_the_next_start_or_the_next_rotation() {
    let (repository, config) = closed();
    let mut world = World::start(&config);
    world.follow_so("shop.web", &repository, &json!({"token": TOKEN}));
    let [key, next] = ["seal.key", "seal.key.next"].map(|it| world.data_dir().join(it));
    let read = || fs::read_to_string(&key).expect("it is readable");

    // Before anything was sealed with the next key.
    let leash = world.stop().leash;
    let old = read();
    fs::write(&next, KEY).expect("it is writable");
    world.start_again(leash);
    assert_eq!(read(), old, "the key in use stays");
    assert_opens(&world, &repository);
    let leash = world.stop().leash;
    world.told(&["seal", "rotate"]);
    assert_eq!(
        read().trim(),
        KEY,
        "the rotation goes on with the key that it had made"
    );
    assert!(!next.exists());

    // After everything was sealed, and before the next key took its place.
    fs::write(&next, KEY).expect("it is writable");
    fs::write(&key, &old).expect("it is writable");
    world.start_again(leash);
    assert_eq!(read().trim(), KEY);
    assert!(!next.exists());
    assert_opens(&world, &repository);
    let _kept = world.stop();

    fs::rename(&key, &next).expect("it is writable");
    fs::write(&key, &old).expect("it is writable");
    let rotated = world.told(&["seal", "rotate"]);
    assert!(rotated.starts_with("sealed 1 secrets anew"), "{rotated}");
    assert_eq!(read().trim(), KEY);
}

#[test]
fn key_that_is_lost_is_not_replaced_by_another_one() {
    let (repository, config) = closed();
    let mut world = World::start(&config);
    world.follow_so("shop.web", &repository, &json!({"token": TOKEN}));
    let leash = world.stop().leash;
    let path = world.data_dir().join("seal.key");
    let kept = world.home.join("kept");
    fs::rename(&path, &kept).expect("it is writable");
    let said = refusal(&world, &[]);
    assert!(said.contains("sealed with another key"), "{said}");
    assert!(
        said.contains("hint: put the copy of the key back"),
        "{said}"
    );
    assert!(!path.exists(), "a key that opens nothing is not kept");
    fs::rename(&kept, &path).expect("it is writable");
    world.start_again(leash);
    assert_opens(&world, &repository);
}

#[test]
fn key_that_is_lost_for_good_costs_the_secrets_and_nothing_else() {
    let (repository, config) = closed();
    let mut world = World::start(&config);
    world.follow_so("shop.web", &repository, &json!({"token": TOKEN}));
    world.follow_so("shop.public", &repository, &json!({}));
    assert_opens(&world, &repository);
    let before = world.tracker("shop.web");
    let running = world.run(&["seal", "reset", "--forget-secrets"]);
    assert_eq!(running.status.code(), Some(1), "{running:?}");
    let leash = world.stop().leash;
    let path = world.data_dir().join("seal.key");

    // As long as the key is there, nothing is forgotten.
    let refused = world.run(&["seal", "reset", "--forget-secrets"]);
    let said = stderr(&refused);
    assert!(
        said.contains("opens what is sealed; nothing is lost"),
        "{said}"
    );
    fs::remove_file(&path).expect("it is there");
    let said = refusal(&world, &[]);
    assert!(said.contains("`pathline seal reset`"), "{said}");
    let asked = world.run(&["seal", "reset"]);
    assert_eq!(asked.status.code(), Some(2), "{asked:?}");
    let said = stderr(&asked);
    assert!(
        said.contains("the tokens of 1 trackers (shop.web)"),
        "{said}"
    );
    assert!(said.contains("--forget-secrets"), "{said}");

    let told = world.told(&["seal", "reset", "--forget-secrets"]);
    assert_eq!(
        told,
        "forgot the tokens of 1 trackers, and the secrets of 0 configurations\n  \
         pathline tracker set shop.web --source-token-file FILE\n"
    );
    world.start_again(leash);
    assert!(path.exists(), "there is a new key");
    let message = world.until_condition("shop.web", "TokenLost");
    let todo = "`pathline tracker set shop.web --source-token-file FILE`";
    assert!(message.contains(todo), "{message}");
    let after = world.tracker("shop.web");
    assert_eq!(after["hasToken"], false);
    assert_eq!(after["status"]["phase"], "degraded");
    assert_eq!(after["status"]["source"], before["status"]["source"]);
    let shown = world.told(&["tracker", "get", "shop.web"]);
    assert!(shown.contains("TokenLost: "), "{shown}");
    // The other one, of the same file, is asked as before.
    world.look("shop.public");

    fs::write(world.home.join("token"), TOKEN).expect("it is writable");
    world.told(&["tracker", "set", "shop.web", "--source-token-file", "token"]);
    assert_opens(&world, &repository);
    assert_eq!(world.tracker("shop.web")["hasToken"], true);
}

#[test]
fn key_that_is_lost_for_good_is_got_over_with_another_ledger() {
    let (repository, config) = closed();
    let mut world = World::start(&config);
    world.follow_so("shop.web", &repository, &json!({"token": TOKEN}));
    let leash = world.stop().leash;
    fs::remove_file(world.data_dir().join("seal.key")).expect("it is there");
    for file in ["ledger.db", "ledger.db-wal", "ledger.db-shm"] {
        // The last two are there only after a crash.
        let _ = fs::rename(world.data_dir().join(file), world.home.join(file));
    }
    world.start_again(leash);
    world.follow_so("shop.web", &repository, &json!({"token": TOKEN}));
    assert_opens(&world, &repository);
}

#[test]
fn key_may_be_a_file_or_a_variable_and_a_wrong_one_is_a_clear_error() {
    let (repository, config) = closed();
    let leash = Leash::new("pathline-key-").expect("a scratch directory");
    let file = leash.directory().join("mine.key");
    fs::write(&file, KEY).expect("it is writable");
    let mut world = World::start_in(leash, &config, &["--seal-key", "mine.key"], &[]);
    world.follow_so("shop.web", &repository, &json!({"token": TOKEN}));
    assert!(!world.data_dir().join("seal.key").exists());
    let leash = world.stop().leash;

    for (content, message) in [
        ("cd".repeat(32), "sealed with another key"),
        (
            "12".to_owned(),
            "holds no key: 64 hexadecimal digits are expected",
        ),
    ] {
        fs::write(world.home.join("other.key"), &content).expect("it is writable");
        let said = refusal(&world, &["--seal-key", "other.key"]);
        assert!(said.contains(message) && !said.contains(&content), "{said}");
    }
    let said = refusal(&world, &["--seal-key", "missing.key"]);
    assert!(
        said.contains("cannot read the key missing.key") && said.contains("hint: put the copy"),
        "{said}"
    );

    let mut command = pathline();
    command
        .args(UP)
        .args(["--config", "pathline.yaml"])
        .env("PATHLINE_SEAL_KEY", KEY);
    let mut up = Running::spawn(leash, command);
    assert_eq!(up.json()["ready"], true);
}

#[test]
fn shared_ledger_without_a_key_follows_what_needs_no_token_and_says_what_to_do() {
    let Some(server) = Server::shared("tokens of trackers in PostgreSQL") else {
        return;
    };
    let repository = Repository::with("shop: {web: {version: latest}}");
    let port = free_port();
    let config = Config::of(&[&repository], &[&format!("127.0.0.1:{port}")]);
    let database = server.database();
    let world = World::start_with(&config, &["--ledger", &database], &[]);
    assert!(!world.data_dir().join("seal.key").exists());
    let body = |id: &str, token: &str| json!({"id": id, "token": token, "repo": repository.url(), "sourcePath": ""});
    let refused = world.rest("POST /trackers/", Some(&body("shop.web", TOKEN)));
    assert_eq!(refused.status, 503, "{refused:?}");
    assert!(refused.body.contains("--seal-key"), "{refused:?}");
    assert!(refused.body.contains("pathline seal new"), "{refused:?}");
    let made = world.rest("POST /trackers/", Some(&body("shop.web", "")));
    assert_eq!(made.status, 201, "{made:?}");
}
