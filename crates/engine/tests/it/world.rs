//! A cluster with a running engine, and short ways to write to it and to wait for it.

#![expect(
    clippy::unwrap_used,
    reason = "a story that cannot go on stops where it is"
)]

mod late;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use futures::future::{BoxFuture, Shared};
use futures::{FutureExt, StreamExt};
use k8s_openapi::api::core::v1::{Namespace, ServiceAccount};
use k8s_openapi::api::events::v1::Event;
use k8s_openapi::api::rbac::v1::RoleBinding;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{ApiResource, DeleteParams, DynamicObject, Patch, PatchParams, PostParams};
use kube::client::Body;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::core::GroupVersionKind;
use kube::runtime::conditions;
use kube::runtime::wait::await_condition;
use kube::runtime::{WatchStreamExt, watcher};
use kube::{Api, Client, Config, ResourceExt};
use parking_lot::Mutex;
use pathline_cluster::Cluster;
use pathline_engine::{Connection, Engine, Metrics, Options, crds};
use pathline_ledger::{Ledger, Location};
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use late::LateWatches;

/// Makes each story a test on an embedded cluster.
macro_rules! embedded_stories {
    ($($module:ident::$story:ident),* $(,)?) => {
        mod embedded {
            use crate::world::World;

            $(#[tokio::test]
            async fn $story() {
                let mut world = World::embedded().await;
                Box::pin(super::$module::$story(&mut world)).await;
                world.end().await;
            })*
        }
    };
}
pub(crate) use embedded_stories;

/// The time-out of waits that take milliseconds; a loaded machine gets all the time it needs.
const WAIT_TIMEOUT: Duration = Duration::from_secs(60);

/// The event that is awaited by whoever is held back for it; it happens once.
type Awaited = Shared<BoxFuture<'static, ()>>;

/// One namespace of a cluster, with an engine of its own.
pub(crate) struct World {
    pub(crate) client: Client,
    pub(crate) namespace: String,
    /// The metrics of the engines of this world.
    pub(crate) metrics: Metrics,
    pub(crate) connection: Connection,
    engine: Option<(
        JoinHandle<Result<(), pathline_engine::Error>>,
        CancellationToken,
    )>,
    data_dir: tempfile::TempDir,
    embedded: Option<Cluster>,
    /// The ledger of the engines of this world.
    pub(crate) ledger: Ledger,
    /// The requests that the engine made to the cluster, as `METHOD path`.
    calls: watch::Sender<Vec<String>>,
    /// The ends of calls that are held back, and what they are held back for.
    held_back: Arc<Mutex<Option<(String, Awaited)>>>,
    late: Option<LateWatches>,
}

impl World {
    /// Starts an embedded cluster and an engine on it.
    pub(crate) async fn embedded() -> Self {
        let data_dir = tempfile::tempdir().unwrap();
        let options = pathline_cluster::Options::new(data_dir.path());
        let cluster = Cluster::open(options).await.unwrap();
        let anonymous = Client::new(cluster.service(), "default");
        let connection = Connection::new(cluster.client(), anonymous);
        Self::start(connection, data_dir, Some(cluster)).await
    }

    /// Starts an engine on a cluster that is there already.
    pub(crate) async fn on(kubeconfig: &Path) -> Self {
        let kubeconfig = Kubeconfig::read_from(kubeconfig).unwrap();
        let options = KubeConfigOptions::default();
        let config = Config::from_custom_kubeconfig(kubeconfig, &options).await;
        let connection = Connection::to(config.unwrap()).unwrap();
        Self::start(connection, tempfile::tempdir().unwrap(), None).await
    }

    async fn start(
        connection: Connection,
        data_dir: tempfile::TempDir,
        embedded: Option<Cluster>,
    ) -> Self {
        let client = connection.client().clone();
        crds::install(&client).await.unwrap();
        install(&client, test_kind("Test", "tests")).await;
        let api: Api<Namespace> = Api::all(client.clone());
        let namespace = json!({"metadata": {"generateName": "owners-"}});
        let namespace = serde_json::from_value(namespace).unwrap();
        let namespace = api
            .create(&PostParams::default(), &namespace)
            .await
            .unwrap()
            .name_any();
        allow_everything_within(&client, &namespace).await;
        let place = Location::File(data_dir.path().join("ledger.db"));
        let mut world = Self {
            client,
            namespace,
            metrics: Metrics::default(),
            connection,
            engine: None,
            ledger: Ledger::open(&place).await.unwrap(),
            data_dir,
            embedded,
            calls: watch::Sender::default(),
            held_back: Arc::default(),
            late: None,
        };
        world.start_engine();
        world
    }

    pub(crate) fn start_engine(&mut self) {
        self.start_engine_with(|_| ());
    }

