//! The observation of one owner in one reconcile, and how it is taken into a lineage.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use pathline_blueprint::owner::Owner;
use pathline_blueprint::realization::Realization;
use pathline_blueprint::template::{Body, Template};
use pathline_lineage::rollout::ConfigRecord;
use pathline_lineage::{
    Artifact, Chain, Derivation, NotOnPath, OwnerLineage, Retiring, Rollout, Snapshot, State,
    Tracing, Unstamped, chain, owner_lineage,
};

use crate::path_reads::PathReads;
use crate::resource_observation::{ResourceObservation, StampedObservation, text, tracing_of};
use crate::unstamped::unstamped;
use crate::version::Version;

/// An owner as one reconcile observed it.
#[derive(Debug, Default)]
pub struct Observation {
    /// The path and what was seen on it, unless the reconcile did not get that far.
    pub path: Option<ObservedPath>,
    /// The reason why the owner itself cannot go on until somebody changes something.
    pub failure: Option<String>,
    /// The resources that cannot go on until somebody changes something, and why.
    pub failures: BTreeMap<String, String>,
    /// The resources with which something is wrong, whether or not it may pass.
    pub troubles: BTreeMap<String, String>,
    /// The blueprint and the templates that were used, with their generations.
    pub used: BTreeMap<String, i64>,
    /// The resources that could not be stamped, and why.
    pub unstamped: BTreeMap<String, Unstamped>,
}

/// The path of an owner, and what was seen on it.
#[derive(Debug, Default)]
pub struct ObservedPath {
    generation: i64,
    metadata_digest: String,
    chain: Chain,
    own: BTreeMap<String, Artifact>,
    fixed: BTreeMap<String, String>,
    /// By resource.
    observations: Vec<(String, ResourceObservation)>,
    /// Resources of which nothing was seen, since their objects are not there.
    absent: Vec<String>,
    /// The rollouts of final resources.
    rollouts: BTreeMap<String, Rollout>,
    /// The objects that are not stamped any more, and are still there; none if nobody knows.
    retiring: Option<Vec<Retiring>>,
    /// The times at which the ConfigMaps and Secrets that resources stamp became what they are;
    /// `None` if nobody observed them.
    configs: Option<BTreeMap<String, ConfigRecord>>,
    time: Timestamp,
}

impl ObservedPath {
    /// Takes what all resources read, and what was seen of some of them.
    ///
    /// # Errors
    /// If the steps are no path, which cannot be where a plan chose them.
    pub fn new(
        owner: &Owner,
        readings: &PathReads<'_>,
        observations: Vec<(String, ResourceObservation)>,
        time: Timestamp,
    ) -> Result<Self, chain::Error> {
        let chain = readings.chain(|name, template| {
            let seen = observations.iter().find(|(seen, _)| seen == name);
            match seen {
                Some((_, ResourceObservation::Stamped(stamped))) => stamped.tracing.clone(),
                Some((_, ResourceObservation::PassedThrough { .. })) | None => {
                    template.map(foreseen).unwrap_or_default()
                }
            }
        })?;
        Ok(Self {
            own: readings.own(),
            fixed: readings.fixed(),
            chain,
            observations,
            time,
            ..Self::none(owner)
        })
    }

    /// Returns the names of the resources that no other one consumes.
    pub fn finals(&self) -> BTreeSet<String> {
        self.chain.finals().map(|it| it.name.clone()).collect()
    }

    /// Takes note that of what was not seen only these resources have an object.
    pub fn lose_all_but(&mut self, there: &BTreeSet<String>) {
        let is_seen = |name: &str| self.observations.iter().any(|(seen, _)| seen == name);
        let resources = self.chain.resources().iter().map(|it| &it.name);
        let absent = resources.filter(|name| !is_seen(name) && !there.contains(*name));
        self.absent = absent.cloned().collect();
    }

    /// Takes what is not stamped any more, and is still there.
    pub fn retire(&mut self, retiring: Vec<Retiring>) {
        self.retiring = Some(retiring);
    }

