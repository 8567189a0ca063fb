//! The trees of what others made, as the ledger has it.

use std::collections::{BTreeMap, BTreeSet};

use pathline_client::api::{self, Made};
use pathline_ledger::{Ingredient, Making};
use pathline_lineage::{Artifact, ArtifactId, Evidence, Origin};

use super::Makings;
use crate::views::convert;

/// The most artifacts that are added to one answer.
const MAX_ADDED: usize = 2_000;
/// The most owners that are told to have written one commit.
const MAX_WRITERS: usize = 8;
/// The greatest depth of the trees of others.
const MAX_DEPTH: usize = 64;

/// Draws how artifacts came to be, below those that are there.
pub(super) struct Growth<'m> {
    makings: &'m Makings,
    left: usize,
    /// The steps that stand above: whose resource, and what it made. A repository that holds an application and
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
        let makings = makings.filter(|it| it.owner.uid != finder && is_written(it));
        let makings = makings.filter(|it| seen.insert((&it.owner.uid, &it.resource)));
        let makings: Vec<&Making> = makings.take(MAX_WRITERS).collect();
        let mut written = Vec::new();
        for making in makings {
            self.left = self.left.saturating_sub(1);
            let mut made = leaf(commit, Evidence::Git);
            made.owner = Some(convert::owner_ref(making.owner.clone()));
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

/// Tells whether a commit was written by a resource, not found: only sinks write.
fn is_written(making: &Making) -> bool {
    making.template.name.starts_with("ClusterTemplate/")
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

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use pathline_ledger as ledger;
    use pathline_lineage::Template;
    use serde_json::json;

    use super::*;

    fn making(
        owner: &str,
        resource: &str,
        output: &Artifact,
        from: &[(&str, &Artifact)],
    ) -> Making {
        let template = match resource {
            "manifest" => "ClusterTemplate/manifest",
            _ => "ClusterSourceTemplate/other",
        };
        let ingredient = |(origin, artifact): &(&str, &Artifact)| Ingredient {
            origin: Origin::try_from((*origin).to_owned()).unwrap(),
            artifact: (*artifact).clone(),
            evidence: match origin.starts_with("owner git:") {
                true => Evidence::Git,
                false => Evidence::Generation,
            },
            offered: false,
        };
        Making {
            owner: ledger::OwnerRef {
                kind: if owner == "delivery" {
                    "Deliverable"
                } else {
                    "Workload"
                }
                .to_owned(),
                namespace: "default".to_owned(),
                name: owner.to_owned(),
                uid: owner.to_owned(),
            },
            resource: resource.to_owned(),
            template: Template {
                name: template.to_owned(),
                generation: None,
            },
            output: Some(output.clone()),
            from: from.iter().map(ingredient).collect(),
            since: Timestamp::UNIX_EPOCH,
            until: None,
        }
    }

    fn known(makings: Vec<Making>) -> Makings {
        let mut known = Makings::new();
        for making in makings {
            let id = making.output.as_ref().map(Artifact::id).unwrap();
            known.entry(id).or_default().push(making);
        }
        known
    }

    /// Returns what is drawn below a source that the delivery found.
    fn below(makings: &Makings, found: &Artifact, commits: &[Artifact]) -> Made {
        let mut made = leaf(found, Evidence::Same);
        let commits = BTreeMap::from([(found.id(), commits.to_vec())]);
        Growth::new(makings).attach(&mut made, "delivery", &commits);
        made
    }

    fn count(made: &Made) -> usize {
        1 + made.from.iter().map(count).sum::<usize>()
    }

    fn source(url: &str, revision: &str) -> Artifact {
        Artifact::source(url, Some(revision))
    }

    #[test]
    fn point_16_commit_shows_who_wrote_it_and_what_it_is_made_of() {
        let (app, written, found) = (source("app", "1"), source("git", "2"), source("tar", "2"));
        let image = Artifact::image("app:1");
        let url = Artifact::field("spec.url", &json!("app"));
        let makings = known(vec![
            making("app", "manifest", &written, &[("resource build", &image)]),
            making("app", "build", &image, &[("resource test", &app)]),
            making("app", "test", &app, &[("resource source", &app)]),
            making("app", "source", &app, &[("owner field:spec.url", &url)]),
        ]);
        let made = below(&makings, &found, &[written]);
        let commit = &made.from[0];
        assert_eq!(commit.evidence, Some(Evidence::Git));
        assert_eq!(commit.owner.as_ref().unwrap().name, "app");
        assert_eq!(commit.passed, ["manifest"]);
        let source = &commit.from[0].from[0];
        assert_eq!(source.passed, ["source", "test"]);
        assert_eq!(source.from[0].passed, ["workload"]);
        assert_eq!(count(&made), 5);
    }

    #[test]
    fn point_16_commit_of_which_nothing_is_known_is_shown_alone() {
        let (written, found) = (source("git", "2"), source("tar", "2"));
        let made = below(&Makings::new(), &found, &[written]);
        assert_eq!(made.from.len(), 1);
        assert!(made.from[0].owner.is_none() && made.from[0].from.is_empty());
    }

    /// The application is in the repository that its manifests are written to, and delivers what delivers it.
    #[test]
    fn point_16_repository_that_delivers_itself_is_drawn_to_an_end() {
        let commit = source("git", "1");
        let git = "owner git:git 1";
        let makings = known(vec![
            making("delivery", "manifests", &commit, &[(git, &commit)]),
            making(
                "app",
                "manifest",
                &commit,
                &[("resource source", &commit), (git, &commit)],
            ),
            making("app", "source", &commit, &[("resource manifest", &commit)]),
            making("other", "manifest", &commit, &[(git, &commit)]),
        ]);
        let made = below(&makings, &commit, std::slice::from_ref(&commit));
        assert!(count(&made) <= MAX_ADDED, "{}", count(&made));
        let writers: Vec<_> = made
            .from
            .iter()
            .map(|it| it.owner.as_ref().unwrap())
            .collect();
        let writers: Vec<_> = writers.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(writers, ["app", "other"], "who found it did not write it");
    }

    #[test]
    fn point_16_trees_of_others_are_bounded() {
        let (written, found) = (source("git", "2"), source("tar", "2"));
        let mut makings = Vec::new();
        let wide: Vec<_> = (0..MAX_ADDED * 2)
            .map(|it| Artifact::param(&it.to_string(), &json!(it)))
            .collect();
        let wide: Vec<_> = wide.iter().map(|it| ("owner param:x", it)).collect();
        makings.push(making("app", "manifest", &written, &wide));
        let made = below(&known(makings), &found, std::slice::from_ref(&written));
        assert_eq!(count(&made), MAX_ADDED + 1);
        assert!(made.from[0].cut);

        let deep: Vec<_> = (0..MAX_DEPTH * 2)
            .map(|it| source("step", &it.to_string()))
            .collect();
        let steps: Vec<_> = (0..deep.len()).map(|it| format!("resource {it}")).collect();
        let mut makings = vec![making(
            "app",
            "manifest",
            &written,
            &[(&steps[0], &deep[0])],
        )];
        for (number, pair) in deep.windows(2).enumerate() {
            let from = [(steps[number + 1].as_str(), &pair[1])];
            makings.push(making("app", &number.to_string(), &pair[0], &from));
        }
        let made = below(&known(makings), &found, &[written]);
        assert!(count(&made) <= MAX_DEPTH + 2, "{}", count(&made));
    }
}
