//! Running things, and what each is made of: the revision that it is of, not the one that its owner wants.
//!
//! A pod outlives the apply that it comes from. Which apply that was is only said where something
//! proves it; otherwise the answer is that nobody knows.

use crate::artifact::{Artifact, Kind};
use crate::made_of::{MadeOf, Of};
use crate::owner_lineage::OwnerLineage;
use crate::resource_history::ResourceHistory;
use crate::rollout::Stage;
use crate::stamp::{InputsId, Record};

/// A thing of the cluster, and the stamped object that controls it or that it is.
///
/// Read the lineage first, then the thing, and the stamped object last: then a roll-out that was
/// complete before, of a generation that is still the same after, is one that the thing belongs to.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Sight {
    /// The uid of the stamped object.
    pub uid: String,
    /// The generation of the stamped object.
    pub generation: Option<i64>,
    /// The id of the inputs that the stamped object carries.
    pub inputs_id: Option<InputsId>,
    /// The level of the thing.
    pub level: Level,
}

/// The level of a thing: the stamped object, or below it.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub enum Level {
    /// It is the stamped object, which is as it was applied.
    #[default]
    Stamped,
    /// It is the stamped object, and also what runs, which takes a while to follow.
    Runs,
    /// It is somewhere below.
    Below {
        /// The id of the inputs that came down with what it was made from: a ReplicaSet or a
        /// ControllerRevision has it together with its template.
        inputs_id: Option<InputsId>,
        /// Whether it was made from the very template that the stamped object has.
        is_newest: bool,
        /// The images that its containers name.
        images: Vec<String>,
    },
}

/// A running thing, and what it is made of.
#[derive(Clone, Debug, PartialEq)]
pub struct Running {
    /// The resource whose object controls it.
    pub resource: String,
    /// The revision that it is of.
    pub revision: Revision,
    /// The artifacts that revision is made of, if they are known.
    pub made: Option<MadeOf>,
    /// The stage of the newest revision, if somebody looked.
    pub rollout: Option<Stage>,
}

/// The revision that a thing is of.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Revision {
    /// The one that was applied last.
    Current,
    /// One that was applied before.
    Older,
    /// Nothing proves which.
    Unknown {
        /// The reason.
        why: String,
    },
}

impl OwnerLineage {
    /// Says what a running thing is made of; `None` if its stamped object is none of this owner.
    ///
    /// `owner` is the owner's word (`workload` or `deliverable`); at most `limit` artifacts are told.
    pub fn running(&self, sight: &Sight, owner: &str, limit: usize) -> Option<Running> {
        let (resource, history) = self.state.whose(&sight.uid)?;
        let (revision, made) = match self.apply_of(resource, history, sight) {
            Ok(record) => {
                let is_last = history.last_apply() == Some(record);
                let revision = if is_last {
                    Revision::Current
                } else {
                    Revision::Older
                };
                let of = match sight.level {
                    Level::Stamped => Of::Object,
                    Level::Runs | Level::Below { .. } => Of::WhatRuns,
                };
                let made = self.state.applied(resource, record, of, (owner, limit));
                (revision, Some(made))
            }
            Err(why) => (Revision::Unknown { why }, None),
        };
        let rollout = self.rollouts.get(resource);
        let rollout = rollout.filter(|it| it.uid == sight.uid && it.stage != Stage::None);
        Some(Running {
            resource: resource.to_owned(),
            revision,
            made,
            rollout: rollout.map(|it| it.stage.clone()),
        })
    }

