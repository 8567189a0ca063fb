//! Everything that is known of one owner at one moment.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::arrival::{Arrival, Missing};
use crate::artifact::{Artifact, Kind};
use crate::canonical;
use crate::chain::Resource;
use crate::clauses::Clause;
use crate::kinds;
use crate::origin::Origin;
use crate::rollout::{ConfigRecord, ObjectName, Rollout, Stage};
use crate::state::State;
use crate::used::Used;

/// The annotation with which kubectl repeats the whole object.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";
/// The number of bytes that tell two sets of labels and annotations apart.
const METADATA_DIGEST_BYTES: usize = 8;

/// Everything that is known of one owner at one moment: who waits, waits on this alone.
///
/// It is bounded by the size of the chain, and can be written as JSON and read back: fields that
/// are missing have their defaults, and fields of later versions are passed over.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", default, remote = "Self")]
pub struct OwnerLineage {
    /// The uid of the owner.
    pub uid: String,
    /// The owner's `metadata.generation` when it was reconciled last.
    pub generation: i64,
    /// The [`metadata_digest`] of the owner when it was reconciled last.
    #[serde(alias = "marks", skip_serializing_if = "String::is_empty")]
    pub metadata_digest: String,
    /// The path and its history, from what was stamped and seen.
    pub state: State,
    /// The rollout of each final resource, and of those before them that keep something running; those that nobody has
    /// judged are absent.
    pub rollouts: BTreeMap<String, Rollout>,
    /// When the ConfigMaps and Secrets that resources stamp became what they are, by resource.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub configs: BTreeMap<String, ConfigRecord>,
    /// The params that the blueprint or a template fixes, with their values as they are shown: the
    /// owner can't set them.
    pub fixed: BTreeMap<String, String>,
    /// The reason why the owner itself can't go on until somebody changes something: it has no path, say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// The reasons why resources can't go on until somebody changes something, by their names.
    pub failures: BTreeMap<String, String>,
    /// The troubles of resources that may still go on, in their own words, by their names.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub troubles: BTreeMap<String, String>,
    /// Objects of this owner that nothing stamps any more, as long as they, or what runs below them,
    /// are still there.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub retiring: Vec<Retiring>,
    /// The generation of the owner, if it is live.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub live_generation: Option<i64>,
    /// The blueprint and the templates that the last reconcile used, as `Kind/name`, with their
    /// generations; 0 for a template that is named and not there.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub used: Used,
    /// The resources that could not be stamped by the last reconcile, by their names.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub unstamped: BTreeMap<String, Unstamped>,
}

/// A resource that could not be stamped: what is there of it was stamped before.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct Unstamped {
    /// The reason, for people.
    pub why: String,
    /// Whether it is tried again although nothing changes, as when the cluster refuses the object.
    pub retried: bool,
}

/// An object that nothing stamps any more.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Retiring {
    /// The resource that stamped it.
    pub resource: String,
    /// The object, as the API names it.
    pub object: ObjectName,
    /// Its uid.
    pub uid: String,
    /// The uids of what controls pods below it.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub controllers: BTreeSet<String>,
    /// The number of pods that run below it; absent while the object itself is still there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pods: Option<usize>,
}

/// Whether something runs.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub enum Live {
    /// It runs, everywhere, and nothing else does.
    True,
    /// It does not, or not everywhere.
    False,
    /// Nothing says so: there is no rollout, or nobody has judged it, or proof is missing.
    #[default]
    Unknown,
}

/// One input that the owner has now.
#[derive(Clone, Debug, PartialEq)]
pub struct Input {
    /// Its name, such as `param:debug`.
    pub name: String,
    /// Its value.
    pub artifact: Artifact,
    /// Whether all that it flows into is made from it.
    pub arrived: bool,
    /// Whether something is made from two values of it, or of what it flows through.
    pub mixed: bool,
    /// Whether nothing selected reads it.
    pub unused: bool,
    /// Whether it runs; absent if it is unused.
    pub live: Option<Live>,
}

