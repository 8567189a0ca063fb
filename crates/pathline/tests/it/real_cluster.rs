//! The controller on a real cluster: its webhook, and the rights it is installed with.

#![expect(clippy::unwrap_used, reason = "a helper that fails fails its test")]

use std::path::{Path, PathBuf};
use std::process::Command;

use pathline_testkit::kube::{Options, RealCluster};
use pathline_testkit::{repository_root, skip};
use rustix::process::Signal;
use serde_json::Value;

use crate::kubectl::{BAD_CHAIN, Kubectl, SUITE, binaries};
use crate::program::{Running, run, stderr, stdout};

/// A workload that is Ready as soon as its ConfigMap is stamped, under an account that may do just that.
const STORY: &str = "
apiVersion: v1
kind: Namespace
metadata: {name: story}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: stamper, namespace: story}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: stamper, namespace: story}
rules:
  - apiGroups: ['']
    resources: [configmaps]
    verbs: [get, list, watch, create, update, patch, delete]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: stamper, namespace: story}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: stamper}
subjects: [{kind: ServiceAccount, name: stamper, namespace: story}]
---
apiVersion: carto.run/v1alpha1
kind: ClusterTemplate
metadata: {name: story}
spec:
  healthRule: {alwaysHealthy: {}}
  template:
    apiVersion: v1
    kind: ConfigMap
    metadata: {name: stamped}
    data: {image: $(workload.spec.image)$}
---
apiVersion: carto.run/v1alpha1
kind: ClusterSupplyChain
metadata: {name: story}
spec:
  selector: {type: story}
  resources: [{name: run, templateRef: {kind: ClusterTemplate, name: story}}]
---
apiVersion: carto.run/v1alpha1
kind: Workload
metadata: {name: app, namespace: story, labels: {type: story}}
spec: {serviceAccountName: stamper, image: registry.example.com/app}
";

/// One test, because a webhook is everybody's on a cluster.
#[tokio::test]
async fn a_real_cluster_is_served_with_the_rights_of_the_manifests() {
    let Some(binaries) = binaries() else { return };
    let options = Options {
        controllers: &[
            "clusterrole-aggregation-controller",
            "garbage-collector-controller",
            "namespace-controller",
            "serviceaccount-controller",
        ],
        ..Options::default()
    };
    let Some(cluster) = RealCluster::shared(SUITE, options).await else {
        return;
    };
    let kubectl = Kubectl {
        binaries: &binaries,
        kubeconfig: cluster.kubeconfig(),
    };
    controller_needs_the_kinds(&kubectl);
    the_webhook_refuses_and_warns(&kubectl).await;
    environments_of_files_are_made_once(&kubectl);
    the_chart_installs(&kubectl);
    manifests_grant_what_is_needed_and_no_more(&kubectl);
}

fn controller_needs_the_kinds(kubectl: &Kubectl<'_>) {
    let kubeconfig = kubectl.kubeconfig.to_str().unwrap();
    // A ledger belongs to one cluster: the one of another run would refuse this one.
    let home = tempfile::tempdir().expect("a scratch directory");
    let too_early = run(&[
        "controller",
        "--kubeconfig",
        kubeconfig,
        "--data-dir",
        home.path().to_str().unwrap(),
        "--listen",
        "127.0.0.1:0",
    ]);
    let message = stderr(&too_early);
    assert!(
        message.contains("the cluster lacks these kinds"),
        "{message}"
    );
    assert!(
        message.contains("pathline crds | kubectl apply"),
        "{message}"
    );
    kubectl.assert_installs_the_kinds();
}

async fn the_webhook_refuses_and_warns(kubectl: &Kubectl<'_>) {
    let (controller, ready) = start_controller(kubectl.kubeconfig, "default", "enforce");
    kubectl.assert_refuses(BAD_CHAIN);
    let good = BAD_CHAIN.replace("      sources: [{name: source, resource: nobody}]\n", "");
    let stored = kubectl.apply(&good);
    assert!(stored.status.success(), "{}", stderr(&stored));
    assert_ready(ready["url"].as_str().unwrap()).await;

    let (successor, _) = start_controller(kubectl.kubeconfig, "default", "warn");
    stop(controller);
    // It leaves alone what was registered since.
    kubectl.assert_warns(BAD_CHAIN);
    stop(successor);
    assert_nobody_is_asked(kubectl);
}

