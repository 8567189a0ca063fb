//! An embedded cluster with the workers on it.

use std::fmt::Debug;
use std::path::{Path, PathBuf};
use std::time::Duration;

use futures::{Stream, StreamExt};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Patch, PatchParams, PostParams};
use kube::core::NamespaceResourceScope;
use kube::runtime::wait::{await_condition, conditions};
use kube::runtime::{WatchStreamExt, watcher};
use kube::{Api, Client, Resource, ResourceExt};
use pathline_cluster::Cluster;
use pathline_kinds::workers::Source;
use pathline_remote::archive::{Limits, pack_directory};
use pathline_testkit::http_child;
use pathline_workers::{self as workers, Keeper, Restarts};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// Long enough for a busy machine; reaching it is a failure.
const WAIT_TIMEOUT: Duration = Duration::from_secs(90);

/// The cluster and its workers, on a data directory.
pub(crate) struct House {
    pub(crate) client: Client,
    cluster: Cluster,
    stop: CancellationToken,
    workers: JoinHandle<Result<(), workers::Error>>,
    data_dir: PathBuf,
}

/// Creates the kinds of the workers, unless they are there, and returns when they are served.
async fn install_kinds(client: &Client) {
    let api: Api<CustomResourceDefinition> = Api::all(client.clone());
    for crd in pathline_kinds::workers::crds() {
        let name = crd.name_any();
        let ours = PatchParams::apply("pathline").force();
        api.patch(&name, &ours, &Patch::Apply(crd))
            .await
            .expect("the kind is accepted");
        let established = await_condition(api.clone(), &name, conditions::is_crd_established());
        established.await.expect("the kind is served");
    }
}

impl House {
    /// Opens the cluster on `data_dir`, installs the kinds and starts the workers.
    pub(crate) async fn open(data_dir: &Path) -> Self {
        Self::open_with(data_dir, |_| {}).await
    }

    /// The same, with other options.
    pub(crate) async fn open_with(
        data_dir: &Path,
        change: impl FnOnce(&mut workers::Options),
    ) -> Self {
        let cluster = Cluster::open(pathline_cluster::Options::new(data_dir))
            .await
            .expect("the cluster opens");
        let client = cluster.client();
        install_kinds(&client).await;
        let stop = CancellationToken::new();
        let mut options = workers::Options::new(data_dir);
        options.restarts = Restarts {
            first_pause: Duration::from_millis(10),
            longest_pause: Duration::from_millis(40),
            stable_after: Duration::from_secs(60),
        };
        options.keeper = keeper();
        options.max_tasks = 3;
        change(&mut options);
        let workers = tokio::spawn(workers::run(client.clone(), options, stop.clone()));
        Self {
            client,
            cluster,
            stop,
            workers,
            data_dir: data_dir.to_owned(),
        }
    }

    pub(crate) fn api<K>(&self) -> Api<K>
    where
        K: Resource<DynamicType = (), Scope = NamespaceResourceScope>,
    {
        Api::namespaced(self.client.clone(), "default")
    }

    /// Creates an object from its spec.
    pub(crate) async fn create<K: Kind>(&self, name: &str, spec: Value) -> K {
        let object = json!({ "metadata": { "name": name }, "spec": spec });
        let object: Value = merge_type::<K>(object);
        let object: K = serde_json::from_value(object).expect("a well-formed object");
        self.api()
            .create(&PostParams::default(), &object)
            .await
            .expect("the object is accepted")
    }

    /// Merges something into an object.
    pub(crate) async fn patch<K: Kind>(&self, name: &str, patch: Value) -> K {
        let patch = Patch::Merge(patch);
        self.api()
            .patch(name, &PatchParams::default(), &patch)
            .await
            .expect("the patch is accepted")
    }

    /// Waits until an object is as it should be.
    pub(crate) async fn until<K: Kind>(&self, name: &str, what: fn(&Value) -> bool) -> Value {
        let api: Api<K> = self.api();
        let wanted = |object: Option<&K>| {
            object
                .and_then(|it| serde_json::to_value(it).ok())
                .is_some_and(|it| what(&it))
        };
        match tokio::time::timeout(WAIT_TIMEOUT, await_condition(api.clone(), name, wanted)).await {
            Ok(Ok(found)) => serde_json::to_value(found).expect("objects are JSON"),
            other => {
                let found = api.get_opt(name).await;
                panic!("`{name}` never became as it should be ({other:?}): {found:#?}")
            }
        }
    }

    /// Watches an object that is still to be created: every state it is in from then on.
    pub(crate) async fn watch<K: Kind + Sync>(
        &self,
        name: &str,
    ) -> impl Stream<Item = Value> + Send + Unpin + use<K> {
        let named = watcher::Config::default().fields(&format!("metadata.name={name}"));
        let mut events = Box::pin(watcher(self.api::<K>(), named));
        while !matches!(events.next().await, Some(Ok(watcher::Event::InitDone))) {}
        let objects = events.applied_objects();
        Box::pin(objects.filter_map(async |it| serde_json::to_value(it.ok()?).ok()))
    }

