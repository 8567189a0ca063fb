//! Finds what runs for an owner, so that a debugger, a shell or a browser can be pointed at it.
//!
//! From the owner to the objects stamped for its final resources, down to pods and processes; across
//! git to whatever follows the repository that a commit was written to. All of it is bounded, and
//! nothing that goes wrong here changes an answer: it is told as a note.

mod description;
mod reader;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use kube::api::{ApiResource, GroupVersionKind};
use pathline_blueprint::live_selector;
use pathline_blueprint::owner::OwnerKind;
use pathline_client::api::RunningObject;
use pathline_kinds::carto::{
    API_VERSION, Deliverable, LiveSelector, ObjectReference, ResourceStatus, StampedReference,
};
use pathline_kinds::split_api_version;
use pathline_lineage::rollout::{self, ApiKind, Object, kinds_below};
use pathline_lineage::{OwnerLineage, RepositoryId, Stage};
use serde::Deserialize;
use serde_json::Value;

use self::reader::{Listed, Reader};
use crate::AppState;
use crate::error::ApiError;
use crate::views::names::OwnerName;
use crate::views::owners;

/// The most running things that are named.
const MAX_RUNNING: usize = 100;
/// The most owners and objects that are visited on the way to them.
const MAX_OWNERS: usize = 32;
const MAX_OBJECTS: usize = 500;
/// The time that all of it may take.
const SEARCH_TIMEOUT: Duration = Duration::from_secs(3);

/// The running things, and what is to be said about the list.
#[derive(Debug, Default)]
pub(crate) struct RunningObjects {
    pub(crate) running: Vec<RunningObject>,
    pub(crate) note: Option<String>,
    /// The processes that do not run, if nothing else does.
    pub(crate) ended: Vec<String>,
}

/// Finds what runs for an owner now.
pub(crate) async fn find(state: &AppState, kind: OwnerKind, name: &OwnerName) -> RunningObjects {
    let why = match tokio::time::timeout(SEARCH_TIMEOUT, search(state, kind, name)).await {
        Ok(Ok(found)) => return found,
        Ok(Err(error)) => error.problem().error.message,
        Err(_) => "the cluster takes too long".to_owned(),
    };
    RunningObjects {
        note: Some(format!("what runs cannot be listed: {why}")),
        ..RunningObjects::default()
    }
}

async fn search(
    state: &AppState,
    kind: OwnerKind,
    name: &OwnerName,
) -> Result<RunningObjects, ApiError> {
    let mut search = Search {
        state,
        reader: Reader::new(state.cluster()?.clone()),
        owners: Queue::new(MAX_OWNERS),
        objects: Queue::new(MAX_OBJECTS),
        running: BTreeMap::new(),
        ended: Vec::new(),
        is_cut_off: false,
    };
    let key = (kind.noun(), name.namespace.clone(), name.name.clone());
    search.owners.push(key, (kind, name.clone()));
    loop {
        if let Some(target) = search.objects.next() {
            search.visit(target).await?;
        } else if let Some((kind, name)) = search.owners.next() {
            search.visit_owner(kind, &name).await?;
        } else {
            return Ok(search.found());
        }
    }
}

/// Things to look at: each once, and not too many.
struct Queue<K, T> {
    known: BTreeSet<K>,
    waiting: VecDeque<T>,
    room: usize,
}

impl<K: Ord, T> Queue<K, T> {
    fn new(room: usize) -> Self {
        Self {
            known: BTreeSet::new(),
            waiting: VecDeque::new(),
            room,
        }
    }

    /// Takes a thing in unless it was there before; returns whether there was room.
    fn push(&mut self, key: K, thing: T) -> bool {
        if self.known.contains(&key) {
            return true;
        }
        let has_room = self.known.len() < self.room;
        if has_room {
            self.known.insert(key);
            self.waiting.push_back(thing);
        }
        has_room
    }

    fn next(&mut self) -> Option<T> {
        self.waiting.pop_front()
    }
}

/// An object below which something may run.
struct Target {
    object: Value,
    /// The template it was stamped from, which may say what runs.
    template: Option<ObjectReference>,
}

struct Search<'s> {
    state: &'s AppState,
    reader: Reader,
    owners: Queue<(&'static str, String, String), (OwnerKind, OwnerName)>,
    objects: Queue<String, Target>,
    running: BTreeMap<(String, String, String), RunningObject>,
    ended: Vec<String>,
    /// Whether there was more to look at.
    is_cut_off: bool,
}

