//! One judgement of all rollouts of one owner.

use std::collections::{BTreeMap, HashMap};

use kube::api::ApiResource;
use kube::core::GroupVersionKind;
use pathline_blueprint::owner::Owner;
use pathline_lineage::rollout::{self, ApiKind, ConfigRecord, Object, kinds_below};
use pathline_lineage::{Rollout, Stage};
use pathline_observe::rollout::{Configs, DaemonSet, RolloutTarget, RunTarget};

use super::index::{FollowedBy, Follower, Needs, Watched};
use super::{NoKind, RolloutWatcher};
use crate::runtime::calls;
use crate::runtime::queue::Key;

/// Judges all rollouts of one owner, once.
pub(crate) struct RolloutCheck<'r> {
    pub(super) watcher: &'r RolloutWatcher,
    pub(super) owner: &'r Owner,
    follower: Follower,
    /// The needs of all of them.
    needs: Needs,
    /// The reason why not all could be judged.
    failure: Option<String>,
    /// The ConfigMaps and Secrets of the owner, which pods may read.
    configs: Configs<'r>,
}

/// A reason why there is nothing to judge on.
pub(super) enum Unready {
    /// It is being listed; the owner is woken when that is done.
    Listing,
    /// It cannot be known.
    Unknown(String),
}

impl<'r> RolloutCheck<'r> {
    pub(super) fn new(watcher: &'r RolloutWatcher, owner: &'r Owner, configs: Configs<'r>) -> Self {
        let follower = Follower {
            kind: owner.kind.into(),
            key: Key::new(&owner.namespace, &owner.name),
        };
        Self {
            watcher,
            owner,
            follower,
            needs: Needs::default(),
            failure: None,
            configs,
        }
    }

    /// Judges one rollout; `None` while what lies below it has not been seen yet. The owner is woken
    /// when that changes.
    ///
    /// `images` are those that the path makes.
    pub(crate) async fn judge(
        &mut self,
        target: &RolloutTarget,
        images: &[String],
    ) -> Option<Rollout> {
        let judged = self.judge_running(target, images).await;
        let index = self.watcher.index.lock();
        let configs = &mut self.configs;
        let judged = judged.map(|rollout| configs.judge_fed(target, rollout, |it| index.below(it)));
        configs.note_reader(target, judged.as_ref(), |it| index.below(it));
        judged
    }

    async fn judge_running(
        &mut self,
        target: &RolloutTarget,
        images: &[String],
    ) -> Option<Rollout> {
        match target {
            RolloutTarget::Clear(rollout) => Some(rollout.clone()),
            RolloutTarget::Known(object) => self.known(object, images).await,
            RolloutTarget::Selected(object, selected) => {
                self.selected(object, selected, images).await
            }
            RolloutTarget::Run(run) => self.run(run, images).await,
            RolloutTarget::Commit(commit) => {
                let judged = self.watcher.deliveries.judge(self.owner, commit).await?;
                if let Some(failure) = judged.failure {
                    self.fail(failure);
                }
                Some(judged.rollout)
            }
        }
    }

    /// Returns the rollout of a ConfigMap or Secret that a resource stamps: that of all that read it,
    /// which were judged before. `None` if it is not known yet.
    pub(crate) fn judge_config(&self, resource: &str, rollout: Rollout) -> Option<Rollout> {
        let stage = self.configs.stage(resource)?;
        Some(Rollout { stage, ..rollout })
    }

    /// Ends the check: what none of its rollouts needs is no longer watched for it. Returns what is to be
    /// remembered of ConfigMaps and Secrets; with it an error if something could not be read, so that the
    /// owner must be reconciled again.
    pub(crate) fn end(self) -> (BTreeMap<String, ConfigRecord>, Result<(), String>) {
        self.watcher.index.lock().settle(&self.follower, self.needs);
        let judged = self.failure.map_or(Ok(()), Err);
        (self.configs.end(), judged)
    }

