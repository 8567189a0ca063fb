//! The paths of `examples/release`, each given a Workload as a release is written to.

use std::fs;

use anyhow::{Context, Result};
use k8s_openapi::api::apps::v1::Deployment;
use kube::Api;
use pathline_release::application::{Application, warnings};
use pathline_release::timeline::{Rule, time_zone};
use pathline_testkit::kube::{Binaries, Kubelets, Options, RealCluster};
use pathline_testkit::{Leash, free_port, repository_root, skip};
use serde_json::{Value, json};

use crate::instance::{Instance, document, end};
use crate::program::{Running, run, stdout};
use crate::site::get;
use crate::story::objects::text;

const SUITE: &str = "the path of releases on a real API server";

/// A release of the sample application, in the shape that releases are written in.
#[derive(Clone, Copy)]
struct Written<'r> {
    number: u64,
    log: &'r str,
    port: u16,
    command: Option<&'r str>,
}

impl Written<'_> {
    fn image(&self) -> String {
        format!("registry.example/shop/web@sha256:{:064x}", self.number)
    }

    /// Returns the Workload of an application that says nothing of itself but its image.
    fn bare(&self) -> String {
        let release =
            json!({"number": self.number, "id": "id", "tag": "1.0.0", "commit": "c0ffee"});
        let params = json!([
            {"name": "config", "value": {}},
            {"name": "release", "value": release},
            {"name": "configMaps", "value": []},
            {"name": "port", "value": self.port},
            {"name": "volumes", "value": []},
            {"name": "volumeMounts", "value": []},
        ]);
        let spec = json!({"image": self.image(), "env": [], "params": params});
        format!("---\n{}\n", workload(&spec))
    }

    /// Returns the ConfigMap, the Secret and the Workload.
    fn objects(&self) -> String {
        let number = self.number;
        let (config_map, secret) = (format!("shop-web-web-{number}"), "shop-web-login-1");
        let mut env = vec![
            json!({"name": "LOG", "value": self.log}),
            json!({"name": "PORT", "value": self.port.to_string()}),
            json!({"name": "TOKEN", "valueFrom": {"secretKeyRef": {"name": secret, "key": "password"}}}),
        ];
        env.extend(
            self.command
                .map(|it| json!({"name": "COMMAND", "value": it})),
        );
        let param = |name: &str, value: Value| json!({"name": name, "value": value});
        let mounted =
            |name: &str, path: &str| json!({"name": name, "mountPath": path, "readOnly": true});
        let objects = [
            json!({
                "apiVersion": "v1", "kind": "ConfigMap", "immutable": true,
                "metadata": {"name": config_map, "namespace": "default"},
                "data": {"web.yaml": format!("greeting: hello from {number}\n")},
            }),
            json!({
                "apiVersion": "v1", "kind": "Secret", "immutable": true,
                "metadata": {"name": secret, "namespace": "default"},
                "data": {"password": "czNjcmV0"},
            }),
            workload(&json!({
                    "image": self.image(),
                    "env": env,
                    "resources": {"requests": {"cpu": "1000m", "memory": "32Mi"}},
                    "params": [
                        param("config", json!({"environment": {"variable": {"LOG": self.log}}})),
                        param("release", json!({"number": number, "id": format!("id{number}"), "tag": "1.0.0", "commit": "c0ffee"})),
                        param("configMaps", json!([
                            {"name": config_map, "mountPath": "/etc/web", "secret": false, "files": ["web.yaml"]},
                            {"name": secret, "mountPath": "/run/login", "secret": true, "files": ["password"], "digest": "d1"},
                        ])),
                        param("port", json!(self.port)),
                        param("volumes", json!([
                            {"name": "config-0", "configMap": {"name": config_map, "items": [{"key": "web.yaml", "path": "web.yaml"}]}},
                            {"name": "secret-0", "secret": {"secretName": secret, "items": [{"key": "password", "path": "password"}]}},
                        ])),
                        param("volumeMounts", json!([mounted("config-0", "/etc/web"), mounted("secret-0", "/run/login")])),
                    ],
            })),
        ];
        objects.map(|it| format!("---\n{it}\n")).concat()
    }
}

