//! Names of what runs, told to those who have waited for it.

use std::collections::BTreeMap;

use axum::http::{Request, Response};
use jiff::Timestamp;
use kube::api::{ApiResource, DynamicObject, GroupVersionKind, Patch, PatchParams, PostParams};
use kube::client::Body;
use kube::{Api, Client, ResourceExt};
use pathline_client::api::{WaitResult, WaitState};
use pathline_kinds::split_api_version;
use pathline_ledger::{Change, OwnerRef, Permissions};
use pathline_lineage::{OwnerLineage, Rollout, Stage};
use pathline_server::app;
use serde_json::{Value, json};

use crate::owners::create;
use crate::story;
use crate::world::World;

const WAIT: &str = "/workloads/dev/web/wait?for=param:debug=on&live=true&timeout=60";

/// The workload `dev/web`, whose last resource has rolled out.
struct Scene {
    world: World,
    token: String,
}

impl Scene {
    /// Makes the workload; `stamped` is what its last resource has stamped, with its API version.
    async fn new(stamped: (&str, &str, &str)) -> Self {
        let world = World::new().await;
        let token = world.token("reader", Permissions::READ).await;
        let uid = create(&world, "dev", "web").await.uid().expect("a uid");
        let mut lineage = story::record(&world.ledger, &uid).await;
        lineage.rollouts = done("image-builder", "uid-of-image-builder");
        let scene = Self { world, token };
        scene.record(&story::owner(&uid), &lineage).await;
        scene
            .report("Workload", "web", "image-builder", stamped)
            .await;
        scene
    }

    async fn record(&self, owner: &OwnerRef, lineage: &OwnerLineage) {
        let change = Change {
            owner,
            lineage,
            derivations: &[],
            arrivals: &[],
            time: Timestamp::from_second(1_800_000_001).expect("a time"),
        };
        self.world
            .ledger
            .lineage()
            .record(&change)
            .await
            .expect("recorded");
    }

    fn client(&self) -> Client {
        let cluster = self.world.cluster.as_ref();
        cluster.expect("there is a cluster").client()
    }

    fn api(&self, api_version: &str, kind: &str) -> Api<DynamicObject> {
        let (group, version) = split_api_version(api_version);
        let resource = ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, kind));
        Api::namespaced_with(self.client(), "dev", &resource)
    }

    /// Says in the status of an owner what a resource has stamped.
    async fn report(
        &self,
        owner: &str,
        name: &str,
        resource: &str,
        (api_version, kind, stamped): (&str, &str, &str),
    ) {
        let status = json!({"status": {"resources": [{"name": resource, "stampedRef": {
            "apiVersion": api_version, "kind": kind, "namespace": "dev", "name": stamped,
        }}]}});
        self.api("carto.run/v1alpha1", owner)
            .patch_status(name, &PatchParams::default(), &Patch::Merge(status))
            .await
            .expect("the status is written");
    }

    /// Makes an object; returns its uid.
    async fn make(&self, api_version: &str, kind: &str, mut object: Value) -> String {
        object["apiVersion"] = api_version.into();
        object["kind"] = kind.into();
        let status = object["status"].take();
        let name = object["metadata"]["name"].as_str().expect("a name");
        let name = name.to_owned();
        let object = serde_json::from_value(object).expect("an object");
        let api = self.api(api_version, kind);
        let made = api.create(&PostParams::default(), &object).await;
        if !status.is_null() {
            let status = Patch::Merge(json!({ "status": status }));
            api.patch_status(&name, &PatchParams::default(), &status)
                .await
                .expect("the status is written");
        }
        made.expect("it is created").uid().expect("a uid")
    }

    /// Makes a deployment and its replica set; returns a reference to the replica set.
    async fn make_deployment(&self, name: &str) -> Value {
        let template = json!({
            "metadata": {"labels": {"app": name}},
            "spec": {"containers": [{"name": "app", "image": "app:1"}]},
        });
        let spec = json!({"selector": {"matchLabels": {"app": name}}, "template": template});
        let deployment = json!({"metadata": {"name": name}, "spec": spec});
        let uid = self.make("apps/v1", "Deployment", deployment).await;
        let references = controlled_by("apps/v1", "Deployment", name, &uid);
        let name = format!("{name}-1");
        let metadata = json!({"name": name, "ownerReferences": references});
        let set = json!({"metadata": metadata, "spec": spec});
        let uid = self.make("apps/v1", "ReplicaSet", set).await;
        controlled_by("apps/v1", "ReplicaSet", &name, &uid)
    }

    async fn make_pod(&self, name: &str, app: &str, references: &Value, ready: &str) {
        let pod = json!({
            "metadata": {
                "name": name, "labels": {"app": app}, "ownerReferences": references,
            },
            "spec": {"nodeName": "node-1", "containers": [{
                "name": "app", "image": "app:1",
                "ports": [{"containerPort": 8080, "name": "http"}],
            }]},
            "status": {"podIP": "10.0.0.7", "conditions": [{"type": "Ready", "status": ready}]},
        });
        self.make("v1", "Pod", pod).await;
    }

    async fn wait(&self, path: &str) -> WaitResult {
        let answer = self.world.get(path, &self.token).await;
        let waited: WaitResult = serde_json::from_value(answer.body).expect("an answer");
        assert_eq!(waited.state, WaitState::Holds, "{waited:?}");
        waited
    }
}

