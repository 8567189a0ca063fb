//! The object that a path ends with, and how its rollout is followed.

use pathline_blueprint::template::{Template, TemplateKind};
use pathline_kinds::carto::Lifecycle;
use pathline_kinds::workers::{GitCommit, GitCommitSpec};
use pathline_lineage::kinds::{GroupKind, ends_by_itself};
use pathline_lineage::rollout::{Object, kinds_below};
use pathline_lineage::{Rollout, Stage, Written};

use super::selected::SelectedObjects;
use crate::observed_object::ObservedObject;
use crate::resource_observation::run_of;

/// An object whose rollout is followed, since a path may end with it.
#[derive(Debug, Clone)]
pub enum RolloutTarget {
    /// Something is known to run below it.
    Known(Box<Object>),
    /// Its template says which objects run what it asks for.
    Selected(Box<Object>, SelectedObjects),
    /// A commit: what follows its repository runs it.
    Commit(Box<CommitTarget>),
    /// A run of a Runnable.
    Run(Box<RunTarget>),
    /// Its own state says how far it is.
    Clear(Rollout),
}

/// A commit to a repository that deliveries may follow.
#[derive(Debug, Clone)]
pub struct CommitTarget {
    /// The `GitCommit`.
    pub object: Object,
    /// The commit that is asked for; `None` if that cannot be read.
    pub spec: Option<GitCommitSpec>,
    /// The commit, once it has been written.
    pub written: Option<Written>,
}

/// A run of a Runnable, by the inputs that it was given.
#[derive(Debug, Clone)]
pub struct RunTarget {
    /// The Runnable.
    pub runnable: Object,
    /// The id of the inputs.
    pub inputs_id: String,
    /// Its uid in the lineage.
    pub uid: String,
}

impl RolloutTarget {
    /// Returns the target whose rollout is that of what was stamped: `current` carries what was rendered,
    /// the output is read from `source`.
    pub(crate) fn of(
        template: &Template,
        inputs_id: &str,
        current: &ObservedObject<'_>,
        source: Option<&ObservedObject<'_>>,
    ) -> Self {
        let is_sink = template.kind() == TemplateKind::Plain;
        let observed = source.filter(|_| !is_sink).unwrap_or(current);
        let object = observed.object.clone();
        if observed.is_runnable() && template.lifecycle == Lifecycle::Mutable {
            let made_from = observed.made_from.filter(|_| !is_sink);
            let inputs_id = made_from.unwrap_or(inputs_id).to_owned();
            let uid = run_of(&object.uid, &inputs_id);
            return Self::Run(Box::new(RunTarget {
                runnable: object,
                inputs_id,
                uid,
            }));
        }
        // A Task may have deployed something itself, which its template selects: that says more than its own end.
        let is_task = (object.group.as_str(), object.kind.as_str()) == ("pathline.dev", "Task");
        let is_selected = is_task && template.tracing.live_selector.is_some();
        if !is_selected && kinds_below(&object.group, &object.kind).is_some() {
            return Self::Known(Box::new(object));
        }
        if let Some(selector) = &template.tracing.live_selector {
            return match SelectedObjects::of(selector, observed) {
                Ok(selected) => Self::Selected(Box::new(object), selected),
                Err(why) => Self::Clear(at(&object, Stage::Progressing { why })),
            };
        }
        if (object.group.as_str(), object.kind.as_str()) == ("pathline.dev", "GitCommit") {
            let commit: Option<GitCommit> = serde_json::from_value(observed.answer.clone()).ok();
            return Self::Commit(Box::new(CommitTarget {
                object,
                spec: commit.map(|it| it.spec),
                written: observed.written.clone(),
            }));
        }
        Self::Clear(at(&object, Stage::None))
    }

    /// Returns the uid of the object, where something may run below it.
    pub fn uid(&self) -> Option<&str> {
        match self {
            Self::Known(object) | Self::Selected(object, _) => Some(&object.uid),
            Self::Commit(commit) => Some(&commit.object.uid),
            Self::Run(run) => Some(&run.uid),
            Self::Clear(rollout) => Some(&rollout.uid),
        }
    }

    /// Tells whether it keeps something running: that has to run on, whoever takes its output.
    pub fn keeps_running(&self) -> bool {
        match self {
            Self::Known(object) => !ends_by_itself(GroupKind::new(&object.group, &object.kind)),
            Self::Selected(..) => true,
            Self::Commit(_) | Self::Run(_) => false,
            Self::Clear(rollout) => rollout.stage != Stage::None,
        }
    }

    /// Returns the rollout of an object of which nobody has seen yet what lies below it; none where the kind of
    /// target does not tell.
    pub fn unseen(&self) -> Option<Rollout> {
        let why = "what runs has not been observed yet".to_owned();
        Some(at(self.object()?, Stage::Progressing { why }))
    }

    /// Returns the object whose pods, or what it leads to, are watched.
    pub fn object(&self) -> Option<&Object> {
        match self {
            Self::Known(object) | Self::Selected(object, _) => Some(object),
            Self::Commit(_) | Self::Run(_) | Self::Clear(_) => None,
        }
    }
}

impl RunTarget {
    /// Returns how far it is.
    pub fn at(&self, stage: Stage) -> Rollout {
        Rollout {
            uid: self.uid.clone(),
            generation: None,
            stage,
            ..Rollout::default()
        }
    }
}

/// Returns how far an object is.
fn at(object: &Object, stage: Stage) -> Rollout {
    Rollout {
        object: object.object_name(),
        uid: object.uid.clone(),
        generation: object.generation,
        stage,
        ..Rollout::default()
    }
}