    /// Starts an engine with other options.
    pub(crate) fn start_engine_with(&mut self, change: impl FnOnce(&mut Options)) {
        let shutdown = CancellationToken::new();
        let mut options = Options {
            metrics: self.metrics.clone(),
            keeper: crate::keeper::keeper(),
            ..Options::new(self.data_dir.path(), self.ledger.clone())
        };
        change(&mut options);
        let connection = self.connection.clone().map(|client| self.recorded(client));
        let running = Engine::run(connection, options, shutdown.clone());
        self.engine = Some((tokio::spawn(running), shutdown));
    }

    /// Returns a client that notes every call.
    fn recorded(&self, client: Client) -> Client {
        let (calls, held_back) = (self.calls.clone(), self.held_back.clone());
        let late = self.late.clone();
        let service = tower::service_fn(move |request: http::Request<Body>| {
            let call = format!("{} {}", request.method(), request.uri().path());
            let held_back = held_back.lock().clone();
            let awaited = held_back.filter(|(held, _)| call.ends_with(held.as_str()));
            calls.send_modify(|calls| calls.push(call));
            let (client, late) = (client.clone(), late.clone());
            async move {
                if let Some(late) = late {
                    late.hold(request.uri()).await;
                }
                if let Some((_, awaited)) = awaited {
                    awaited.await;
                }
                client.send(request).await
            }
        });
        Client::new(service, "default")
    }

    /// Returns where the engines of this world keep their data.
    pub(crate) fn data_dir(&self) -> &Path {
        self.data_dir.path()
    }

    /// Returns what the engine asked of the cluster so far, as `METHOD path`.
    pub(crate) fn calls(&self) -> Vec<String> {
        self.calls.borrow().clone()
    }

    /// Holds the calls that end so back until there is one that ends otherwise.
    pub(crate) fn hold_back(&self, held: &str, until: &str) {
        let (mut calls, until) = (self.calls.subscribe(), until.to_owned());
        self.just_before(held, async move {
            let is_there = |call: &String| call.ends_with(&until);
            let called = calls.wait_for(|calls| calls.iter().any(is_there)).await;
            called.unwrap();
        });
    }

    /// Lets something happen, once, just before a call that ends so.
    pub(crate) fn just_before(
        &self,
        call: &str,
        happens: impl Future<Output = ()> + Send + 'static,
    ) {
        let awaited = happens.boxed().shared();
        *self.held_back.lock() = Some((call.to_owned(), awaited));
    }

    /// Stops the engine and waits until nothing of it runs.
    pub(crate) async fn stop_engine(&mut self) {
        let (running, shutdown) = self.engine.take().expect("the engine runs");
        shutdown.cancel();
        let ended = tokio::time::timeout(WAIT_TIMEOUT, running).await;
        ended
            .expect("the engine stops when told to")
            .unwrap()
            .unwrap();
    }

    /// Removes what the test made outside its namespace, so that the next one starts clean.
    pub(crate) async fn end(mut self) {
        self.stop_engine().await;
        for kind in CLUSTER_KINDS {
            let api = self.api(kind);
            for object in api.list(&Default::default()).await.unwrap() {
                api.delete(&object.name_any(), &DeleteParams::default())
                    .await
                    .unwrap();
            }
        }
        let namespaces: Api<Namespace> = Api::all(self.client.clone());
        namespaces
            .delete(&self.namespace, &DeleteParams::background())
            .await
            .unwrap();
        if let Some(cluster) = self.embedded {
            cluster.close().await;
        }
        self.ledger.close().await;
    }

    /// Returns the API of a kind, in the namespace unless it is a kind of the whole cluster.
    pub(crate) fn api(&self, kind: &str) -> Api<DynamicObject> {
        let (group, version, plural) = match kind {
            "ConfigMap" => ("", "v1", "configmaps".to_owned()),
            "Test" => (TEST_GROUP, "v1", "tests".to_owned()),
            "Late" => (TEST_GROUP, "v1", "lates".to_owned()),
            "Environment" => ("pathline.dev", "v1alpha1", "environments".to_owned()),
            "ClusterDelivery" => ("carto.run", "v1alpha1", "clusterdeliveries".to_owned()),
            kind => ("carto.run", "v1alpha1", format!("{}s", kind.to_lowercase())),
        };
        let gvk = GroupVersionKind::gvk(group, version, kind);
        let resource = ApiResource::from_gvk_with_plural(&gvk, &plural);
        if CLUSTER_KINDS.contains(&kind) {
            Api::all_with(self.client.clone(), &resource)
        } else {
            Api::namespaced_with(self.client.clone(), &self.namespace, &resource)
        }
    }

