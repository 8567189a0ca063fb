//! Service accounts and their rights: who works under an account is reconciled when these change.
//!
//! Nothing of the accounts is kept, and of bindings only what leads from a role to an account.

use std::collections::HashMap;
use std::time::Duration;

use futures::StreamExt;
use k8s_openapi::api::core::v1::ServiceAccount;
use k8s_openapi::api::rbac::v1::{
    ClusterRole, ClusterRoleBinding, Role, RoleBinding, RoleRef, Subject,
};
use kube::core::PartialObjectMeta;
use kube::runtime::watcher::Event;
use kube::runtime::{WatchStreamExt, watcher};
use kube::{Api, Client, Resource, ResourceExt};
use parking_lot::Mutex;
use pathline_blueprint::service_account::{Account, Holder};
use pathline_workers::explain;
use serde::de::DeserializeOwned;
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::runtime::clients::Clients;
use crate::runtime::clock::Clock;
use crate::runtime::env::Env;
use crate::runtime::queues::{Queues, Used};

/// The delay until those are reconciled once more whose rights changed. An API server learns of roles by a watch
/// of its own, so it may still refuse who asks right after our watch has told.
const SECOND_RECONCILE_DELAY: Duration = Duration::from_secs(3);

/// Watches accounts, roles and bindings until the engine stops.
pub(crate) async fn watch(env: &Env, clients: &Clients) {
    let Env { client, stop, .. } = env;
    let (later, holders) = mpsc::unbounded_channel();
    let rights = Rights {
        queues: env.queues.clone(),
        clock: env.clock.clone(),
        bindings: Mutex::default(),
        later,
    };
    tokio::join!(
        rights.wake_again(holders, stop),
        watch_names::<ServiceAccount>(client, stop, |account, is_there| {
            if !is_there {
                // A server may take the token of an account that is gone for a while.
                clients.forget(&named(&account));
            }
            rights.account(&account);
        }),
        watch_names::<Role>(client, stop, |role, _| rights.role("Role", role)),
        watch_names::<ClusterRole>(client, stop, |role, _| rights.role("ClusterRole", role)),
        watch_bindings::<RoleBinding>(client, stop, &rights),
        watch_bindings::<ClusterRoleBinding>(client, stop, &rights),
    );
}

/// A binding, of either kind.
trait Binding {
    fn split(self) -> (RoleRef, Vec<Subject>);
}

impl Binding for RoleBinding {
    fn split(self) -> (RoleRef, Vec<Subject>) {
        (self.role_ref, self.subjects.unwrap_or_default())
    }
}

impl Binding for ClusterRoleBinding {
    fn split(self) -> (RoleRef, Vec<Subject>) {
        (self.role_ref, self.subjects.unwrap_or_default())
    }
}

/// A namespace and a name; the namespace of what is cluster-wide is empty.
type NamespacedName = (String, String);

/// A role with those who hold it.
struct Bound {
    role_kind: String,
    role: String,
    holders: Vec<Holder>,
}

/// Those whose rights have changed, and when they are reconciled once more.
type Later = (Instant, Vec<Holder>);

struct Rights {
    queues: Queues,
    clock: Clock,
    bindings: Mutex<HashMap<NamespacedName, Bound>>,
    later: mpsc::UnboundedSender<Later>,
}

impl Rights {
    fn account(&self, account: &NamespacedName) {
        self.queues.wake_users(&Used::Account(named(account)));
    }

    fn role(&self, kind: &str, role: NamespacedName) {
        let (namespace, name) = role;
        let bindings = self.bindings.lock();
        for ((bound_in, _), bound) in bindings.iter() {
            // A Role is bound in its own namespace, a ClusterRole anywhere.
            let is_here = namespace.is_empty() || *bound_in == namespace;
            if is_here && bound.role_kind == kind && bound.role == name {
                self.changed(&bound.holders);
            }
        }
    }

    fn binding(&self, name: NamespacedName, binding: impl Binding, is_there: bool) {
        let (role, subjects) = binding.split();
        let holders: Vec<Holder> = subjects
            .into_iter()
            .filter_map(|subject| Holder::of(subject, &name.0))
            .collect();
        let bound = Bound {
            role_kind: role.kind,
            role: role.name,
            holders: holders.clone(),
        };
        let before = if is_there {
            self.bindings.lock().insert(name, bound)
        } else {
            self.bindings.lock().remove(&name)
        };
        self.changed(&before.map(|before| before.holders).unwrap_or_default());
        self.changed(&holders);
    }

    /// Wakes those whose rights have changed, now and once more.
    fn changed(&self, holders: &[Holder]) {
        if holders.is_empty() {
            return;
        }
        self.wake(holders);
        // Nobody takes it any more when the engine stops.
        let _ = self.later.send((
            self.clock.instant() + SECOND_RECONCILE_DELAY,
            holders.to_vec(),
        ));
    }

    /// Wakes once more whoever is due, until the engine stops.
    async fn wake_again(
        &self,
        mut later: mpsc::UnboundedReceiver<Later>,
        stop: &CancellationToken,
    ) {
        while let Some(Some((due, holders))) = stop.run_until_cancelled(later.recv()).await {
            let pause = tokio::time::sleep_until(due);
            if stop.run_until_cancelled(pause).await.is_none() {
                return;
            }
            self.wake(&holders);
        }
    }

