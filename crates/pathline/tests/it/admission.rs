//! Blueprints and templates that break a rule, as kubectl applies them.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use pathline_testkit::kube::{Binaries, RealCluster};
use pathline_testkit::skip;
use rustix::process::Signal;
use serde_json::Value;

use crate::program::{Running, run, stderr, stdout};

const SUITE: &str = "kinds and admission with kubectl";

/// What Cartographer says about [`BAD_CHAIN`].
const REFUSAL: &str = "admission webhook \"admission.pathline.dev\" denied the request: \
    error validating clustersupplychain [bad]: invalid sources for resource [build]: \
    [source] is provided by unknown resource [nobody]";

const BAD_CHAIN: &str = "
apiVersion: carto.run/v1alpha1
kind: ClusterSupplyChain
metadata: {name: bad}
spec:
  selector: {type: web}
  resources:
    - name: build
      templateRef: {kind: ClusterImageTemplate, name: build}
      sources: [{name: source, resource: nobody}]
";

/// kubectl with a kubeconfig.
struct Kubectl<'a> {
    binaries: &'a Binaries,
    kubeconfig: &'a Path,
}

impl Kubectl<'_> {
    fn run(&self, arguments: &[&str], input: &str) -> Output {
        let mut child = Command::new(self.binaries.program("kubectl"))
            .arg("--kubeconfig")
            .arg(self.kubeconfig)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("kubectl starts");
        let mut stdin = child.stdin.take().expect("stdin was asked to be a pipe");
        stdin.write_all(input.as_bytes()).expect("kubectl reads");
        drop(stdin);
        child.wait_with_output().expect("kubectl ends")
    }

    fn assert_installs_the_kinds(&self) {
        let kinds = stdout(&run(&["crds"]));
        let applied = self.run(
            &["apply", "--server-side", "--force-conflicts", "-f", "-"],
            &kinds,
        );
        assert!(applied.status.success(), "{}", stderr(&applied));
        assert_eq!(stdout(&applied).lines().count(), 12, "{}", stdout(&applied));
    }

    fn apply(&self, object: &str) -> Output {
        self.run(&["apply", "--server-side", "-f", "-"], object)
    }

    fn assert_refuses(&self, object: &str) {
        let refused = self.apply(object);
        assert!(!refused.status.success(), "{}", stdout(&refused));
        assert!(stderr(&refused).contains(REFUSAL), "{}", stderr(&refused));
        assert!(
            stderr(&refused).contains("(Forbidden)"),
            "{}",
            stderr(&refused)
        );
    }

    fn assert_warns(&self, object: &str) {
        let stored = self.apply(object);
        assert!(stored.status.success(), "{}", stderr(&stored));
        assert!(
            stderr(&stored).contains("Warning: error validating clustersupplychain [bad]: "),
            "{}",
            stderr(&stored)
        );
    }
}

fn start_up(admission: &str) -> (Running, Value) {
    let address = "127.0.0.1:0";
    let mut up = Running::start(&[
        "up",
        "--listen",
        address,
        "--kube-listen",
        address,
        "-o",
        "json",
        "--admission",
        admission,
    ]);
    let ready = up.json();
    (up, ready)
}

fn binaries() -> Option<Binaries> {
    Binaries::find()
        .map_err(|missing| skip(SUITE, &missing.to_string()))
        .ok()
}

#[test]
fn the_embedded_cluster_refuses_what_breaks_a_rule() {
    let Some(binaries) = binaries() else { return };
    let (_up, ready) = start_up("enforce");
    let kubectl = Kubectl {
        binaries: &binaries,
        kubeconfig: Path::new(ready["kubeconfig"].as_str().unwrap()),
    };
    kubectl.assert_installs_the_kinds();
    kubectl.assert_refuses(BAD_CHAIN);
}

#[test]
fn the_embedded_cluster_warns_if_it_is_told_to() {
    let Some(binaries) = binaries() else { return };
    let (_up, ready) = start_up("warn");
    let kubectl = Kubectl {
        binaries: &binaries,
        kubeconfig: Path::new(ready["kubeconfig"].as_str().unwrap()),
    };
    kubectl.assert_warns(BAD_CHAIN);
}

/// Starts the controller on a cluster, reachable for its webhook.
fn start_controller(kubeconfig: &Path, admission: &str) -> (Running, Value) {
    let mut controller = Running::start(&[
        "controller",
        "--kubeconfig",
        kubeconfig.to_str().unwrap(),
        "--namespace",
        "default",
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
    ]);
    let ready = controller.json();
    (controller, ready)
}

fn stop(controller: Running) {
    controller.signal(Signal::TERM);
    let ended = controller.wait();
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
}

/// One test, because a webhook is everybody's on a cluster.
#[tokio::test]
async fn a_real_cluster_asks_the_webhook_of_the_controller() {
    let Some(binaries) = binaries() else { return };
    let Some(cluster) = RealCluster::shared(SUITE, Default::default()).await else {
        return;
    };
    let kubectl = Kubectl {
        binaries: &binaries,
        kubeconfig: cluster.kubeconfig(),
    };
    let arguments = [
        "controller",
        "--kubeconfig",
        cluster.kubeconfig().to_str().unwrap(),
        "--listen",
        "127.0.0.1:0",
    ];
    let too_early = run(&arguments);
    assert!(
        stderr(&too_early).contains("the cluster lacks these kinds"),
        "{}",
        stderr(&too_early)
    );
    assert!(
        stderr(&too_early).contains("pathline crds | kubectl apply"),
        "{}",
        stderr(&too_early)
    );
    kubectl.assert_installs_the_kinds();

    let (controller, ready) = start_controller(cluster.kubeconfig(), "enforce");
    kubectl.assert_refuses(BAD_CHAIN);
    let good = BAD_CHAIN.replace("      sources: [{name: source, resource: nobody}]\n", "");
    let stored = kubectl.apply(&good);
    assert!(stored.status.success(), "{}", stderr(&stored));
    assert_ready(ready["url"].as_str().unwrap()).await;
    stop(controller);

    let (controller, _) = start_controller(cluster.kubeconfig(), "warn");
    kubectl.assert_warns(BAD_CHAIN);
    stop(controller);
    kubectl.run(
        &["delete", "validatingwebhookconfiguration", "pathline"],
        "",
    );
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
        .expect("the door is open");
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
