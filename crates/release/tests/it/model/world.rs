//! The world that a tracker looks at: a registry and a repository.

use std::collections::BTreeMap;

use pathline_release::label::Label;
use pathline_release::tracker::{
    Cycle, ImageAnswer, ImageQuery, RegistryProblem, RegistryRead, SourceProblem, SourceRead,
    Tracker,
};
use pathline_release::{Configuration, Image, Vetos};
use pathline_testkit::Dice;

/// The labels that configurations have.
const LABELS: [&str; 5] = ["latest", "1.x", "1.0.x", "1.0.1", ">=v1.0.0-0"];

/// The tags that are pushed.
const TAGS: [&str; 7] = [
    "latest",
    "1.0.0",
    "1.0.1",
    "v1.0.1",
    "1.1.0",
    "1.2.0-rc.1",
    "2.0.0",
];

/// The repositories of the image.
const REPOSITORIES: [&str; 2] = ["registry.example/a/b", "registry.example/a/c"];

/// The content of a repository.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Source {
    Missing,
    Invalid,
    Readable(Configuration),
}

/// A registry and a repository.
#[derive(Clone, Debug)]
pub(super) struct World {
    /// By repository, and then by tag; nothing if there is no such repository.
    pub(super) images: BTreeMap<&'static str, Option<BTreeMap<&'static str, String>>>,
    pub(super) source: Source,
    former: Vec<Configuration>,
    count: u64,
}

impl World {
    pub(super) fn new() -> Self {
        Self {
            images: REPOSITORIES.map(|it| (it, Some(BTreeMap::new()))).into(),
            source: Source::Missing,
            former: Vec::new(),
            count: 0,
        }
    }

    /// Changes something, and says what.
    pub(super) fn change(&mut self, dice: &mut Dice) -> String {
        self.count += 1;
        match dice.below(14) {
            0..=6 => self.push(dice),
            7 => {
                let tag = dice.one_of(&TAGS);
                for tags in self.images.values_mut().flatten() {
                    tags.remove(tag);
                }
                format!("remove {tag}")
            }
            8 => {
                let repository = dice.one_of(&REPOSITORIES);
                let is_gone = dice.chance(30);
                let tags = (!is_gone).then(BTreeMap::new);
                self.images.insert(repository, tags);
                format!("{repository} is emptied, or gone: {is_gone}")
            }
            9 if !self.former.is_empty() => {
                let former = self.former[dice.index(self.former.len())].clone();
                let told = format!("go back to {}", former.config_hash);
                self.source = Source::Readable(former);
                told
            }
            10 if dice.chance(50) => {
                self.source = match dice.chance(50) {
                    true => Source::Missing,
                    false => Source::Invalid,
                };
                format!("the file is {:?}", self.source)
            }
            _ => self.configure(dice),
        }
    }

    fn push(&mut self, dice: &mut Dice) -> String {
        let tag = dice.one_of(&TAGS);
        let repository = dice.one_of(&[REPOSITORIES[0], REPOSITORIES[0], REPOSITORIES[1]]);
        let digest = match dice.chance(20) {
            true => "D0".to_owned(),
            false => format!("D{}", self.count),
        };
        let told = format!("push {repository}:{tag} {digest}");
        let tags = self.images.entry(repository).or_default();
        tags.get_or_insert_default().insert(tag, digest);
        told
    }

    fn configure(&mut self, dice: &mut Dice) -> String {
        let label = match (&self.source, dice.chance(60)) {
            (Source::Readable(configuration), true) => configuration.label.clone(),
            _ => Label::parse(dice.one_of(&LABELS)).expect("a label"),
        };
        let omitted = match dice.chance(25) {
            true => vec![dice.one_of(&["dev", "ha", "preprod", "prod"]).to_owned()],
            false => Vec::new(),
        };
        let configuration = Configuration {
            config_hash: format!("C{}", self.count),
            label,
            repository: REPOSITORIES[usize::from(dice.chance(15))].to_owned(),
            commit: format!("commit {}", self.count),
            blob: String::new(),
            vetos: Vetos {
                auto_deploy: !dice.chance(15),
                omit_from_deploy: false,
                omit_from_namespaces: omitted,
            },
        };
        let told = format!("configure {configuration:?}");
        self.former.push(configuration.clone());
        self.source = Source::Readable(configuration);
        told
    }

    /// Returns the image that a label selects.
    pub(super) fn select(&self, query: &ImageQuery, released: Option<&Image>) -> Option<Image> {
        let tags = self.images.get(query.repository.as_str())?.as_ref()?;
        let released = released.map(|it| it.tag.as_str());
        let tag = query.label.choose(tags.keys().copied(), released)?;
        Some(Image {
            repository: query.repository.clone(),
            tag: tag.to_owned(),
            digest: tags[tag].clone(),
        })
    }

    /// Polls both sides, each of which may fail.
    pub(super) fn poll(&self, tracker: &Tracker, dice: &mut Dice) -> Cycle {
        let released = tracker.last_release().map(|it| &it.image);
        let read = match &self.source {
            Source::Readable(configuration) => Some(configuration),
            Source::Missing | Source::Invalid => None,
        };
        let queries = tracker.queries(read).into_iter();
        let answers: Vec<_> = queries
            .map(|query| ImageAnswer {
                selected: self.select(&query, released),
                query,
            })
            .collect();
        let is_gone = |it: &ImageAnswer| {
            let images = self.images.get(it.query.repository.as_str());
            images.is_none_or(Option::is_none)
        };
        // Answers that came before the failure are known all the same.
        let problem = match dice.chance(12) {
            true => Some(RegistryProblem::Failed),
            false => answers
                .iter()
                .any(is_gone)
                .then_some(RegistryProblem::NotFound),
        };
        let is_unchanged = match &self.source {
            Source::Readable(it) => tracker.source() == Some(it) && dice.chance(50),
            Source::Missing | Source::Invalid => false,
        };
        let source = match &self.source {
            _ if dice.chance(12) => SourceRead::Problem(SourceProblem::Failed),
            _ if is_unchanged => SourceRead::Unchanged,
            Source::Missing => SourceRead::Problem(SourceProblem::ConfigMissing),
            Source::Invalid => SourceRead::Problem(SourceProblem::ConfigInvalid),
            Source::Readable(configuration) => SourceRead::Read(configuration.clone()),
        };
        Cycle {
            basis: tracker.basis(),
            registry: RegistryRead { answers, problem },
            source,
        }
    }
}
