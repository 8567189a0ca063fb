//! Secrets of releases are in Secrets, and with the application that is given them, and nowhere else: whatever was
//! deployed, has failed, was restored or rolled back.

use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use kube::api::{Api, DynamicObject, ListParams};
use kube::discovery::{Discovery, verbs};
use rustix::process::Signal;
use serde_json::{Value, json};

use super::application::PASSWORD;
use super::story::{ENVIRONMENTS, Story};
use crate::program::stdout;
use crate::secrets::places::{self, assert_none_below, files, parent, readings, record_stream};
use crate::secrets::sentinel::Sentinels;
use crate::up;

const SUITE: &str = "secrets of releases";
/// Far longer than anything here takes; only a hang is cut off by it.
const TIMEOUT: Duration = Duration::from_secs(120);
/// The database of the cluster, which holds Secrets as any cluster does, and those beside it.
const CLUSTER: &str = "cluster.db";

/// A path that hands on all that a release says.
const PATH: &str = r#"
apiVersion: carto.run/v1alpha1
kind: ClusterTemplate
metadata: {name: secretive}
spec:
  healthRule: {singleConditionType: Ready}
  template:
    apiVersion: pathline.dev/v1alpha1
    kind: Process
    metadata: {name: $(workload.metadata.name)$}
    spec:
      command:
        - sh
        - -c
        - eval "$COMMAND"
        - $(workload.metadata.namespace)$
        - release $(params.release)$
        - config $(params.config)$
        - files $(params.configMaps)$ $(params.volumes)$
      env: $(workload.spec.env)$
---
apiVersion: carto.run/v1alpha1
kind: ClusterSupplyChain
metadata: {name: secretive}
spec:
  selectorMatchExpressions: [{key: pathline.dev/tracker, operator: Exists}]
  resources: [{name: run, templateRef: {kind: ClusterTemplate, name: secretive}}]
"#;

/// The places of an application file at which secrets are, each with a name.
const PLACES: [&str; 9] = [
    "variable",
    "file",
    "config-of-a-secret-name",
    "variable-of-group",
    "file-of-group",
    "variable-in-prod",
    "file-in-prod",
    "misplaced",
    "login",
];

/// Those of them that no application is given: they mean nothing there, or are for the registry.
const NOT_GIVEN: [&str; 2] = ["misplaced", "login"];

/// Returns the secret that a release has at a place.
fn secret(place: &str, release: u64) -> String {
    format!("{place}SENTINEL{release:08}")
}

/// Returns a group whose application runs a command, another one in prod, with a secret at each place.
fn group(host: &str, release: u64, [command, in_prod]: [&str; 2]) -> Value {
    let secret = |place: &str| secret(place, release);
    let file = |place: &str| json!({"mountPath": "/s", "data": [{"name": "s.txt", "value": STANDARD.encode(secret(place))}]});
    let login = STANDARD.encode(format!("bot:{}", secret("login")));
    let address = format!("db://app:{}@db.example", secret("variable"));
    json!({
        "group": {
            "repository": {"image": {"domain": host, "auth": login}},
            "environment": {
                "variable": {"GROUP_TOKEN": secret("variable-of-group")},
                "file": {"secret": {"shared": file("file-of-group")}},
            },
            "in": {"prod": {"environment": {"variable": {"API_KEY": secret("misplaced")}}}},
        },
        "web": {
            "version": "latest",
            "environment": {
                "variable": {
                    "COMMAND": command,
                    "DB_PASSWORD": secret("variable"),
                    "COPY": secret("variable"),
                    "ADDRESS": address,
                },
                "file": {
                    "secret": {"own": file("file"), "shared": {"inheritGroup": true}},
                    "config": {"credentials": {"mountPath": "/c", "data": [
                        {"name": "c.ini", "value": secret("config-of-a-secret-name")},
                    ]}},
                },
            },
            "in": {"prod": {"environment": {
                "variable": {"COMMAND": in_prod, "PROD_PASSWORD": secret("variable-in-prod")},
                "file": {"secret": {"prod": file("file-in-prod")}},
            }}},
        },
    })
}

/// An application with secrets.
struct Secretive {
    story: Story,
    sentinels: Sentinels,
    /// The number of the last release that was committed.
    releases: u64,
}