/// The part of an owner's status that names what was stamped.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Status {
    resources: Vec<ResourceStatus>,
}

impl Search<'_> {
    async fn visit_owner(&mut self, kind: OwnerKind, name: &OwnerName) -> Result<(), ApiError> {
        let owner = owners::get(self.state, kind, name).await?;
        let uid = owner.metadata.uid.clone().unwrap_or_default();
        let lineage = self
            .state
            .ledger()?
            .lineage()
            .get(&uid)
            .await?
            .unwrap_or_default();
        let status = owner.data.get("status").unwrap_or(&Value::Null);
        let status = Status::deserialize(status).unwrap_or_default();
        for resource in status.resources {
            if !is_final(&lineage, &resource.name) {
                continue;
            }
            if let Some((gvk, namespace, name)) = resource.stamped_ref.and_then(read_reference) {
                let object = self.reader.get(&gvk, &namespace, &name).await?;
                self.add(object, resource.template_ref);
            }
        }
        Ok(())
    }

    fn add(&mut self, object: Option<Value>, template: Option<ObjectReference>) {
        if let Some(object) = object {
            let uid = text(&object, "/metadata/uid").to_owned();
            self.is_cut_off |= !self.objects.push(uid, Target { object, template });
        }
    }

    async fn visit(&mut self, Target { object, template }: Target) -> Result<(), ApiError> {
        let read = Object::read(&object);
        match (read.group.as_str(), read.kind.as_str()) {
            ("", "Pod") => self.name(description::pod(&object)),
            ("pathline.dev", "Process") => match description::process(&object) {
                None => self.ended.push(read.name.clone()),
                found => self.name(found),
            },
            (group, kind) => match kinds_below(group, kind) {
                Some([]) => self.visit_inventory(&read).await?,
                Some(kinds) => self.visit_below(&object, kinds).await?,
                None => self.visit_beside(&object, template).await?,
            },
        }
        Ok(())
    }

    fn name(&mut self, found: Option<RunningObject>) {
        if let Some(found) = found {
            let key = (
                found.kind.clone(),
                found.namespace.clone(),
                found.name.clone(),
            );
            self.running.insert(key, found);
        }
    }

    /// Finds the pods that an object controls, however far below.
    async fn visit_below(&mut self, object: &Value, kinds: &[ApiKind]) -> Result<(), ApiError> {
        let mut above = BTreeSet::from([text(object, "/metadata/uid").to_owned()]);
        let namespace = text(object, "/metadata/namespace");
        let selector = object.pointer("/spec/selector/matchLabels");
        let selector = selector.and_then(|it| BTreeMap::deserialize(it).ok());
        let (labels, no_labels) = (selector.unwrap_or_default(), BTreeMap::new());
        let mut pods = Vec::new();
        for (group, version, kind) in kinds {
            let is_pod = *kind == "Pod";
            let listed = Listed {
                gvk: &GroupVersionKind::gvk(group, version, kind),
                namespace: Some(namespace),
                labels: if is_pod { &labels } else { &no_labels },
            };
            let found = |it: Value| match controller_of(&it) {
                Some(controller) if !above.contains(controller) => {}
                None => {}
                Some(_) if is_pod => pods.extend(description::pod(&it)),
                Some(_) => drop(above.insert(text(&it, "/metadata/uid").to_owned())),
            };
            self.is_cut_off |= !self.reader.each(listed, found).await?;
        }
        for pod in pods {
            self.name(Some(pod));
        }
        Ok(())
    }

    /// Goes on with what an inventory of Flux names.
    async fn visit_inventory(&mut self, object: &Object) -> Result<(), ApiError> {
        for named in rollout::all_named(object, |_| None) {
            let version = Some(named.version.as_str()).filter(|it| !it.is_empty());
            let gvk = GroupVersionKind::gvk(&named.group, version.unwrap_or("v1"), &named.kind);
            let found = self.reader.get(&gvk, &named.namespace, &named.name).await?;
            self.add(found, None);
        }
        Ok(())
    }

    /// Goes on with what runs an object of a kind of which nothing is known: what the template
    /// selects, or what follows the repository of a commit.
    async fn visit_beside(
        &mut self,
        object: &Value,
        template: Option<ObjectReference>,
    ) -> Result<(), ApiError> {
        match self.live_selector(template).await? {
            Some(selector) => self.visit_selected(object, &selector).await,
            None if object["kind"] == "GitCommit" => self.visit_across_git(object).await,
            None => Ok(()),
        }
    }

    async fn live_selector(
        &mut self,
        template: Option<ObjectReference>,
    ) -> Result<Option<LiveSelector>, ApiError> {
        let Some((kind, name)) = template.and_then(|it| Some((it.kind?, it.name?))) else {
            return Ok(None);
        };
        let (group, version) = split_api_version(API_VERSION);
        let resource = ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, &kind));
        let template = self.reader.get_global(&resource, &name).await?;
        let selector = template.unwrap_or_default();
        let selector = selector.pointer("/spec/artifactTracing/liveSelector");
        Ok(selector.and_then(|it| LiveSelector::deserialize(it).ok()))
    }

    async fn visit_selected(
        &mut self,
        object: &Value,
        selector: &LiveSelector,
    ) -> Result<(), ApiError> {
        let Ok(labels) = live_selector::labels(selector, object) else {
            return Ok(());
        };
        let mut found = Vec::new();
        let listed = Listed {
            gvk: &gvk(&selector.api_version, &selector.kind),
            namespace: Some(text(object, "/metadata/namespace")),
            labels: &labels,
        };
        let complete = self.reader.each(listed, |it| found.push(it)).await?;
        self.is_cut_off |= !complete;
        for object in found {
            self.add(Some(object), None);
        }
        Ok(())
    }

    /// Goes on with the deliverables that follow the repository of a commit.
    async fn visit_across_git(&mut self, commit: &Value) -> Result<(), ApiError> {
        let repository = RepositoryId::of(text(commit, "/spec/url"));
        let resource = ApiResource::erase::<Deliverable>(&());
        let mut followers = Vec::new();
        let listed = Listed {
            gvk: &gvk(&resource.api_version, &resource.kind),
            namespace: None,
            labels: &BTreeMap::new(),
        };
        let found = |it: Value| {
            if RepositoryId::of(text(&it, "/spec/source/git/url")) == repository {
                followers.push(OwnerName {
                    namespace: text(&it, "/metadata/namespace").to_owned(),
                    name: text(&it, "/metadata/name").to_owned(),
                });
            }
        };
        self.is_cut_off |= !self.reader.each(listed, found).await?;
        for name in followers {
            let kind = OwnerKind::Deliverable;
            let key = (kind.noun(), name.namespace.clone(), name.name.clone());
            self.is_cut_off |= !self.owners.push(key, (kind, name));
        }
        Ok(())
    }

    fn found(self) -> RunningObjects {
        let all = self.running.len();
        let running: Vec<_> = self.running.into_values().take(MAX_RUNNING).collect();
        let more = all - running.len();
        let note = match (more, self.is_cut_off) {
            (0, false) => None,
            (0, true) => Some("more may run than is named here".to_owned()),
            (more, is_cut_off) => {
                let least = if is_cut_off { "at least " } else { "" };
                Some(format!(
                    "{least}{more} more run than the {MAX_RUNNING} that are named"
                ))
            }
        };
        let ended = Some(self.ended).filter(|_| running.is_empty());
        RunningObjects {
            running,
            note,
            ended: ended.unwrap_or_default(),
        }
    }
}

/// Tells whether something runs below what was stamped for a resource.
fn is_final(lineage: &OwnerLineage, resource: &str) -> bool {
    let rollout = lineage.rollouts.get(resource);
    rollout.is_some_and(|it| it.stage != Stage::None)
}

fn read_reference(reference: StampedReference) -> Option<(GroupVersionKind, String, String)> {
    let gvk = gvk(&reference.api_version?, &reference.kind?);
    Some((gvk, reference.namespace?, reference.name?))
}

fn gvk(api_version: &str, kind: &str) -> GroupVersionKind {
    let (group, version) = split_api_version(api_version);
    GroupVersionKind::gvk(group, version, kind)
}

fn controller_of(object: &Value) -> Option<&str> {
    let owners = object.pointer("/metadata/ownerReferences")?.as_array()?;
    let controller = owners.iter().find(|it| it["controller"] == true)?;
    controller["uid"].as_str()
}

fn text<'a>(object: &'a Value, pointer: &str) -> &'a str {
    let text = object.pointer(pointer).and_then(Value::as_str);
    text.unwrap_or_default()
}
