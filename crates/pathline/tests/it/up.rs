use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use k8s_openapi::api::core::v1::ConfigMap;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{ApiResource, DynamicObject, GroupVersionKind, ListParams, PostParams};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::runtime::wait::await_condition;
use kube::{Api, Client, Config, ResourceExt};
use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::{Value, json};

use crate::program::{Ended, Running, pathline, stderr, stdout};

pub(crate) const UP: [&str; 7] = [
    "up",
    "--listen",
    "127.0.0.1:0",
    "--kube-listen",
    "127.0.0.1:0",
    "--output",
    "json",
];

/// Starts `up` on free ports and returns it with what it printed when it was ready.
pub(crate) fn start() -> (Running, Value) {
    let mut up = Running::start(&UP);
    let ready = up.json();
    (up, ready)
}

/// Returns a client made from the kubeconfig, as kubectl would.
pub(crate) async fn client(ready: &Value) -> Client {
    let path = ready["kubeconfig"]
        .as_str()
        .expect("`ready` names the kubeconfig");
    let kubeconfig = Kubeconfig::read_from(path).expect("a readable kubeconfig");
    let options = KubeConfigOptions::default();
    let config = Config::from_custom_kubeconfig(kubeconfig, &options).await;
    Client::try_from(config.expect("a complete kubeconfig")).expect("a usable kubeconfig")
}

fn mk_config_map(name: &str) -> ConfigMap {
    let mut map = ConfigMap {
        data: Some(BTreeMap::from([("a".into(), "b".into())])),
        ..ConfigMap::default()
    };
    map.metadata.name = Some(name.to_owned());
    map
}

#[tokio::test]
async fn ready_means_that_a_private_kubeconfig_works_and_the_kinds_are_there() {
    let (up, ready) = start();

    let kubeconfig = Path::new(ready["kubeconfig"].as_str().unwrap());
    assert_eq!(
        kubeconfig,
        up.directory()
            .canonicalize()
            .unwrap()
            .join(".pathline/kubeconfig")
    );
    assert_eq!(
        fs::metadata(kubeconfig).unwrap().permissions().mode() & 0o777,
        0o600
    );
    let kinds = Api::<CustomResourceDefinition>::all(client(&ready).await);
    let kinds = kinds.list(&ListParams::default()).await.unwrap();
    let kinds: Vec<_> = kinds.iter().map(ResourceExt::name_any).collect();
    for kind in [
        "workloads.carto.run",
        "deliverables.carto.run",
        "tasks.pathline.dev",
    ] {
        assert!(
            kinds.iter().any(|name| name == kind),
            "{kind} is not in {kinds:?}"
        );
    }
}

