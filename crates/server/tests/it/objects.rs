//! A pod, asked what it is made of.

mod real;

use std::collections::{BTreeMap, BTreeSet};

use axum::http::StatusCode;
use jiff::Timestamp;
use kube::api::{ApiResource, DynamicObject, GroupVersionKind, Patch, PatchParams, PostParams};
use kube::{Api, ResourceExt};
use pathline_client::api::{ObjectLineage, RevisionState};
use pathline_kinds::split_api_version;
use pathline_ledger::{Change, Permissions};
use pathline_lineage::chain::{Chain, Resource};
use pathline_lineage::{
    Applied, Artifact, Inputs, InputsId, Kind, Origin, OwnerLineage, Stamp, State, Template,
};
use serde_json::{Value, json};

use crate::owners::create;
use crate::story;
use crate::world::{Answer, World};

const INPUTS: &str = "pathline.dev/inputs";

/// The workload `dev/web` with a deployment, and what a controller makes of that.
struct Scene {
    world: World,
    token: String,
    owner: String,
    deployment: DynamicObject,
}

impl Scene {
    async fn new() -> Self {
        let world = World::new().await;
        let token = world.token("reader", Permissions::READ).await;
        let owner = create(&world, "dev", "web")
            .await
            .uid()
            .expect("the cluster gives one");
        let controller = reference("carto.run/v1alpha1", "Workload", "web", &owner);
        let deployment = ("apps/v1", "Deployment", "web");
        let deployment = made(&world, deployment, &controller, "app:0", false).await;
        Self {
            world,
            token,
            owner,
            deployment,
        }
    }

    /// Applies one image after the other, each as a generation, and says so in the ledger.
    async fn apply(&self, images: &[&str]) {
        let chain = Chain::new(vec![
            resource("build", &[]),
            resource("deployer", &["build"]),
        ]);
        let mut state = State::new(chain.expect("a chain"));
        for (generation, image) in (1..).zip(images) {
            let stamp = Stamp {
                template: Template::default(),
                uid: self.deployment.uid().expect("the cluster gives one"),
                generation: Some(generation),
                inputs: inputs(image),
                offered: BTreeSet::new(),
                applied: Applied::Object,
                rendered: None,
                time: Timestamp::UNIX_EPOCH,
            };
            let stamped = state.stamped("deployer", stamp);
            stamped.expect("it is on the path");
        }
        let lineage = OwnerLineage {
            uid: self.owner.clone(),
            generation: 1,
            state,
            ..OwnerLineage::default()
        };
        let change = Change {
            owner: &story::owner(&self.owner),
            lineage: &lineage,
            derivations: &[],
            arrivals: &[],
            time: Timestamp::UNIX_EPOCH,
        };
        let recorded = self.world.ledger.lineage().record(&change).await;
        recorded.expect("it is recorded");
    }

    /// Makes a replica set of the deployment as it was with an image, and a pod below it.
    async fn roll_out(&self, name: &str, image: &str) {
        let uid = self.deployment.uid().expect("the cluster gives one");
        let controller = reference("apps/v1", "Deployment", "web", &uid);
        let set = ("apps/v1", "ReplicaSet", name);
        let set = made(&self.world, set, &controller, image, true).await;
        let controller = reference(
            "apps/v1",
            "ReplicaSet",
            name,
            &set.uid().expect("the cluster gives one"),
        );
        self.pod(&format!("{name}-pod"), &controller, image).await;
    }

    async fn pod(&self, name: &str, controller: &Value, image: &str) {
        made(&self.world, ("v1", "Pod", name), controller, image, false).await;
    }

    async fn ask(&self, kind: &str, name: &str) -> Answer {
        let path = format!("/objects/dev/{kind}/{name}/lineage");
        self.world.get(&path, &self.token).await
    }
}

fn resource(name: &str, upstream: &[&str]) -> Resource {
    Resource {
        name: name.to_owned(),
        upstream: upstream.iter().map(|&it| it.to_owned()).collect(),
        ..Resource::default()
    }
}

fn inputs(image: &str) -> Inputs {
    let image = Artifact::value(Kind::Image, &json!(image));
    BTreeMap::from([(Origin::resource("build"), image)])
}

fn reference(api_version: &str, kind: &str, name: &str, uid: &str) -> Value {
    json!([{"apiVersion": api_version, "kind": kind, "name": name, "uid": uid, "controller": true}])
}

fn api(world: &World, api_version: &str, kind: &str) -> Api<DynamicObject> {
    let (group, version) = split_api_version(api_version);
    let resource = ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, kind));
    let client = world.cluster.as_ref().expect("there is a cluster").client();
    Api::namespaced_with(client, "dev", &resource)
}

