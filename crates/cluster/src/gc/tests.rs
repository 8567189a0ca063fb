//! The collector on a real store.

use std::path::Path;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::*;
use crate::deletion::{self, Deletion, Propagation};
use crate::store::{Change, Collection, Expect, Limits, Stored, Write};

/// A store with a collector at work.
struct Ground {
    store: Store,
    shutdown: CancellationToken,
    work: Option<tokio::task::JoinHandle<()>>,
    directory: tempfile::TempDir,
}

impl Ground {
    async fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let store = open(directory.path()).await;
        let mut ground = Self {
            store,
            shutdown: CancellationToken::new(),
            work: None,
            directory,
        };
        ground.start().await;
        ground
    }

    async fn start(&mut self) {
        let collector = Collector::start(self.store.clone(), "PEM".into(), Clock::system())
            .await
            .unwrap();
        self.shutdown = CancellationToken::new();
        self.work = Some(tokio::spawn(collector.run(self.shutdown.clone())));
    }

    /// Stops the collector, and opens the store anew.
    async fn stop(&mut self) {
        self.shutdown.cancel();
        self.work.take().unwrap().await.unwrap();
        self.store.close().await;
        self.store = open(self.directory.path()).await;
    }

    async fn write(&self, key: Key, expect: Expect, change: Change) -> Arc<Stored> {
        self.store
            .write(Write {
                key,
                expect,
                change,
                needs_namespace: false,
            })
            .await
            .unwrap()
    }

    /// Creates a ConfigMap in `default` that is owned by `owners`.
    async fn create(&self, name: &str, owners: &[&Stored]) -> Arc<Stored> {
        self.create_with(name, owners, json!([])).await
    }

    async fn create_with(&self, name: &str, owners: &[&Stored], finalizers: Value) -> Arc<Stored> {
        let owners: Vec<Value> = owners.iter().map(|owner| reference(owner)).collect();
        let object = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {
            "name": name, "namespace": "default", "uid": format!("uid-of-{name}"),
            "ownerReferences": owners, "finalizers": finalizers,
        }});
        self.write(config_map(name), Expect::Absent, Change::Put(object))
            .await
    }

    /// Deletes as the API does.
    async fn delete(&self, key: &Key, propagation: Propagation) {
        let current = self.store.get(key).unwrap();
        let how = Deletion {
            propagation: Some(propagation),
            ..Deletion::default()
        };
        let change = deletion::delete(current.object(), how, Timestamp::now()).into_change();
        self.write(
            key.clone(),
            Expect::Revision(current.revision),
            change.unwrap(),
        )
        .await;
    }

    /// Removes the finalizer `hold` as its controller would.
    async fn release(&self, name: &str) {
        let current = self.store.get(&config_map(name)).unwrap();
        let change = deletion::settle(deletion::without_finalizer(current.object(), "hold"));
        self.write(config_map(name), Expect::Revision(current.revision), change)
            .await;
    }

    fn has(&self, name: &str) -> bool {
        self.store.get(&config_map(name)).is_some()
    }

    /// Waits until something is so.
    async fn until(&self, what: &str, is_so: impl Fn(&Store) -> bool) {
        let waiting = async {
            let mut watch = self.store.watch_everything(self.store.revision()).unwrap();
            while !is_so(&self.store) {
                watch.next().await.unwrap();
            }
        };
        let waited = tokio::time::timeout(Duration::from_secs(30), waiting).await;
        waited.unwrap_or_else(|_| panic!("waited in vain: {what}"));
    }

    async fn until_gone(&self, name: &str) {
        self.until(name, |store| store.get(&config_map(name)).is_none())
            .await;
    }

    /// Waits until the collector has looked at everything that was written before.
    async fn settle(&self) {
        let gone = Stored::never_stored("never-was", ["v1", "ConfigMap", "never"]);
        self.create("barrier", &[&gone]).await;
        self.until_gone("barrier").await;
    }
}

impl Stored {
    /// Makes an object that is not in any store.
    fn never_stored(name: &str, [api_version, kind, uid]: [&str; 3]) -> Self {
        let object = json!({"apiVersion": api_version, "kind": kind,
            "metadata": {"name": name, "uid": uid}});
        Self::new(config_map(name), 0, object)
    }
}

async fn open(directory: &Path) -> Store {
    Store::open(&directory.join("cluster.db"), Limits::default())
        .await
        .unwrap()
}

fn config_map(name: &str) -> Key {
    Key::new(&Collection::new("", "configmaps"), "default", name)
}

fn namespace(name: &str) -> Key {
    Key::new(&Collection::new("", "namespaces"), "", name)
}

