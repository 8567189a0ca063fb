//! The tree from an output down to all that it is made of, as RFC 0014 shows it.

use std::collections::BTreeSet;

use jiff::Timestamp;
use serde::Serialize;

use crate::artifact::{Artifact, ArtifactId, Kind};
use crate::derivation::{Derivation, Edge};
use crate::evidence::Evidence;
use crate::origin::Origin;
use crate::revision;
use crate::stamp::Record;
use crate::state::State;

/// The most artifacts that stand below one another: readers of JSON take 128 levels, and each
/// of these is two.
const DEPTH: usize = 48;

/// An artifact, where it passed, and what it is made of.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MadeOf {
    /// The id of the artifact.
    #[serde(skip)]
    pub id: ArtifactId,
    /// Whether the value may stand for another content tomorrow.
    #[serde(skip)]
    pub mutable: bool,
    /// The kind of the artifact.
    #[serde(rename = "type")]
    pub kind: Kind,
    /// The name of a param, the path of a field.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// A revision, a reference, a value, or digest and preview.
    pub value: String,
    /// The address of a source.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The evidence that what stands above it is made from it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Evidence>,
    /// Whether it was only offered to what stands above it, which does not tell what it reads.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub offered: bool,
    /// The resources that emitted it unchanged, in path order; the owner first if the owner gave it.
    pub passed: Vec<String>,
    /// The artifacts it is made of; none below what the owner gave.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub from: Vec<Self>,
    /// Whether what it is made of was left out, for the limit was reached.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
}

/// A side of a stamped object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Of {
    /// The object itself.
    Object,
    /// The thing that runs below it, or as it.
    WhatRuns,
}

impl State {
    /// Returns what the path makes: the outputs that no selected resource consumes, and the object
    /// of each sink. `owner` is the owner's word in `passed` (`workload` or `deliverable`); at most
    /// `limit` artifacts are told.
    pub fn outputs(&self, owner: &str, limit: usize) -> Vec<MadeOf> {
        let mut teller = Teller {
            state: self,
            owner,
            left: limit,
            depth: 0,
        };
        let finals = self.chain().finals();
        finals
            .filter_map(|it| self.current(&it.name))
            .map(|made| teller.output(made))
            .collect()
    }
}

impl State {
    /// Returns what an apply made its object of, or what runs below it, whatever has been applied since. What was
    /// changed in the metadata alone is in the object, and started nothing.
    pub(crate) fn applied(
        &self,
        resource: &str,
        record: &Record,
        of: Of,
        (owner, limit): (&str, usize),
    ) -> MadeOf {
        let current = self.current(resource);
        let current = current.filter(|it| it.record == record.number);
        let edge = |(origin, artifact): (&Origin, &Artifact)| {
            let known = current.and_then(|it| it.from.get(origin));
            let is_contested = record.contested.contains(origin);
            let doubtful = artifact.is_mutable() || is_contested;
            let presumed = Edge {
                artifact: artifact.clone(),
                evidence: if doubtful {
                    Evidence::Assumed
                } else {
                    Evidence::Applied
                },
                offered: record.offered.contains(origin),
            };
            let known = known.filter(|edge| {
                let is_said = of == Of::Object || edge.evidence == Evidence::Rule;
                edge.artifact == *artifact && (is_said || !is_contested)
            });
            (origin.clone(), known.cloned().unwrap_or(presumed))
        };
        let made = Derivation {
            resource: resource.to_owned(),
            template: record.template.clone(),
            uid: record.uid.clone(),
            generation: record.generation,
            output: None,
            commit: None,
            from: record.inputs.iter().map(edge).collect(),
            time: Timestamp::UNIX_EPOCH,
            record: record.number,
        };
        let mut teller = Teller {
            state: self,
            owner,
            left: limit,
            depth: 0,
        };
        teller.output(&made)
    }
}

struct Teller<'a> {
    state: &'a State,
    owner: &'a str,
    left: usize,
    depth: usize,
}

/// The resources that hand an artifact on, from the one that shows it back to where it came from.
#[derive(Default)]
struct Passage<'a> {
    given: bool,
    resources: BTreeSet<&'a str>,
    /// The derivation of the artifact at each of them.
    made: Vec<&'a Derivation>,
}