    /// Takes how far the rollouts of final resources are, and of those before them that keep something running.
    pub fn roll_out(&mut self, rollouts: BTreeMap<String, Rollout>) {
        self.rollouts = rollouts;
    }

    /// Takes when the ConfigMaps and Secrets that resources stamp became what they are.
    pub fn remember_configs(&mut self, configs: BTreeMap<String, ConfigRecord>) {
        self.configs = Some(configs);
    }

    /// Tells whether a resource is on it.
    pub fn has(&self, resource: &str) -> bool {
        self.chain.get(resource).is_some()
    }

    /// Tells whether nothing is on it.
    fn is_empty(&self) -> bool {
        self.chain.resources().is_empty()
    }

    /// Tells whether it shows all that another one does, whenever each of them was observed.
    fn shows(&self, other: &Self) -> bool {
        let versions = |path: &Self| -> Vec<(String, Version)> {
            let observations = path.observations.iter();
            observations
                .map(|(resource, it)| (resource.clone(), it.version()))
                .collect()
        };
        (self.generation, &self.metadata_digest) == (other.generation, &other.metadata_digest)
            && (&self.chain, &self.own, &self.fixed) == (&other.chain, &other.own, &other.fixed)
            && (&self.rollouts, &self.configs) == (&other.rollouts, &other.configs)
            && (&self.retiring, &self.absent) == (&other.retiring, &other.absent)
            && versions(self) == versions(other)
    }

    /// The path of an owner that nothing is stamped for any more.
    pub fn none(owner: &Owner) -> Self {
        Self {
            generation: owner.generation.unwrap_or_default(),
            metadata_digest: owner_lineage::metadata_digest(&owner.object["metadata"]),
            ..Self::default()
        }
    }
}

/// The result of taking an observation into a lineage.
#[derive(Debug, Default)]
pub struct Learned {
    /// The derivations that came to be known.
    pub derivations: Vec<Derivation>,
    /// The resources that were observed and are not on the path, which cannot be.
    pub not_on_path: Vec<NotOnPath>,
}

/// The versions of what was last taken in, by resource.
pub type Versions = BTreeMap<String, Version>;

impl Observation {
    /// Tells whether the owner has a path with something on it.
    pub fn has_path(&self) -> bool {
        self.path.as_ref().is_some_and(|path| !path.is_empty())
    }

    /// Takes what is wrong with resources of a blueprint, which of that cannot pass by itself, and which of them
    /// could not be stamped.
    pub fn note_troubles(&mut self, blueprint: &str, resources: &[Realization]) {
        let named = |message: fn(&Realization, &str) -> Option<String>| {
            let messages = resources
                .iter()
                .filter_map(|it| Some((it.resource.clone(), message(it, blueprint)?)));
            messages.collect()
        };
        self.failures = named(Realization::failure);
        self.troubles = named(Realization::trouble);
        self.unstamped = unstamped(resources);
        for (resource, unstamped) in &mut self.unstamped {
            let failure = self.failures.get(resource);
            if let Some(why) = failure.or_else(|| self.troubles.get(resource)) {
                unstamped.why.clone_from(why);
            }
        }
    }

    /// Returns when the ConfigMaps and Secrets became what they are, if it observed them.
    pub fn configs(&self) -> Option<&BTreeMap<String, ConfigRecord>> {
        self.path.as_ref()?.configs.as_ref()
    }

    /// Tells whether it shows all that another one does.
    pub fn shows(&self, other: &Self) -> bool {
        let same_path = match (&self.path, &other.path) {
            (Some(one), Some(two)) => one.shows(two),
            (None, None) => true,
            _ => false,
        };
        same_path
            && self.failure == other.failure
            && (&self.failures, &self.troubles) == (&other.failures, &other.troubles)
            && (&self.used, &self.unstamped) == (&other.used, &other.unstamped)
    }

