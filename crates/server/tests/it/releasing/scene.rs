//! A server with a cluster in which there are environments, and releases on their way.

use axum::http::Method;
use jiff::Timestamp;
use k8s_openapi::api::core::v1::Namespace;
use kube::Api;
use kube::api::{
    ApiResource, DeleteParams, DynamicObject, GroupVersionKind, Patch, PatchParams, PostParams,
    TypeMeta,
};
use pathline_kinds::environment::Environment;
use pathline_ledger::Permissions;
use pathline_ledger::releases::{ActOutcome, By, QueueAction, TrackerRef};
use pathline_release::environment::{EnvironmentObject, Environments};
use pathline_release::objects::{WRITTEN, written};
use pathline_release::queue::{Flow, Report};
use serde_json::{Value, json};

use crate::tracked::{Seen, Tracked};
use crate::world::{Answer, World};

/// A server with a cluster, in which there are environments.
pub(super) struct Releasing {
    pub(super) tracked: Tracked,
    objects: Vec<EnvironmentObject>,
}

impl Releasing {
    /// Starts a server without any environment.
    pub(super) async fn empty() -> Self {
        let world = World::with_seal_key().await.with_kinds().await;
        let writer = world.token("ci", Permissions::WRITE).await;
        Self {
            tracked: Tracked { world, writer },
            objects: Vec::new(),
        }
    }

    /// Starts a server with environments that tick each minute, and with the tracker `a.b`.
    pub(super) async fn with(environments: &[(&str, Value)]) -> Self {
        let mut releasing = Self::empty().await;
        for (name, spec) in environments {
            releasing.environment(name, spec.clone()).await;
        }
        releasing.tracked.make(json!({})).await;
        releasing
    }

    /// Starts a server with `dev` and `prod`.
    pub(super) async fn new() -> Self {
        let dev = ("dev", json!({"type": "dev"}));
        Self::with(&[dev, ("prod", json!({"type": "prod"}))]).await
    }

    /// Makes an environment.
    pub(super) async fn environment(&mut self, name: &str, spec: Value) {
        let cluster = self.tracked.world.cluster.as_ref().expect("it is there");
        let api: Api<Environment> = Api::all(cluster.client());
        let object = json!({
            "apiVersion": "pathline.dev/v1alpha1", "kind": "Environment", "metadata": {"name": name},
            "spec": spec,
        });
        let object = serde_json::from_value(object).expect("an Environment");
        let made = api.create(&PostParams::default(), &object).await;
        made.expect("it is made");
        self.objects.push(EnvironmentObject {
            name: name.to_owned(),
            created: None,
            spec,
            is_terminating: false,
        });
    }

    /// Removes an environment from the cluster.
    pub(super) async fn remove_environment(&self, name: &str) {
        let cluster = self.tracked.world.cluster.as_ref().expect("it is there");
        let api: Api<Environment> = Api::all(cluster.client());
        let removed = api.delete(name, &DeleteParams::default()).await;
        removed.expect("it is there");
    }

    pub(super) fn flow(&self) -> Flow {
        Environments::of(&self.objects).flow().clone()
    }

    /// Forms the next release of a tracker, whose image has this digest.
    pub(super) async fn release(&self, setting: &'static str, digest: &str) -> u64 {
        self.release_of("a.b", &Seen::new(setting, digest)).await
    }

    pub(super) async fn release_of(&self, tracker: &str, seen: &Seen) -> u64 {
        let formed = self.tracked.see(tracker, seen).await;
        formed.expect("it is formed").release.number
    }

    /// Lets an environment take what is queued there.
    pub(super) async fn tick(&self, environment: &str) {
        let releases = self.tracked.world.ledger.releases();
        let now = Timestamp::now();
        let ticking = [(environment.to_owned(), now)];
        let flow = self.flow();
        let tick = async || releases.tick(&flow, &ticking, now).await;
        while !tick().await.expect("a ledger").is_done {}
    }

    /// Reports about a deployment of `a.b`.
    pub(super) async fn report(&self, environment: &str, release: u64, report: Report) {
        let report = QueueAction::Report {
            environment: environment.to_owned(),
            release,
            attempt: 0,
            report,
        };
        self.act(report).await;
    }

    pub(super) async fn act(&self, action: QueueAction) {
        self.act_on("a.b", action).await;
    }

