//! The last mile: watches what lies below final resources, and judges whether it runs.
//!
//! Only kinds that a final resource needs are watched, and only in the namespaces of owners that have
//! one. Of what is seen only a summary is kept. The last mile of a commit is the delivery that
//! follows its repository.

mod deliveries;
mod place;

use std::collections::HashMap;

use kube::Client;
use parking_lot::Mutex;
use pathline_blueprint::owner::Owner;
use pathline_lineage::rollout::{self, Below, Object};
use pathline_lineage::{Rollout, Stage};
use serde_json::Value;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::queue::Key;
use crate::wakeups::{Reconciled, Wakeups};
use place::{Place, Watched};

pub(crate) use deliveries::Deliveries;

/// An object with which a path may end.
pub(crate) enum End {
    /// Its last mile is followed.
    Followed(Value),
    /// Nothing is known to run below it.
    Bare(Rollout),
}

/// Judges last miles, and wakes the owners of those that change.
pub(crate) struct LastMiles {
    client: Client,
    wakeups: Wakeups,
    stop: CancellationToken,
    tasks: TaskTracker,
    /// By namespace.
    places: Mutex<HashMap<String, Place>>,
    pub(crate) deliveries: Deliveries,
}

impl LastMiles {
    pub(crate) fn new(
        client: Client,
        wakeups: Wakeups,
        deliveries: Deliveries,
        stop: CancellationToken,
    ) -> Self {
        Self {
            client,
            wakeups,
            stop,
            tasks: TaskTracker::new(),
            places: Mutex::default(),
            deliveries,
        }
    }

    /// Judges the last mile of an object that was stamped for an owner; `None` while what lies
    /// below it has not been seen yet. The owner is woken when that changes.
    ///
    /// `images` are those that the path makes.
    pub(crate) async fn judge(
        &self,
        owner: &Owner,
        end: &End,
        images: &[String],
    ) -> Option<Rollout> {
        let object = match end {
            End::Followed(object) => object,
            End::Bare(rollout) => return Some(rollout.clone()),
        };
        if is_commit(object) {
            return self.deliveries.judge(owner, object).await;
        }
        let needed = below(object)?;
        let object = Object::read(object);
        if needed.is_empty() {
            return Some(rollout::judge(&object, &Below::default(), images));
        }
        self.judge_below(owner, &object, needed, images)
    }

    /// Forgets an owner that is no longer there.
    pub(crate) fn gone(&self, kind: Reconciled, key: &Key) {
        self.deliveries.gone(kind, key);
        self.places.lock().retain(|_, place| {
            place.forget(kind, key);
            let is_needed = place.is_needed();
            if !is_needed {
                place.end();
            }
            is_needed
        });
    }

    /// Waits, after the engine was told to stop, until no watch runs any more.
    pub(crate) async fn ended(&self) {
        self.stop.cancelled().await;
        self.tasks.close();
        self.tasks.wait().await;
    }

    fn judge_below(
        &self,
        owner: &Owner,
        object: &Object,
        needed: &[Watched],
        images: &[String],
    ) -> Option<Rollout> {
        let mut places = self.places.lock();
        let place = places
            .entry(object.namespace.clone())
            .or_insert_with(|| Place::new(&object.namespace, self.stop.child_token()));
        let key = Key::new(&owner.namespace, &owner.name);
        place.follow(&object.uid, owner.kind.into(), key);
        for kind in needed {
            place.watch(*kind, &self.client, &self.wakeups, &self.tasks);
        }
        place.judge(object, needed, images)
    }
}

impl End {
    /// Tells whether the last mile below an object is followed.
    pub(crate) fn of(object: &Value) -> Self {
        if is_commit(object) || below(object).is_some() {
            return Self::Followed(object.clone());
        }
        let uid = object["metadata"]["uid"].as_str().unwrap_or_default();
        Self::Bare(Rollout {
            uid: uid.to_owned(),
            generation: object["metadata"]["generation"].as_i64(),
            stage: Stage::None,
        })
    }
}

fn is_commit(object: &Value) -> bool {
    group_and_kind(object) == ("pathline.dev", "GitCommit")
}

/// Returns the kinds that have to be watched below an object; `None` if its last mile is not
/// followed.
fn below(object: &Value) -> Option<&'static [Watched]> {
    match group_and_kind(object) {
        ("pathline.dev", "Process") => Some(&[]),
        ("apps", "Deployment") => Some(&[Watched::ReplicaSet, Watched::Pod]),
        ("apps", "StatefulSet" | "DaemonSet") | ("batch", "Job") => Some(&[Watched::Pod]),
        _ => None,
    }
}

fn group_and_kind(object: &Value) -> (&str, &str) {
    let api_version = object["apiVersion"].as_str().unwrap_or_default();
    let group = api_version.split_once('/').map_or("", |(group, _)| group);
    (group, object["kind"].as_str().unwrap_or_default())
}
