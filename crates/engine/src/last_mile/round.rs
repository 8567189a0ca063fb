//! One look at all last miles of one owner.

use std::collections::{BTreeMap, HashMap};

use kube::api::ApiResource;
use kube::core::GroupVersionKind;
use pathline_blueprint::owner::Owner;
use pathline_lineage::rollout::{self, ApiKind, ConfigRecord, Object, kinds_below};
use pathline_lineage::{Rollout, Stage};
use serde_json::Value;

use super::configs::Configs;
use super::end::{End, Run};
use super::revisions::DaemonSet;
use super::seen::{Follower, Mark, Needs, Watched};
use super::{LastMiles, NoKind};
use crate::calls;
use crate::queue::Key;

/// One look at all last miles of one owner.
pub(crate) struct Round<'r> {
    pub(super) miles: &'r LastMiles,
    pub(super) owner: &'r Owner,
    follower: Follower,
    /// What all of them need.
    needs: Needs,
    /// Why not all could be looked at.
    failure: Option<String>,
    /// What pods may read of what the owner stamps.
    pub(super) configs: Configs<'r>,
}

/// Why there is nothing to judge on.
pub(super) enum Unready {
    /// It is being listed; the owner is woken when that is done.
    Listing,
    /// It cannot be known.
    Told(String),
}

impl<'r> Round<'r> {
    pub(super) fn new(miles: &'r LastMiles, owner: &'r Owner, configs: Configs<'r>) -> Self {
        let follower = Follower {
            kind: owner.kind.into(),
            key: Key::new(&owner.namespace, &owner.name),
        };
        Self {
            miles,
            owner,
            follower,
            needs: Needs::default(),
            failure: None,
            configs,
        }
    }

    /// Judges one last mile; `None` while what lies below it has not been seen yet. The owner is woken
    /// when that changes.
    ///
    /// `images` are those that the path makes.
    pub(crate) async fn judge(&mut self, end: &End, images: &[String]) -> Option<Rollout> {
        let judged = self.judge_running(end, images).await;
        let judged = judged.map(|rollout| self.judge_fed(end, rollout));
        self.note_reader(end, judged.as_ref());
        judged
    }

    async fn judge_running(&mut self, end: &End, images: &[String]) -> Option<Rollout> {
        match end {
            End::Clear(rollout) => Some(rollout.clone()),
            End::Known(object) => self.known(object, images).await,
            End::Selected(object, selected) => self.selected(object, selected, images).await,
            End::Run(run) => self.run(run, images).await,
            End::Commit(object) => {
                let judged = self.miles.deliveries.judge(self.owner, object).await?;
                if let Some(failure) = judged.failure {
                    self.fail(failure);
                }
                Some(judged.rollout)
            }
        }
    }

    /// Returns the last mile of a ConfigMap or Secret that a resource stamps: that of all that read it,
    /// which were judged before. `None` if it is not known yet.
    pub(crate) fn judge_config(&self, resource: &str, rollout: Rollout) -> Option<Rollout> {
        let stage = self.configs.stage(resource)?;
        Some(Rollout { stage, ..rollout })
    }

    /// Ends the look: what none of its last miles needs is no longer watched for it. Returns what is to be
    /// remembered of ConfigMaps and Secrets; with it an error if something could not be read, so that the
    /// owner must be looked at again.
    pub(crate) fn end(self) -> (BTreeMap<String, ConfigRecord>, Result<(), String>) {
        self.miles.seen.lock().settle(&self.follower, self.needs);
        let judged = self.failure.map_or(Ok(()), Err);
        (self.configs.end(), judged)
    }

    async fn known(&mut self, value: &Value, images: &[String]) -> Option<Rollout> {
        let object = Object::read(value);
        let needs = self.needs_of(&object);
        if let Err(unready) = self.prepare(needs).await {
            return unready.told(&object);
        }
        let (rollout, sets) = {
            let seen = self.miles.seen.lock();
            let mut rollout = rollout::judge_across(&object, |it| seen.place(it), images);
            let below = seen.place(&object.namespace);
            let controllers = below.map(|below| below.controllers_below(&object.uid));
            rollout.controllers = controllers.unwrap_or_default();
            let named = rollout::all_named(&object, |it| seen.place(it));
            let named = named.iter();
            let named = named.filter_map(|it| seen.place(&it.namespace)?.find(it));
            (rollout, DaemonSet::among(named.chain([&object]), &seen))
        };
        if rollout.stage != Stage::Done {
            return Some(rollout);
        }
        let rollout = self.confirm_applied(&object, rollout).await;
        Some(self.confirm_revisions(&sets, rollout).await)
    }