fn workload(spec: &Value) -> Value {
    json!({
        "apiVersion": "carto.run/v1alpha1", "kind": "Workload",
        "metadata": {
            "name": "shop-web", "namespace": "default",
            "labels": {"app.kubernetes.io/name": "web", "pathline.dev/tracker": "shop.web"},
        },
        "spec": spec,
    })
}

pub(crate) fn printed(arguments: &[&str]) -> String {
    let output = run(&[&["release", "path"], arguments].concat());
    assert!(output.status.success(), "{output:?}");
    stdout(&output)
}

#[test]
fn paths_are_those_of_the_example_and_lint_finds_nothing() {
    for (arguments, name) in [(&[][..], "process"), (&["--cluster"], "deployment")] {
        let directory = repository_root().join("examples/release").join(name);
        let file = fs::read_to_string(directory.join("path.yaml")).unwrap();
        assert_eq!(printed(arguments), file);
        let linted = run(&[
            "blueprint",
            "lint",
            "-f",
            &text(&directory.join("path.yaml")),
        ]);
        assert!(linted.status.success(), "{linted:?}");
        assert_eq!(stdout(&linted).trim(), "nothing found", "{name}");
    }
}

#[test]
fn sample_application_and_environments_can_be_read() {
    let directory = repository_root().join("examples/release");
    let file = fs::read_to_string(directory.join("app/fathomable.yaml")).unwrap();
    let name = "shop.web".parse().unwrap();
    let application = Application::read(&file, &name).unwrap();
    assert_eq!(application.image().to_string(), "registry.example/shop/web");
    let document: Value = serde_saphyr::from_str(&file).unwrap();
    let document =
        json!({"group": document["shop"]["group"], "application": document["shop"]["web"]});
    assert_eq!(warnings(&name, &document), []);

    let file = fs::read_to_string(directory.join("environments.yaml")).unwrap();
    let mut types = Vec::new();
    for environment in file.split("\n---\n") {
        let environment: Value = serde_saphyr::from_str(environment).unwrap();
        assert_eq!(environment["kind"], "Environment");
        let spec = &environment["spec"];
        Rule::from_json(&spec["releaseFrequency"]).unwrap();
        let zone = spec["timeZone"].as_str().unwrap_or("UTC");
        time_zone(zone).unwrap();
        types.push(spec["type"].as_str().unwrap().to_owned());
    }
    assert_eq!(types, ["dev", "ha", "preprod", "prod"]);
}

#[test]
fn both_paths_are_taken_by_an_embedded_cluster() -> Result<()> {
    let instance = Instance::start()?;
    for arguments in [&["--cluster"][..], &[]] {
        let file = instance.file("path.yaml", &printed(arguments))?;
        let (code, _, stderr) = end(instance.ask(&["apply", "-f", &file, "--wait"]));
        assert_eq!(code, Some(0), "{stderr}");
    }
    Ok(())
}

