//! The application file: both dialects, what is refused and where, and what changes its hash.

use pathline_release::application::{Application, MAX_FILE, Warning, settings, warnings};
use pathline_release::{TrackerName, Vetos};
use pathline_testkit::cases;
use proptest::prelude::*;
use serde_json::json;

/// The file of the documentation.
pub(crate) const SHOP: &str = "\
shop:
  group: {repository: {image: {domain: registry.example, owner: shop}}, environment: {}}
  web:
    version: '1.x'
    repository: {image: {name: web}}
    resource: {min: {cpu: 100, memory: 64Mi}, max: {}}   # thousandths of a core
    environment: {variable: {LOG: info}, file: {config: {app: {mountPath: /app, data: [{name: a.ini, value: x}]}}, secret: {}}}
    vetos: {autoDeploy: true, omitFromNamespaces: []}
    in: {prod: {environment: {variable: {LOG: warn}}}}
";

pub(crate) fn mk_name(text: &str) -> TrackerName {
    text.parse().expect("a name")
}

fn read(text: &str) -> Application {
    Application::read(text, &mk_name("shop.web")).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Returns why the application `shop.web` of a file is refused.
fn refused(text: &str) -> String {
    let read = Application::read(text, &mk_name("shop.web"));
    read.expect_err(text).to_string()
}

fn image(text: &str) -> String {
    read(text).image().to_string()
}

#[test]
fn file_of_the_documentation_is_read() {
    let web = read(SHOP);
    assert_eq!(web.label().as_str(), "1.x");
    assert_eq!(web.image().to_string(), "registry.example/shop/web");
    assert_eq!(web.vetos(), &Vetos::default());
    let configuration = web.configuration("commit", "blob");
    assert_eq!(configuration.repository, "registry.example/shop/web");
    assert_eq!(configuration.config_hash, web.config_hash());
    assert_eq!(configuration.config_hash.len(), 64);
}

#[test]
fn minimal_files_of_both_dialects_are_read_with_their_defaults() {
    assert_eq!(
        image("shop: {web: {version: 'v1.8.x'}}"),
        "docker.io/shop/web"
    );
    assert_eq!(
        image("shop: {web: {imageTag: 'v1.8.x'}}"),
        "quay.io/shop/web"
    );
    let wild = "sotekton:\n  fcis:\n    repository:\n      domain: 742773893669.dkr.ecr.ap-southeast-2.amazonaws.com\n    version: 0.0.0\n";
    let wild = Application::read(wild, &mk_name("sotekton.fcis")).expect("a real file");
    let registry = "742773893669.dkr.ecr.ap-southeast-2.amazonaws.com/sotekton/fcis";
    assert_eq!(
        (wild.image().to_string().as_str(), wild.label().as_str()),
        (registry, "0.0.0")
    );
    let cyvive = "coreos: {example-app: {imageTag: v1.0, vetos: {containerRepository: quay.io}}}";
    let cyvive = Application::read(cyvive, &mk_name("coreos.example-app")).expect("a real file");
    assert_eq!(cyvive.image().to_string(), "quay.io/coreos/example-app");
}

#[test]
fn names_of_images_are_made_of_domain_owner_name_and_component() {
    for (settings, expected) in [
        ("version: a", "docker.io/shop/web"),
        ("version: a, component: api", "docker.io/shop/web-api"),
        (
            "version: a, repository: {image: {domain: hub.docker.io}}",
            "docker.io/shop/web",
        ),
        (
            "version: a, repository: {image: {domain: registry-1.docker.io}}",
            "docker.io/shop/web",
        ),
        (
            "version: a, repository: {image: {domain: 'localhost:5000'}}",
            "localhost:5000/shop/web",
        ),
        (
            "version: a, repository: {image: {name: Redis, officialImage: true}}",
            "docker.io/library/redis",
        ),
        (
            "version: a, repository: {image: {owner: ''}}",
            "docker.io/library/web",
        ),
        (
            "version: a, repository: {image: {domain: r.example, officialImage: true}}",
            "r.example/web",
        ),
        (
            "version: a, repository: {image: {domain: r.example, owner: a/b__c, name: d.e}}",
            "r.example/a/b__c/d.e",
        ),
        (
            "version: a, repository: {owner: me, image: {owner: you}}",
            "docker.io/you/web",
        ),
        (
            "imageTag: a, vetos: {containerOwner: me, containerName: it}",
            "quay.io/me/it",
        ),
        ("imageTag: a, vetos: {name: it}", "quay.io/shop/it"),
        (
            "imageTag: a, vetos: {officialImage: redis, containerRepository: hub.docker.io}",
            "docker.io/library/redis",
        ),
    ] {
        assert_eq!(
            image(&format!("shop: {{web: {{{settings}}}}}")),
            expected,
            "{settings}"
        );
    }
    let group =
        "shop: {group: {containerOwner: us, containerRepository: gcr.io}, web: {imageTag: a}}";
    assert_eq!(image(group), "gcr.io/us/web");
    let upper = Application::read("Shop: {Web: {version: a}}", &mk_name("Shop.Web"));
    assert_eq!(
        upper.expect("a file").image().to_string(),
        "docker.io/shop/web"
    );
}

#[test]
fn what_is_wrong_is_told_with_line_and_column_and_without_the_value() {
    for (text, expected) in [
        (
            "shop:\n  web: {version: 1.10}",
            "line 2, column 18: quote the version: a number such as 1.10 is read as 1.1",
        ),
        (
            "shop:\n  web: {version: 1}",
            "line 2, column 18: quote the version: a number such as 1.10 is read as 1.1",
        ),
        (
            "shop:\n  web: {version: a, environment: {variable: {'A=': x}}}",
            "line 2, column 52: the name of a variable is one or more printable ASCII characters, and no `=`",
        ),
        (
            "shop:\n  web: {version: a, environment: {variable: {A: \"x\\0\"}}}",
            "line 2, column 49: a variable cannot hold a NUL byte",
        ),
        (
            "shop:\n  web: {version: true}",
            "line 2, column 18: a text is expected",
        ),
        (
            "shop:\n  web: {version: ''}",
            "line 2, column 18: the version is wrong: the version is empty",
        ),
        (
            "shop:\n  web: {version: '>=1,'}",
            "line 2, column 18: the version is not a range: `` is there where a version is expected",
        ),
        ("shop:\n  web: {}", "line 2, column 8: `version` is missing"),
        ("shop:\n  web:\n", "line 2, column 7: `version` is missing"),
        (
            "shop:\n  web: {version: a, imageTag: b}",
            "line 2, column 31: `imageTag` is an older word for `version`; there is one of them",
        ),
        (
            "shop:\n  api: {version: a}",
            "line 2, column 3: the group has no application `web`",
        ),
        (
            "store: {web: {version: a}}",
            "line 1, column 1: the file has no group `shop`",
        ),
        ("[]", "line 1, column 1: a map is expected"),
        ("shop: 1", "line 1, column 7: a map is expected"),
        ("", "line 1, column 1: the file is empty"),
        ("# nothing yet\n", "line 1, column 1: the file is empty"),
        (
            "shop:\n  web: {version: 'sha256:abcd'}",
            "line 2, column 18: the version is wrong: a digest is `sha256:` and 64 hexadecimal digits, in lower case",
        ),
        (
            "shop:\n  web: {version: '1.0 - 2.0'}",
            "line 2, column 18: the version is not a range: `-` is no sign of ranges; write `>=1.0 <=2.0` for `1.0 - 2.0`",
        ),
        (
            "shop:\n  web:\n    version: >=1.0\n",
            "line 3, column 14: quote the version: `>` means something else in YAML",
        ),
        (
            "shop:\n  web:\n    version: *\n",
            "line 3, column 14: quote the version: `*` means something else in YAML",
        ),
        (
            "shop:\n  web:\n    imageTag: *.x\n",
            "line 3, column 15: quote the version: `*` means something else in YAML",
        ),
        (
            "shop:\n  web:\n    version: !=1.0\n",
            "line 3, column 14: quote the version: `!` begins a tag of YAML",
        ),
        (
            "shop: {web: {version: a}}\n---\nshop: {web: {version: b}}",
            "line 1, column 1: one document is expected",
        ),
        (
            "shop: {web: {version: a, version: b}}",
            "line 1, column 26: the key `version` is there twice",
        ),
        (
            "shop: {web: {version: a, in: {prod: {version: b}}}}",
            "line 1, column 47: `version` is the same in all environments",
        ),
        (
            "shop: {web: {version: a, environment: {variable: {A: [secret]}}}}",
            "line 1, column 54: a text is expected",
        ),
        (
            "shop: {web: {version: a, environment: []}}",
            "line 1, column 39: a map is expected",
        ),
        (
            "shop: {web: {version: a, resource: {min: {cpu: 0.5}}}}",
            "line 1, column 48: thousandths of a core are expected, such as 100",
        ),
        (
            "shop: {web: {version: a, resource: {max: {memory: 1GB}}}}",
            "line 1, column 51: an amount of memory is expected, such as 64Mi",
        ),
        (
            "shop: {web: {version: a, vetos: {autoDeploy: 'no'}}}",
            "line 1, column 46: true or false is expected",
        ),
        (
            "shop: {web: {version: a, vetos: {omitFromNamespaces: prod}}}",
            "line 1, column 54: a list is expected",
        ),
        (
            "shop: {web: {version: a, repository: {image: {domain: 'a/b'}}}}",
            "line 1, column 13: the domain of the image is no name of a host",
        ),
        (
            "shop: {web: {version: a, repository: {image: {name: 'a b'}}}}",
            "line 1, column 13: owner and name of the image make no name that a registry allows",
        ),
        (
            "shop: {web: {version: a, environment: {file: {config: {x: {mountPath: app}}}}}}",
            "line 1, column 71: an absolute path is expected",
        ),
        (
            "shop: {web: {version: a, environment: {file: {config: {x: {data: [{value: x}]}}}}}}",
            "line 1, column 67: a file has to have a `name`",
        ),
        (
            "shop: {web: {version: a, environment: {file: {config: {x: {data: [{name: ../x, value: x}]}}}}}}",
            "line 1, column 74: the name of a file is expected, without a directory",
        ),
        (
            "shop: {web: {version: a, environment: {file: {secret: {x: {data: [{name: a, value: 's-e-c'}]}}}}}}",
            "line 1, column 84: base64 is expected",
        ),
        (
            "shop: {web: {imageTag: a, environment: {variable: {A: b}}}}",
            "line 1, column 51: with `imageTag`, `environment` is a flat map of variables; write `version` for `imageTag` to have `variable` and `file` in it",
        ),
        (
            "shop: {web: {version: a, repository: {image: {auth: {username: s-e-c}}}}}",
            "line 1, column 53: a text is expected: `USER:PASSWORD` in base64, as Docker has it",
        ),
        (
            "shop: {web: {version: a, repository: {image: {auth: 's-e-c:ret'}}}}",
            "line 1, column 53: a text is expected: `USER:PASSWORD` in base64, as Docker has it",
        ),
        (
            "shop: {group: {repository: {auth: c2VjcmV0}}, web: {version: a}}",
            "line 1, column 35: a text is expected: `USER:PASSWORD` in base64, as Docker has it",
        ),
        (
            "shop: {group: {authRepository: [c2Vj]}, web: {imageTag: a}}",
            "line 1, column 32: a text is expected: `USER:PASSWORD` in base64, as Docker has it",
        ),
        (
            "shop: {web: {version: a, environment: {file: {secret: {x: {inheritGroup: true}}}}}}",
            "line 1, column 13: the group has no secret file of that name to inherit",
        ),
    ] {
        assert_eq!(refused(text), expected, "{text}");
    }
    let tab = refused("shop:\n\tweb: {}");
    assert!(tab.starts_with("line 2, column 2: tabs"), "{tab}");
}

#[test]
fn files_that_are_too_large_too_deep_or_bombs_are_refused() {
    let large = format!("shop: {{web: {{version: a}}}} # {}", "x".repeat(MAX_FILE));
    assert_eq!(
        refused(&large),
        "line 1, column 1: the file is larger than 1048576 bytes"
    );
    let deep = format!(
        "shop: {{web: {{version: a, x: {}{}}}}}",
        "[".repeat(500),
        "]".repeat(500)
    );
    assert!(refused(&deep).contains("nest deeper"), "{}", refused(&deep));
    let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..9 {
        let alias = format!("*a{}, ", level - 1).repeat(10);
        bomb += &format!("a{level}: &a{level} [{alias}]\n");
    }
    assert!(
        refused(&bomb).contains("more than 100000 values"),
        "{}",
        refused(&bomb)
    );
}

#[test]
fn aliases_and_merge_keys_are_read() {
    let text = "base: &base {repository: {image: {domain: r.example}}}\nshop: {web: {<<: *base, version: &v '1.x', note: *v}}";
    assert_eq!(image(text), "r.example/shop/web");
}

#[test]
fn p03_to_p06_the_hash_changes_with_what_is_said_and_with_nothing_else() {
    let hash = |text: &str| read(text).config_hash().to_owned();
    let shop = hash(SHOP);
    let comments = SHOP.replace(" # thousandths of a core", "") + "\n# the end\n";
    assert_eq!(hash(&comments), shop, "P04: comments and blanks");
    let block = SHOP.replace(
        "    repository: {image: {name: web}}",
        "    repository:\n      image:\n        'name': \"web\"",
    );
    assert_eq!(hash(&block), shop, "P04: another spelling");
    let version = "    version: '1.x'\n";
    let order = SHOP.replace(version, "") + version;
    assert_eq!(hash(&order), shop, "P04: another order");
    assert_eq!(
        hash(&SHOP.replace("cpu: 100", "cpu: 0x64")),
        shop,
        "P04: the same number"
    );
    let neighbour = format!("{SHOP}  api: {{version: latest}}\nother: {{group: {{a: 1}}}}\n");
    assert_eq!(hash(&neighbour), shop, "P05: another application");
    let group = SHOP.replace("environment: {}}", "environment: {variable: {A: b}}}");
    assert_ne!(hash(&group), shop, "P06: the group");
    for (from, to) in [
        ("'1.x'", "'1.0.x'"),
        ("LOG: info", "LOG: debug"),
        ("LOG: warn", "LOG: error"),
        ("cpu: 100", "cpu: '100m'"),
        ("    vetos:", "    unknown: 1\n    vetos:"),
    ] {
        assert_ne!(hash(&SHOP.replace(from, to)), shop, "{from} -> {to}");
    }
    let texts = [
        "{version: a, x: '1'}",
        "{version: a, x: 1}",
        "{version: a, x: [1]}",
        "{version: a, x: null}",
        "{version: a, x: !t 1}",
    ];
    let mut hashes: Vec<_> = texts
        .iter()
        .map(|it| hash(&format!("shop: {{web: {it}}}")))
        .collect();
    hashes.sort_unstable();
    hashes.dedup();
    assert_eq!(hashes.len(), texts.len(), "types count");
}

#[test]
fn settings_are_merged_from_template_to_group_to_application_to_environment() {
    let text = "\
shop:
  group:
    environment: {variable: {A: group, B: group, C: group, D: group}, file: {secret: {key: {mountPath: /k, data: [{name: a, value: Zm9v}]}, other: {}}}}
  web:
    version: '1.x'
    unknown: {kept: true}
    environment: {variable: {B: own, C: own, D: own}, file: {secret: {key: {inheritGroup: true}}}}
    in:
      prod: {environment: {variable: {C: type, D: type}}}
      live: {environment: {variable: {D: name}}}
      perf: {environment: {variable: {A: perf}}}
";
    let template = json!({"environment": {"variable": {"A": "template", "Z": "template"}}});
    let web = read(text);
    let effective = web.effective(&template, "live", Some("prod"));
    let variables = json!({"A": "group", "B": "own", "C": "type", "D": "name", "Z": "template"});
    assert_eq!(effective["environment"]["variable"], variables);
    assert_eq!(
        effective["unknown"]["kept"],
        json!(true),
        "unknown keys are kept"
    );
    assert_eq!(effective.get("in"), None);
    let secrets = &effective["environment"]["file"]["secret"];
    assert_eq!(secrets["key"]["mountPath"], "/k", "asked for");
    assert_eq!(secrets.get("other"), None, "not asked for");
    let preprod = web.effective(&json!({}), "preprod", Some("preprod"));
    assert_eq!(
        preprod["environment"]["variable"]["A"], "perf",
        "perf is an older word"
    );
    let dev = web.effective(&json!({}), "dev", Some("dev"));
    assert_eq!(
        dev["environment"]["variable"],
        json!({"A": "group", "B": "own", "C": "own", "D": "own"})
    );
    assert!(
        !format!("{web:?}").contains("Zm9v"),
        "secrets are not shown"
    );
}

#[test]
fn variables_and_contents_of_files_are_texts_as_they_are_written() {
    let texts =
        "A: 1.10, B: 0x10, C: 1e3, D: 007, E: True, F: -.inf, G: 12345678901234567890123, H: '1'";
    let expected = json!({
        "A": "1.10", "B": "0x10", "C": "1e3", "D": "007", "E": "True", "F": "-.inf",
        "G": "12345678901234567890123", "H": "1",
    });
    let variables = |text: &str| {
        let web = read(&format!("shop: {{{text}}}"));
        web.effective(&json!({}), "prod", None)["environment"].take()
    };
    for settings in [
        format!("web: {{version: a, environment: {{variable: {{{texts}}}}}}}"),
        format!("group: {{environment: {{variable: {{{texts}}}}}}}, web: {{version: a}}"),
        format!("web: {{version: a, in: {{prod: {{environment: {{variable: {{{texts}}}}}}}}}}}"),
        format!("web: {{imageTag: a, environment: {{{texts}}}}}"),
    ] {
        assert_eq!(variables(&settings)["variable"], expected, "{settings}");
    }
    let file = "{x: {data: [{name: a, value: 1.10}, {name: b, value: no}, {name: c, value: on}]}}";
    for settings in [
        format!("web: {{version: a, environment: {{file: {{config: {file}}}}}}}"),
        format!("web: {{imageTag: a, config: {file}}}"),
    ] {
        let data = &variables(&settings)["file"]["config"]["x"]["data"];
        assert_eq!(data[0]["value"], "1.10", "{settings}");
        assert_eq!(data[1]["value"], "no", "{settings}");
    }
    let web = read(
        "shop: {web: {version: a, environment: {variable: {A: &n 100, B: null}}, resource: {min: {cpu: *n}}}}",
    );
    let effective = web.effective(&json!({}), "prod", None);
    assert_eq!(effective["resource"]["min"]["cpu"], 100, "a number is one");
    assert_eq!(effective["environment"]["variable"]["B"], json!(null));
}

#[test]
fn login_for_the_registry_may_stand_beside_image_and_in_it() {
    // `bot:a:b`, with a password that has a colon.
    for settings in [
        "version: a, repository: {image: {auth: Ym90OmE6Yg==}}",
        "version: a, repository: {auth: Ym90OmE6Yg==}",
        "imageTag: a, authRepository: Ym90OmE6Yg==",
    ] {
        let web = read(&format!("shop: {{web: {{{settings}}}}}"));
        let effective = web.effective(&json!({}), "prod", None);
        let auth = &effective["repository"]["image"]["auth"];
        assert_eq!(auth, "Ym90OmE6Yg==", "{settings}");
    }
    read(
        "shop: {group: {repository: {image: {auth: Ym90OmE6Yg==}}}, web: {version: a, repository: {image: {auth: ''}}}}",
    );
    read("shop: {web: {version: a, repository: {image: {auth: null}}}}");
}

#[test]
fn first_dialect_says_the_same_as_the_second() {
    let first = "shop: {group: {secrets: {key: {mountPath: /k}}}, web: {imageTag: '1.x', environment: {LOG: info}, \
                 config: {app: {mountPath: /app}}, secrets: {key: {inheritGroup: true}}, \
                 resources: {min: {cpu: 300m, memory: 1Gi}}, in: {prod: {environment: {LOG: warn}}}}}";
    let effective = read(first).effective(&json!({}), "prod", None);
    assert_eq!(
        effective,
        json!({
            "version": "1.x",
            "environment": {
                "variable": {"LOG": "warn"},
                "file": {"config": {"app": {"mountPath": "/app"}}, "secret": {"key": {"mountPath": "/k", "inheritGroup": true}}},
            },
            "resource": {"min": {"cpu": 300, "memory": "1Gi"}},
        })
    );
}

#[test]
fn keys_that_mean_nothing_are_told_with_what_may_be_meant() {
    let told = |text: &str| {
        let warnings = read(text).warnings().into_iter();
        let told = warnings.map(|it| format!("{}: {}", it.path, it.message));
        told.collect::<Vec<_>>()
    };
    let none = Vec::<String>::new();
    assert_eq!(told(SHOP), none);
    let first = "shop: {group: {omitFromDeploy: [api], containerOwner: us}, web: {imageTag: a, environment: {A: b}, \
                 secrets: {key: {data: [{name: a, value: Zm9v}]}}, vetos: {name: it}, in: {prod: {resources: {min: {}}}}}}";
    assert_eq!(told(first), none, "the older words mean something");
    let text = "\
shop:
  group: {in: {prod: {}}}
  web:
    version: a
    environmnet: {variable: {A: b}}
    environment: {file: {secrets: {}, config: {app: {mountpath: /a, data: [{name: a, value: b, mode: 1}]}}}}
    repository: {image: {auths: x}, colour: red}
    in: {prod: {Resource: {}}}
";
    assert_eq!(
        told(text),
        [
            "shop.group.in: `in` means nothing here; there is component, environment, omitFromDeploy, omitFromNamespaces, repository, resource, vetos",
            "shop.web.environment.file.config.app.data[0].mode: `mode` means nothing here; there is name, value",
            "shop.web.environment.file.config.app.mountpath: `mountpath` means nothing here; did you mean `mountPath`?",
            "shop.web.environment.file.secrets: `secrets` means nothing here; did you mean `secret`?",
            "shop.web.environmnet: `environmnet` means nothing here; did you mean `environment`?",
            "shop.web.in.prod.Resource: `Resource` means nothing here; did you mean `resource`?",
            "shop.web.repository.colour: `colour` means nothing here; there is image",
            "shop.web.repository.image.auths: `auths` means nothing here; did you mean `auth`?",
        ]
    );
    let many: String = (0..30).map(|it| format!(", key{it}: 1")).collect();
    assert_eq!(
        told(&format!("shop: {{web: {{version: a{many}}}}}")).len(),
        20
    );
}

#[test]
fn warnings_are_the_same_for_what_was_split_and_put_together_again() {
    let web = read(
        "shop: {web: {version: a, enviroment: {file: {secret: x}}, repository: {image: {password: x}}}}",
    );
    let (public, secrets) = web.split();
    let again = warnings(web.name(), &secrets.merged_into(&public));
    assert_eq!(again, web.warnings());
    assert_eq!(again.len(), 2);
}

#[test]
fn warnings_name_the_line_and_the_column_of_the_key() {
    let places = |text: &str| {
        let web = read(text);
        let (public, secrets) = web.split();
        let stored = warnings(web.name(), &secrets.merged_into(&public));
        let place = |it: Warning| {
            let at = it.position.expect("it is in the file");
            (it.path, at.line, at.column)
        };
        stored.into_iter().map(place).collect::<Vec<_>>()
    };
    let text = "# first
shop:
  group:
    'colour': red
  web: {version: a, environmnet: {},
    environment: {file: {config: {app: {data: [{name: a, value: b}, {name: c, value: d, vaule: e}]}}}}}
";
    let expected = [
        ("shop.group.colour", 4, 5),
        ("shop.web.environment.file.config.app.data[1].vaule", 6, 89),
        ("shop.web.environmnet", 5, 21),
    ];
    let expected = expected.map(|(path, line, column)| (path.to_owned(), line, column));
    assert_eq!(places(text), expected);
    // In the first dialect the key is elsewhere than the path says.
    let first = "shop:\n  web:\n    imageTag: a\n    config: {app: {mode: 1}}\n";
    let path = "shop.web.environment.file.config.app.mode".to_owned();
    assert_eq!(places(first), [(path, 4, 20)]);
    // What an alias or a merge brings is written where it is named first.
    let merged = "x: &a {colour: red}\nshop: {web: {version: a, <<: *a}}\n";
    assert_eq!(places(merged), [("shop.web.colour".to_owned(), 1, 8)]);
}

#[test]
fn places_are_no_part_of_the_settings() {
    let (one, _) = read("shop: {web: {version: a, colour: red}}").split();
    let (other, _) = read("shop:\n  web: {version: a, colour: red}").split();
    assert_ne!(one, other);
    assert_eq!(settings(one.clone()), settings(other));
    assert!(settings(one).get("places").is_none());
}

#[test]
fn vetos_of_application_and_group_are_read() {
    let vetos = |text: &str| read(text).vetos().clone();
    let own =
        vetos("shop: {web: {version: a, vetos: {autoDeploy: false, omitFromNamespaces: [prod]}}}");
    assert!(!own.auto_deploy && own.omits("live", Some("prod")) && !own.omits("dev", None));
    let group = vetos(
        "shop: {group: {omitFromNamespaces: [perf], omitFromDeploy: [api]}, web: {version: a}}",
    );
    assert!(group.omits("preprod", None) && !group.omits("prod", None));
    let everywhere = vetos("shop: {group: {omitFromDeploy: [web]}, web: {version: a}}");
    assert!(everywhere.omits("dev", None));
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn any_text_is_read_or_refused(text in "(shop|web|version|group|in|: |\\n|  |'1.x'|\\{|\\}|\\[|\\]|, |&a|\\*a|<<|1|true|!t |- ){0,30}") {
        let _ = Application::read(&text, &mk_name("shop.web"));
    }
}