/// The controller makes no Environments but those of files, and its webhook refuses those that are wrong.
fn environments_of_files_are_made_once(kubectl: &Kubectl<'_>) {
    let names = || stdout(&kubectl.run(&["get", "environments", "-o", "name"], ""));
    assert_eq!(names(), "", "nobody has asked for one");
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(
        directory.path().join("a.namespace.yaml"),
        "dev: {}\nprod: {}\n",
    )
    .unwrap();
    let trackers = ["--trackers", directory.path().to_str().unwrap()];
    let start = || start_controller_with(kubectl.kubeconfig, "default", "enforce", &trackers).0;
    let controller = start();
    assert_eq!(
        names(),
        "environment.pathline.dev/dev\nenvironment.pathline.dev/prod\n"
    );
    let wait = [
        "wait",
        "--for=condition=Ready",
        "environment/prod",
        "--timeout=60s",
    ];
    let ready = kubectl.run(&wait, "");
    assert!(ready.status.success(), "{}", stderr(&ready));
    let wrong = "
apiVersion: pathline.dev/v1alpha1
kind: Environment
metadata: {name: wrong}
spec: {type: moon, soak: -1h, freeze: []}
";
    let refused = stderr(&kubectl.apply(wrong));
    for field in ["spec.type: ", "spec.soak: ", "did you mean `freezes`?"] {
        assert!(refused.contains(field), "{refused}");
    }
    kubectl.run(&["delete", "environment", "dev"], "");
    stop(controller);
    let controller = start();
    assert_eq!(names(), "environment.pathline.dev/prod\n");
    stop(controller);
    assert_nobody_is_asked(kubectl);
}

fn assert_nobody_is_asked(kubectl: &Kubectl<'_>) {
    let asked = ["get", "validatingwebhookconfigurations", "-o", "name"];
    let known = stdout(&kubectl.run(&asked, ""));
    assert_eq!(known, "", "a stopped controller blocks no write");
}

fn the_chart_installs(kubectl: &Kubectl<'_>) {
    let Some(program) = helm() else {
        return skip(SUITE, "no helm; run scripts/helm");
    };
    let helm = |arguments: &[&str]| {
        let output = Command::new(&program)
            .arg("--kubeconfig")
            .arg(kubectl.kubeconfig)
            .args(["--namespace", "chart"])
            .args(arguments)
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
        stdout(&output)
    };
    let chart = repository_root().join("deploy/helm/pathline");
    let chart = chart.to_str().unwrap();
    let settings = [
        "--create-namespace",
        "--set",
        "admission=warn,replicas=3,ledger.secretName=postgres,image.repository=registry.example/pathline",
    ];
    helm(&[&["install", "pathline", chart], &settings[..]].concat());
    wait_for_rights(kubectl);
    assert!(may(kubectl, "chart", "watch", "workloads.carto.run"));
    assert!(!may(kubectl, "chart", "list", "secrets"));
    let of_container = "{.spec.replicas} {.spec.template.spec.containers[0].image} \
                        {.spec.template.spec.containers[0].args} \
                        {.spec.template.spec.containers[0].env[*].valueFrom.secretKeyRef.name}";
    let path = format!("jsonpath={of_container}");
    let deployed = kubectl.run(
        &["get", "deployment", "pathline", "-n", "chart", "-o", &path],
        "",
    );
    let deployed = stdout(&deployed);
    let image = concat!("registry.example/pathline:", env!("CARGO_PKG_VERSION"));
    assert!(deployed.starts_with(&format!("3 {image} ")), "{deployed}");
    assert!(deployed.contains("--admission=warn"), "{deployed}");
    assert!(
        deployed.contains("--webhook=chart/pathline-webhook"),
        "{deployed}"
    );
    assert!(deployed.ends_with(" postgres"), "{deployed}");
    helm(&["uninstall", "pathline"]);
}

fn helm() -> Option<PathBuf> {
    let output = Command::new(repository_root().join("scripts/helm"))
        .arg("--no-build")
        .output()
        .unwrap();
    output
        .status
        .success()
        .then(|| PathBuf::from(stdout(&output).trim()))
}

/// Says whether the service account of a controller has a right in all namespaces.
fn may(kubectl: &Kubectl<'_>, namespace: &str, verb: &str, what: &str) -> bool {
    let account = format!("system:serviceaccount:{namespace}:pathline");
    let asked = [
        "auth",
        "can-i",
        verb,
        what,
        "--all-namespaces",
        "--as",
        &account,
    ];
    stdout(&kubectl.run(&asked, "")).trim() == "yes"
}

/// Waits until the roles have been put together.
pub(crate) fn wait_for_rights(kubectl: &Kubectl<'_>) {
    let role = "clusterrole/pathline-controller";
    let aggregated = kubectl.run(
        &["wait", "--for=jsonpath={.rules[0]}", role, "--timeout=60s"],
        "",
    );
    assert!(aggregated.status.success(), "{}", stderr(&aggregated));
}

