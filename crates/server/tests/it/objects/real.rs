//! The same on a real API server, with its controllers and a stand-in for kubelets.

use anyhow::{Context, Result};
use axum::body::Body;
use axum::http::Request;
use k8s_openapi::api::core::v1::{Pod, ServiceAccount};
use kube::api::ListParams;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::runtime::wait::await_condition;
use kube::{Api, Config, ResourceExt};
use pathline_client::api::{Made, ObjectLineage, RevisionState, WaitResult};
use pathline_engine::{Connection, Engine, Options, crds};
use pathline_ledger::Permissions;
use pathline_server::app;
use pathline_testkit::kube::{Binaries, Crash, Kubelets, RealCluster};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::world::World;

/// AppState to a real cluster with an engine, which runs something for workloads.
struct Scene {
    cluster: RealCluster,
    world: World,
    token: String,
}

impl Scene {
    async fn apply(&self, object: &Value) -> Result<()> {
        let kubectl = self.cluster.kubectl();
        kubectl.apply(&object.to_string()).await?;
        Ok(())
    }

    /// Lets a workload run an image.
    async fn run(&self, name: &str, image: &str) -> Result<()> {
        self.apply(&json!({
            "apiVersion": "carto.run/v1alpha1", "kind": "Workload",
            "metadata": {"name": name, "namespace": "default", "labels": {"app": name}},
            "spec": {"params": [{"name": "image", "value": image}]},
        }))
        .await
    }

    async fn wait(&self, name: &str, image: &str) -> Result<WaitResult> {
        let query = format!("for=param:image%3D{image}&live=true&timeout=180");
        let request = Request::get(format!("/workloads/default/{name}/wait?{query}"));
        let answer = self.world.send(request, Some(&self.token), Body::empty());
        Ok(serde_json::from_value(answer.await.body)?)
    }

    /// Returns the names of pods that run an image.
    async fn pods(&self, image: &str) -> Result<Vec<String>> {
        let pods = Api::<Pod>::namespaced(self.cluster.client().await?, "default");
        let pods = pods.list(&ListParams::default()).await?;
        let runs = |pod: &&Pod| {
            let spec = pod.spec.as_ref();
            spec.is_some_and(|it| it.containers[0].image.as_deref() == Some(image))
        };
        Ok(pods
            .iter()
            .filter(runs)
            .map(ResourceExt::name_any)
            .collect())
    }

    async fn explain(&self, pod: &str) -> Result<ObjectLineage> {
        let path = format!("/objects/default/pod/{pod}/lineage");
        Ok(serde_json::from_value(
            self.world.get(&path, &self.token).await.body,
        )?)
    }
}

fn image(made: Option<&Made>) -> Option<&str> {
    let mut from = made?.from.iter();
    let image = from.find(|it| it.artifact.name.as_deref() == Some("image"))?;
    Some(image.artifact.value.as_str())
}

/// Returns a template of a kind that keeps old pods while new ones crash.
fn template(kind: &str, name: &str) -> Value {
    let labels = json!({"app": name});
    let mut spec = json!({
        "selector": {"matchLabels": labels},
        "template": {
            "metadata": {"labels": labels},
            "spec": {"containers": [{"name": "app", "image": "$(params.image)$"}]},
        },
    });
    // A StatefulSet replaces one of two at first, and so does a DaemonSet on two nodes.
    match kind {
        "Deployment" => spec["replicas"] = json!(1),
        "StatefulSet" => spec["replicas"] = json!(2),
        _ => {}
    }
    json!({
        "apiVersion": "carto.run/v1alpha1", "kind": "ClusterTemplate", "metadata": {"name": name},
        "spec": {
            "params": [{"name": "image", "default": ""}],
            "template": {
                "apiVersion": "apps/v1", "kind": kind,
                "metadata": {"name": "$(workload.metadata.name)$"},
                "spec": spec,
            },
        },
    })
}

fn chain(name: &str) -> Value {
    json!({
        "apiVersion": "carto.run/v1alpha1", "kind": "ClusterSupplyChain", "metadata": {"name": name},
        "spec": {
            "selector": {"app": name},
            "resources": [{"name": "run", "templateRef": {"kind": "ClusterTemplate", "name": name}}],
        },
    })
}