fn done(resource: &str, uid: &str) -> BTreeMap<String, Rollout> {
    let rollout = Rollout {
        uid: uid.to_owned(),
        generation: Some(1),
        stage: Stage::Done,
        ..Rollout::default()
    };
    BTreeMap::from([(resource.to_owned(), rollout)])
}

fn controlled_by(api_version: &str, kind: &str, name: &str, uid: &str) -> Value {
    json!([{"apiVersion": api_version, "kind": kind, "name": name, "uid": uid, "controller": true}])
}

fn names(waited: &WaitResult) -> Vec<&str> {
    waited.running.iter().map(|it| it.name.as_str()).collect()
}

#[tokio::test]
async fn pods_that_are_ready_below_what_was_stamped_are_named() {
    let scene = Scene::new(("apps/v1", "Deployment", "web")).await;
    let [web, other] = [
        scene.make_deployment("web").await,
        scene.make_deployment("other").await,
    ];
    scene.make_pod("web-a", "web", &web, "True").await;
    scene.make_pod("web-b", "web", &web, "True").await;
    scene.make_pod("web-starts", "web", &web, "False").await;
    scene.make_pod("other-a", "other", &other, "True").await;
    // It looks like the others, and somebody else controls it.
    scene.make_pod("web-foreign", "web", &other, "True").await;

    let waited = scene.wait(WAIT).await;
    assert_eq!(names(&waited), ["web-a", "web-b"]);
    assert_eq!(
        serde_json::to_value(&waited.running[0]).unwrap(),
        json!({
            "kind": "Pod", "namespace": "dev", "name": "web-a", "node": "node-1", "podIP": "10.0.0.7",
            "containers": [{"name": "app", "image": "app:1",
                "ports": [{"port": 8080, "protocol": "TCP", "name": "http"}]}],
        })
    );
    assert!(waited.notes.is_empty(), "{waited:?}");
    let arrived = scene.wait(&WAIT.replace("&live=true", "")).await;
    assert!(
        arrived.running.is_empty(),
        "nobody asked whether it is live"
    );
}

#[tokio::test]
async fn process_that_has_ended_since_it_was_looked_at_is_waited_for() {
    let process = ("pathline.dev/v1alpha1", "Process", "web");
    let scene = Scene::new(process).await;
    let object = json!({"metadata": {"name": "web"}, "spec": {"command": ["serve"]}});
    scene.make(process.0, process.1, object).await;

    let path = WAIT.replace("timeout=60", "timeout=1");
    let answer = scene.world.get(&path, &scene.token).await;
    let waited: WaitResult = serde_json::from_value(answer.body).expect("an answer");
    assert_eq!(waited.state, WaitState::Waiting, "{waited:?}");
    let told = format!("{waited:?}");
    assert!(
        told.contains("process `web` does not run any more"),
        "{told}"
    );
}

#[tokio::test]
async fn what_follows_the_repository_of_a_commit_is_named() {
    let scene = Scene::new(("pathline.dev/v1alpha1", "GitCommit", "web")).await;
    let commit = json!({"metadata": {"name": "web"}, "spec": {
        "url": "https://git.example/manifests.git", "files": {"a": "b"}, "message": "deploy",
    }});
    scene
        .make("pathline.dev/v1alpha1", "GitCommit", commit)
        .await;
    for (name, url) in [
        ("follows", "https://GIT.example/manifests"),
        ("other", "https://git.example/other"),
    ] {
        let deliverable = json!({"metadata": {"name": name}, "spec": {"source": {"git": {
            "url": url, "ref": {"branch": "main"},
        }}}});
        let uid = scene.make("carto.run/v1alpha1", "Deliverable", deliverable);
        let owner = OwnerRef {
            kind: "Deliverable".to_owned(),
            namespace: "dev".to_owned(),
            name: name.to_owned(),
            uid: uid.await,
        };
        let lineage = OwnerLineage {
            uid: owner.uid.clone(),
            generation: 1,
            rollouts: done("run", "any"),
            ..OwnerLineage::default()
        };
        scene.record(&owner, &lineage).await;
        let stamped = ("pathline.dev/v1alpha1", "Process", name);
        scene.report("Deliverable", name, "run", stamped).await;
        let process = json!({
            "metadata": {"name": name},
            "spec": {"command": ["serve"], "readiness": {"httpGet": {"port": 8080}}},
            "status": {"pid": 4711, "restarts": 0, "logPath": "/logs/web.log"},
        });
        scene
            .make("pathline.dev/v1alpha1", "Process", process)
            .await;
    }

    let waited = scene.wait(WAIT).await;
    assert_eq!(
        serde_json::to_value(&waited.running).unwrap(),
        json!([{
            "kind": "Process", "namespace": "dev", "name": "follows",
            "pid": 4711, "address": "127.0.0.1:8080", "log": "/logs/web.log",
        }])
    );
}