/// Makes an object with a controller; one that `carries` says which inputs it comes from.
async fn made(
    world: &World,
    (api_version, kind, name): (&str, &str, &str),
    controller: &Value,
    image: &str,
    carries: bool,
) -> DynamicObject {
    let pod = json!({"containers": [{"name": "app", "image": image}]});
    let labels = json!({"app": "web"});
    let spec = match kind {
        "Pod" => pod,
        _ => json!({
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": pod},
        }),
    };
    let carried = carries.then(|| json!({INPUTS: InputsId::of(&inputs(image)).as_str()}));
    let object = json!({
        "apiVersion": api_version, "kind": kind,
        "metadata": {"name": name, "ownerReferences": controller, "annotations": carried},
        "spec": spec,
    });
    let object = serde_json::from_value(object).expect("an object");
    let (api, post) = (api(world, api_version, kind), PostParams::default());
    let created = api.create(&post, &object).await;
    created.expect("it is created")
}

fn read(answer: Answer) -> ObjectLineage {
    assert_eq!(answer.status, StatusCode::OK, "{answer:?}");
    serde_json::from_value(answer.body).expect("what an object is made of")
}

fn image(found: &ObjectLineage) -> Option<&str> {
    let from = found.made.as_ref()?.from.first()?;
    Some(from.artifact.value.as_str())
}

#[tokio::test]
async fn pod_is_made_of_what_was_applied_when_it_was_made() {
    let scene = Scene::new().await;
    scene.apply(&["app:1", "app:2"]).await;
    scene.roll_out("old", "app:1").await;
    scene.roll_out("new", "app:2").await;

    let old = read(scene.ask("pod", "old-pod").await);

    assert_eq!(old.revision, RevisionState::Older, "{old:?}");
    assert_eq!(image(&old), Some("app:1"));
    let above: Vec<_> = old.above.iter().map(|it| it.kind.as_str()).collect();
    assert_eq!(above, ["ReplicaSet", "Deployment"]);
    assert_eq!(
        (old.owner.name.as_str(), old.resource.as_str()),
        ("web", "deployer")
    );
    let new = read(scene.ask("pods", "new-pod").await);
    assert_eq!(
        (new.revision, image(&new)),
        (RevisionState::Current, Some("app:2"))
    );
    let set = read(scene.ask("ReplicaSet.v1.apps", "old").await);
    assert_eq!(
        (set.revision, image(&set)),
        (RevisionState::Older, Some("app:1"))
    );
}

#[tokio::test]
async fn revision_that_nothing_proves_is_unknown() {
    let scene = Scene::new().await;
    let uid = scene.deployment.uid().unwrap();
    let controller = reference("apps/v1", "Deployment", "web", &uid);
    scene.pod("bare", &controller, "app:2").await;
    let unrecorded = read(scene.ask("pod", "bare").await);
    assert_eq!(unrecorded.revision, RevisionState::Unknown);
    assert!(unrecorded.why.unwrap().contains("the ledger has nothing"));

    scene.apply(&["app:1", "app:2"]).await;
    let unknown = read(scene.ask("pod", "bare").await);
    assert_eq!(
        (unknown.revision, image(&unknown)),
        (RevisionState::Unknown, None)
    );
    assert!(unknown.why.unwrap().contains("nothing says which revision"));
}

#[tokio::test]
async fn what_nobody_stamped_and_what_is_not_there_is_told_with_what_to_do() {
    let scene = Scene::new().await;
    scene.pod("alone", &json!([]), "app:1").await;
    for (kind, name, message) in [
        ("pod", "alone", "nobody controls Pod/alone"),
        (
            "pod",
            "nothing",
            "there is no Pod `nothing` in namespace `dev`",
        ),
        ("widget", "a", "the cluster has no kind `widget`"),
        ("widget.v1.example.com", "a", "the cluster has no kind"),
        ("node.v1.", "a", ""),
    ] {
        let answer = scene.ask(kind, name).await;
        let expected = match message {
            "" => StatusCode::BAD_REQUEST,
            _ => StatusCode::NOT_FOUND,
        };
        assert_eq!(answer.status, expected, "{kind}/{name}: {answer:?}");
        assert!(
            answer.message().contains(message),
            "{kind}/{name}: {answer:?}"
        );
    }
    let hint = &scene.ask("pod", "alone").await.body["error"]["hint"];
    assert!(
        hint.as_str()
            .unwrap()
            .contains("pathline lineage --contains")
    );
}

#[tokio::test]
async fn controllers_in_a_circle_lead_nowhere() {
    let scene = Scene::new().await;
    scene.pod("snake", &json!([]), "app:1").await;
    let pods = api(&scene.world, "v1", "Pod");
    let uid = pods.get("snake").await.unwrap().uid().unwrap();
    let itself = reference("v1", "Pod", "snake", &uid);
    let patch = Patch::Merge(json!({"metadata": {"ownerReferences": itself}}));
    let patched = pods.patch("snake", &PatchParams::default(), &patch).await;
    patched.unwrap();

    let answer = scene.ask("pod", "snake").await;
    assert_eq!(answer.status, StatusCode::NOT_FOUND, "{answer:?}");
}
