//! Registries that people run today: logins of all kinds, pages, and messages about pushes.

use std::fs;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use pathline_testkit::Leash;
use pathline_testkit::registry::{
    Auth, Crane, Options, PASSWORD, Program, RealRegistry, TokenService, USER,
};
use serde_json::json;

use super::proxy::{Proxy, Way};
use super::repository::Repository;
use super::world::{Config, World};

const SUITE: &str = "trackers with distribution";

#[test]
fn push_is_released_when_the_registry_tells_of_it_and_not_at_the_next_poll() {
    let Some(crane) = Crane::find(SUITE) else {
        return;
    };
    let proxy = Proxy::start(Way::Closed);
    let options = Options {
        notifications: Some(format!("http://{}/ingest/registry?key=k3y", proxy.host())),
        max_tags: Some(2),
        ..Options::default()
    };
    let Some(registry) = RealRegistry::start(SUITE, Program::Distribution, &options) else {
        return;
    };
    let host = registry.host();
    let file = format!(
        "shop: {{group: {{repository: {{image: {{domain: '{host}'}}}}}}, web: {{version: '1.x'}}}}"
    );
    let repository = Repository::with(&file);
    let image = |tag: &str| format!("{host}/shop/web:{tag}");
    for tag in ["0.9.0", "1.0.0", "1.10.0", "1.2.0", "latest"] {
        crane.push(&image(tag), &[]);
    }
    let leash = Leash::new("pathline-distribution-").expect("a scratch directory");
    fs::write(leash.directory().join("key"), "k3y\n").expect("it is writable");
    let sender =
        json!({"name": "registry", "type": "distribution", "auth": "key", "secretFile": "key"});
    let config = Config::of(&[&repository], &[host])
        .set("polling", json!({"interval": "10h"}))
        .set("ingest", json!([sender]));
    let world = World::start_in(leash, &config, &[], &[]);
    world.follow("shop.web", &repository);
    let release = world.until_released("shop.web", 1);
    assert_eq!(release["image"]["tag"], "1.10.0", "of all pages");

    let address = world.address().parse().expect("an address");
    proxy.set(Way::To(address));
    let digest = crane.push(&image("1.11.0"), &[]);
    // The registry may tell of the first of several pushes before the last one is there.
    world.until("shop.web", "the digest", |status| {
        let image = status["lastRelease"]["image"].as_str();
        image.is_some_and(|it| it.ends_with(&digest))
    });
    let last = world.releases("shop.web").pop().expect("there is one");
    assert_eq!(last["image"]["tag"], "1.11.0");
}

#[test]
fn login_may_be_in_the_configuration_in_dockers_file_or_in_the_group() {
    let Some(crane) = Crane::find(SUITE) else {
        return;
    };
    let basic = Options {
        auth: Auth::Basic,
        ..Options::default()
    };
    let service = TokenService::start();
    let bearer = Options {
        auth: service.auth(),
        ..Options::default()
    };
    let Some(debian) = RealRegistry::start(SUITE, Program::Debian, &basic) else {
        return;
    };
    let Some(distribution) = RealRegistry::start(SUITE, Program::Distribution, &bearer) else {
        return;
    };
    // Each registry has two names, and each name a login of its own.
    let named = |registry: &RealRegistry| registry.host().replace("127.0.0.1", "localhost");
    let names = [
        ("a", debian.host().to_owned()),
        ("b", named(&debian)),
        ("c", distribution.host().to_owned()),
        ("d", named(&distribution)),
    ];
    for registry in [debian.host(), distribution.host()] {
        crane.log_in(registry, USER, PASSWORD);
        for (group, _) in &names {
            crane.push(&format!("{registry}/{group}/web:latest"), &[]);
        }
    }
    let auth = STANDARD.encode(format!("{USER}:{PASSWORD}"));
    let mut file = String::new();
    for (group, registry) in &names {
        let own = match *group {
            "c" => format!(", auth: '{auth}'"),
            _ => String::new(),
        };
        file += &format!(
            "{group}: {{group: {{repository: {{image: {{domain: '{registry}'{own}}}}}}}, web: {{version: latest}}}}\n"
        );
    }
    let repository = Repository::with(&file);
    let leash = Leash::new("pathline-logins-").expect("a scratch directory");
    let write = |name: &str, content: &str| {
        fs::write(leash.directory().join(name), content).expect("it is writable");
    };
    write("password", PASSWORD);
    let docker = json!({"auths": {(names[1].1.as_str()): {"auth": auth}}});
    write("config.json", &docker.to_string());
    let login = |name: &str| {
        json!({"name": name, "http": true, "perSecond": 1000, "username": USER,
               "passwordFile": "password"})
    };
    let plain = [&*names[1].1, &names[2].1, &service.host()];
    let config = Config::of(&[&repository], &plain)
        .registry(login(&names[0].1))
        .registry(login(&names[3].1))
        .set("dockerConfig", json!("config.json"));
    let world = World::start_in(leash, &config, &[], &[]);
    for (group, _) in &names {
        world.follow(&format!("{group}.web"), &repository);
    }
    for (group, _) in &names {
        world.until_released(&format!("{group}.web"), 1);
    }
}