#[tokio::test]
async fn ready_means_that_every_part_is() {
    let (_up, ready) = start();
    let url = ready["url"].as_str().unwrap();
    let answer = crate::site::get(url.trim_start_matches("http://"), "/readyz");
    assert!(answer.starts_with("HTTP/1.0 200"), "{answer}");
    assert!(
        answer.contains(r#"{"ready":true,"notReady":[]}"#),
        "{answer}"
    );
}

#[test]
fn signals_stop_it_in_order() {
    for signal in [Signal::TERM, Signal::INT] {
        let (up, _) = start();
        up.signal(signal);
        let Ended { code, stderr, .. } = up.wait();
        assert_eq!(code, Some(0), "{signal:?}: {stderr}");
        assert!(stderr.contains("stopping"), "{stderr}");
    }
}

/// Keeps running when it is asked to stop, and longer than anybody waits.
fn mk_stubborn_process() -> DynamicObject {
    let object = json!({
        "apiVersion": "pathline.dev/v1alpha1",
        "kind": "Process",
        "metadata": {"name": "stubborn"},
        "spec": {
            "command": ["sh", "-c", "trap '' TERM; while :; do sleep 1; done"],
            "stopTimeout": "1h",
        },
    });
    serde_json::from_value(object).expect("a well-formed object")
}

#[tokio::test]
async fn second_signal_stops_it_at_once_although_a_process_does_not_end() {
    let (mut up, ready) = start();
    let kind = ApiResource::from_gvk(&GroupVersionKind::gvk(
        "pathline.dev",
        "v1alpha1",
        "Process",
    ));
    let processes = Api::<DynamicObject>::default_namespaced_with(client(&ready).await, &kind);
    processes
        .create(&PostParams::default(), &mk_stubborn_process())
        .await
        .unwrap();
    let runs = |process: Option<&DynamicObject>| {
        process.is_some_and(|process| process.data["status"]["pid"].is_i64())
    };
    let process = await_condition(processes, "stubborn", runs)
        .await
        .unwrap()
        .unwrap();
    let group = process.data["status"]["pid"].as_i64().unwrap();
    let group = Pid::from_raw(group.try_into().unwrap()).unwrap();

    up.signal(Signal::TERM);
    up.wait_for_stderr("once more to stop at once");
    up.signal(Signal::TERM);

    let Ended { code, stderr, .. } = up.wait();
    // What an abrupt stop leaves behind is ended by the next start; there is none here.
    let _ = kill_process_group(group, Signal::KILL);
    assert_eq!(code, Some(1), "{stderr}");
    assert!(
        stderr.contains("error: stopped at once, on a second signal (SIGTERM)"),
        "{stderr}"
    );
}

#[test]
fn second_one_on_the_same_directory_is_refused_by_the_name_of_the_first() {
    let (first, _) = start();
    let lock = first.directory().join(".pathline/lock");

    // Also if somebody takes its lock away.
    for is_removed in [false, true] {
        if is_removed {
            fs::remove_file(&lock).unwrap();
        }
        let second = pathline()
            .args(UP)
            .current_dir(first.directory())
            .output()
            .unwrap();

        let told = stderr(&second);
        assert_eq!(second.status.code(), Some(1), "{told}");
        assert!(
            told.contains(&format!("in use by process {}", first.pid())),
            "{told}"
        );
        assert!(told.contains("hint: `--data-dir DIR`"), "{told}");
        assert!(stdout(&second).starts_with("{\"error\":"), "{told}");
    }
    first.signal(Signal::TERM);
    assert_eq!(first.wait().code, Some(0), "the first one is undisturbed");
}

#[tokio::test]
async fn what_was_acknowledged_is_there_after_a_kill() {
    let (first, ready) = start();
    let maps = Api::<ConfigMap>::default_namespaced(client(&ready).await);
    maps.create(&PostParams::default(), &mk_config_map("kept"))
        .await
        .unwrap();
    first.signal(Signal::KILL);
    let leash = first.wait().leash;

    let mut second = Running::start_in(leash, &UP);
    let ready = second.json();

    let maps = Api::<ConfigMap>::default_namespaced(client(&ready).await);
    assert_eq!(maps.get("kept").await.unwrap().data.unwrap()["a"], "b");
}

#[test]
fn port_in_use_says_which_flag_to_change() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let directory = tempfile::tempdir().unwrap();
    let output = pathline()
        .args(["up", "--listen", "127.0.0.1:0", "--kube-listen", &address])
        .current_dir(&directory)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let told = stderr(&output);
    assert!(
        told.contains(&format!(
            "error: cannot listen on {address} (`--kube-listen`)"
        )),
        "{told}"
    );
    assert!(
        told.contains("hint: another program uses this port"),
        "{told}"
    );
}

#[test]
fn text_names_the_addresses_after_ready() {
    let mut up = Running::start(&UP[..5]);
    let lines: Vec<_> = (0..4).map(|_| up.line()).collect();
    assert_eq!(lines[0], "ready\n");
    assert!(
        lines[1].starts_with("  Pathline    http://127.0.0.1:"),
        "{lines:?}"
    );
    assert!(
        lines[2].starts_with("  Kubernetes  https://127.0.0.1:"),
        "{lines:?}"
    );
    assert!(lines[3].ends_with("/.pathline/kubeconfig\n"), "{lines:?}");
}

#[test]
fn yaml_says_the_same_as_json() {
    let mut up = Running::start(&[&UP[..6], &["yaml"]].concat());
    let lines: Vec<_> = (0..5).map(|_| up.line()).collect();
    assert_eq!(lines[0], "ready: true\n");
    let keys: Vec<_> = lines
        .iter()
        .filter_map(|line| Some(line.split_once(": ")?.0))
        .collect();
    assert_eq!(
        keys,
        ["ready", "url", "kubernetes", "kubeconfig", "dataDir"]
    );
}
