//! Presence: whether what was deployed last in an environment is still there, and live.
//!
//! That a release was deployed is history, and stays true; somebody may have deleted or changed its objects since, and what
//! runs may have stopped.

use std::collections::{HashMap, HashSet};

use kube::api::{Api, DynamicObject, ListParams};
use kube::{Client, ResourceExt};
use pathline_blueprint::owner::OwnerKind;
use pathline_engine::{owner_resource, present_parts};
use pathline_release::environment::{DeployEnvironment, Environments};
use pathline_release::objects::{Part, RELEASE, TRACKER, changed, parts, tracker_label};
use pathline_release::queue::{Queues, Why};
use pathline_release::{TrackerName, environment, owner_name};
use serde_json::Value;
use tokio::time::timeout;

use crate::AppState;
use crate::views::owners::CLUSTER_TIMEOUT;

/// The owners that releases were written to, and the ConfigMaps and Secrets that they name.
pub(crate) struct Presence {
    /// By kind, namespace and name; nothing if the cluster does not say.
    owners: Option<HashMap<(OwnerKind, String, String), Present>>,
    /// Each with its namespace; nothing if the cluster does not say.
    parts: Option<HashSet<(String, Part)>>,
}

/// An owner as it is now.
struct Present {
    release: Option<String>,
    /// The image that it names; a Deliverable has a param.
    image: Option<String>,
    is_live: Option<bool>,
    /// The fields that are not as they were written, in words; nothing if a version before has written it.
    changed: Option<Vec<String>>,
    /// The objects that it names.
    parts: Vec<Part>,
}

impl Presence {
    /// Reads the owners of one tracker, or of all. Where the cluster does not say, nothing is known.
    pub(crate) async fn load(state: &AppState, tracker: Option<&TrackerName>) -> Self {
        let mut presence = Self {
            owners: None,
            parts: None,
        };
        let Ok(client) = state.cluster() else {
            return presence;
        };
        let selector = match tracker {
            Some(tracker) => format!("{TRACKER}={}", tracker_label(tracker)),
            None => TRACKER.to_owned(),
        };
        let mut all = HashMap::new();
        for kind in [OwnerKind::Workload, OwnerKind::Deliverable] {
            let Some(found) = owners(client, kind, &selector).await else {
                return presence;
            };
            all.extend(found.iter().map(|it| {
                let namespace = it.namespace().unwrap_or_default();
                ((kind, namespace, it.name_any()), Present::of(it))
            }));
        }
        if all.values().any(|it| !it.parts.is_empty()) {
            let parts = timeout(CLUSTER_TIMEOUT, present_parts(client, None, &selector)).await;
            presence.parts = parts.ok().flatten();
        }
        presence.owners = Some(all);
        presence
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
        let owners = self.owners.as_ref()?;
        let place = environments.get(&why.environment)?;
        if !queues.is_deployed_now(&why.environment, release) {
            return None;
        }
        let (kind, name) = (kind(place), owner_name(tracker));
        let namespace = &place.namespace;
        let owner = format!("{} `{name}` in namespace `{namespace}`", kind.name());
        let found = owners.get(&(kind, namespace.clone(), name.clone()));
        let problem = match found {
            None => Some(format!("{owner} is gone")),
            Some(it) => it
                .difference(release, queues.digest(release))
                .map(|it| format!("somebody has changed {owner}{it}"))
                .or_else(|| self.gone(namespace, it)),
        };
        if let Some(problem) = problem {
            why.sentence += &format!(
                "; {problem}: `pathline release rollback {} {tracker} --release {release}` writes it again",
                why.environment
            );
            return Some(false);
        }
        let is_live = found.and_then(|it| it.is_live);
        if is_live == Some(false) {
            let kind = kind.name().to_lowercase();
            why.sentence += &format!(
                "; it is not live now: `pathline lineage {kind}/{name} -n {namespace}` shows it"
            );
        }
        is_live
    }

    /// Says which of the objects that an owner names are gone.
    fn gone(&self, namespace: &str, owner: &Present) -> Option<String> {
        let present = self.parts.as_ref()?;
        let is_gone = |it: &&Part| !present.contains(&(namespace.to_owned(), (*it).clone()));
        let gone = owner.parts.iter().filter(is_gone);
        let gone: Vec<_> = gone
            .map(|it| format!("{} `{}`", it.kind(), it.name))
            .collect();
        let gone = (!gone.is_empty()).then(|| gone.join(" and "));
        gone.map(|it| format!("{it} in namespace `{namespace}` is gone"))
    }
}

impl Present {
    fn of(owner: &DynamicObject) -> Self {
        let text = |pointer: &str| {
            let value = owner.data.pointer(pointer).and_then(Value::as_str);
            value.map(str::to_owned)
        };
        let spec = owner.data.get("spec").unwrap_or(&Value::Null);
        let params = spec.get("params").and_then(Value::as_array);
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
            changed: changed(owner.annotations(), owner.labels(), spec),
            parts: parts(spec),
        }
    }

    /// Says how it differs from what was written for a release, whose image has a digest.
    fn difference(&self, release: u64, digest: Option<&str>) -> Option<String> {
        let image = self.image.as_deref().unwrap_or_default();
        match &self.changed {
            Some(changed) if !changed.is_empty() => Some(format!(" ({})", changed.join(", "))),
            _ if self.release.as_deref() != Some(&release.to_string()) => Some(String::new()),
            None if digest.is_some_and(|it| !image.ends_with(it)) => Some(String::new()),
            _ => None,
        }
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