    async fn known(&mut self, object: &Object, images: &[String]) -> Option<Rollout> {
        let needs = self.needs_of(object);
        if let Err(unready) = self.prepare(needs).await {
            return unready.rollout_of(object);
        }
        let (rollout, sets) = {
            let index = self.watcher.index.lock();
            let mut rollout = rollout::judge_across(object, |it| index.below(it), images);
            let below = index.below(&object.namespace);
            let controllers = below.map(|below| below.controllers_below(&object.uid));
            rollout.controllers = controllers.unwrap_or_default();
            let named = rollout::all_named(object, |it| index.below(it));
            let named = named.iter();
            let named = named.filter_map(|it| index.below(&it.namespace)?.find(it));
            let judged = named.chain([object]);
            (rollout, DaemonSet::among(judged, |it| index.below(it)))
        };
        if rollout.stage != Stage::Done {
            return Some(rollout);
        }
        let rollout = self.confirm_applied(object, rollout).await;
        Some(self.confirm_revisions(&sets, rollout).await)
    }

    async fn run(&mut self, target: &RunTarget, images: &[String]) -> Option<Rollout> {
        let run = self.watcher.runs.get(&target.runnable, &target.inputs_id)?;
        let Some(kinds) = kinds_below(&run.object.group, &run.object.kind) else {
            return Some(target.at(Stage::None));
        };
        let mut needs = Needs::default();
        needs.name(&run.object);
        needs.below(&run.object.namespace, kinds);
        match self.prepare(needs).await {
            Ok(()) => {}
            Err(Unready::Listing) => return None,
            Err(Unready::Unknown(why)) => return Some(target.at(Stage::Progressing { why })),
        }
        let (stage, sets) = {
            let index = self.watcher.index.lock();
            let below = index.below(&run.object.namespace)?;
            let found = below.find(&run.object).filter(|it| it.uid == run.uid);
            let stage = match found {
                Some(found) => rollout::judge(found, below, images).stage,
                None => Stage::Progressing {
                    why: format!("{} `{}` is not there", run.object.kind, run.object.name),
                },
            };
            let sets = DaemonSet::among(found.into_iter(), |it| index.below(it));
            (stage, sets)
        };
        Some(self.confirm_revisions(&sets, target.at(stage)).await)
    }

    /// Returns what must be known to judge an object.
    pub(super) fn needs_of(&self, object: &Object) -> Needs {
        let mut needs = Needs::default();
        needs.followed.insert(FollowedBy::Uid(object.uid.clone()));
        let kinds = kinds_below(&object.group, &object.kind);
        needs.below(&object.namespace, kinds.unwrap_or_default());
        let index = self.watcher.index.lock();
        for named in rollout::all_named(object, |namespace| index.below(namespace)) {
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
            let resource = resource.map_err(Unready::Unknown)?;
            resources.insert(watched.gvk.clone(), resource);
        }
        let mut index = self.watcher.index.lock();
        for start in index.need(&self.follower, &needs, self.watcher.tasks.stop()) {
            let resource = resources.remove(&start.watched.gvk);
            let resource = resource.unwrap_or_else(|| ApiResource::from_gvk(&start.watched.gvk));
            self.watcher.start(start, resource);
        }
        let missing = index.missing(&needs);
        drop(index);
        self.needs.extend(&needs);
        match missing {
            None => Ok(()),
            Some(None) => Err(Unready::Listing),
            Some(Some(why)) => Err(Unready::Unknown(why)),
        }
    }

    /// Returns how objects of a kind are asked for, or why they cannot be.
    pub(super) async fn resource(&mut self, gvk: &GroupVersionKind) -> Result<ApiResource, String> {
        match self.watcher.resource(gvk).await {
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
        let index = self.watcher.index.lock();
        let is_confirmed = index.is_confirmed(&self.follower, object);
        drop(index);
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
    pub(super) fn rollout_of(self, object: &Object) -> Option<Rollout> {
        match self {
            Self::Listing => None,
            Self::Unknown(why) => Some(Rollout {
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
        self.followed.insert(watched.named(&named.name));
        self.watches.insert(watched);
    }
}