    /// Applies an object as a user would.
    pub(crate) async fn apply(&self, kind: &str, name: &str, mut object: Value) {
        let api = self.api(kind);
        object["apiVersion"] = json!(match kind {
            "ConfigMap" => "v1".to_owned(),
            "Test" | "Late" => format!("{TEST_GROUP}/v1"),
            "Environment" => "pathline.dev/v1alpha1".to_owned(),
            _ => "carto.run/v1alpha1".to_owned(),
        });
        object["kind"] = json!(kind);
        object["metadata"]["name"] = json!(name);
        let params = PatchParams::apply("a-user").force();
        api.patch(name, &params, &Patch::Apply(&object))
            .await
            .unwrap();
    }

    /// Applies an object that has nothing but a spec.
    pub(crate) async fn apply_spec(&self, kind: &str, name: &str, spec: Value) {
        self.apply(kind, name, json!({"spec": spec})).await;
    }

    /// Applies a workload with the label that the tests' supply chains select.
    pub(crate) async fn apply_workload(&self, name: &str, spec: Value) {
        let labels = json!({"app": self.namespace});
        self.apply(
            "Workload",
            name,
            json!({"metadata": {"labels": labels}, "spec": spec}),
        )
        .await;
    }

    /// Applies a supply chain for the workloads of this world.
    pub(crate) async fn apply_chain(&self, name: &str, resources: Value) {
        let selector = json!({"app": self.namespace});
        self.apply_spec(
            "ClusterSupplyChain",
            name,
            json!({"selector": selector, "resources": resources}),
        )
        .await;
    }

    /// Plays the controller of a stamped object: writes its status.
    pub(crate) async fn set_status(&self, name: &str, status: Value) {
        self.wait_for("Test", name, "being stamped", |_| true).await;
        let params = PatchParams::default();
        let patch = Patch::Merge(json!({"status": status}));
        self.api("Test")
            .patch_status(name, &params, &patch)
            .await
            .unwrap();
    }

    pub(crate) async fn get(&self, kind: &str, name: &str) -> Option<Value> {
        let object = self.api(kind).get_opt(name).await.unwrap();
        object.map(|object| serde_json::to_value(object).unwrap())
    }

    pub(crate) async fn delete(&self, kind: &str, name: &str) {
        self.api(kind)
            .delete(name, &DeleteParams::default())
            .await
            .unwrap();
    }

    /// Waits until an object is as wanted, and returns it.
    pub(crate) async fn wait_for(
        &self,
        kind: &str,
        name: &str,
        what: &str,
        is_wanted: impl Fn(&Value) -> bool,
    ) -> Value {
        let condition = |object: Option<&DynamicObject>| {
            object.is_some_and(|object| is_wanted(&serde_json::to_value(object).unwrap()))
        };
        let waiting = await_condition(self.api(kind), name, condition);
        match tokio::time::timeout(WAIT_TIMEOUT, waiting).await {
            Ok(found) => serde_json::to_value(found.unwrap().unwrap()).unwrap(),
            Err(_) => {
                let now = self.get(kind, name).await.unwrap_or_default();
                panic!("waited in vain for {kind} {name} {what}; it is {now:#}");
            }
        }
    }

    /// Waits until an Event of the namespace has this reason and speaks of this, and returns its note.
    pub(crate) async fn wait_event(&self, reason: &str, about: &str) -> String {
        let api: Api<Event> = Api::namespaced(self.client.clone(), &self.namespace);
        let events = watcher(api, watcher::Config::default()).default_backoff();
        let mut events = std::pin::pin!(events.applied_objects());
        let search = async {
            while let Some(event) = events.next().await {
                let event = event.unwrap();
                let note = event.note.unwrap_or_default();
                if event.reason.as_deref() == Some(reason) && note.contains(about) {
                    return note;
                }
            }
            unreachable!("a watch does not end")
        };
        let found = tokio::time::timeout(WAIT_TIMEOUT, search).await;
        found.unwrap_or_else(|_| panic!("waited in vain for an event {reason} about {about}"))
    }

    /// Waits until any object of a kind is as wanted, and returns its name.
    pub(crate) async fn wait_any(
        &self,
        kind: &str,
        what: &str,
        is_wanted: impl Fn(&Value) -> bool,
    ) -> String {
        let events = watcher(self.api(kind), watcher::Config::default()).default_backoff();
        let mut objects = std::pin::pin!(events.applied_objects());
        let search = async {
            while let Some(object) = objects.next().await {
                let object = object.unwrap();
                if is_wanted(&serde_json::to_value(&object).unwrap()) {
                    return object.name_any();
                }
            }
            unreachable!("a watch does not end")
        };
        let found = tokio::time::timeout(WAIT_TIMEOUT, search).await;
        found.unwrap_or_else(|_| panic!("waited in vain for a {kind} {what}"))
    }

    /// Waits until an object is gone.
    pub(crate) async fn wait_gone(&self, kind: &str, name: &str) {
        let waiting = await_condition(self.api(kind), name, |object: Option<&DynamicObject>| {
            object.is_none()
        });
        let gone = tokio::time::timeout(WAIT_TIMEOUT, waiting).await;
        gone.unwrap_or_else(|_| panic!("waited in vain for {kind} {name} to go"))
            .unwrap();
    }