/// Returns a digest of that in the metadata of an owner which can change without a new generation and
/// yet decide what is made: its labels and annotations.
pub fn metadata_digest(metadata: &Value) -> String {
    let mut annotations = metadata["annotations"].clone();
    if let Some(annotations) = annotations.as_object_mut() {
        annotations.remove(LAST_APPLIED);
    }
    let present = |value: &Value| value.as_object().is_some_and(|it| !it.is_empty());
    let told = [metadata["labels"].clone(), annotations].map(|it| present(&it).then_some(it));
    let digest = Sha256::digest(canonical::json(&json!(told)));
    let digest = digest.iter().take(METADATA_DIGEST_BYTES);
    digest.map(|byte| format!("{byte:02x}")).collect()
}

impl OwnerLineage {
    /// Tells whether it says nothing that another lineage of the owner does not.
    pub fn concludes_the_same(&self, other: &Self) -> bool {
        let Self {
            uid: _,
            generation,
            metadata_digest,
            state,
            rollouts,
            configs,
            fixed,
            failure,
            failures,
            troubles,
            retiring,
            live_generation,
            used,
            unstamped,
        } = self;
        state.concludes_the_same(&other.state)
            && (generation, live_generation) == (&other.generation, &other.live_generation)
            && *metadata_digest == other.metadata_digest
            && (rollouts, retiring, fixed) == (&other.rollouts, &other.retiring, &other.fixed)
            && (failure, failures, troubles) == (&other.failure, &other.failures, &other.troubles)
            && (used, unstamped) == (&other.used, &other.unstamped)
            && *configs == other.configs
    }

    /// Returns the inputs that the owner has now, by name, and how far each of them is.
    pub fn inputs(&self) -> Vec<Input> {
        let inputs = self.state.owner().iter();
        inputs
            .map(|(name, artifact)| self.input(name, artifact))
            .collect()
    }

    /// Tells whether everything that the owner has now runs, and with it the sources that its
    /// resources found where the owner follows a branch.
    pub fn live(&self) -> Live {
        if !self.is_alone() {
            return Live::False;
        }
        let owned = self.inputs().into_iter().filter_map(|input| input.live);
        let found = self.state.entry_points(Kind::Source);
        let found = found.into_iter().map(|name| {
            let origin = Origin::resource(name);
            let newest = self.state.current(name).and_then(|it| it.output.as_ref());
            let arrival = self.state.arrival(&origin, |it| Some(it) == newest);
            self.live_of(&origin, &arrival)
        });
        owned.chain(found).reduce(Live::and).unwrap_or_default()
    }

    /// Takes note of the owner's generation if all of it is live, and of none if it is not.
    ///
    /// Call it whenever the state or a rollout has changed.
    pub fn note_live(&mut self) {
        let is_live = self.live() == Live::True;
        self.live_generation = is_live.then_some(self.generation);
    }

    /// Returns every object that ran something for this owner, or still does: what is not stamped any
    /// more is among them.
    pub fn has_run(&self) -> Vec<Retiring> {
        let stamped = self.rollouts.iter();
        // A Job ends by itself; its pods are kept for their logs.
        let stamped = stamped.filter(|(_, rollout)| {
            !rollout.controllers.is_empty() && rollout.object.kind != kinds::JOB.kind
        });
        let stamped = stamped.map(|(resource, rollout)| Retiring {
            resource: resource.clone(),
            object: rollout.object.clone(),
            uid: rollout.uid.clone(),
            controllers: rollout.controllers.clone(),
            pods: None,
        });
        self.retiring.iter().cloned().chain(stamped).collect()
    }

    /// Tells whether nothing that this owner stamped before is still there: what runs has to be all
    /// that runs, across objects too.
    pub fn is_alone(&self) -> bool {
        let alone = self.retiring.is_empty();
        self.state.clauses().holds(Clause::Alone, alone)
    }

    /// Tells whether what has come so far runs in every target of an origin that has a rollout.
    pub fn live_of(&self, origin: &Origin, arrival: &Arrival) -> Live {
        if !arrival.arrived() {
            let proof = |it: &Missing| matches!(it, Missing::Assumed { .. });
            let only_proof = arrival.missing.iter().all(proof);
            return if only_proof {
                Live::Unknown
            } else {
                Live::False
            };
        }
        self.rolled_out(origin)
    }

