//! The trees of what others made, as the ledger has it.

use std::collections::{BTreeMap, BTreeSet};

use pathline_ledger::{Ingredient, Making};
use pathline_lineage::{Artifact, ArtifactId, Evidence, Origin};

use super::Makings;
use crate::api::{self, Made, OwnerRef};

/// The most artifacts that are added to one answer.
const MAX_ADDED: usize = 2_000;
/// How deep the trees of others go.
const MAX_DEPTH: usize = 64;

/// Draws how artifacts came to be, below those that are there.
pub(super) struct Growth<'m> {
    makings: &'m Makings,
    left: usize,
    /// What stands above: whose resource, and what it made. A repository that holds an application and
    /// its manifests leads back to itself.
    above: Vec<(&'m str, &'m str, ArtifactId)>,
}

impl<'m> Growth<'m> {
    pub(super) fn new(makings: &'m Makings) -> Self {
        Self {
            makings,
            left: MAX_ADDED,
            above: Vec::new(),
        }
    }

    /// Puts the commits that sources have below them; `uid` is that of the owner who found the sources.
    pub(super) fn attach(
        &mut self,
        made: &mut Made,
        uid: &str,
        commits: &BTreeMap<ArtifactId, Vec<Artifact>>,
    ) {
        for below in &mut made.from {
            self.attach(below, uid, commits);
        }
        for commit in commits.get(&made.artifact.id).into_iter().flatten() {
            let written = self.written(commit, uid);
            made.from.extend(written);
        }
    }

    /// Tells who wrote a commit, other than the owner who found it, and what each made it of.
    fn written(&mut self, commit: &Artifact, finder: &str) -> Vec<Made> {
        let makings = self.makings.get(&commit.id()).into_iter().flatten();
        let mut seen = BTreeSet::new();
        let makings = makings.filter(|it| it.owner.uid != finder);
        let makings = makings.filter(|it| seen.insert((&it.owner.uid, &it.resource)));
        let makings: Vec<&Making> = makings.collect();
        let mut written = Vec::new();
        for making in makings {
            let mut made = leaf(commit, Evidence::Git);
            made.owner = Some(OwnerRef::from(making.owner.clone()));
            self.grow(&mut made, making);
            written.push(made);
        }
        if written.is_empty() {
            written.push(leaf(commit, Evidence::Git));
        }
        written
    }

    /// Says how an artifact came to be.
    fn grow(&mut self, made: &mut Made, making: &'m Making) {
        let (way, given) = self.way(making, made.artifact.id);
        let owner = given.then(|| noun(making));
        let resources = way.iter().rev().map(|it| it.resource.clone());
        made.passed = owner.into_iter().chain(resources).collect();
        let step = (
            making.owner.uid.as_str(),
            making.resource.as_str(),
            made.artifact.id,
        );
        if self.above.contains(&step) || self.above.len() >= MAX_DEPTH {
            made.cut = true;
            return;
        }
        self.above.push(step);
        let mut seen = BTreeSet::new();
        for (making, it) in way
            .iter()
            .flat_map(|way| way.from.iter().map(|it| (*way, it)))
        {
            let is_handed_on = it.artifact.id() == made.artifact.id && it.evidence != Evidence::Git;
            if is_handed_on || given || !seen.insert(it.artifact.id()) {
                continue;
            }
            let Some(left) = self.left.checked_sub(1) else {
                made.cut = true;
                break;
            };
            self.left = left;
            let inputs = self.input(making, it);
            made.from.extend(inputs);
        }
        self.above.pop();
    }

    fn input(&mut self, making: &'m Making, input: &'m Ingredient) -> Vec<Made> {
        let mut made = leaf(&input.artifact, input.evidence);
        made.offered = input.offered;
        match &input.origin {
            Origin::Owner(_) if input.evidence == Evidence::Git => {
                return self.written(&input.artifact, &making.owner.uid);
            }
            Origin::Owner(_) => made.passed = vec![noun(making)],
            Origin::Resource(producer) => match self.maker(making, producer, input.artifact.id()) {
                Some(before) => self.grow(&mut made, before),
                None => {
                    made.passed = vec![producer.clone()];
                    made.cut = true;
                }
            },
        }
        vec![made]
    }

    /// Returns how the same owner's producer made an artifact last.
    fn maker(&self, taker: &Making, producer: &str, id: ArtifactId) -> Option<&'m Making> {
        let makings = self.makings.get(&id)?;
        let is_same = |it: &&Making| it.owner.uid == taker.owner.uid && it.resource == producer;
        makings.iter().find(is_same)
    }

    /// Returns all who handed an artifact on, the last one first, and whether the owner gave it.
    fn way(&self, making: &'m Making, id: ArtifactId) -> (Vec<&'m Making>, bool) {
        let (mut way, mut given) = (vec![making], false);
        let mut next = 0;
        while let Some(at) = way.get(next).copied() {
            next += 1;
            let same = at.from.iter().filter(|it| it.artifact.id() == id);
            for it in same.filter(|it| it.evidence != Evidence::Git) {
                match &it.origin {
                    Origin::Owner(_) => given = true,
                    Origin::Resource(producer) => {
                        let before = self.maker(at, producer, id);
                        let is_new =
                            |it: &&Making| !way.iter().any(|known| std::ptr::eq(*known, *it));
                        way.extend(before.filter(is_new));
                    }
                }
            }
        }
        (way, given)
    }
}

/// Returns the word for an owner, as `passed` has it.
fn noun(making: &Making) -> String {
    making.owner.kind.to_ascii_lowercase()
}

fn leaf(artifact: &Artifact, evidence: Evidence) -> Made {
    Made {
        artifact: api::Artifact::from(artifact),
        owner: None,
        evidence: Some(evidence),
        offered: false,
        passed: Vec::new(),
        from: Vec::new(),
        cut: false,
    }
}