fn reference(owner: &Stored) -> Value {
    json!({
        "apiVersion": owner.object()["apiVersion"],
        "kind": owner.object()["kind"],
        "name": owner.object()["metadata"]["name"],
        "uid": owner.uid(),
        "blockOwnerDeletion": true,
    })
}

#[tokio::test]
async fn dependents_follow_their_owner_down_to_the_last() {
    let ground = Ground::new().await;
    let owner = ground.create("owner", &[]).await;
    let child = ground.create("child", &[&owner]).await;
    ground.create("grandchild", &[&child]).await;
    ground.create("bystander", &[]).await;
    ground.delete(&owner.key, Propagation::Background).await;
    ground.until_gone("grandchild").await;
    assert!(!ground.has("child"));
    assert!(ground.has("bystander"));
}

#[tokio::test]
async fn an_object_made_for_an_owner_that_is_gone_already_is_collected() {
    let ground = Ground::new().await;
    let owner = ground.create("owner", &[]).await;
    ground.delete(&owner.key, Propagation::Background).await;
    ground.create("late", &[&owner]).await;
    ground.until_gone("late").await;
}

#[tokio::test]
async fn an_owner_of_the_same_name_is_not_the_same_owner() {
    let ground = Ground::new().await;
    ground.create("owner", &[]).await;
    let other = Stored::never_stored("owner", ["v1", "ConfigMap", "another"]);
    ground.create("child", &[&other]).await;
    ground.until_gone("child").await;
    assert!(ground.has("owner"));
}

#[tokio::test]
async fn nothing_is_said_about_owners_of_kinds_that_are_not_served() {
    let ground = Ground::new().await;
    let foreign = Stored::never_stored("foreign", ["example.com/v1", "Unheard", "foreign"]);
    ground.create("child", &[&foreign]).await;
    ground.settle().await;
    assert!(ground.has("child"), "when in doubt nothing is deleted");
}

#[tokio::test]
async fn an_object_of_the_whole_cluster_is_not_lost_over_an_owner_in_a_namespace() {
    let ground = Ground::new().await;
    let owner = Stored::never_stored("owner", ["v1", "ConfigMap", "uid-of-owner"]);
    let object = json!({"apiVersion": "v1", "kind": "Namespace",
        "metadata": {"name": "shop", "ownerReferences": [reference(&owner)]}});
    ground
        .write(namespace("shop"), Expect::Absent, Change::Put(object))
        .await;
    ground.settle().await;
    assert!(ground.store.get(&namespace("shop")).is_some());
}

#[tokio::test]
async fn a_definition_that_loses_its_owner_waits_for_its_objects() {
    let ground = Ground::new().await;
    let definitions = Collection::new("apiextensions.k8s.io", "customresourcedefinitions");
    let key = Key::new(&definitions, "", "widgets.example.com");
    let owner = ground.store.get(&namespace("kube-public")).unwrap();
    let mut lost = reference(&owner);
    lost["uid"] = "another".into();
    let object = json!({"apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.com", "ownerReferences": [lost]}});
    ground
        .write(key.clone(), Expect::Absent, Change::Put(object))
        .await;
    let marked = |store: &Store| deletion::is_deleting(store.get(&key).unwrap().object());
    ground.until("it is marked, not removed", marked).await;
}

#[tokio::test]
async fn an_object_with_another_owner_stays_and_forgets_the_lost_one() {
    let ground = Ground::new().await;
    let [first, second] = [
        ground.create("first", &[]).await,
        ground.create("second", &[]).await,
    ];
    ground.create("shared", &[&first, &second]).await;
    ground.delete(&first.key, Propagation::Background).await;
    let left = |store: &Store| {
        store.get(&config_map("shared")).unwrap().object()["metadata"]["ownerReferences"].clone()
    };
    ground
        .until("the reference is dropped", |store| {
            left(store) == json!([reference(&second)])
        })
        .await;
    ground.delete(&second.key, Propagation::Background).await;
    ground.until_gone("shared").await;
}

#[tokio::test]
async fn foreground_deletion_waits_for_the_dependents() {
    let ground = Ground::new().await;
    let owner = ground.create("owner", &[]).await;
    let child = ground.create("child", &[&owner]).await;
    ground
        .create_with("grandchild", &[&child], json!(["hold"]))
        .await;
    ground.delete(&owner.key, Propagation::Foreground).await;
    let marked = |store: &Store| {
        deletion::is_deleting(store.get(&config_map("grandchild")).unwrap().object())
    };
    ground.until("the deletion reaches the leaf", marked).await;
    ground.settle().await;
    assert!(
        ground.has("owner") && ground.has("child"),
        "they wait for the leaf"
    );
    ground.release("grandchild").await;
    ground.until_gone("owner").await;
    assert!(!ground.has("child"));
}

