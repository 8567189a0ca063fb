//! Presence: whether what was deployed last in an environment is still there, and live.
//!
//! That a release was deployed is history, and stays true; somebody may have deleted or changed its objects since, and what
//! runs may have stopped.

use std::collections::HashMap;

use kube::api::{Api, DynamicObject, ListParams};
use kube::{Client, ResourceExt};
use pathline_blueprint::owner::OwnerKind;
use pathline_engine::owner_resource;
use pathline_release::environment::{DeployEnvironment, Environments};
use pathline_release::objects::{RELEASE, TRACKER, tracker_label};
use pathline_release::queue::{Queues, Why};
use pathline_release::{TrackerName, environment, owner_name};
use serde_json::Value;
use tokio::time::timeout;

use crate::AppState;
use crate::views::owners::CLUSTER_TIMEOUT;

/// The owners that releases were written to, by kind, namespace and name.
pub(crate) struct Presence(Option<HashMap<(OwnerKind, String, String), Present>>);

/// An owner as it is now.
struct Present {
    release: Option<String>,
    /// The image that it names; a Deliverable has a param.
    image: Option<String>,
    is_live: Option<bool>,
}

impl Presence {
    /// Reads the owners of one tracker, or of all. Where the cluster does not say, nothing is known.
    pub(crate) async fn load(state: &AppState, tracker: Option<&TrackerName>) -> Self {
        let Ok(client) = state.cluster() else {
            return Self(None);
        };
        let selector = match tracker {
            Some(tracker) => format!("{TRACKER}={}", tracker_label(tracker)),
            None => TRACKER.to_owned(),
        };
        let mut all = HashMap::new();
        for kind in [OwnerKind::Workload, OwnerKind::Deliverable] {
            let Some(found) = owners(client, kind, &selector).await else {
                return Self(None);
            };
            all.extend(found.iter().map(|it| {
                let namespace = it.namespace().unwrap_or_default();
                ((kind, namespace, it.name_any()), Present::of(it))
            }));
        }
        Self(Some(all))
    }

    /// Adds to an answer about a release whether it is live, and what is wrong if it is not; `queues` are those of the
    /// tracker.
    pub(crate) fn tell(
        &self,
        environments: &Environments,
        (tracker, queues): (&TrackerName, &Queues),
        release: u64,
        why: &mut Why,
    ) -> Option<bool> {
        let owners = self.0.as_ref()?;
        let place = environments.get(&why.environment)?;
        if !queues.is_deployed_now(&why.environment, release) {
            return None;
        }
        let kind = kind(place);
        let name = owner_name(tracker);
        let key = (kind, place.namespace.clone(), name.clone());
        let owner = format!(
            "{} `{name}` in namespace `{}`",
            kind.name(),
            place.namespace
        );
        let number = release.to_string();
        let problem = match owners.get(&key) {
            None => format!("{owner} is gone"),
            Some(it)
                if it.release.as_deref() != Some(&number) || !it.has(queues.digest(release)) =>
            {
                format!("somebody has changed {owner}")
            }
            Some(it) if it.is_live == Some(false) => {
                let kind = kind.name().to_lowercase();
                why.sentence += &format!(
                    "; it is not live now: `pathline lineage {kind}/{name} -n {}` shows it",
                    place.namespace
                );
                return Some(false);
            }
            Some(it) => return it.is_live,
        };
        let again = format!(
            "`pathline release rollback {} {tracker} --release {release}`",
            why.environment
        );
        why.sentence += &format!("; {problem}: {again} writes it again");
        Some(false)
    }
}

impl Present {
    fn of(owner: &DynamicObject) -> Self {
        let text = |pointer: &str| {
            let value = owner.data.pointer(pointer).and_then(Value::as_str);
            value.map(str::to_owned)
        };
        let params = owner.data.pointer("/spec/params").and_then(Value::as_array);
        let mut params = params.into_iter().flatten();
        let image = params.find(|it| it["name"] == "image");
        let image = image.and_then(|it| it["value"].as_str().map(str::to_owned));
        Self {
            release: owner.annotations().get(RELEASE).cloned(),
            image: text("/spec/image").or(image),
            is_live: match text("/status/live").as_deref() {
                Some("True") => Some(true),
                Some("False") => Some(false),
                _ => None,
            },
        }
    }

    /// Tells whether it names the image of a digest.
    fn has(&self, digest: Option<&str>) -> bool {
        let image = self.image.as_deref().unwrap_or_default();
        digest.is_none_or(|it| image.ends_with(it))
    }
}

fn kind(place: &DeployEnvironment) -> OwnerKind {
    match place.owner.kind {
        environment::OwnerKind::Workload => OwnerKind::Workload,
        environment::OwnerKind::Deliverable => OwnerKind::Deliverable,
    }
}

async fn owners(client: &Client, kind: OwnerKind, selector: &str) -> Option<Vec<DynamicObject>> {
    let api: Api<DynamicObject> = Api::all_with(client.clone(), &owner_resource(kind));
    let wanted = ListParams::default().labels(selector);
    let listed = timeout(CLUSTER_TIMEOUT, api.list(&wanted)).await;
    Some(listed.ok()?.ok()?.items)
}
