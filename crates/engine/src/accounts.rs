//! Service accounts and their rights: who works under an account is looked at when these change.
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
use pathline_blueprint::account::Account;
use serde::de::DeserializeOwned;
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::clients::Clients;
use crate::wakeups::{Used, Wakeups};

/// The prefix of the groups that stand for all accounts, or all of a namespace.
const GROUP: &str = "system:serviceaccounts";

/// When those are looked at once more whose rights changed. An API server learns of roles by a watch
/// of its own, so it may still refuse who asks right after our watch has told.
const SECOND_LOOK: Duration = Duration::from_secs(3);

/// Follows accounts, roles and bindings until told to stop.
pub(crate) async fn follow(
    client: Client,
    clients: Clients,
    wakeups: Wakeups,
    stop: CancellationToken,
) {
    let (later, holders) = mpsc::unbounded_channel();
    let rights = Rights {
        wakeups,
        bindings: Mutex::default(),
        later,
    };
    tokio::join!(
        rights.wake_again(holders, &stop),
        follow_names::<ServiceAccount>(&client, &stop, |account, is_there| {
            if !is_there {
                // A server may take the token of an account that is gone for a while.
                clients.forget(&named(&account));
            }
            rights.account(&account);
        }),
        follow_names::<Role>(&client, &stop, |role, _| rights.role("Role", role)),
        follow_names::<ClusterRole>(&client, &stop, |role, _| rights.role("ClusterRole", role)),
        follow_bindings::<RoleBinding>(&client, &stop, &rights),
        follow_bindings::<ClusterRoleBinding>(&client, &stop, &rights),
    );
}

/// What a binding says, of either kind.
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

/// Where a binding holds and what it is called; of the whole cluster if the namespace is empty.
type Place = (String, String);

/// From a role to those who have it.
struct Bound {
    role_kind: String,
    role: String,
    holders: Vec<Holder>,
}

/// Who has a role.
#[derive(Debug, Clone, PartialEq)]
enum Holder {
    One(Account),
    AllOf(String),
    All,
}

/// Those whose rights have changed, and when they are looked at once more.
type Later = (Instant, Vec<Holder>);

struct Rights {
    wakeups: Wakeups,
    bindings: Mutex<HashMap<Place, Bound>>,
    later: mpsc::UnboundedSender<Later>,
}

impl Rights {
    fn account(&self, place: &Place) {
        self.wakeups.wake_users(&Used::Account(named(place)));
    }

    fn role(&self, kind: &str, place: Place) {
        let (namespace, name) = place;
        let bindings = self.bindings.lock();
        for ((bound_in, _), bound) in bindings.iter() {
            // A Role is bound in its own namespace, a ClusterRole anywhere.
            let is_here = namespace.is_empty() || *bound_in == namespace;
            if is_here && bound.role_kind == kind && bound.role == name {
                self.changed(&bound.holders);
            }
        }
    }

    fn binding(&self, place: Place, binding: impl Binding, is_there: bool) {
        let (role, subjects) = binding.split();
        let holders: Vec<Holder> = subjects
            .into_iter()
            .filter_map(|subject| holder(subject, &place.0))
            .collect();
        let bound = Bound {
            role_kind: role.kind,
            role: role.name,
            holders: holders.clone(),
        };
        let before = if is_there {
            self.bindings.lock().insert(place, bound)
        } else {
            self.bindings.lock().remove(&place)
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
        let _ = self
            .later
            .send((Instant::now() + SECOND_LOOK, holders.to_vec()));
    }

    /// Wakes once more whoever is due, until told to stop.
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
                Holder::One(account) => self.wakeups.wake_users(&Used::Account(account.clone())),
                Holder::AllOf(namespace) => self.wakeups.wake_under(Some(namespace)),
                Holder::All => self.wakeups.wake_under(None),
            }
        }
    }
}

fn named((namespace, name): &Place) -> Account {
    Account {
        namespace: namespace.clone(),
        name: name.clone(),
    }
}

fn holder(subject: Subject, bound_in: &str) -> Option<Holder> {
    match subject.kind.as_str() {
        "ServiceAccount" => Some(Holder::One(Account {
            namespace: subject.namespace.unwrap_or_else(|| bound_in.to_owned()),
            name: subject.name,
        })),
        "Group" => match subject.name.strip_prefix(GROUP)? {
            "" => Some(Holder::All),
            rest => rest
                .strip_prefix(':')
                .map(|namespace| Holder::AllOf(namespace.to_owned())),
        },
        _ => None,
    }
}