    /// Waits until a condition of an owner has this status and reason, and returns the owner.
    pub(crate) async fn wait_condition(
        &self,
        kind: &str,
        name: &str,
        condition: [&str; 3],
    ) -> Value {
        let what = format!("with {condition:?}");
        self.wait_for(kind, name, &what, |owner| {
            conditions_of(&owner["status"]).contains(&condition)
        })
        .await
    }

    pub(crate) async fn wait_ready(&self, kind: &str, name: &str) -> Value {
        self.wait_condition(kind, name, ["Ready", "True", "Ready"])
            .await
    }
}

/// Returns type, status and reason of each condition.
pub(crate) fn conditions_of(status: &Value) -> Vec<[&str; 3]> {
    fn field<'v>(condition: &'v Value, name: &str) -> &'v str {
        condition[name].as_str().unwrap_or_default()
    }
    let conditions = status["conditions"].as_array().into_iter().flatten();
    conditions
        .map(|condition| ["type", "status", "reason"].map(|name| field(condition, name)))
        .collect()
}

/// Returns what an owner reports of one resource.
pub(crate) fn resource<'v>(owner: &'v Value, name: &str) -> &'v Value {
    let resources = owner["status"]["resources"]
        .as_array()
        .expect("the owner reports resources");
    let resource = resources.iter().find(|resource| resource["name"] == name);
    resource.unwrap_or_else(|| panic!("no resource {name} in {resources:#?}"))
}

/// Returns the message of a condition.
pub(crate) fn message<'v>(status: &'v Value, condition: &str) -> &'v str {
    let conditions = status["conditions"]
        .as_array()
        .expect("there are conditions");
    let condition = conditions.iter().find(|known| known["type"] == condition);
    condition
        .and_then(|condition| condition["message"].as_str())
        .expect("the condition is there")
}

/// Lets every service account of a namespace do everything within it, and waits for the default one.
async fn allow_everything_within(client: &Client, namespace: &str) {
    let binding = json!({
        "metadata": {"name": EVERYTHING},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
        "subjects": [{
            "apiGroup": "rbac.authorization.k8s.io",
            "kind": "Group",
            "name": format!("system:serviceaccounts:{namespace}"),
        }],
    });
    let bindings: Api<RoleBinding> = Api::namespaced(client.clone(), namespace);
    let binding = serde_json::from_value(binding).unwrap();
    bindings
        .create(&PostParams::default(), &binding)
        .await
        .unwrap();
    let accounts: Api<ServiceAccount> = Api::namespaced(client.clone(), namespace);
    let made = await_condition(accounts, "default", |account: Option<&ServiceAccount>| {
        account.is_some()
    });
    tokio::time::timeout(WAIT_TIMEOUT, made)
        .await
        .expect("the namespace gets its default account")
        .unwrap();
}

/// Installs a kind and waits until it is served.
pub(crate) async fn install(client: &Client, crd: CustomResourceDefinition) {
    let api: Api<CustomResourceDefinition> = Api::all(client.clone());
    let params = PatchParams::apply("a-user").force();
    api.patch(&crd.name_any(), &params, &Patch::Apply(&crd))
        .await
        .unwrap();
    let name = crd.name_any();
    let served = await_condition(api, &name, conditions::is_crd_established());
    tokio::time::timeout(WAIT_TIMEOUT, served)
        .await
        .expect("the kind is served")
        .unwrap();
}

/// A namespaced kind with a spec and a status of any shape.
pub(crate) fn test_kind(kind: &str, plural: &str) -> CustomResourceDefinition {
    let anything = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    serde_json::from_value(json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.{TEST_GROUP}")},
        "spec": {
            "group": TEST_GROUP,
            "scope": "Namespaced",
            "names": {"kind": kind, "plural": plural},
            "versions": [{
                "name": "v1",
                "served": true,
                "storage": true,
                "subresources": {"status": {}},
                "schema": {"openAPIV3Schema": {
                    "type": "object",
                    "properties": {"spec": anything, "status": anything},
                }},
            }],
        },
    }))
    .unwrap()
}

/// The name of the RoleBinding by which the accounts of a namespace may do everything within it.
pub(crate) const EVERYTHING: &str = "everything";

const TEST_GROUP: &str = "test.pathline.dev";

const CLUSTER_KINDS: [&str; 9] = [
    "ClusterSupplyChain",
    "ClusterDelivery",
    "ClusterSourceTemplate",
    "ClusterImageTemplate",
    "ClusterConfigTemplate",
    "ClusterDeploymentTemplate",
    "ClusterTemplate",
    "ClusterRunTemplate",
    "Environment",
];