impl<'a> Teller<'a> {
    fn output(&mut self, made: &'a Derivation) -> MadeOf {
        if let Some(output) = &made.output {
            return self.produced(&made.resource, output, None);
        }
        let mut told = self.leaf(
            &Artifact::value(Kind::Object, &made.resource.as_str().into()),
            None,
        );
        told.passed = vec![made.resource.clone()];
        self.tell_from(&mut told, &[made]);
        told
    }

    /// Tells an artifact that a resource emitted.
    fn produced(
        &mut self,
        resource: &'a str,
        artifact: &Artifact,
        evidence: Option<Evidence>,
    ) -> MadeOf {
        let mut passage = Passage::default();
        self.go_back(resource, artifact, &mut passage);
        let mut told = self.leaf(artifact, evidence);
        let owner = passage.given.then(|| self.owner.to_owned());
        let order = self.state.chain().in_path_order();
        let passed = order.filter(|it| passage.resources.contains(it.name.as_str()));
        told.passed = owner
            .into_iter()
            .chain(passed.map(|it| it.name.clone()))
            .collect();
        if !passage.given {
            self.tell_from(&mut told, &passage.made);
        }
        told
    }

    fn go_back(&self, resource: &'a str, artifact: &Artifact, passage: &mut Passage<'a>) {
        let mut open = vec![resource];
        while let Some(resource) = open.pop() {
            if !passage.resources.insert(resource) {
                continue;
            }
            passage.given |= self.is_given(artifact);
            let Some(made) = self.state.derivation(resource, artifact.id()) else {
                continue;
            };
            passage.made.push(made);
            let handed_on = made.from.iter().filter(|(_, it)| it.artifact == *artifact);
            for (origin, _) in handed_on {
                match origin {
                    Origin::Owner(_) => passage.given = true,
                    Origin::Resource(producer) => open.push(producer),
                }
            }
        }
    }

    fn is_given(&self, artifact: &Artifact) -> bool {
        let same_revision = |given: &Artifact| {
            let sources = [given, artifact].map(Artifact::kind) == [Kind::Source; 2];
            sources && revision::matches(given.shown(), artifact.shown())
        };
        let mut given = self.state.owner().values();
        given.any(|given| given == artifact || same_revision(given))
    }

    fn tell_from(&mut self, told: &mut MadeOf, made: &[&'a Derivation]) {
        let mut seen: BTreeSet<ArtifactId> = BTreeSet::new();
        let edges = made.iter().flat_map(|made| {
            let handed_on = made.output.as_ref().map(Artifact::id);
            let other = move |edge: &Artifact| Some(edge.id()) != handed_on;
            made.from
                .iter()
                .filter(move |(_, edge)| other(&edge.artifact))
        });
        for (origin, edge) in edges {
            if !seen.insert(edge.artifact.id()) {
                continue;
            }
            if self.left == 0 || self.depth == DEPTH {
                told.cut = true;
                return;
            }
            let evidence = Some(edge.evidence);
            let mut input = match origin {
                Origin::Resource(producer) => {
                    self.depth += 1;
                    let below = self.produced(producer, &edge.artifact, evidence);
                    self.depth -= 1;
                    below
                }
                Origin::Owner(_) => {
                    let mut leaf = self.leaf(&edge.artifact, evidence);
                    leaf.passed = vec![self.owner.to_owned()];
                    leaf
                }
            };
            input.offered = edge.offered;
            told.from.push(input);
        }
    }

    fn leaf(&mut self, artifact: &Artifact, evidence: Option<Evidence>) -> MadeOf {
        self.left = self.left.saturating_sub(1);
        MadeOf {
            id: artifact.id(),
            mutable: artifact.is_mutable(),
            kind: artifact.kind(),
            name: artifact.name().map(str::to_owned),
            value: artifact.shown().to_owned(),
            url: artifact.url().map(str::to_owned),
            evidence,
            offered: false,
            passed: Vec::new(),
            from: Vec::new(),
            cut: false,
        }
    }
}
