//! `--trackers DIR`: the trackers to begin with.

use std::fs;
use std::path::Path;

use pathline_testkit::doubles::registry::{Behaviour, Registry};
use pathline_testkit::git_server::Options;
use pathline_testkit::postgres::Server;
use pathline_testkit::{Leash, free_port};
use serde_json::json;

use super::repository::Repository;
use super::world::{Config, World};
use crate::program::{pathline, stderr};
use crate::up::UP;

fn write(leash: &Leash, name: &str, content: &str) {
    write_below(leash.directory(), name, content);
}

fn write_below(home: &Path, name: &str, content: &str) {
    let directory = home.join("trackers");
    fs::create_dir_all(&directory).expect("it is writable");
    fs::write(directory.join(name), content).expect("it is writable");
}

fn tracker(id: &str, repository: &Repository, more: &str) -> String {
    format!(
        "id: {id}\nrepo: {}\nsourcePath: ''\n{more}",
        repository.url()
    )
}

fn ids(world: &World) -> Vec<String> {
    let all = world.rest("GET /trackers/", None).json();
    let all = all.as_array().expect("trackers").clone();
    all.iter()
        .map(|it| it["id"].as_str().expect("an id").to_owned())
        .collect()
}

#[test]
fn trackers_of_a_directory_are_made_once_and_the_directory_is_not_read_again() {
    let registry = Registry::start(Behaviour::default());
    registry.push("shop/web", "latest", &[]);
    let host = registry.host();
    let file = format!(
        "shop: {{group: {{repository: {{image: {{domain: '{host}'}}}}}}, web: {{version: latest}}}}"
    );
    let options = Options {
        // `x-access-token:gho_1`
        authorization: Some("Basic eC1hY2Nlc3MtdG9rZW46Z2hvXzE=".to_owned()),
        ..Options::default()
    };
    let repository = Repository::with_options(&file, options);
    let leash = Leash::new("pathline-files-").expect("a scratch directory");
    write(
        &leash,
        "web.tracker.yaml",
        &tracker("shop.web", &repository, "tokenFile: token\n"),
    );
    write(&leash, "token", "gho_1\n");
    write(
        &leash,
        "api.tracker.yaml",
        &tracker("shop.api", &repository, "branch: main\n"),
    );
    write(&leash, "README", "nobody reads this");
    let config = Config::of(&[&repository], &[&host]).set("trackers", json!("trackers"));
    let mut world = World::start_in(leash, &config, &[], &[]);
    assert_eq!(ids(&world), ["shop.api", "shop.web"]);
    let made = world.tracker("shop.web");
    assert_eq!(
        (&made["createdBy"], &made["hasToken"]),
        (&json!("file"), &json!(true))
    );
    world.until_released("shop.web", 1);
    world.until_condition("shop.api", "AuthFailed");

    for id in ["shop.api", "shop.web"] {
        assert_eq!(
            world.rest(&format!("DELETE /trackers/{id}"), None).status,
            204
        );
    }
    write_below(
        &world.home,
        "jobs.tracker.yaml",
        &tracker("shop.jobs", &repository, ""),
    );
    write_below(&world.home, "wrong.tracker.yaml", "no tracker at all");
    let leash = world.stop().leash;
    world.start_again(leash);
    assert_eq!(ids(&world), [""; 0]);
    assert_eq!(world.releases("shop.web").len(), 1);
}