#[tokio::test]
async fn a_circle_of_owners_can_be_deleted_in_the_foreground() {
    let ground = Ground::new().await;
    let first = ground.create("first", &[]).await;
    let second = ground.create("second", &[&first]).await;
    let mut object = first.object().clone();
    object["metadata"]["ownerReferences"] = json!([reference(&second)]);
    let expect = Expect::Revision(first.revision);
    ground
        .write(first.key.clone(), expect, Change::Put(object))
        .await;
    ground.delete(&first.key, Propagation::Foreground).await;
    ground.until_gone("first").await;
    ground.until_gone("second").await;
}

#[tokio::test]
async fn orphans_stay_without_their_owner() {
    let ground = Ground::new().await;
    let owner = ground.create("owner", &[]).await;
    ground.create("child", &[&owner]).await;
    ground.delete(&owner.key, Propagation::Orphan).await;
    ground.until_gone("owner").await;
    ground.settle().await;
    let child = ground
        .store
        .get(&config_map("child"))
        .expect("it was to stay");
    assert_eq!(child.object()["metadata"].get("ownerReferences"), None);
}

#[tokio::test]
async fn what_happened_while_the_collector_did_not_run_is_caught_up() {
    let mut ground = Ground::new().await;
    let owner = ground.create("owner", &[]).await;
    ground.create("child", &[&owner]).await;
    ground.settle().await;
    ground.stop().await;
    ground.delete(&owner.key, Propagation::Background).await;
    assert!(ground.has("child"), "nobody is there to collect it");
    ground.start().await;
    ground.until_gone("child").await;
}

#[tokio::test]
async fn many_dependents_go_in_few_commits() {
    let ground = Ground::new().await;
    let owner = ground.create("owner", &[]).await;
    let names: Vec<String> = (0..300).map(|number| format!("child-{number}")).collect();
    let owners = [&*owner];
    futures::future::join_all(names.iter().map(|name| ground.create(name, &owners))).await;
    ground.delete(&owner.key, Propagation::Background).await;
    let left = |store: &Store| {
        let all = store
            .list(&Collection::new("", "configmaps"), Some("default"))
            .items;
        all.iter()
            .filter(|item| item.key.name.starts_with("child-"))
            .count()
    };
    ground
        .until("all of them are gone", |store| left(store) == 0)
        .await;
}

#[tokio::test]
async fn every_cluster_has_its_namespaces_and_every_namespace_its_furniture() {
    let ground = Ground::new().await;
    for name in ["default", "kube-system", "kube-public", "kube-node-lease"] {
        assert!(ground.store.get(&namespace(name)).is_some(), "{name}");
    }
    let object = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}});
    ground
        .write(namespace("shop"), Expect::Absent, Change::Put(object))
        .await;
    let account = Key::new(&Collection::new("", "serviceaccounts"), "shop", "default");
    let trust = Key::new(
        &Collection::new("", "configmaps"),
        "shop",
        "kube-root-ca.crt",
    );
    let furnished = |store: &Store| store.get(&account).is_some() && store.get(&trust).is_some();
    ground.until("it is furnished", furnished).await;
    assert_eq!(
        ground.store.get(&trust).unwrap().object()["data"]["ca.crt"],
        "PEM"
    );
    let first = ground.store.get(&account).unwrap();
    ground.delete(&account, Propagation::Background).await;
    let replaced = |store: &Store| {
        store
            .get(&account)
            .is_some_and(|new| new.uid() != first.uid())
    };
    ground.until("the account comes back", replaced).await;
}

#[tokio::test]
async fn a_namespace_goes_when_the_last_thing_in_it_is_gone() {
    let ground = Ground::new().await;
    ground.create("plain", &[]).await;
    ground.create_with("held", &[], json!(["hold"])).await;
    ground
        .delete(&namespace("default"), Propagation::Background)
        .await;
    ground.until_gone("plain").await;
    let marked =
        |store: &Store| deletion::is_deleting(store.get(&config_map("held")).unwrap().object());
    ground.until("the held one is marked", marked).await;
    let terminating = ground
        .store
        .get(&namespace("default"))
        .expect("something is left in it");
    assert_eq!(terminating.object()["status"]["phase"], "Terminating");
    let says_why = |store: &Store| {
        let namespace = store.get(&namespace("default")).unwrap();
        namespace.object()["status"]["conditions"]
            .to_string()
            .contains("waiting for finalizers: hold (1)")
    };
    ground.until("it says what it waits for", says_why).await;
    ground.release("held").await;
    ground
        .until("it is gone", |store| {
            store.get(&namespace("default")).is_none()
        })
        .await;
    assert!(
        ground.store.contents("default").is_empty(),
        "nothing is left behind"
    );
}
