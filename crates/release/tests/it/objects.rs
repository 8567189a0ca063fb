//! Objects of a release in an environment: what is written where, and that no secret is anywhere but in Secrets.

use pathline_kinds::names;
use pathline_release::application::{Application, Secrets};
use pathline_release::environment::{DeployEnvironment, read};
use pathline_release::objects::{
    Deployed, InvalidObjects, MAX_OBJECT, Objects, SecretObject, objects,
};
use pathline_release::{Release, TrackerName};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::applications::{SHOP, mk_name};
use crate::support::mk_release;

/// A value that is nowhere but in secrets.
const SENTINEL: &str = "sentinel-5f3a";

/// The same in base64.
const SENTINEL_BASE64: &str = "c2VudGluZWwtNWYzYQ==";

/// A release of an application file.
struct World {
    tracker: TrackerName,
    release: Release,
    document: Value,
    secrets: Secrets,
}

impl World {
    fn of(text: &str) -> Self {
        Self::named("shop.web", text)
    }

    fn named(name: &str, text: &str) -> Self {
        let tracker = mk_name(name);
        let application = Application::read(text, &tracker);
        let application = application.unwrap_or_else(|error| panic!("{error}\n{text}"));
        let (document, secrets) = application.split();
        let mut release = mk_release(7, "1.4.2");
        release.configuration = application.configuration("8f1c", "blob");
        release.image.repository = application.image().to_string();
        release.image.digest = format!("sha256:{}", "ab".repeat(32));
        Self {
            tracker,
            release,
            document,
            secrets,
        }
    }

    fn in_environment(&self, environment: &DeployEnvironment) -> Result<Objects, InvalidObjects> {
        let deployed = Deployed {
            tracker: &self.tracker,
            tracker_uid: "uid-1",
            id: "id-7",
            release: &self.release,
            attempt: 0,
            revision: None,
            document: &self.document,
            secrets: &self.secrets,
            environment,
        };
        objects(&deployed, &keyed)
    }

    fn objects(&self, name: &str, spec: &Value) -> Objects {
        let written = self.in_environment(&mk_environment(name, spec));
        written.expect("nothing is wrong")
    }

    fn in_prod(&self) -> Objects {
        self.objects("prod", &json!({"type": "prod"}))
    }
}

fn mk_environment(name: &str, spec: &Value) -> DeployEnvironment {
    read(name, spec).unwrap_or_else(|problems| panic!("{problems:?}"))
}

/// A digest that tells contents apart.
fn keyed(bytes: &[u8]) -> String {
    let digest = Sha256::new_with_prefix("key").chain_update(bytes);
    let digest = digest.finalize();
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn param<'a>(owner: &'a Value, name: &str) -> &'a Value {
    let params = owner["spec"]["params"].as_array().expect("params");
    let found = params.iter().find(|it| it["name"] == name);
    &found.unwrap_or_else(|| panic!("{name} in {owner:#}"))["value"]
}

/// Returns what a Secret holds, as it is written.
fn data(secret: &SecretObject) -> Value {
    serde_json::to_value(secret).expect("JSON")["data"].clone()
}

/// Returns the text of everything but Secrets.
fn shown(objects: &Objects) -> String {
    let redacted: Vec<_> = objects.secrets.iter().map(SecretObject::redacted).collect();
    format!("{:?} {} {redacted:?}", objects, objects.owner)
}

