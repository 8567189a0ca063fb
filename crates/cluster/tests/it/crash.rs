//! A cluster whose process is killed, as its clients see it: what was answered is there, and a
//! watch goes on where it stopped.
//!
//! The store's own tests kill it two hundred times; here the whole way from the client is in it.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use futures::{StreamExt, TryStreamExt};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::Api;
use kube::api::{DeleteParams, ListParams, PostParams, WatchEvent, WatchParams};
use pathline_cluster::{Cluster, Options};
use pathline_testkit::{child_of, tell_parent};
use tokio::runtime::Runtime;

const RUNS: u64 = 20;
const WRITERS: u64 = 4;

/// The content of every ConfigMap by name, with its resourceVersion.
type Contents = BTreeMap<String, (u64, String)>;

async fn open(directory: &Path) -> (Cluster, Api<ConfigMap>) {
    let cluster = Cluster::open(Options::new(directory)).await.unwrap();
    let config_maps = Api::default_namespaced(cluster.client());
    (cluster, config_maps)
}

fn mk_config_map(name: &str, content: u64) -> ConfigMap {
    let text = format!("{content} ").repeat(200);
    serde_json::from_value(serde_json::json!({
        "metadata": {"name": name},
        "data": {"first": text, "second": text},
    }))
    .unwrap()
}

fn name_of(config_map: &ConfigMap) -> String {
    config_map.metadata.name.clone().unwrap()
}

fn state_of(config_map: &ConfigMap) -> (u64, String) {
    let version = config_map
        .metadata
        .resource_version
        .as_ref()
        .unwrap()
        .parse()
        .unwrap();
    let data = config_map.data.clone().unwrap_or_default();
    let content = data.get("first").cloned().unwrap_or_default();
    let second = data.get("second").cloned().unwrap_or_default();
    let whole = content == second || !data.contains_key("second");
    assert!(whole, "{} is half written", name_of(config_map));
    (version, content)
}

/// Writes without end, saying what was answered.
async fn write_until_killed() {
    let (_cluster, config_maps) = open(Path::new(".")).await;
    tell_parent("open");
    // Every process writes content of its own: a write that changes nothing makes no event.
    let first = u64::from(std::process::id()) * 1_000_000;
    let writers = (0..WRITERS).map(|writer| {
        let config_maps = config_maps.clone();
        tokio::spawn(async move {
            for turn in 0_u64.. {
                let name = format!("w{}", (writer + turn * 3) % 7);
                write(&config_maps, &name, first + turn * WRITERS + writer).await;
            }
        })
    });
    futures::future::try_join_all(writers).await.unwrap();
}

async fn write(config_maps: &Api<ConfigMap>, name: &str, content: u64) {
    let current = config_maps.get_opt(name).await.unwrap();
    let mut next = mk_config_map(name, content);
    let written = match current {
        Some(_) if content.is_multiple_of(5) => {
            let deleted = config_maps.delete(name, &DeleteParams::default()).await;
            return expected(deleted.map(drop)).unwrap_or_default();
        }
        Some(current) => {
            next.metadata.resource_version = current.metadata.resource_version;
            config_maps
                .replace(name, &PostParams::default(), &next)
                .await
        }
        None => config_maps.create(&PostParams::default(), &next).await,
    };
    if let Some(written) = expected(written) {
        let (version, content) = state_of(&written);
        tell_parent(&format!("ack {version} {name} {content}"));
    }
}

/// Passes an answer on; `None` where another writer was faster.
fn expected<T>(answer: kube::Result<T>) -> Option<T> {
    match answer {
        Ok(answer) => Some(answer),
        Err(kube::Error::Api(status)) if matches!(status.code, 404 | 409) => None,
        Err(error) => panic!("{error}"),
    }
}