    fn wake(&self, holders: &[Holder]) {
        for holder in holders {
            match holder {
                Holder::One(account) => self.queues.wake_users(&Used::Account(account.clone())),
                Holder::AllOf(namespace) => self.queues.wake_under(Some(namespace)),
                Holder::All => self.queues.wake_under(None),
            }
        }
    }
}

fn named((namespace, name): &NamespacedName) -> Account {
    Account {
        namespace: namespace.clone(),
        name: name.clone(),
    }
}

/// Tells of everything that is there, changes or goes. A listing counts too: it may show what came
/// into being while there was no watch.
async fn watch_names<K>(
    client: &Client,
    stop: &CancellationToken,
    changed: impl Fn(NamespacedName, bool),
) where
    K: Resource<DynamicType = ()> + Clone + std::fmt::Debug + DeserializeOwned + Send + 'static,
{
    let api: Api<PartialObjectMeta<K>> = Api::all(client.clone());
    let events = watcher(api, watcher::Config::default()).default_backoff();
    let mut events = std::pin::pin!(events.take_until(stop.clone().cancelled_owned()));
    while let Some(event) = events.next().await {
        match event {
            Ok(Event::Apply(object) | Event::InitApply(object)) => changed(name_of(&object), true),
            Ok(Event::Delete(object)) => changed(name_of(&object), false),
            Ok(Event::Init | Event::InitDone) => {}
            Err(error) => {
                let error = explain(&error);
                tracing::warn!(kind = %K::kind(&()), error, "a watch failed; it is tried again");
            }
        }
    }
}

async fn watch_bindings<K>(client: &Client, stop: &CancellationToken, rights: &Rights)
where
    K: Resource<DynamicType = ()>
        + Binding
        + Clone
        + std::fmt::Debug
        + DeserializeOwned
        + Send
        + 'static,
{
    let api: Api<K> = Api::all(client.clone());
    let events = watcher(api, watcher::Config::default()).default_backoff();
    let mut events = std::pin::pin!(events.take_until(stop.clone().cancelled_owned()));
    while let Some(event) = events.next().await {
        match event {
            Ok(Event::Apply(object) | Event::InitApply(object)) => {
                rights.binding(name_of_any(&object), object, true);
            }
            Ok(Event::Delete(object)) => rights.binding(name_of_any(&object), object, false),
            Ok(Event::Init | Event::InitDone) => {}
            Err(error) => {
                let error = explain(&error);
                tracing::warn!(kind = %K::kind(&()), error, "a watch failed; it is tried again");
            }
        }
    }
}

fn name_of<K>(object: &PartialObjectMeta<K>) -> NamespacedName {
    let metadata = &object.metadata;
    (
        metadata.namespace.clone().unwrap_or_default(),
        metadata.name.clone().unwrap_or_default(),
    )
}

fn name_of_any(object: &impl ResourceExt) -> NamespacedName {
    (object.namespace().unwrap_or_default(), object.name_any())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::metrics::Metrics;
    use crate::runtime::queue::Key;
    use crate::runtime::queues::OwnedKind;

    #[tokio::test]
    async fn role_edits_wake_those_who_work_under_accounts_that_have_the_role() {
        let queues = Queues::new(&Metrics::default(), &Clock::system());
        let workloads = queues.receiver(OwnedKind::Workload);
        let named = |namespace: &str, name: &str| (namespace.to_owned(), name.to_owned());
        for (owner, account) in [("one", "robot"), ("two", "other")] {
            let account = Account {
                namespace: "dev".to_owned(),
                name: account.to_owned(),
            };
            let used = vec![Used::Account(account)];
            queues.note(OwnedKind::Workload, &Key::new("dev", owner), used);
        }
        let (later, mut holders) = mpsc::unbounded_channel();
        let rights = Rights {
            queues,
            clock: Clock::system(),
            bindings: Mutex::default(),
            later,
        };
        let binding: RoleBinding = serde_json::from_value(serde_json::json!({
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "writer"},
            "subjects": [{"kind": "ServiceAccount", "name": "robot", "namespace": "dev"}],
        }))
        .unwrap();
        rights.binding(named("dev", "bound"), binding.clone(), true);
        assert_eq!(workloads.queue.drain(), ["one"], "a binding that came");
        rights.role("Role", named("dev", "writer"));
        assert_eq!(workloads.queue.drain(), ["one"], "a role that changed");
        rights.role("Role", named("elsewhere", "writer"));
        rights.role("ClusterRole", named("", "writer"));
        assert!(
            workloads.queue.drain().is_empty(),
            "other roles of that name"
        );
        rights.binding(named("dev", "bound"), binding, false);
        assert_eq!(workloads.queue.drain(), ["one"], "a binding that went");
        rights.account(&named("dev", "other"));
        assert_eq!(workloads.queue.drain(), ["two"], "an account that came");

        let due: Vec<Later> = std::iter::from_fn(|| holders.try_recv().ok()).collect();
        assert_eq!(due.len(), 4, "each change of rights is due once more");
        let (again, queued) = mpsc::unbounded_channel();
        again
            .send((Clock::system().instant(), due[0].1.clone()))
            .unwrap();
        drop(again);
        let stop = CancellationToken::new();
        rights.wake_again(queued, &stop).await;
        assert_eq!(workloads.queue.drain(), ["one"], "once more");
    }
}