#[test]
fn workload_has_the_image_by_digest_the_configuration_and_where_it_comes_from() {
    let world = World::of(SHOP);
    let spec = json!({
        "type": "prod", "namespace": "shop-prod",
        "owner": {"labels": {"team": "shop"}, "serviceAccountName": "deployer"},
    });
    let Objects {
        owner,
        config_maps,
        secrets,
    } = world.objects("prod", &spec);
    let [config_map] = &config_maps[..] else {
        panic!("{config_maps:?}");
    };
    let name = config_map["metadata"]["name"].as_str().expect("a name");
    assert!(
        name.starts_with("shop-web-app-") && name.len() == "shop-web-app-".len() + 10,
        "{name}"
    );
    assert_eq!(
        config_map,
        &json!({
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {
                "name": name,
                "namespace": "shop-prod",
                "labels": {"pathline.dev/tracker": "shop.web", "pathline.dev/release-objects": "true"},
            },
            "immutable": true,
            "data": {"a.ini": "x"},
        })
    );
    assert!(secrets.is_empty());
    let image = format!("registry.example/shop/web@sha256:{}", "ab".repeat(32));
    let app = json!({"mountPath": "/app", "data": [{"name": "a.ini", "value": "x"}]});
    let config = json!({
        "version": "1.x",
        "repository": {"image": {"domain": "registry.example", "owner": "shop", "name": "web"}},
        "resource": {"min": {"cpu": 100, "memory": "64Mi"}, "max": {}},
        "environment": {"variable": {"LOG": "warn"}, "file": {"config": {"app": app}, "secret": {}}},
    });
    let mounted = json!({
        "name": name, "file": "app", "mountPath": "/app", "secret": false, "files": ["a.ini"],
        "items": [{"key": "a.ini", "path": "a.ini"}],
    });
    assert_eq!(
        owner,
        json!({
            "apiVersion": "carto.run/v1alpha1",
            "kind": "Workload",
            "metadata": {
                "name": "shop-web",
                "namespace": "shop-prod",
                "labels": {"team": "shop", "app.kubernetes.io/name": "web", "pathline.dev/tracker": "shop.web"},
                "annotations": {
                    "pathline.dev/tracker": "shop.web",
                    "pathline.dev/tracker-uid": "uid-1",
                    "pathline.dev/release": "7",
                    "pathline.dev/release-id": "id-7",
                    "pathline.dev/commit": "8f1c",
                    "pathline.dev/environment": "prod",
                },
            },
            "spec": {
                "image": image,
                "env": [{"name": "LOG", "value": "warn"}],
                "resources": {"requests": {"cpu": "100m", "memory": "64Mi"}},
                "serviceAccountName": "deployer",
                "params": [
                    {"name": "config", "value": config},
                    {"name": "release", "value": {"number": 7, "id": "id-7", "tag": "1.4.2", "commit": "8f1c"}},
                    {"name": "configMaps", "value": [mounted]},
                    {"name": "volumes", "value": [
                        {"name": "files-0", "configMap": {"name": name, "items": [{"key": "a.ini", "path": "a.ini"}]}},
                    ]},
                    {"name": "volumeMounts", "value": [{"name": "files-0", "mountPath": "/app", "readOnly": true}]},
                ],
            },
        })
    );
}

#[test]
fn deliverable_has_the_image_as_a_param() {
    let world = World::of(SHOP);
    let spec =
        json!({"type": "prod", "owner": {"kind": "Deliverable", "serviceAccountName": "deployer"}});
    let owner = world.objects("prod", &spec).owner;
    assert_eq!(owner["kind"], "Deliverable");
    assert_eq!(owner["spec"]["serviceAccountName"], "deployer");
    let fields: Vec<_> = owner["spec"].as_object().expect("a spec").keys().collect();
    assert_eq!(
        fields,
        ["params", "serviceAccountName"],
        "it has nothing else"
    );
    let image = format!("registry.example/shop/web@sha256:{}", "ab".repeat(32));
    assert_eq!(param(&owner, "image"), &json!(image));
    assert_eq!(
        param(&owner, "env"),
        &json!([{"name": "LOG", "value": "warn"}])
    );
    assert_eq!(param(&owner, "release")["number"], 7);
    assert_eq!(param(&owner, "configMaps")[0]["mountPath"], "/app");
}