    /// Tells whether every target of an origin that has a rollout has rolled out what it is now.
    pub fn rolled_out(&self, origin: &Origin) -> Live {
        let targets = self.running_targets(origin);
        let judged = targets
            .iter()
            .filter_map(|target| match self.stage(&target.name) {
                None => Some(Live::Unknown),
                Some(Stage::None | Stage::NoFollower { .. }) => None,
                Some(Stage::Done) if self.state.in_metadata_only(origin, target).is_some() => {
                    Some(Live::Unknown)
                }
                Some(Stage::Done) if self.state.is_touched(target) => Some(Live::False),
                Some(Stage::Done) => Some(Live::True),
                Some(Stage::Progressing { .. } | Stage::Failed { .. }) => Some(Live::False),
            });
        let judged = judged.reduce(Live::and).unwrap_or_default();
        if self.is_alone() {
            judged
        } else {
            judged.and(Live::False)
        }
    }

    /// Returns the resources whose rollouts decide whether an origin is live: the final ones that it flows into, and
    /// those on its way that keep something running. A test that has passed says nothing of what ends after it.
    pub(crate) fn running_targets(&self, origin: &Origin) -> Vec<&Resource> {
        let targets = self.state.targets_of(origin);
        let reached = self.state.chain().reached_by(origin);
        let on_way = self.running_on_way();
        let on_way = on_way.filter(|it| reached.contains(it.name.as_str()));
        let on_way = on_way.filter(|it| !targets.contains(it));
        on_way.chain(targets.iter().copied()).collect()
    }

    /// Returns the resources that others consume and that keep something running nevertheless, producers first.
    pub(crate) fn running_on_way(&self) -> impl Iterator<Item = &Resource> {
        let chain = self.state.chain();
        let finals: BTreeSet<_> = chain.finals().map(|it| it.name.as_str()).collect();
        chain.in_path_order().filter(move |it| {
            let rollout = self.rollouts.get(&it.name);
            let runs = rollout.is_some_and(|it| it.stage != Stage::None);
            runs && !finals.contains(it.name.as_str())
        })
    }

    /// Returns how far the rollout of a resource is, if somebody judged it since the resource
    /// made what it makes now.
    pub fn stage(&self, resource: &str) -> Option<&Stage> {
        let made = self.state.current(resource)?;
        let passed_through = made.uid.is_empty();
        if passed_through {
            return Some(&Stage::None);
        }
        let rollout = self.rollouts.get(resource)?;
        rollout
            .is_about(&made.uid, made.generation)
            .then_some(&rollout.stage)
    }

    fn input(&self, name: &str, artifact: &Artifact) -> Input {
        let origin = Origin::owner(name);
        let arrival = self.state.arrival(&origin, |it| it == artifact);
        Input {
            name: name.to_owned(),
            artifact: artifact.clone(),
            arrived: arrival.arrived(),
            mixed: arrival.mixed,
            unused: arrival.unused(),
            live: (!arrival.unused()).then(|| self.live_of(&origin, &arrival)),
        }
    }
}

impl Serialize for OwnerLineage {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Self::serialize(self, serializer)
    }
}

impl<'de> Deserialize<'de> for OwnerLineage {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut read = Self::deserialize(deserializer)?;
        // Lineages that were written before the owner's failure had a field of its own have it under a name that no
        // resource has.
        let of_owner = read.failures.remove("");
        read.failure = read.failure.or(of_owner);
        Ok(read)
    }
}

impl Live {
    /// Returns what can be said of two things together: false beats unknown, unknown beats true.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::False, _) | (_, Self::False) => Self::False,
            (Self::Unknown, _) | (_, Self::Unknown) => Self::Unknown,
            (Self::True, Self::True) => Self::True,
        }
    }
}

impl fmt::Display for Live {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::True => "True",
            Self::False => "False",
            Self::Unknown => "Unknown",
        })
    }
}

impl fmt::Display for Retiring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { object, pods, .. } = self;
        match pods {
            None => write!(f, "{object}, which nothing stamps any more, is still there"),
            Some(pods) => write!(
                f,
                "{pods} pods of {object}, which nothing stamps any more, are still there"
            ),
        }
    }
}