#[test]
fn mistake_in_one_file_is_named_and_leaves_nothing_half_done() {
    let repository = Repository::with("shop: {web: {version: latest}}");
    let host = format!("127.0.0.1:{}", free_port());
    let leash = Leash::new("pathline-files-").expect("a scratch directory");
    write(
        &leash,
        "a.tracker.yaml",
        &tracker("shop.web", &repository, ""),
    );
    let config = Config::of(&[&repository], &[&host]);
    let home = leash.directory().to_owned();
    fs::write(home.join("pathline.yaml"), config.text()).expect("it is writable");
    let begin = || {
        let mut command = pathline();
        command
            .args(UP)
            .args(["--config", "pathline.yaml", "--trackers", "trackers"]);
        let refused = command
            .current_dir(&home)
            .output()
            .expect("the binary runs");
        assert_eq!(refused.status.code(), Some(3), "{refused:?}");
        stderr(&refused)
    };
    for (content, message) in [
        ("id: shop.api\n", "repo: "),
        (
            "id: shop.api\nrepo: https://evil.example/a/b\nsourcePath: ''\n",
            "repo: ",
        ),
        (
            &*tracker("shop.api", &repository, "token: gho_SENTINEL\n"),
            "tokenFile",
        ),
        (
            &*tracker("shop.api", &repository, "tokenFile: missing\n"),
            "cannot read",
        ),
        (&*tracker("SHOP.WEB", &repository, ""), "another file with"),
        ("[", ""),
        ("a: 1\n---\nb: 2\n", "one document is expected"),
    ] {
        write(&leash, "b.tracker.yaml", content);
        let said = begin();
        assert!(
            said.contains("b.tracker.yaml") && said.contains(message),
            "{content}: {said}"
        );
        assert!(said.contains("hint: nothing was made"), "{said}");
        assert!(!said.contains("SENTINEL"), "{said}");
    }
    write(
        &leash,
        "b.tracker.yaml",
        &tracker("shop.api", &repository, ""),
    );
    write(&leash, "c.app.yaml", "shop: {web: {version: 1.10}}");
    let said = begin();
    assert!(
        said.contains("c.app.yaml") && said.contains("quote the version"),
        "{said}"
    );
    write(&leash, "c.app.yaml", "other: [");
    let said = begin();
    assert!(said.contains("c.app.yaml: line 1"), "{said}");
    let mut world = World::start_in(leash, &config, &[], &[]);
    assert_eq!(ids(&world), [""; 0], "nothing was made");
    let leash = world.stop().leash;
    fs::remove_file(home.join("trackers/c.app.yaml")).expect("it is there");
    let world = World::start_in(leash, &config, &["--trackers", "trackers"], &[]);
    assert_eq!(ids(&world), ["shop.api", "shop.web"]);
}

#[test]
fn application_file_of_the_directory_counts_until_the_repository_is_read() {
    let repository = Repository::with("shop: {web: {version: latest}}");
    repository.set_there(false);
    let host = format!("127.0.0.1:{}", free_port());
    let leash = Leash::new("pathline-files-").expect("a scratch directory");
    write(
        &leash,
        "web.tracker.yaml",
        &tracker("shop.web", &repository, ""),
    );
    let application =
        format!("shop: {{web: {{version: '1.x', repository: {{image: {{domain: '{host}'}}}}}}}}");
    write(&leash, "web.app.yaml", &application);
    let config = Config::of(&[&repository], &[&host]);
    let world = World::start_in(leash, &config, &["--trackers", "trackers"], &[]);
    let tracker = world.tracker("shop.web");
    assert_eq!(tracker["status"]["image"]["label"], "1.x", "{tracker:#}");
    repository.set_there(true);
    world.poll("shop.web");
    world.until("shop.web", "the file of the repository", |it| {
        it["image"]["label"] == "latest"
    });
}

#[test]
fn trackers_with_tokens_and_a_ledger_without_a_key_leave_nothing_half_done() {
    let Some(server) = Server::shared("trackers of files in PostgreSQL") else {
        return;
    };
    let repository = Repository::with("shop: {web: {version: latest}}");
    let leash = Leash::new("pathline-files-").expect("a scratch directory");
    write(
        &leash,
        "a.tracker.yaml",
        &tracker("shop.web", &repository, ""),
    );
    write(
        &leash,
        "b.tracker.yaml",
        &tracker("shop.api", &repository, "tokenFile: token\n"),
    );
    write(&leash, "token", "gho_1\n");
    let config = Config::of(&[&repository], &[&format!("127.0.0.1:{}", free_port())]);
    let database = server.database();
    let home = leash.directory().to_owned();
    fs::write(home.join("pathline.yaml"), config.text()).expect("it is writable");
    let mut command = pathline();
    command
        .args(UP)
        .args(["--config", "pathline.yaml", "--trackers", "trackers"]);
    command.args(["--ledger", &database]).current_dir(&home);
    let refused = command.output().expect("the binary runs");
    let said = stderr(&refused);
    assert_eq!(refused.status.code(), Some(1), "{said}");
    assert!(
        said.contains("hint: nothing was made; --seal-key"),
        "{said}"
    );
    fs::write(home.join("mine.key"), "ab".repeat(32)).expect("it is writable");
    let arguments = [
        "--ledger",
        &database,
        "--trackers",
        "trackers",
        "--seal-key",
        "mine.key",
    ];
    let world = World::start_in(leash, &config, &arguments, &[]);
    assert_eq!(ids(&world), ["shop.api", "shop.web"]);
}