#[test]
fn templates_find_volumes_and_the_port_as_a_pod_has_them() {
    let world = World::of(
        "shop: {web: {version: a, environment: {variable: {PORT: 7801}, file: {
           config: {app: {mountPath: /etc/web, data: [{name: a, value: x}]}, more: {data: [{name: b, value: y}]}},
           secret: {key: {mountPath: /etc/web, data: [{name: k, value: c2VjcmV0}]}}}},
           in: {prod: {environment: {variable: {PORT: none}}}}}}",
    );
    let owner = world.objects("dev", &json!({"type": "dev"})).owner;
    assert_eq!(param(&owner, "port"), &json!(7801));
    let names = |index: usize| param(&owner, "configMaps")[index]["name"].clone();
    let items = |name: &str| json!([{"key": name, "path": name}]);
    // A pod mounts no two volumes at one path.
    assert_eq!(
        param(&owner, "volumes"),
        &json!([
            {"name": "files-0", "projected": {"sources": [
                {"configMap": {"name": names(0), "items": items("a")}},
                {"secret": {"name": names(2), "items": items("k")}},
            ]}},
            {"name": "files-1", "configMap": {"name": names(1), "items": items("b")}},
        ])
    );
    assert_eq!(
        param(&owner, "volumeMounts"),
        &json!([
            {"name": "files-0", "mountPath": "/etc/web", "readOnly": true},
            {"name": "files-1", "mountPath": "/config/more", "readOnly": true},
        ])
    );
    let owner = world.in_prod().owner;
    let params = owner["spec"]["params"].as_array().expect("params");
    assert!(params.iter().all(|it| it["name"] != "port"), "{params:?}");

    let bare = World::of("shop: {web: {version: a}}").in_prod().owner;
    assert_eq!(bare["spec"]["env"], json!([]));
    for name in ["configMaps", "volumes", "volumeMounts"] {
        assert_eq!(param(&bare, name), &json!([]), "{name}");
    }
}

#[test]
fn both_dialects_give_the_same_objects() {
    let second = World::of(
        "shop: {web: {version: a, environment: {variable: {LOG: 1.10}, file: {config: {app: {data: [{name: f, value: x}]}}, \
         secret: {key: {data: [{name: k, value: c2VjcmV0}]}}}}, resource: {max: {cpu: 250}}, \
         repository: {image: {domain: quay.io}}}}",
    );
    let first = World::of(
        "shop: {web: {imageTag: a, environment: {LOG: 1.10}, config: {app: {data: [{name: f, value: x}]}}, \
         secrets: {key: {data: [{name: k, value: c2VjcmV0}]}}, resources: {max: {cpu: 250m}}, \
         containerRepository: quay.io}}",
    );
    let (first, second) = (first.in_prod(), second.in_prod());
    assert_eq!(first.owner, second.owner);
    assert_eq!(first.owner["spec"]["env"][0]["value"], "1.10");
    assert_eq!(
        first.owner["spec"]["resources"],
        json!({"limits": {"cpu": "250m"}})
    );
    assert_eq!(first.config_maps, second.config_maps);
    assert_eq!(first.secrets, second.secrets);
}