/// The controller runs as its service account, which has the rights of the manifests and no others.
fn manifests_grant_what_is_needed_and_no_more(kubectl: &Kubectl<'_>) {
    let manifests = repository_root().join("deploy/kustomize");
    let installed = kubectl.run(
        &[
            "apply",
            "--server-side",
            "--force-conflicts",
            "-k",
            manifests.to_str().unwrap(),
        ],
        "",
    );
    assert!(installed.status.success(), "{}", stderr(&installed));
    wait_for_rights(kubectl);
    assert!(may(
        kubectl,
        "pathline-system",
        "watch",
        "workloads.carto.run"
    ));
    for what in ["pods", "replicasets.apps", "controllerrevisions.apps"] {
        assert!(may(kubectl, "pathline-system", "watch", what), "{what}");
    }
    assert!(may(
        kubectl,
        "pathline-system",
        "watch",
        "environments.pathline.dev"
    ));
    for (verb, what) in [
        ("list", "secrets"),
        ("get", "secrets"),
        ("create", "configmaps"),
        ("create", "pods"),
    ] {
        let may = may(kubectl, "pathline-system", verb, what);
        assert!(!may, "the controller may {verb} {what}");
    }

    let directory = tempfile::tempdir().unwrap();
    let kubeconfig = kubeconfig_of_the_account(kubectl, directory.path());
    let (controller, _) = start_controller(&kubeconfig, "pathline-system", "enforce");
    kubectl.assert_refuses(BAD_CHAIN);
    let applied = kubectl.apply(STORY);
    assert!(applied.status.success(), "{}", stderr(&applied));
    let environment = "apiVersion: pathline.dev/v1alpha1\nkind: Environment\nmetadata: {name: other}\nspec: {position: 1}\n";
    kubectl.apply(environment);
    let wait = [
        "wait",
        "--for=condition=Ready",
        "environment/other",
        "--timeout=90s",
    ];
    let ready = kubectl.run(&wait, "");
    assert!(
        ready.status.success(),
        "its status is written: {}",
        stderr(&ready)
    );
    let wait = [
        "wait",
        "--for=condition=Ready",
        "workload/app",
        "-n",
        "story",
        "--timeout=90s",
    ];
    let ready = kubectl.run(&wait, "");
    assert!(ready.status.success(), "{}", stderr(&ready));
    stop(controller);
    kubectl.run(
        &["delete", "validatingwebhookconfiguration", "pathline"],
        "",
    );
}

/// Writes a kubeconfig that proves to be the controller's service account, by a token.
pub(crate) fn kubeconfig_of_the_account(kubectl: &Kubectl<'_>, directory: &Path) -> PathBuf {
    let path = directory.join("kubeconfig");
    std::fs::copy(kubectl.kubeconfig, &path).unwrap();
    let token = kubectl.run(
        &["create", "token", "pathline", "-n", "pathline-system"],
        "",
    );
    let token = format!("--token={}", stdout(&token).trim());
    for arguments in [
        vec!["config", "set-credentials", "controller", &token],
        vec!["config", "set-context", "--current", "--user=controller"],
    ] {
        let set = Command::new(kubectl.binaries.program("kubectl"))
            .arg("--kubeconfig")
            .arg(&path)
            .args(arguments)
            .output()
            .unwrap();
        assert!(set.status.success(), "{}", stderr(&set));
    }
    path
}

/// Starts the controller on a cluster, reachable for its webhook.
fn start_controller(kubeconfig: &Path, namespace: &str, admission: &str) -> (Running, Value) {
    start_controller_with(kubeconfig, namespace, admission, &[])
}

fn start_controller_with(
    kubeconfig: &Path,
    namespace: &str,
    admission: &str,
    more: &[&str],
) -> (Running, Value) {
    let arguments = [
        "controller",
        "--kubeconfig",
        kubeconfig.to_str().unwrap(),
        "--namespace",
        namespace,
        "--listen",
        "127.0.0.1:0",
        "--webhook",
        "https://127.0.0.1:0",
        "--webhook-listen",
        "127.0.0.1:0",
        "--admission",
        admission,
        "-o",
        "json",
    ];
    let mut controller = Running::start(&[&arguments, more].concat());
    let ready = controller.json();
    (controller, ready)
}

fn stop(controller: Running) {
    controller.signal(Signal::TERM);
    let ended = controller.wait();
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
}

async fn assert_ready(url: &str) {
    let address = url.trim_start_matches("http://");
    for (path, expected) in [
        ("/healthz", "200 OK"),
        ("/readyz", "200 OK"),
        ("/metrics", "pathline_build"),
    ] {
        let answer = get(address, path).await;
        assert!(answer.contains(expected), "{path}: {answer}");
    }
}

async fn get(address: &str, path: &str) -> String {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let mut stream = tokio::net::TcpStream::connect(address)
        .await
        .expect("the server listens");
    let request = format!("GET {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n");
    stream
        .write_all(request.as_bytes())
        .await
        .expect("it listens");
    let mut answer = String::new();
    stream
        .read_to_string(&mut answer)
        .await
        .expect("it answers");
    answer
}

#[test]
fn the_manifests_install_the_kinds_this_version_has() {
    let kept = repository_root().join("deploy/crds/crds.yaml");
    let kinds = stdout(&run(&["crds"]));
    assert!(
        std::fs::read_to_string(&kept).unwrap() == kinds,
        "deploy/crds/crds.yaml is out of date; `pathline crds > deploy/crds/crds.yaml`"
    );
}