    /// Tells whether a lineage knows all this already.
    pub fn is_known(&self, lineage: &OwnerLineage, versions: &Versions) -> bool {
        let is_seen = |(resource, observation): &(String, ResourceObservation)| {
            versions.get(resource) == Some(&observation.version())
        };
        let is_path_known = self.path.as_ref().is_none_or(|path| {
            (path.generation, &path.metadata_digest)
                == (lineage.generation, &lineage.metadata_digest)
                && path.fixed == lineage.fixed
                && path.chain == *lineage.state.chain()
                && path.own == *lineage.state.owner()
                && path.rollouts == lineage.rollouts
                && path
                    .retiring
                    .as_ref()
                    .is_none_or(|it| *it == lineage.retiring)
                && !path.absent.iter().any(|it| lineage.state.has_object(it))
                && path
                    .configs
                    .as_ref()
                    .is_none_or(|it| *it == lineage.configs)
                && path.observations.iter().all(is_seen)
        });
        self.failure == lineage.failure
            && (&self.failures, &self.troubles) == (&lineage.failures, &lineage.troubles)
            && (&self.used, &self.unstamped) == (&lineage.used, &lineage.unstamped)
            && is_path_known
    }

    /// Takes the observation into a lineage. Returns what came to be known by it.
    pub fn feed(self, lineage: &mut OwnerLineage, versions: &mut Versions) -> Learned {
        lineage.failure = self.failure;
        lineage.failures = self.failures;
        lineage.troubles = self.troubles;
        lineage.used = self.used;
        lineage.unstamped = self.unstamped;
        let Some(path) = self.path else {
            return Learned::default();
        };
        lineage.generation = path.generation;
        lineage.metadata_digest = path.metadata_digest;
        lineage.fixed = path.fixed;
        lineage.rollouts = path.rollouts;
        if let Some(retiring) = path.retiring {
            lineage.retiring = retiring;
        }
        lineage.configs = path.configs.unwrap_or(std::mem::take(&mut lineage.configs));
        let state = &mut lineage.state;
        if *state.chain() != path.chain {
            state.follow(path.chain);
            let chain = state.chain();
            versions.retain(|name, _| chain.get(name).is_some());
        }
        if *state.owner() != path.own {
            state.own(path.own);
        }
        for resource in &path.absent {
            state.lose(resource);
            versions.remove(resource);
        }
        let mut learned = Learned::default();
        for (resource, observation) in path.observations {
            let fed = feed(state, &resource, observation, path.time, versions);
            match fed {
                Ok(new) => learned.derivations.extend(new),
                Err(error) => learned.not_on_path.push(error),
            }
        }
        learned
    }
}

fn feed(
    state: &mut State,
    resource: &str,
    observation: ResourceObservation,
    time: Timestamp,
    versions: &mut Versions,
) -> Result<Vec<Derivation>, NotOnPath> {
    let mut derivations = Vec::new();
    let version = observation.version();
    if versions.get(resource) == Some(&version) {
        return Ok(derivations);
    }
    match observation {
        ResourceObservation::PassedThrough { passed, inputs } => {
            let new = state.passed_through(resource, &passed, inputs, time)?;
            derivations.extend(new.cloned());
        }
        ResourceObservation::Stamped(stamped) => {
            let StampedObservation {
                before,
                commit_before,
                stamp,
                after,
                commit,
                ..
            } = *stamped;
            let mut see = |state: &mut State, snapshot: Option<Snapshot>, commit| {
                if let Some(snapshot) = snapshot {
                    derivations.extend(state.seen(resource, &snapshot)?.cloned());
                }
                if let Some(commit) = commit {
                    derivations.extend(state.wrote(resource, &commit, time)?.cloned());
                }
                Ok(())
            };
            see(state, before, commit_before)?;
            state.stamped(resource, stamp)?;
            see(state, after, commit)?;
        }
    }
    versions.insert(resource.to_owned(), version);
    Ok(derivations)
}

/// Returns how objects can be traced that have not been rendered yet.
fn foreseen(template: &Template) -> Tracing {
    match &template.body {
        Body::Interpolated(body) => {
            tracing_of(template, &text(body, "/apiVersion"), &text(body, "/kind"))
        }
        Body::Ytt(_) | Body::Undecided => tracing_of(template, "", ""),
    }
}