    async fn run(&mut self, run: &Run, images: &[String]) -> Option<Rollout> {
        let ran = self.miles.runs.get(&run.runnable, &run.inputs_id)?;
        let Some(kinds) = kinds_below(&ran.object.group, &ran.object.kind) else {
            return Some(run.at(Stage::None));
        };
        let mut needs = Needs::default();
        needs.name(&ran.object);
        needs.below(&ran.object.namespace, kinds);
        match self.prepare(needs).await {
            Ok(()) => {}
            Err(Unready::Listing) => return None,
            Err(Unready::Told(why)) => return Some(run.at(Stage::Progressing { why })),
        }
        let (stage, sets) = {
            let seen = self.miles.seen.lock();
            let below = seen.place(&ran.object.namespace)?;
            let found = below.find(&ran.object).filter(|it| it.uid == ran.uid);
            let stage = match found {
                Some(found) => rollout::judge(found, below, images).stage,
                None => Stage::Progressing {
                    why: format!("{} `{}` is not there", ran.object.kind, ran.object.name),
                },
            };
            (stage, DaemonSet::among(found.into_iter(), &seen))
        };
        Some(self.confirm_revisions(&sets, run.at(stage)).await)
    }

    /// Returns what must be known to judge an object.
    pub(super) fn needs_of(&self, object: &Object) -> Needs {
        let mut needs = Needs::default();
        needs.marks.insert(Mark::Uid(object.uid.clone()));
        let kinds = kinds_below(&object.group, &object.kind);
        needs.below(&object.namespace, kinds.unwrap_or_default());
        let seen = self.miles.seen.lock();
        for named in rollout::all_named(object, |namespace| seen.place(namespace)) {
            needs.name(&named);
            let kinds = kinds_below(&named.group, &named.kind);
            needs.below(&named.namespace, kinds.unwrap_or_default());
        }
        needs
    }

    /// Has everything watched that is needed.
    pub(super) async fn prepare(&mut self, needs: Needs) -> Result<(), Unready> {
        let mut resources: HashMap<GroupVersionKind, ApiResource> = HashMap::new();
        for watched in &needs.watches {
            let resource = self.resource(&watched.gvk).await;
            let resource = resource.map_err(Unready::Told)?;
            resources.insert(watched.gvk.clone(), resource);
        }
        let mut seen = self.miles.seen.lock();
        for start in seen.need(&self.follower, &needs, &self.miles.stop) {
            let resource = resources.remove(&start.watched.gvk);
            let resource = resource.unwrap_or_else(|| ApiResource::from_gvk(&start.watched.gvk));
            self.miles.start(start, resource);
        }
        let missing = seen.missing(&needs);
        drop(seen);
        self.needs.extend(&needs);
        match missing {
            None => Ok(()),
            Some(None) => Err(Unready::Listing),
            Some(Some(why)) => Err(Unready::Told(why)),
        }
    }

    /// Returns how objects of a kind are asked for, or why they cannot be.
    pub(super) async fn resource(&mut self, gvk: &GroupVersionKind) -> Result<ApiResource, String> {
        match self.miles.resource(gvk).await {
            Ok(resource) => Ok(resource),
            Err(NoKind::Absent(why)) => Err(why),
            Err(NoKind::Unknown(error)) => Err(self.unread(&gvk.kind, &error)),
        }
    }

    /// Takes note that objects could not be read, and says so.
    pub(super) fn unread(&mut self, kind: &str, error: &calls::Error) -> String {
        let why = format!("{kind} objects cannot be read: {}", error.message());
        self.fail(why.clone());
        why
    }

    /// Tells whether what a stamped object does not control was read after it.
    pub(super) fn is_confirmed(&mut self, object: &Object) -> bool {
        let seen = self.miles.seen.lock();
        let is_confirmed = seen.is_confirmed(&self.follower, object);
        drop(seen);
        if is_confirmed {
            self.confirm(object);
        }
        is_confirmed
    }

    /// Takes note that what a stamped object does not control was read after it.
    pub(super) fn confirm(&mut self, object: &Object) {
        let version = object.version.clone();
        self.needs.confirmed.insert(object.uid.clone(), version);
    }

    fn fail(&mut self, why: String) {
        self.failure.get_or_insert(why);
    }
}

impl Unready {
    /// Returns what is known of an object nevertheless.
    pub(super) fn told(self, object: &Object) -> Option<Rollout> {
        match self {
            Self::Listing => None,
            Self::Told(why) => Some(Rollout {
                uid: object.uid.clone(),
                generation: object.generation,
                stage: Stage::Progressing { why },
                object: object.object_name(),
                ..Rollout::default()
            }),
        }
    }
}

impl Needs {
    /// Needs to know what lies below an object of this namespace.
    pub(super) fn below(&mut self, namespace: &str, kinds: &[ApiKind]) {
        let watched = kinds.iter().map(|(group, version, kind)| Watched {
            namespace: namespace.to_owned(),
            gvk: GroupVersionKind::gvk(group, version, kind),
        });
        self.watches.extend(watched);
    }

    /// Needs to know an object by its name.
    pub(super) fn name(&mut self, named: &rollout::Reference) {
        let version = Some(named.version.as_str()).filter(|it| !it.is_empty());
        let watched = Watched {
            namespace: named.namespace.clone(),
            gvk: GroupVersionKind::gvk(&named.group, version.unwrap_or("v1"), &named.kind),
        };
        self.marks.insert(watched.named(&named.name));
        self.watches.insert(watched);
    }
}