#[test]
fn configmap_of_prod_has_what_holds_in_prod_alone() {
    let world = World::of(
        "shop:
  web:
    version: a
    environment: {file: {config: {app: {mountPath: /app, data: [{name: url, value: http://dev}]}}}}
    in: {prod: {environment: {file: {config: {app: {data: [{name: url, value: http://prod}]}}}}}}
",
    );
    let of = |name: &str, spec: Value| world.objects(name, &spec).config_maps[0].clone();
    let (dev, ha, prod) = (
        of("dev", json!({"type": "dev"})),
        of("ha", json!({"type": "ha", "namespace": "dev"})),
        of("prod", json!({"type": "prod"})),
    );
    assert_eq!(dev["data"]["url"], "http://dev");
    assert_eq!(prod["data"]["url"], "http://prod");
    assert_ne!(dev["metadata"]["name"], prod["metadata"]["name"]);
    assert_eq!(dev, ha, "the same content has the same name");
    let by_type = of("eu", json!({"type": "prod"}));
    assert_eq!(by_type["data"]["url"], "http://prod", "also by its type");
    let shown = format!("{}", world.objects("dev", &json!({"type": "dev"})).owner);
    assert!(!shown.contains("http://prod"), "{shown}");
}

#[test]
fn template_is_below_the_group_and_the_application() {
    let world = World::of(
        "shop:
  group: {environment: {variable: {B: group, C: group}}}
  web: {version: a, environment: {variable: {C: own}}}
",
    );
    let spec = json!({"type": "prod", "template": {
        "environment": {"variable": {"A": "template", "B": "template", "C": "template", "N": 5}},
        "resource": {"min": {"cpu": "50m"}},
    }});
    let owner = world.objects("prod", &spec).owner;
    let env = owner["spec"]["env"].as_array().expect("variables").iter();
    let env: Vec<_> = env
        .map(|it| (it["name"].as_str(), it["value"].as_str()))
        .collect();
    let expected = [("A", "template"), ("B", "group"), ("C", "own"), ("N", "5")];
    assert_eq!(env, expected.map(|(name, value)| (Some(name), Some(value))));
    assert_eq!(owner["spec"]["resources"]["requests"]["cpu"], "50m");
}

#[test]
fn files_of_the_group_are_written_for_those_who_inherit_them() {
    let file = |application: &str| {
        World::of(&format!(
            "shop:
  group: {{environment: {{file: {{config: {{app: {{mountPath: /app, data: [{{name: a, value: b}}]}}}}, secret: {{db: {{data: [{{name: p, value: {SENTINEL_BASE64}}}]}}}}}}}}}}
  web: {{version: a{application}}}
"
        ))
    };
    let without = file("").in_prod();
    assert_eq!((without.config_maps.len(), without.secrets.len()), (0, 0));
    let inherited = file(
        ", environment: {file: {config: {app: {inheritGroup: true}}, secret: {db: {inheritGroup: true}}}}",
    );
    let with = inherited.in_prod();
    assert_eq!(with.config_maps[0]["data"], json!({"a": "b"}));
    assert_eq!(data(&with.secrets[0]), json!({"p": SENTINEL_BASE64}));
    assert!(!shown(&with).contains("sentinel") && !shown(&with).contains(SENTINEL_BASE64));
}

#[test]
fn secrets_are_nowhere_but_in_secrets() {
    let world = World::of(&format!(
        "shop:
  group: {{repository: {{image: {{domain: registry.example, auth: {SENTINEL_AUTH}}}}}}}
  web:
    version: a
    environment:
      variable: {{DB_PASSWORD: {SENTINEL}, COPY: {SENTINEL}, LOG: info, FLAG: 'true', AUTH_ON: 'true'}}
      file:
        config: {{app: {{data: [{{name: a, value: b}}]}}, credentials: {{mountPath: /c, data: [{{name: c, value: {SENTINEL}}}]}}}}
        secret: {{db: {{mountPath: /db, data: [{{name: password, value: {SENTINEL_BASE64}}}]}}}}
    apiToken: {SENTINEL}
    enviroment: {{file: {{secret: {SENTINEL}}}}}
    in: {{prod: {{environment: {{variable: {{OTHER_TOKEN: {SENTINEL}}}}}}}, ha: {{environment: {{variable: {{HA_TOKEN: {SENTINEL}}}}}}}}}
",
        SENTINEL_AUTH = "Ym90OnNlbnRpbmVsLTVmM2E=",
    ));
    let objects = world.in_prod();
    let shown = shown(&objects);
    for secret in [SENTINEL, SENTINEL_BASE64, "Ym90OnNl"] {
        assert!(!shown.contains(secret), "{secret} in {shown}");
    }
    for config_map in &objects.config_maps {
        assert!(!config_map.to_string().contains("sentinel"), "{config_map}");
    }
    let names: Vec<_> = objects.secrets.iter().map(SecretObject::name).collect();
    assert_eq!(
        names.len(),
        3,
        "a file with the name of a secret, a secret file, and variables: {names:?}"
    );
    assert_eq!(data(&objects.secrets[0]), json!({"c": SENTINEL_BASE64}));
    assert_eq!(
        data(&objects.secrets[1]),
        json!({"password": SENTINEL_BASE64})
    );
    let variables = data(&objects.secrets[2]);
    let expected = json!({
        "AUTH_ON": "dHJ1ZQ==", "COPY": SENTINEL_BASE64, "DB_PASSWORD": SENTINEL_BASE64, "OTHER_TOKEN": SENTINEL_BASE64,
    });
    assert_eq!(variables, expected);
    let env = objects.owner["spec"]["env"].as_array().expect("variables");
    let of = |name: &str| {
        env.iter()
            .find(|it| it["name"] == name)
            .cloned()
            .unwrap_or_default()
    };
    let reference = json!({"secretKeyRef": {"name": names[2], "key": "DB_PASSWORD"}});
    assert_eq!(
        of("DB_PASSWORD"),
        json!({"name": "DB_PASSWORD", "valueFrom": reference})
    );
    assert_eq!(of("LOG")["value"], "info");
    assert_eq!(
        of("FLAG")["value"],
        "true",
        "a short text is no secret because another one is"
    );
    assert_eq!(
        of("HA_TOKEN"),
        Value::Null,
        "what is for another environment is not here"
    );
    let mounted = param(&objects.owner, "configMaps")
        .as_array()
        .expect("a list");
    let secret = mounted
        .iter()
        .find(|it| it["file"] == "db")
        .expect("it is mounted");
    assert_eq!(
        (&secret["secret"], &secret["mountPath"]),
        (&json!(true), &json!("/db"))
    );
    let digest = secret["digest"].as_str().expect("a digest");
    assert!(
        secret["name"]
            .as_str()
            .expect("a name")
            .ends_with(&digest[..10])
    );
    let config = param(&objects.owner, "config");
    assert_eq!(config.pointer("/vetos"), None);
    assert_eq!(config.pointer("/repository/image/auth"), None);
}

#[test]
fn another_secret_is_another_object_and_another_owner() {
    let of = |value: &str| {
        World::of(&format!(
            "shop: {{web: {{version: a, environment: {{variable: {{A_TOKEN: {value}}}, file: {{secret: {{db: {{data: [{{name: p, value: {value}}}]}}}}}}}}}}}}"
        ))
        .in_prod()
    };
    let (one, same, other) = (of("b25l"), of("b25l"), of("dHdv"));
    assert_eq!(
        one.owner, same.owner,
        "the same arguments give the same objects"
    );
    assert_eq!(one.secrets, same.secrets);
    assert_ne!(one.owner, other.owner, "so that it is rolled out");
    for (one, other) in one.secrets.iter().zip(&other.secrets) {
        assert_ne!(one.name(), other.name());
    }
}

#[test]
fn objects_of_two_trackers_are_never_one() {
    let file =
        "a: {b-c: {version: x, environment: {file: {config: {d: {data: [{name: e, value: f}]}}}}}}";
    let other =
        "a: {b: {version: x, environment: {file: {config: {c-d: {data: [{name: e, value: f}]}}}}}}";
    let name = |tracker: &str, file: &str| {
        let config_maps = World::named(tracker, file).in_prod().config_maps;
        config_maps[0]["metadata"]["name"]
            .as_str()
            .expect("a name")
            .to_owned()
    };
    let (one, other) = (name("a.b-c", file), name("a.b", other));
    assert!(
        one.starts_with("a-b-c-d-") && other.starts_with("a-b-c-d-"),
        "{one} {other}"
    );
    assert_ne!(one, other);
}

#[test]
fn names_are_valid_whatever_trackers_and_files_are_called() {
    let long = "n".repeat(63);
    for tracker in ["Shop.Web_API", &format!("{long}.{long}"), "0.1"] {
        let (group, name) = tracker.split_once('.').expect("two parts");
        let long_file = "x".repeat(300);
        let files = ["App.Conf", "ü", "a b", "..", "-", &long_file];
        let of = |value: &str| {
            let files = files.iter();
            let files = files.map(|it| format!("\"{it}\": {{data: [{{name: \"my file\", value: {value}}}, {{name: ok, value: {value}}}]}}"));
            files.collect::<Vec<_>>().join(", ")
        };
        let file = format!(
            "\"{group}\": {{\"{name}\": {{version: a, environment: {{variable: {{\"odd token!\": x}}, file: {{config: {{{}}}, secret: {{{}}}}}}}}}}}",
            of("text"),
            of("dGV4dA==")
        );
        let objects = World::named(tracker, &file).in_prod();
        let owner = objects.owner["metadata"]["name"].as_str().expect("a name");
        assert_eq!(names::dns_label(owner), [""; 0]);
        let secrets = objects.secrets.iter();
        let secrets = secrets.map(|it| serde_json::to_value(it).expect("JSON"));
        let all: Vec<_> = objects.config_maps.iter().cloned().chain(secrets).collect();
        assert_eq!(all.len(), 2 * files.len() + 1);
        let mut seen = std::collections::BTreeSet::new();
        for object in &all {
            let name = object["metadata"]["name"].as_str().expect("a name");
            assert_eq!(names::dns_subdomain(name), [""; 0], "{name}");
            assert!(
                seen.insert((object["kind"].to_string(), name)),
                "{name} is there twice"
            );
            for (key, _) in object["data"].as_object().expect("data") {
                assert_eq!(names::config_key(key), [""; 0], "{key}");
            }
            for (_, label) in object["metadata"]["labels"].as_object().expect("labels") {
                assert_eq!(names::label_value(label.as_str().expect("a text")), [""; 0]);
            }
        }
        for mounted in param(&objects.owner, "configMaps")
            .as_array()
            .expect("a list")
        {
            assert_eq!(
                mounted["files"],
                json!(["my file", "ok"]),
                "files keep their names"
            );
            assert_eq!(mounted["items"][0]["path"], "my file");
            let path = mounted["mountPath"].as_str().expect("a path");
            assert!(path.starts_with("/config/"), "{path}");
        }
    }
}

#[test]
fn file_that_is_too_large_for_a_configmap_is_named() {
    let half = "x".repeat(MAX_OBJECT / 2);
    let file = |parts: &str, variable: &str| {
        World::of(&format!(
            "shop: {{web: {{version: a, environment: {{variable: {{BIG: &big {half}{variable}}}, file: {{config: {{huge: {{data: [{parts}]}}}}}}}}}}}}"
        ))
    };
    let prod = mk_environment("prod", &json!({"type": "prod"}));
    let world = file(
        "{name: a, value: *big}, {name: b, value: *big}, {name: c, value: d}",
        "",
    );
    let refused = world.in_environment(&prod).expect_err("it is too large");
    let said = refused.to_string();
    assert!(
        said.starts_with("the config file `huge` has 1048577 bytes"),
        "{said}"
    );
    let world = file("{name: a, value: *big}", "");
    let refused = world
        .in_environment(&prod)
        .expect_err("the owner is too large");
    assert!(
        matches!(
            refused,
            InvalidObjects::OwnerTooLarge {
                kind: "Workload",
                ..
            }
        ),
        "{refused}"
    );
    let world = file("", ", A_TOKEN: *big, B_TOKEN: *big, C_TOKEN: x");
    let refused = world
        .in_environment(&prod)
        .expect_err("the variables are too large");
    assert!(
        matches!(refused, InvalidObjects::VariablesTooLarge { .. }),
        "{refused}"
    );
}

#[test]
fn secret_that_is_no_base64_is_named_and_not_repeated() {
    let of = |value: &str| {
        let world = World::of(&format!(
            "shop: {{web: {{version: a, environment: {{file: {{secret: {{db: {{data: [{{name: p, value: \"{value}\"}}]}}}}}}}}}}}}"
        ));
        world.in_environment(&mk_environment("prod", &json!({"type": "prod"})))
    };
    for (value, written) in [
        ("c2VjcmV0", "c2VjcmV0"),
        ("c2Vj cmV0\\n", "c2VjcmV0"),
        ("YQ==", "YQ=="),
        ("YQ", "YQ=="),
        ("", ""),
    ] {
        let objects = of(value).expect("it is base64");
        assert_eq!(data(&objects.secrets[0]), json!({"p": written}), "{value}");
    }
    let refused = of("abcde").expect_err("it is not");
    assert_eq!(
        refused.to_string(),
        "`p` of the secret file `db` is not base64; `base64 < FILE` writes it"
    );
}

#[test]
fn revision_of_the_image_is_told_once_it_is_known() {
    let world = World::of(SHOP);
    let environment = mk_environment("prod", &json!({"type": "prod"}));
    let deployed = Deployed {
        tracker: &world.tracker,
        tracker_uid: "uid-1",
        id: "id-7",
        release: &world.release,
        attempt: 2,
        revision: Some("cafe"),
        document: &world.document,
        secrets: &world.secrets,
        environment: &environment,
    };
    let owner = objects(&deployed, &keyed).expect("nothing is wrong").owner;
    assert_eq!(param(&owner, "release")["revision"], "cafe");
    assert_eq!(param(&owner, "release")["attempt"], 2, "it is tried again");
}