#[tokio::test]
async fn what_a_template_selects_is_named() {
    let scene = Scene::new(("v1", "ConfigMap", "web")).await;
    let spec = json!({
        "artifactTracing": {"liveSelector": {
            "apiVersion": "apps/v1", "kind": "Deployment",
            "matchLabels": {"release": "$(metadata.name)$"},
        }},
        "template": {},
    });
    let kind = GroupVersionKind::gvk("carto.run", "v1alpha1", "ClusterTemplate");
    let templates: Api<DynamicObject> =
        Api::all_with(scene.client(), &ApiResource::from_gvk(&kind));
    let mut object = DynamicObject::new("selects", &ApiResource::from_gvk(&kind));
    object.data = json!({ "spec": spec });
    let made = templates.create(&PostParams::default(), &object).await;
    made.expect("the template is created");
    let map = json!({"metadata": {"name": "web"}, "data": {"a": "b"}});
    scene.make("v1", "ConfigMap", map).await;
    let status = json!({"status": {"resources": [{
        "name": "image-builder",
        "templateRef": {"apiVersion": "carto.run/v1alpha1", "kind": "ClusterTemplate", "name": "selects"},
        "stampedRef": {"apiVersion": "v1", "kind": "ConfigMap", "namespace": "dev", "name": "web"},
    }]}});
    scene
        .api("carto.run/v1alpha1", "Workload")
        .patch_status("web", &PatchParams::default(), &Patch::Merge(status))
        .await
        .expect("the status is written");
    let deployments = scene.api("apps/v1", "Deployment");
    for (app, release) in [("mine", "web"), ("other", "other")] {
        let set = scene.make_deployment(app).await;
        let labels = Patch::Merge(json!({"metadata": {"labels": {"release": release}}}));
        let params = PatchParams::default();
        let labelled = deployments.patch(app, &params, &labels).await;
        labelled.expect("it is labelled");
        let name = format!("{app}-a");
        scene.make_pod(&name, app, &set, "True").await;
    }
    assert_eq!(names(&scene.wait(WAIT).await), ["mine-a"]);
}

#[tokio::test]
async fn a_hundred_are_named_and_the_others_counted() {
    let scene = Scene::new(("apps/v1", "Deployment", "web")).await;
    let set = scene.make_deployment("web").await;
    for number in 0..103 {
        let name = format!("web-{number:03}");
        scene.make_pod(&name, "web", &set, "True").await;
    }
    let waited = scene.wait(WAIT).await;
    assert_eq!(waited.running.len(), 100);
    assert_eq!(waited.notes, ["3 more run than the 100 that are named"]);
}

/// A cluster that does not show pods.
fn without_pods(client: Client) -> Client {
    let service = tower::service_fn(move |request: Request<Body>| {
        let client = client.clone();
        async move {
            if !request.uri().path().ends_with("/pods") {
                return client.send(request).await;
            }
            let status = json!({
                "kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Forbidden",
                "message": "no", "code": 403,
            });
            let answer = Response::builder().status(403);
            Ok(answer
                .body(Body::from(status.to_string().into_bytes()))
                .expect("an answer"))
        }
    });
    Client::new(service, "default")
}

#[tokio::test]
async fn what_cannot_be_listed_changes_nothing_but_a_note() {
    let mut scene = Scene::new(("apps/v1", "Deployment", "web")).await;
    let set = scene.make_deployment("web").await;
    scene.make_pod("web-a", "web", &set, "True").await;
    let state = scene.world.state.clone();
    scene.world.router = app(state.with_cluster(without_pods(scene.client())));

    let waited = scene.wait(WAIT).await;
    assert!(waited.running.is_empty(), "{waited:?}");
    assert_eq!(
        waited.notes,
        ["what runs cannot be listed: the cluster does not let Pathline read pods"]
    );
}