    /// Returns the apply that a thing comes from, or why nobody knows.
    fn apply_of<'a>(
        &self,
        resource: &str,
        history: &'a ResourceHistory,
        sight: &Sight,
    ) -> Result<&'a Record, String> {
        match &sight.level {
            Level::Stamped => last_apply(history, sight)
                .map_or_else(|| remembered(history, sight, sight.inputs_id.as_ref()), Ok),
            Level::Below {
                inputs_id,
                is_newest,
                images,
            } => {
                let last = last_apply(history, sight);
                let last = last.filter(|it| *is_newest && it.generation == sight.generation);
                let found = match (last, inputs_id) {
                    (Some(last), _) => Ok(last),
                    (None, Some(id)) => remembered(history, sight, Some(id)),
                    (None, None) => return self.applied_alone(resource, history, sight),
                };
                found.and_then(|it| fitting(it, images))
            }
            Level::Runs => self.applied_alone(resource, history, sight),
        }
    }

    /// Returns the last apply if nothing else runs, or why nobody knows.
    fn applied_alone<'a>(
        &self,
        resource: &str,
        history: &'a ResourceHistory,
        sight: &Sight,
    ) -> Result<&'a Record, String> {
        last_apply(history, sight)
            .filter(|it| self.has_rolled_out(resource, it, sight) || is_only(history, it))
            .ok_or_else(|| self.why_unknown(resource))
    }

    /// Tells whether nothing else than an apply runs below its object.
    fn has_rolled_out(&self, resource: &str, applied: &Record, sight: &Sight) -> bool {
        let rollout = self.rollouts.get(resource);
        let is_done = rollout.is_some_and(|it| {
            let is_same = it.uid == sight.uid && it.generation == sight.generation;
            is_same && it.stage == Stage::Done
        });
        is_done && applied.generation == sight.generation
    }

    fn why_unknown(&self, resource: &str) -> String {
        let stage = self.rollouts.get(resource).map(|it| &it.stage);
        let said = match stage {
            Some(Stage::Progressing { why }) => format!("`{resource}` is being rolled out ({why})"),
            Some(Stage::Failed { reason }) => {
                format!("`{resource}` could not be rolled out ({reason})")
            }
            Some(Stage::Done) => format!("`{resource}` has just been changed"),
            Some(Stage::None | Stage::NoFollower { .. }) | None => {
                format!("nobody has seen what runs below the object of `{resource}`")
            }
        };
        format!(
            "{said}, and nothing says which revision this is of; ask again when it is rolled out"
        )
    }
}

/// Returns the last apply if it is the one that the stamped object carries.
fn last_apply<'a>(history: &'a ResourceHistory, sight: &Sight) -> Option<&'a Record> {
    let last = history.last_apply().filter(|it| it.uid == sight.uid);
    last.filter(|it| Some(&it.inputs_id) == sight.inputs_id.as_ref())
}

/// Returns the apply of these inputs. Of several the last one counts, if all of them rendered the same:
/// whoever rolls back has again what there was.
fn remembered<'a>(
    history: &'a ResourceHistory,
    sight: &Sight,
    inputs_id: Option<&InputsId>,
) -> Result<&'a Record, String> {
    let Some(id) = inputs_id else {
        return Err("it does not carry the id of its inputs: somebody else has written it".into());
    };
    let applies = history.applies_to(&sight.uid);
    let mut applies = applies.filter(|it| it.inputs_id == *id);
    let first = applies.next();
    let first = first.ok_or("the apply that it comes from is no longer remembered")?;
    let is_same = |it: &Record| it.rendered.is_some() && it.rendered == first.rendered;
    let last = applies.take_while(|it| is_same(it)).last();
    Ok(last.unwrap_or(first))
}

/// Refuses an apply whose images a pod does not name: somebody else has changed what it is made from.
fn fitting<'a>(record: &'a Record, images: &[String]) -> Result<&'a Record, String> {
    let given = record.inputs.values();
    let given = given.filter(|it| it.kind() == Kind::Image);
    let given: Vec<_> = given.map(Artifact::shown).collect();
    let named = |image: &&str| images.iter().any(|it| it == image);
    if given.is_empty() || images.is_empty() || given.iter().any(named) {
        return Ok(record);
    }
    Err(format!(
        "it was to run {}, but it runs {}: somebody else has changed that",
        given.join(", "),
        images.join(", ")
    ))
}

/// Tells whether an object has never been anything else than what an apply made it.
fn is_only(history: &ResourceHistory, applied: &Record) -> bool {
    applied.generation == Some(1) && history.applies_to(&applied.uid).count() == 1
}