    /// Deletes an object and waits until it is gone.
    pub(crate) async fn delete<K: Kind>(&self, name: &str) {
        let api: Api<K> = self.api();
        let uid = api
            .get(name)
            .await
            .expect("it exists")
            .uid()
            .expect("it was created");
        api.delete(name, &kube::api::DeleteParams::default())
            .await
            .expect("it may be deleted");
        let gone = kube::runtime::conditions::is_deleted(&uid);
        tokio::time::timeout(WAIT_TIMEOUT, await_condition(api, name, gone))
            .await
            .expect("it is deleted in time")
            .expect("the watch works");
    }

    /// Stops the workers and the cluster.
    pub(crate) async fn close(self) {
        self.stop.cancel();
        let ended = tokio::time::timeout(WAIT_TIMEOUT, self.workers)
            .await
            .expect("the workers stop");
        ended.expect("no worker panics").expect("no worker fails");
        self.cluster.close().await;
    }

    /// Packs files into an archive and returns it as a source.
    pub(crate) fn source(&self, files: &[(&str, &str)], revision: &str) -> Source {
        let dir = TempDir::new().expect("a scratch directory");
        for (path, content) in files {
            let path = dir.path().join(path);
            std::fs::create_dir_all(path.parent().expect("a file is in a directory"))
                .and_then(|()| std::fs::write(&path, content))
                .expect("the scratch directory is writable");
        }
        let kept = self.data_dir.join("test-sources");
        let archive =
            pack_directory(dir.path(), &kept, Limits::default()).expect("the files can be packed");
        let url = format!("file://{}", archive.path.display());
        Source {
            url,
            revision: Some(revision.into()),
        }
    }
}

/// The kinds that the tests create.
pub(crate) trait Kind:
    Resource<DynamicType = (), Scope = NamespaceResourceScope>
    + Clone
    + Debug
    + DeserializeOwned
    + Serialize
    + Send
    + 'static
{
}

impl<K> Kind for K where
    K: Resource<DynamicType = (), Scope = NamespaceResourceScope>
        + Clone
        + Debug
        + DeserializeOwned
        + Serialize
        + Send
        + 'static
{
}

fn merge_type<K: Kind>(mut object: Value) -> Value {
    object["apiVersion"] = K::api_version(&()).into();
    object["kind"] = K::kind(&()).into();
    object
}

/// The status of a condition, and its reason.
pub(crate) fn condition<'a>(object: &'a Value, type_: &str) -> (&'a str, &'a str) {
    let conditions = object["status"]["conditions"].as_array();
    conditions
        .into_iter()
        .flatten()
        .find(|condition| condition["type"] == type_)
        .map_or(("", ""), |it| (text(&it["status"]), text(&it["reason"])))
}

/// The message of a condition.
pub(crate) fn message<'a>(object: &'a Value, type_: &str) -> &'a str {
    let conditions = object["status"]["conditions"].as_array();
    let found = conditions
        .into_iter()
        .flatten()
        .find(|condition| condition["type"] == type_);
    found.map_or("", |condition| text(&condition["message"]))
}

/// The text of a value; empty if it is none.
pub(crate) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Whether a `Process` says that its newest generation is ready.
pub(crate) fn is_ready(process: &Value) -> bool {
    let is_current = process["metadata"]["generation"] == process["status"]["observedGeneration"];
    is_current && condition(process, "Ready").0 == "True"
}

/// In a process that workers start it is a keeper; in any other it is refused.
#[test]
fn nobody_but_pathline_starts_a_keeper() {
    let is_started = std::env::var_os("PATHLINE_KEEPER").is_some();
    assert_eq!(workers::keep().is_ok(), is_started);
}

/// Returns a keeper that is this test executable.
pub(crate) fn keeper() -> Keeper {
    let test = "fixture::nobody_but_pathline_starts_a_keeper";
    let arguments = ["--exact", test];
    Keeper {
        arguments: arguments.map(Into::into).to_vec(),
        ..Keeper::default()
    }
}

/// Serves HTTP when it is started by [`server`].
#[test]
fn serve() {
    http_child::serve_if_asked();
}

/// The command that serves HTTP.
pub(crate) fn server_command() -> Vec<String> {
    http_child::server_command("fixture::serve")
}

/// The spec of a `Process` that serves HTTP on a port, with more settings for its server.
pub(crate) fn server(port: u16, settings: &[(&str, &str)]) -> Value {
    let port_text = port.to_string();
    let settings = [&[(http_child::SERVE_PORT, port_text.as_str())], settings].concat();
    let env: Vec<_> = settings
        .into_iter()
        .map(|(name, value)| json!({ "name": name, "value": value }))
        .collect();
    json!({
        "command": server_command(),
        "env": env,
        "readiness": { "httpGet": { "port": port } },
    })
}

/// Whether a process is there and not just waiting to be reaped.
pub(crate) fn is_running(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"));
    stat.is_ok_and(|stat| {
        stat.rsplit_once(") ")
            .is_some_and(|(_, rest)| !rest.starts_with('Z'))
    })
}

/// Waits until a file has text, and returns that.
pub(crate) async fn content_of(path: &Path) -> String {
    let wait = async {
        loop {
            match std::fs::read_to_string(path) {
                Ok(text) if text.ends_with('\n') => return text.trim().to_owned(),
                _ => tokio::time::sleep(Duration::from_millis(10)).await,
            }
        }
    };
    tokio::time::timeout(WAIT_TIMEOUT, wait)
        .await
        .unwrap_or_else(|_| panic!("nobody wrote {}", path.display()))
}
