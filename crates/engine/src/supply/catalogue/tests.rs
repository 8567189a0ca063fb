use futures::{FutureExt, stream};
use kube::runtime::watcher::Event;
use serde_json::{Value, json};

use super::*;
use crate::runtime::clock::Clock;
use crate::runtime::metrics::Metrics;
use crate::runtime::queue::Key;
use crate::runtime::queues::{OwnedKind, QueueReceiver};
use crate::runtime::stored_owner::StoredOwner;

/// A catalogue with the queue of Workloads, in which there are three.
struct Case {
    catalogue: Catalogue,
    queues: Queues,
    workloads: QueueReceiver,
}

fn object(kind: &str, value: &Value) -> DynamicObject {
    let mut value = value.clone();
    value["apiVersion"] = json!("carto.run/v1alpha1");
    value["kind"] = json!(kind);
    serde_json::from_value(value).unwrap()
}

fn template(name: &str, text: &str) -> DynamicObject {
    let body = json!({"kind": "ConfigMap", "data": {"text": text}});
    object(
        "ClusterTemplate",
        &json!({"metadata": {"name": name}, "spec": {"template": body}}),
    )
}

fn chain(name: &str, app: &str, template: &str) -> DynamicObject {
    let reference = json!({"kind": "ClusterTemplate", "name": template});
    let resources = json!([{"name": "only", "templateRef": reference}]);
    let spec = json!({"selector": {"app": app}, "resources": resources});
    object(
        "ClusterSupplyChain",
        &json!({"metadata": {"name": name}, "spec": spec}),
    )
}

impl Case {
    fn new() -> Self {
        let queues = Queues::new(&Metrics::default(), &Clock::system());
        let workloads = queues.receiver(OwnedKind::Workload);
        let mut owners = Vec::new();
        for (name, app) in [("one", "a"), ("two", "b"), ("three", "c")] {
            let metadata = json!({"name": name, "namespace": "dev", "labels": {"app": app}});
            let owner = object("Workload", &json!({"metadata": metadata, "spec": {}}));
            owners.push(Ok(Event::Apply(owner)));
        }
        let read = |object| StoredOwner::new(&object);
        let owners = stream::iter(owners);
        let followed = workloads
            .owners
            .follow("Workload", owners, read, |_, _, _| {});
        followed.now_or_never().expect("nothing is waited for");
        Self {
            catalogue: Catalogue::default(),
            queues,
            workloads,
        }
    }

    /// Lets something happen to templates, and returns who was woken.
    async fn templates(&self, events: Vec<Event<DynamicObject>>) -> Vec<String> {
        let kind = TemplateKind::Plain;
        let (catalogue, queues) = (&self.catalogue, &self.queues);
        let store = catalogue.template_store(kind);
        let events = stream::iter(events.into_iter().map(Ok));
        store
            .follow(
                kind.name(),
                events,
                |object| read_template(kind, object),
                |key, old, new| catalogue.template_changed(queues, kind, &key.name, old, new),
            )
            .await;
        self.workloads.queue.drain()
    }

    /// Lets something happen to supply chains, and returns who was woken.
    async fn chains(&self, events: Vec<Event<DynamicObject>>) -> Vec<String> {
        let kind = OwnerKind::Workload;
        let (catalogue, queues) = (&self.catalogue, &self.queues);
        let store = catalogue.blueprint_store(kind);
        let events = stream::iter(events.into_iter().map(Ok));
        store
            .follow(
                kind.blueprint_kind(),
                events,
                |object| read_blueprint(kind, object),
                |_, old, new| catalogue.blueprint_changed(queues, kind, old, new),
            )
            .await;
        self.workloads.queue.drain()
    }

    fn uses(&self, owner: &str, template: &str) {
        let used = vec![Used::Template(TemplateKind::Plain, template.to_owned())];
        let key = Key::new("dev", owner);
        self.queues.note(OwnerKind::Workload, &key, used);
    }
}

#[tokio::test]
async fn a_template_wakes_the_owners_that_use_it_and_no_others() {
    let case = Case::new();
    case.templates(vec![
        Event::Apply(template("t", "1")),
        Event::Apply(template("u", "1")),
    ])
    .await;
    case.uses("one", "t");
    case.uses("two", "u");
    let changed = case.templates(vec![Event::Apply(template("t", "2"))]).await;
    assert_eq!(changed, ["one"]);
    let unchanged = case.templates(vec![Event::Apply(template("t", "2"))]).await;
    assert!(unchanged.is_empty());
}

#[tokio::test]
async fn a_template_that_comes_or_goes_wakes_the_owners_of_its_blueprints() {
    let case = Case::new();
    case.chains(vec![Event::Apply(chain("first", "a", "t"))])
        .await;
    case.chains(vec![Event::Apply(chain("second", "b", "u"))])
        .await;
    let came = case.templates(vec![Event::Apply(template("t", "1"))]).await;
    assert_eq!(came, ["one"]);
    let went = case
        .templates(vec![Event::Delete(template("t", "1"))])
        .await;
    assert_eq!(went, ["one"]);
}

#[tokio::test]
async fn a_blueprint_wakes_the_owners_it_selects_or_selected() {
    let case = Case::new();
    let came = case
        .chains(vec![Event::Apply(chain("first", "a", "t"))])
        .await;
    assert_eq!(came, ["one"]);
    let moved = case
        .chains(vec![Event::Apply(chain("first", "b", "t"))])
        .await;
    assert_eq!(moved, ["one", "two"]);
    let mut reported = chain("first", "b", "t");
    reported.data["status"] = json!({"conditions": []});
    let reported = case.chains(vec![Event::Apply(reported)]).await;
    assert!(
        reported.is_empty(),
        "what it reports of itself wakes nobody"
    );
    let went = case
        .chains(vec![Event::Delete(chain("first", "b", "t"))])
        .await;
    assert_eq!(went, ["two"]);
}