    pub(super) async fn act_on(&self, name: &str, action: QueueAction) {
        let releases = self.tracked.world.ledger.releases();
        let tracker = TrackerRef::Name(name.parse().expect("a name"));
        let by = By::new("engine", None);
        let (flow, now) = (self.flow(), Timestamp::now());
        let acted = releases.act(tracker, &flow, action, &by, now).await;
        let acted = acted.expect("a ledger");
        assert!(matches!(acted, ActOutcome::Done { .. }), "{acted:?}");
    }

    /// Brings a release to an environment.
    pub(super) async fn deploy(&self, environment: &str, release: u64) {
        self.tick(environment).await;
        self.report(environment, release, Report::Ready).await;
    }

    /// Writes the objects of a release of a tracker into the namespace of an environment, as the engine does.
    pub(super) async fn write(&self, environment: &str, release: &str) {
        let path = format!("/releases/{release}/objects?environment={environment}");
        let answer = self.get(&path).await;
        self.namespace(answer.body["namespace"].as_str().expect("a namespace"))
            .await;
        for mut object in answer.body["objects"].as_array().expect("a list").clone() {
            let metadata = &object["metadata"];
            let labels = serde_json::from_value(metadata["labels"].clone()).expect("labels");
            if let Some(spec) = object.get("spec") {
                let digests = written(spec, &labels);
                object["metadata"]["annotations"][WRITTEN] = json!(digests);
            }
            // It is shown without its values.
            if object["kind"] == "Secret" {
                object["data"] = json!({});
            }
            let name = object["metadata"]["name"].as_str().expect("a name");
            let params = PatchParams::apply("pathline").force();
            let api = self.objects_of(&object);
            let made = api.patch(name, &params, &Patch::Apply(&object)).await;
            made.expect("it is made");
        }
    }

    async fn namespace(&self, name: &str) {
        let cluster = self.tracked.world.cluster.as_ref().expect("it is there");
        let api: Api<Namespace> = Api::all(cluster.client());
        let object = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}});
        let params = PatchParams::apply("pathline");
        let made = api.patch(name, &params, &Patch::Apply(object)).await;
        made.expect("it is made");
    }

    /// Changes the owner of `a.b` in a namespace.
    pub(super) async fn patch_owner(&self, namespace: &str, patch: Value) {
        let owner = json!({"apiVersion": "carto.run/v1alpha1", "kind": "Workload",
            "metadata": {"namespace": namespace}});
        let api = self.objects_of(&owner);
        let patch = Patch::Merge(patch);
        let patched = api.patch("a-b", &PatchParams::default(), &patch).await;
        patched.expect("it is there");
    }

    /// Returns the objects of the kind and the namespace of one.
    pub(super) fn objects_of(&self, object: &Value) -> Api<DynamicObject> {
        let text = |pointer: &str| {
            let found = object.pointer(pointer).and_then(Value::as_str);
            found.unwrap_or_default().to_owned()
        };
        let types = TypeMeta {
            api_version: text("/apiVersion"),
            kind: text("/kind"),
        };
        let kind = GroupVersionKind::try_from(types).expect("a kind");
        let cluster = self.tracked.world.cluster.as_ref().expect("it is there");
        let resource = ApiResource::from_gvk(&kind);
        Api::namespaced_with(cluster.client(), &text("/metadata/namespace"), &resource)
    }

    pub(super) async fn get(&self, path: &str) -> Answer {
        self.tracked.get(path).await
    }

    pub(super) async fn post(&self, path: &str, body: Value) -> Answer {
        self.tracked.send(Method::POST, path, &body).await
    }

    /// Returns the state of a release of `a.b` in an environment.
    pub(super) async fn state(&self, environment: &str, release: u64) -> String {
        let answer = self.get(&format!("/releases/a.b@{release}")).await;
        let entries = answer.body["entries"].as_array().expect("entries").iter();
        let mut entries = entries.filter(|it| it["environment"] == environment);
        let state = entries.next().and_then(|it| it["state"].as_str());
        state.unwrap_or("-").to_owned()
    }
}

/// Returns the status and the code of an answer.
pub(super) fn told(answer: &Answer) -> (u16, &str) {
    (answer.status.as_u16(), answer.code())
}