/// Runs the child, kills it after it has said `lines` lines and `pause` has passed, and
/// returns the version, name and content of everything it was answered.
fn run_and_kill(child: &mut Command, lines: u64, pause: Duration) -> Vec<(u64, String, String)> {
    let mut child = child.spawn().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let (mut answered, mut line) = (Vec::new(), String::new());
    let mut killed = false;
    while output.read_line(&mut line).unwrap() > 0 {
        let words = line
            .strip_suffix('\n')
            .and_then(|line| line.strip_prefix("ack "));
        let mut words = words.into_iter().flat_map(|words| words.splitn(3, ' '));
        if let (Some(version), Some(name), Some(content)) =
            (words.next(), words.next(), words.next())
        {
            answered.push((
                version.parse().unwrap(),
                name.to_owned(),
                content.to_owned(),
            ));
        }
        line.clear();
        if !killed && answered.len() as u64 >= lines {
            std::thread::sleep(pause);
            child.kill().unwrap();
            killed = true;
        }
    }
    child.wait().unwrap();
    answered
}

/// Watches from `version` on until `last` appears.
async fn replay(
    config_maps: &Api<ConfigMap>,
    version: &str,
    last: &str,
    known: &mut Contents,
) -> Vec<(u64, String, String)> {
    let watch = config_maps
        .watch(&WatchParams::default().timeout(60), version)
        .await
        .unwrap();
    let mut watch = watch.boxed();
    let mut seen = Vec::new();
    while let Some(event) = watch.try_next().await.unwrap() {
        match event {
            WatchEvent::Added(object) | WatchEvent::Modified(object) => {
                let (version, content) = state_of(&object);
                seen.push((version, name_of(&object), content.clone()));
                known.insert(name_of(&object), (version, content));
                if name_of(&object) == last {
                    return seen;
                }
            }
            WatchEvent::Deleted(object) => {
                known
                    .remove(&name_of(&object))
                    .expect("only what exists is deleted");
            }
            WatchEvent::Bookmark(_) => {}
            WatchEvent::Error(status) => panic!("{status:?}"),
        }
    }
    panic!("the watch ended early");
}

/// Returns what there is, and the version to watch from.
async fn list(config_maps: &Api<ConfigMap>) -> (Contents, String) {
    let list = config_maps.list(&ListParams::default()).await.unwrap();
    let contents = list
        .items
        .iter()
        .map(|item| (name_of(item), state_of(item)))
        .collect();
    (contents, list.metadata.resource_version.unwrap())
}

#[test]
fn what_a_client_was_told_survives_a_kill() {
    let runtime = Runtime::new().unwrap();
    let Some(mut child) = child_of("crash::what_a_client_was_told_survives_a_kill") else {
        return runtime.block_on(write_until_killed());
    };
    let directory = tempfile::tempdir().unwrap();
    child.current_dir(directory.path());
    child.stdout(Stdio::piped()).stderr(Stdio::null());
    let (mut known, mut version) = runtime.block_on(async {
        let (cluster, config_maps) = open(directory.path()).await;
        let found = list(&config_maps).await;
        cluster.close().await;
        found
    });
    for run in 0..RUNS {
        let pause = Duration::from_micros(run * 7919 % 5000);
        let answered = run_and_kill(&mut child, 1 + run * 13 % 40, pause);
        runtime.block_on(async {
            let (cluster, config_maps) = open(directory.path()).await;
            let marker = format!("marker-{run}");
            config_maps
                .create(&PostParams::default(), &mk_config_map(&marker, 0))
                .await
                .unwrap();
            let seen = replay(&config_maps, &version, &marker, &mut known).await;
            for answer in &answered {
                let shown: Vec<u64> = seen.iter().map(|(version, ..)| *version).collect();
                assert!(
                    seen.contains(answer),
                    "{answer:?} is not among {shown:?} after {version}"
                );
            }
            let (listed, newer) = list(&config_maps).await;
            assert_eq!(known, listed, "the resumed watch and a new list agree");
            version = newer;
            cluster.close().await;
        });
    }
}