#[test]
fn release_runs_as_a_process_with_its_variables_and_files_and_each_release_anew() -> Result<()> {
    let instance = Instance::start()?;
    instance.apply(&printed(&[]))?;
    let port = free_port();
    let address = format!("127.0.0.1:{port}");
    let apply = |objects: &str| -> Result<()> {
        let file = instance.file("release.yaml", objects)?;
        let waiting = ["apply", "-f", &file, "--wait", "--timeout", "90s"];
        let (code, _, stderr) = end(instance.ask(&waiting));
        assert_eq!(code, Some(0), "{stderr}");
        let live = ["wait", "workload/shop-web", "--for", "current", "--live"];
        let (code, out, stderr) = end(instance.ask(&[&live[..], &["-o", "json"]].concat()));
        assert_eq!(code, Some(0), "{stderr}");
        let running = &document(&out)["running"][0];
        assert_eq!(running["address"], address.as_str(), "{out}");
        Ok(())
    };
    let first = Written {
        number: 1,
        log: "debug",
        port,
        command: None,
    };
    apply(&first.objects())?;
    let page = get(&address, "/");
    let shown = format!("release 1\nimage {}\nLOG=debug\n", first.image());
    assert!(page.ends_with(&shown), "{page}");

    let command = r#""$PATHLINE_BIN" site --listen 127.0.0.1:$PORT --text "`cat etc/web/web.yaml` $TOKEN `cat run/login/password`""#;
    let second = Written {
        number: 2,
        log: "warn",
        command: Some(command),
        ..first
    };
    apply(&second.objects())?;
    let page = get(&address, "/");
    assert!(
        page.ends_with("greeting: hello from 2 s3cret s3cret\n"),
        "{page}"
    );

    // What comes back is a release of its own.
    let third = Written { number: 3, ..first };
    apply(&third.objects())?;
    let page = get(&address, "/");
    assert!(page.contains("release 3\n"), "{page}");
    let fourth = Written { number: 4, ..first };
    apply(&fourth.bare())?;
    let page = get(&address, "/");
    let is_bare = page.contains("release 4\n") && page.ends_with("LOG=\n");
    assert!(is_bare, "{page}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn release_is_rolled_out_as_a_deployment_and_proven_to_be_live() -> Result<()> {
    let binaries = match Binaries::find() {
        Ok(binaries) => binaries,
        Err(missing) => {
            skip(SUITE, &missing.to_string());
            return Ok(());
        }
    };
    let options = Options {
        allow_everything: true,
        ..Options::with_pods()
    };
    let cluster = RealCluster::start(&binaries, options).await?;
    let client = cluster.client().await?;
    let _kubelets = Kubelets::start(client.clone()).await?;
    let leash = Leash::new("pathline-release-")?;
    let home = leash.directory().canonicalize()?;
    let kubeconfig = text(cluster.kubeconfig());
    let arguments = ["controller", "--kubeconfig", &kubeconfig, "--install-crds"];
    let more = ["--listen", "127.0.0.1:0", "-o", "json"];
    let mut controller = Running::start_in(leash, &[&arguments[..], &more].concat());
    let ready = controller.json();
    let url = ready["url"].as_str().context("an address")?;
    let token = text(&home.join(".pathline/rest.token"));
    let apply = |name: &str, content: &str, more: &[&str]| -> Result<()> {
        let file = home.join(name);
        fs::write(&file, content)?;
        let arguments = ["apply", "-f", &text(&file), "--kubeconfig", &kubeconfig];
        let server = ["--server", url, "--token-file", &token];
        let (code, _, stderr) = end(Running::start(&[&arguments[..], &server, more].concat()));
        assert_eq!(code, Some(0), "{stderr}");
        Ok(())
    };
    apply("path.yaml", &printed(&["--cluster"]), &[])?;
    let deployments: Api<Deployment> = Api::default_namespaced(client);
    for (number, log) in [(1, "debug"), (2, "debug"), (3, "warn")] {
        let release = Written {
            number,
            log,
            port: 8080,
            command: None,
        };
        // It ends with 0 only if everything that the Workload says is proven to run, without an assumed edge.
        apply(
            "release.yaml",
            &release.objects(),
            &["--wait", "--timeout", "5m"],
        )?;
        let deployment = deployments.get("shop-web").await?;
        let pod = deployment.spec.template.spec;
        let container = pod.context("pods")?.containers.remove(0);
        assert_eq!(container.image, Some(release.image()));
        assert_eq!(container.env.context("variables")?.len(), 3);
        assert_eq!(container.volume_mounts.context("files")?.len(), 2);
    }
    let bare = Written {
        number: 4,
        log: "",
        port: 8080,
        command: None,
    };
    apply("release.yaml", &bare.bare(), &["--wait", "--timeout", "5m"])
}