impl Secretive {
    /// Follows the application; nothing where there is no registry.
    fn begin() -> Option<Self> {
        let restore = json!({"onFailure": "restore"});
        let arguments = ["--log", "debug"];
        let story = Story::prepare_with(SUITE, "secretive", &[("prod", restore)], &arguments)?;
        let mut sentinels = Sentinels::default();
        sentinels.add("a password", PASSWORD.as_bytes());
        Some(Self {
            story,
            sentinels,
            releases: 0,
        })
    }

    /// Commits other secrets, and a command of prod.
    fn commit(&mut self, in_prod: &str) {
        self.releases += 1;
        for place in PLACES {
            let secret = secret(place, self.releases);
            self.sentinels.add(place, secret.as_bytes());
        }
        let steady = self.steady();
        let group = group(self.story.host(), self.releases, [&steady, in_prod]);
        self.story.commit(&group);
    }

    /// Returns a command that goes on, and notes its process.
    fn steady(&self) -> String {
        let home = self.story.world.home.display();
        format!("echo $$ > {home}/pid-$0; exec sleep 1000")
    }

    /// Lets releases be deployed, fail, be restored and rolled back.
    fn release(&mut self) {
        let steady = self.steady();
        self.commit(&steady);
        self.story.apply_text(PATH);
        self.story.follow();
        for environment in ENVIRONMENTS {
            self.story.until(1, environment, "deployed");
        }
        self.commit("echo it is broken; exit 3");
        self.story.release("two", 2);
        self.story.until(2, "prod", "failed");
        self.until_restored();
        self.commit(&steady);
        self.story.release("three", 3);
        self.story.until(3, "prod", "deployed");
        self.story.told(&["rollback", "prod", &self.story.id]);
        self.story.until(4, "prod", "deployed");
    }