/// Tells of everything that is there, changes or goes. A listing counts too: it may show what came
/// into being while there was no watch.
async fn follow_names<K>(client: &Client, stop: &CancellationToken, changed: impl Fn(Place, bool))
where
    K: Resource<DynamicType = ()> + Clone + std::fmt::Debug + DeserializeOwned + Send + 'static,
{
    let api: Api<PartialObjectMeta<K>> = Api::all(client.clone());
    let events = watcher(api, watcher::Config::default()).default_backoff();
    let mut events = std::pin::pin!(events.take_until(stop.clone().cancelled_owned()));
    while let Some(event) = events.next().await {
        match event {
            Ok(Event::Apply(object) | Event::InitApply(object)) => changed(place(&object), true),
            Ok(Event::Delete(object)) => changed(place(&object), false),
            Ok(Event::Init | Event::InitDone) => {}
            Err(error) => {
                tracing::warn!(kind = %K::kind(&()), %error, "a watch failed; it is tried again")
            }
        }
    }
}

async fn follow_bindings<K>(client: &Client, stop: &CancellationToken, rights: &Rights)
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
                rights.binding(place_of(&object), object, true);
            }
            Ok(Event::Delete(object)) => rights.binding(place_of(&object), object, false),
            Ok(Event::Init | Event::InitDone) => {}
            Err(error) => {
                tracing::warn!(kind = %K::kind(&()), %error, "a watch failed; it is tried again")
            }
        }
    }
}

fn place<K>(object: &PartialObjectMeta<K>) -> Place {
    let metadata = &object.metadata;
    (
        metadata.namespace.clone().unwrap_or_default(),
        metadata.name.clone().unwrap_or_default(),
    )
}

fn place_of(object: &impl ResourceExt) -> Place {
    (object.namespace().unwrap_or_default(), object.name_any())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::Metrics;
    use crate::queue::Key;
    use crate::wakeups::Reconciled;

    #[test]
    fn subjects_lead_to_accounts() {
        let subject = |kind: &str, name: &str, namespace: Option<&str>| Subject {
            kind: kind.to_owned(),
            name: name.to_owned(),
            namespace: namespace.map(str::to_owned),
            api_group: None,
        };
        let robot = |namespace: &str| {
            Some(Holder::One(Account {
                namespace: namespace.to_owned(),
                name: "robot".to_owned(),
            }))
        };
        let rows = [
            (subject("ServiceAccount", "robot", Some("ci")), robot("ci")),
            (subject("ServiceAccount", "robot", None), robot("dev")),
            (
                subject("Group", "system:serviceaccounts", None),
                Some(Holder::All),
            ),
            (
                subject("Group", "system:serviceaccounts:ci", None),
                Some(Holder::AllOf("ci".to_owned())),
            ),
            (subject("Group", "system:masters", None), None),
            (subject("User", "jane", None), None),
        ];
        for (subject, expected) in rows {
            assert_eq!(holder(subject, "dev"), expected);
        }
    }

    #[tokio::test]
    async fn role_edits_wake_those_who_work_under_accounts_that_have_the_role() {
        let (wakeups, [workloads, _, _]) = Wakeups::new(&Metrics::default());
        let place = |namespace: &str, name: &str| (namespace.to_owned(), name.to_owned());
        for (owner, account) in [("one", "robot"), ("two", "other")] {
            let account = Account {
                namespace: "dev".to_owned(),
                name: account.to_owned(),
            };
            let used = vec![Used::Account(account)];
            wakeups.note(Reconciled::Workload, &Key::new("dev", owner), used);
        }
        let (later, mut holders) = mpsc::unbounded_channel();
        let rights = Rights {
            wakeups,
            bindings: Mutex::default(),
            later,
        };
        let binding: RoleBinding = serde_json::from_value(serde_json::json!({
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "writer"},
            "subjects": [{"kind": "ServiceAccount", "name": "robot", "namespace": "dev"}],
        }))
        .unwrap();
        rights.binding(place("dev", "bound"), binding.clone(), true);
        assert_eq!(workloads.queue.drain(), ["one"], "a binding that came");
        rights.role("Role", place("dev", "writer"));
        assert_eq!(workloads.queue.drain(), ["one"], "a role that changed");
        rights.role("Role", place("elsewhere", "writer"));
        rights.role("ClusterRole", place("", "writer"));
        assert!(
            workloads.queue.drain().is_empty(),
            "other roles of that name"
        );
        rights.binding(place("dev", "bound"), binding, false);
        assert_eq!(workloads.queue.drain(), ["one"], "a binding that went");
        rights.account(&place("dev", "other"));
        assert_eq!(workloads.queue.drain(), ["two"], "an account that came");

        let due: Vec<Later> = std::iter::from_fn(|| holders.try_recv().ok()).collect();
        assert_eq!(due.len(), 4, "each change of rights is due once more");
        let (again, queued) = mpsc::unbounded_channel();
        again.send((Instant::now(), due[0].1.clone())).unwrap();
        drop(again);
        let stop = CancellationToken::new();
        rights.wake_again(queued, &stop).await;
        assert_eq!(workloads.queue.drain(), ["one"], "a second look");
    }
}
