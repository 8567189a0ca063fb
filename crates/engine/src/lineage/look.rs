//! What one look at one owner found, and how it is taken into a track.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use pathline_blueprint::owner::Owner;
use pathline_blueprint::template::{Body, Template};
use pathline_lineage::rollout::ConfigRecord;
use pathline_lineage::{
    Artifact, Chain, Derivation, Retiring, Rollout, Snapshot, State, Tracing, Track, Unstamped,
    track,
};

use super::readings::Readings;
use super::sighting::{Sighting, Stamped, tracing_of};
use super::version::Version;

/// What one look at one owner found.
#[derive(Default)]
pub(crate) struct Look {
    /// The path and what was seen on it, unless the look did not get that far.
    pub(crate) path: Option<Path>,
    /// Why resources cannot go on until somebody changes something, by their names; why the owner
    /// itself cannot under the empty name.
    pub(crate) failures: BTreeMap<String, String>,
    /// What is wrong with resources, whether or not it may pass, by their names.
    pub(crate) troubles: BTreeMap<String, String>,
    /// The blueprint and the templates that were used, with their generations.
    pub(crate) used: BTreeMap<String, i64>,
    /// Why resources could not be stamped.
    pub(crate) unstamped: BTreeMap<String, Unstamped>,
}

/// The path of an owner, and what was seen on it.
#[derive(Default)]
pub(crate) struct Path {
    generation: i64,
    marks: String,
    chain: Chain,
    own: BTreeMap<String, Artifact>,
    fixed: BTreeMap<String, String>,
    /// By resource.
    sightings: Vec<(String, Sighting)>,
    /// Resources of which nothing was seen, since their objects are not there.
    absent: Vec<String>,
    /// How far the last miles are, by final resource.
    rollouts: BTreeMap<String, Rollout>,
    /// What is not stamped any more, and is still there; none if nobody knows.
    retiring: Option<Vec<Retiring>>,
    /// When the ConfigMaps and Secrets that resources stamp became what they are; `None` if nobody
    /// looked.
    configs: Option<BTreeMap<String, ConfigRecord>>,
    time: Timestamp,
}

impl Path {
    /// Takes what all resources read, and what was seen of some of them.
    pub(crate) fn new(
        owner: &Owner,
        readings: &Readings<'_>,
        sightings: Vec<(String, Sighting)>,
        time: Timestamp,
    ) -> Self {
        let chain = readings.chain(|name, template| {
            let seen = sightings.iter().find(|(seen, _)| seen == name);
            match seen {
                Some((_, Sighting::Stamped(stamped))) => stamped.tracing.clone(),
                Some((_, Sighting::PassedThrough { .. })) | None => {
                    template.map(foreseen).unwrap_or_default()
                }
            }
        });
        Self {
            own: readings.own(),
            fixed: readings.fixed(),
            chain,
            sightings,
            time,
            ..Self::none(owner)
        }
    }

    /// Returns the names of the resources that no other one consumes.
    pub(crate) fn finals(&self) -> BTreeSet<String> {
        self.chain.finals().map(|it| it.name.clone()).collect()
    }

    /// Takes note that of what was not seen only these resources have an object.
    pub(crate) fn lose_all_but(&mut self, there: &BTreeSet<String>) {
        let is_seen = |name: &str| self.sightings.iter().any(|(seen, _)| seen == name);
        let resources = self.chain.resources().iter().map(|it| &it.name);
        let absent = resources.filter(|name| !is_seen(name) && !there.contains(*name));
        self.absent = absent.cloned().collect();
    }

    /// Takes what is not stamped any more, and is still there.
    pub(crate) fn retire(&mut self, retiring: Vec<Retiring>) {
        self.retiring = Some(retiring);
    }

    /// Takes how far the last miles of final resources are.
    pub(crate) fn roll_out(&mut self, rollouts: BTreeMap<String, Rollout>) {
        self.rollouts = rollouts;
    }

    /// Takes when the ConfigMaps and Secrets that resources stamp became what they are.
    pub(crate) fn remember_configs(&mut self, configs: BTreeMap<String, ConfigRecord>) {
        self.configs = Some(configs);
    }

    /// Tells whether a resource is on it.
    pub(crate) fn has(&self, resource: &str) -> bool {
        self.chain.get(resource).is_some()
    }

    /// Tells whether nothing is on it.
    pub(crate) fn is_empty(&self) -> bool {
        self.chain.resources().is_empty()
    }