fn rights() -> Value {
    let group = "rbac.authorization.k8s.io";
    json!({
        "apiVersion": format!("{group}/v1"), "kind": "RoleBinding",
        "metadata": {"name": "stamping", "namespace": "default"},
        "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": "cluster-admin"},
        "subjects": [{"apiGroup": group, "kind": "Group", "name": "system:serviceaccounts:default"}],
    })
}

#[tokio::test]
async fn pod_stays_what_it_is_while_the_one_that_should_replace_it_crashes() -> Result<()> {
    let suite = "pods on a real API server";
    let binaries = match Binaries::find() {
        Ok(binaries) => binaries,
        Err(missing) => {
            pathline_testkit::skip(suite, &missing.to_string());
            return Ok(());
        }
    };
    let options = pathline_testkit::kube::Options {
        definitions: crds::all(),
        ..pathline_testkit::kube::Options::with_pods()
    };
    let cluster = RealCluster::start(&binaries, options).await?;
    let kubelets = Kubelets::start(cluster.client().await?).await?;
    let accounts = Api::<ServiceAccount>::namespaced(cluster.client().await?, "default");
    await_condition(accounts, "default", |it: Option<&ServiceAccount>| {
        it.is_some()
    })
    .await?;

    let mut world = World::without_cluster().await;
    world.state = world.state.with_cluster(cluster.client().await?);
    world.router = app(world.state.clone());
    let token = world.token("reader", Permissions::READ).await;
    let kubeconfig = Kubeconfig::read_from(cluster.kubeconfig())?;
    let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?;
    let stop = CancellationToken::new();
    let options = Options::new(world.directory.path(), world.ledger.clone());
    let engine = tokio::spawn(Engine::run(Connection::to(config)?, options, stop.clone()));
    let scene = Scene {
        cluster,
        world,
        token,
    };
    scene.apply(&rights()).await?;
    let crash = Crash {
        restarts: 3,
        exit_code: 7,
        message: "there is no config".to_owned(),
    };
    for (kind, above) in [
        ("Deployment", &["ReplicaSet", "Deployment"][..]),
        ("StatefulSet", &["StatefulSet"]),
        ("DaemonSet", &["DaemonSet"]),
    ] {
        let name = kind.to_ascii_lowercase();
        kubelets.crash(&format!("{name}:2"), crash.clone());
        scene.apply(&template(kind, &name)).await?;
        scene.apply(&chain(&name)).await?;
        scene.replace(&name, above).await?;
    }

    stop.cancel();
    engine.await??;
    drop(kubelets);
    Ok(())
}

impl Scene {
    /// Runs an image, then one that crashes, and asks for pods of both meanwhile.
    async fn replace(&self, name: &str, above: &[&str]) -> Result<()> {
        let [old, new] = &["1", "2"].map(|it| format!("{name}:{it}"));
        self.run(name, old).await?;
        let waited = self.wait(name, old).await?;
        assert!(waited.impossible.is_none(), "{name}: {waited:?}");
        let pod = self.pods(old).await?.pop().context("a pod")?;
        let found = self.explain(&pod).await?;
        assert_eq!(found.revision, RevisionState::Current, "{found:?}");
        let kinds: Vec<_> = found.above.iter().map(|it| it.kind.as_str()).collect();
        assert_eq!(kinds, above);

        self.run(name, new).await?;
        let impossible = self
            .wait(name, new)
            .await?
            .impossible
            .context("it crashes")?;
        assert!(
            impossible.message.contains("there is no config"),
            "{impossible:?}"
        );
        let pod = self.pods(old).await?.pop().context("an old pod")?;
        let found = self.explain(&pod).await?;
        assert_eq!(found.revision, RevisionState::Older, "{found:?}");
        assert_eq!(image(found.made.as_ref()), Some(old.as_str()), "{found:?}");
        let pod = self.pods(new).await?.pop().context("a new pod")?;
        let found = self.explain(&pod).await?;
        assert_eq!(found.revision, RevisionState::Current, "{found:?}");
        assert_eq!(image(found.made.as_ref()), Some(new.as_str()), "{found:?}");
        let rollout = found.rollout.context("somebody has looked")?;
        assert!(rollout.contains("there is no config"), "{rollout}");
        Ok(())
    }
}