    fn until_restored(&self) {
        let end = Instant::now() + TIMEOUT;
        let is_restored = || {
            let releases = self.story.world.releases(&self.story.id);
            let entries = releases[1]["entries"].as_array().expect("entries");
            let mut entries = entries.iter();
            entries.any(|it| it["environment"] == "prod" && it["restore"] == "done")
        };
        while !is_restored() {
            assert!(Instant::now() < end, "it is never restored");
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// Reads everything that can be read, over REST and from the command line.
    fn read(&self) {
        let (world, id) = (&self.story.world, self.story.id.as_str());
        let releases = world.releases(id);
        let ids = releases.iter().map(|it| it["id"].as_str().expect("an id"));
        let ids: Vec<_> = ids.map(str::to_owned).collect();
        assert_eq!(ids.len(), 4);
        let process = ["prod", "Process", "secretive-web"];
        let mut asked = readings(world, &[id], &ids, process);
        for environment in ENVIRONMENTS {
            asked.push(format!("GET /releases?environment={environment}"));
            for number in 1..=4 {
                let query = format!("environment={environment}&release={number}&timeout=0");
                asked.push(format!("GET /trackers/{id}/wait?{query}"));
            }
            for id in &ids {
                let objects = format!("GET /releases/{id}/objects?environment={environment}");
                assert_eq!(world.rest(&objects, None).status, 200, "{objects}");
                asked.push(objects);
            }
        }
        for request in &asked {
            let status = places::ask(&self.sentinels, world, request, None);
            assert_ne!(status, 500, "{request}");
        }
        let run = |arguments: &[&str]| places::run(&self.sentinels, world, arguments);
        for format in ["text", "json", "yaml"] {
            for release in &ids {
                run(&["release", "show", release, "-o", format]);
                for environment in ENVIRONMENTS {
                    run(&[
                        "release",
                        "show",
                        release,
                        "--env",
                        environment,
                        "-o",
                        format,
                    ]);
                }
            }
            run(&["release", "list", "--tracker", id, "-o", format]);
            run(&["release", "why", id, "-o", format]);
            run(&["release", "board", "-o", format]);
            run(&["tracker", "get", id, "-o", format]);
            run(&[
                "lineage",
                "workload/secretive-web",
                "-n",
                "prod",
                "-o",
                format,
            ]);
        }
    }

    /// Looks at all objects of the cluster but Secrets, and finds the secrets in those.
    async fn look_at_objects(&self) {
        let kubeconfig = self.story.world.data_dir().join("kubeconfig");
        let client = up::client(&json!({ "kubeconfig": kubeconfig })).await;
        let discovery = Discovery::new(client.clone())
            .run()
            .await
            .expect("it answers");
        let resources = discovery.groups().flat_map(|it| it.recommended_resources());
        let listed = resources.filter(|(_, it)| it.supports_operation(verbs::LIST));
        let (mut kinds, mut values) = (Vec::new(), Vec::new());
        for (resource, _) in listed {
            let api: Api<DynamicObject> = Api::all_with(client.clone(), &resource);
            let objects = api.list(&ListParams::default()).await.expect("it answers");
            for object in objects {
                let object = serde_json::to_value(object).expect("an object is JSON");
                if resource.kind == "Secret" {
                    let data = object["data"].as_object().cloned().unwrap_or_default();
                    let data = data.values().filter_map(Value::as_str);
                    let data = data.filter_map(|it| STANDARD.decode(it).ok());
                    values.extend(data.map(|it| String::from_utf8_lossy(&it).into_owned()));
                } else {
                    let place = format!("{} {}", resource.kind, object["metadata"]["name"]);
                    self.sentinels
                        .assert_none(&place, object.to_string().as_bytes());
                    kinds.push(resource.kind.clone());
                }
            }
        }
        for kind in [
            "Workload",
            "Process",
            "ConfigMap",
            "Environment",
            "Event",
            "Namespace",
        ] {
            assert!(
                kinds.iter().any(|it| it == kind),
                "no {kind} among {kinds:?}"
            );
        }
        for place in PLACES.iter().filter(|it| !NOT_GIVEN.contains(it)) {
            for release in 1..=self.releases {
                let secret = secret(place, release);
                let is_there = values.iter().any(|it| it.contains(&secret));
                assert!(is_there, "{secret} is in no Secret");
            }
        }
    }

    /// Looks at what runs: applications are given secrets, and nobody else is, in no argument.
    fn look_at_processes(&mut self) {
        let home = self.story.world.home.clone();
        let pathline = self.story.world.running().pid();
        for environment in ENVIRONMENTS {
            let pid = fs::read_to_string(home.join(format!("pid-{environment}")));
            let pid: u32 = pid.expect("it runs").trim().parse().expect("a number");
            let read = |file: &str| fs::read(format!("/proc/{pid}/{file}")).expect("it runs");
            let given = String::from_utf8_lossy(&read("environ")).into_owned();
            assert!(given.contains("variableSENTINEL"), "it has its secrets");
            let place = format!("arguments of the application in {environment}");
            self.sentinels.assert_none(&place, &read("cmdline"));
            assert_none_below(&self.sentinels, pathline, parent(pid));
        }
        for file in ["environ", "cmdline"] {
            let content = fs::read(format!("/proc/{pathline}/{file}")).expect("it runs");
            self.sentinels
                .assert_none(&format!("{file} of Pathline"), &content);
        }
    }

    /// Looks into all files; of the database of the cluster, at all rows but those of Secrets.
    fn look_into_files(&self) {
        let directory = self.story.world.data_dir();
        for file in files(&directory) {
            let name = file.to_string_lossy();
            assert!(!name.ends_with(".pack"), "{file:?} could not be searched");
            if !name.contains(CLUSTER) {
                self.sentinels.assert_none_in_file(&file);
            }
        }
        let rows = "select api_group, resource, namespace, name, cast(body as text) from log \
                    where api_group <> '' or resource <> 'secrets'";
        let output = Command::new("sqlite3")
            .arg(directory.join(CLUSTER))
            .arg(rows)
            .output();
        let rows = stdout(&output.expect("sqlite3 runs"));
        assert!(rows.contains("exec sleep 1000"), "objects are found");
        self.sentinels.assert_none("the cluster", rows.as_bytes());
    }
}

#[tokio::test]
async fn secret_of_a_release_is_in_secrets_and_with_the_application_alone() {
    let Some(mut secretive) = Secretive::begin() else {
        return;
    };
    let stream = record_stream(&secretive.story.world);
    secretive.release();
    secretive.read();
    secretive.look_at_objects().await;
    secretive.look_at_processes();
    secretive.look_into_files();
    let running = secretive.story.world.running();
    running.signal(Signal::TERM);
    let printed = running.rest();
    let ended = secretive.story.world.stop();
    let stream = stream.join().expect("it is read");
    assert!(stream.contains("secretive.web"), "{stream}");
    secretive
        .sentinels
        .assert_none("the stream", stream.as_bytes());
    assert!(ended.stderr.contains("DEBUG"), "there is a log");
    for said in [&printed, &ended.stderr] {
        secretive.sentinels.assert_none("the log", said.as_bytes());
    }
    secretive.look_into_files();
}