    /// Tells whether it shows all that another one does, whenever each of them was looked at.
    fn shows(&self, other: &Self) -> bool {
        let versions = |path: &Self| -> Vec<(String, Version)> {
            let sightings = path.sightings.iter();
            sightings
                .map(|(resource, it)| (resource.clone(), it.version()))
                .collect()
        };
        (self.generation, &self.marks) == (other.generation, &other.marks)
            && (&self.chain, &self.own, &self.fixed) == (&other.chain, &other.own, &other.fixed)
            && (&self.rollouts, &self.configs) == (&other.rollouts, &other.configs)
            && (&self.retiring, &self.absent) == (&other.retiring, &other.absent)
            && versions(self) == versions(other)
    }

    /// The path of an owner that nothing is stamped for any more.
    pub(crate) fn none(owner: &Owner) -> Self {
        Self {
            generation: owner.generation.unwrap_or_default(),
            marks: track::marks(&owner.object["metadata"]),
            ..Self::default()
        }
    }
}

/// The versions of what was last taken in, by resource.
pub(super) type Versions = BTreeMap<String, Version>;

impl Look {
    /// Returns when the ConfigMaps and Secrets became what they are, if it looked at them.
    pub(super) fn configs(&self) -> Option<&BTreeMap<String, ConfigRecord>> {
        self.path.as_ref()?.configs.as_ref()
    }

    /// Tells whether it shows all that another one does.
    pub(super) fn shows(&self, other: &Self) -> bool {
        let same_path = match (&self.path, &other.path) {
            (Some(one), Some(two)) => one.shows(two),
            (None, None) => true,
            _ => false,
        };
        same_path
            && (&self.failures, &self.troubles) == (&other.failures, &other.troubles)
            && (&self.used, &self.unstamped) == (&other.used, &other.unstamped)
    }

    /// Tells whether a track knows all this already.
    pub(super) fn is_known(&self, track: &Track, versions: &Versions) -> bool {
        let is_seen = |(resource, sighting): &(String, Sighting)| {
            versions.get(resource) == Some(&sighting.version())
        };
        let is_path_known = self.path.as_ref().is_none_or(|path| {
            (path.generation, &path.marks) == (track.generation, &track.marks)
                && path.fixed == track.fixed
                && path.chain == *track.state.chain()
                && path.own == *track.state.owner()
                && path.rollouts == track.rollouts
                && path
                    .retiring
                    .as_ref()
                    .is_none_or(|it| *it == track.retiring)
                && !path.absent.iter().any(|it| track.state.has_object(it))
                && path.configs.as_ref().is_none_or(|it| *it == track.configs)
                && path.sightings.iter().all(is_seen)
        });
        (&self.failures, &self.troubles) == (&track.failures, &track.troubles)
            && (&self.used, &self.unstamped) == (&track.used, &track.unstamped)
            && is_path_known
    }

    /// Takes the look into a track. Returns the derivations that came to be known.
    pub(super) fn feed(self, track: &mut Track, versions: &mut Versions) -> Vec<Derivation> {
        track.failures = self.failures;
        track.troubles = self.troubles;
        track.used = self.used;
        track.unstamped = self.unstamped;
        let Some(path) = self.path else {
            return Vec::new();
        };
        track.generation = path.generation;
        track.marks = path.marks;
        track.fixed = path.fixed;
        track.rollouts = path.rollouts;
        if let Some(retiring) = path.retiring {
            track.retiring = retiring;
        }
        track.configs = path.configs.unwrap_or(std::mem::take(&mut track.configs));
        let state = &mut track.state;
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
        let mut derivations = Vec::new();
        for (resource, sighting) in path.sightings {
            let fed = feed(state, &resource, sighting, path.time, versions);
            match fed {
                Ok(new) => derivations.extend(new),
                Err(error) => tracing::error!(%error, "what was stamped is not on the path"),
            }
        }
        derivations
    }
}

fn feed(
    state: &mut State,
    resource: &str,
    sighting: Sighting,
    time: Timestamp,
    versions: &mut Versions,
) -> Result<Vec<Derivation>, pathline_lineage::NotOnPath> {
    let mut derivations = Vec::new();
    let version = sighting.version();
    if versions.get(resource) == Some(&version) {
        return Ok(derivations);
    }
    match sighting {
        Sighting::PassedThrough { passed, inputs } => {
            let new = state.passed_through(resource, &passed, inputs, time)?;
            derivations.extend(new.cloned());
        }
        Sighting::Stamped(stamped) => {
            let Stamped {
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
        Body::Interpolated(body) => tracing_of(template, Some(body)),
        Body::Ytt(_) | Body::Undecided => tracing_of(template, None),
    }
}
