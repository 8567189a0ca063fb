//! The story of the seed: source and debug flag travel over a chain with a fork and a join.
//!
//! `fetch` finds the source at `field:url`; `build` makes an image of it, `config` reads the debug
//! flag; `deploy` takes both.

use std::collections::BTreeMap;

use pathline_lineage::{Artifact, Chain, Kind, Origin, OwnerLineage, Rollout, Stage, State};
use serde_json::json;

use crate::paths::{done, resource, stamp};

/// Takes the story forward one step at a time.
pub(crate) struct Story {
    /// The state of the lineage.
    pub(crate) lineage: OwnerLineage,
    generations: BTreeMap<&'static str, i64>,
}

pub(crate) fn url() -> Artifact {
    Artifact::field("url", &json!("https://git.example/app"))
}

pub(crate) fn debug(value: &str) -> Artifact {
    Artifact::param("debug", &json!(value))
}

pub(crate) fn source(revision: &str) -> Artifact {
    Artifact::source("https://git.example/app", Some(revision))
}

pub(crate) fn image(name: &str) -> Artifact {
    Artifact::value(Kind::Image, &json!(name))
}

pub(crate) fn config(name: &str) -> Artifact {
    Artifact::value(Kind::Config, &json!(name))
}

impl Story {
    pub(crate) fn new() -> Self {
        let chain = Chain::new(vec![
            resource("fetch", &[], &["field:url"]),
            resource("build", &["fetch"], &[]),
            resource("config", &[], &["param:debug"]),
            resource("deploy", &["build", "config"], &[]),
        ]);
        let lineage = OwnerLineage {
            uid: "owner".into(),
            generation: 0,
            state: State::new(chain.expect("a path")),
            ..OwnerLineage::default()
        };
        Self {
            lineage,
            generations: BTreeMap::new(),
        }
    }

    /// The first source runs, with the debug flag off.
    pub(crate) fn running() -> Self {
        Self::running_at("1111111")
    }

    /// A source runs, with the debug flag off.
    pub(crate) fn running_at(revision: &str) -> Self {
        let mut story = Self::new();
        story.owner("off");
        story.fetch(revision);
        story.build(revision, "app:1");
        story.config("off", "debug: off");
        story.deploy("app:1", "debug: off");
        story.rollout(Stage::Done);
        story
    }

    /// The owner sets the debug flag.
    pub(crate) fn owner(&mut self, flag: &str) {
        self.lineage.generation += 1;
        self.lineage.state.own(BTreeMap::from([
            ("field:url".to_owned(), url()),
            ("param:debug".to_owned(), debug(flag)),
        ]));
    }

    pub(crate) fn fetch(&mut self, revision: &str) {
        let inputs = [(Origin::owner("field:url"), url())];
        self.make("fetch", inputs, Some(source(revision)));
    }

    pub(crate) fn build(&mut self, revision: &str, made: &str) {
        let inputs = [(Origin::resource("fetch"), source(revision))];
        self.make("build", inputs, Some(image(made)));
    }

    pub(crate) fn config(&mut self, flag: &str, made: &str) {
        let inputs = [(Origin::owner("param:debug"), debug(flag))];
        self.make("config", inputs, Some(config(made)));
    }

    pub(crate) fn deploy(&mut self, built: &str, configured: &str) {
        let inputs = [
            (Origin::resource("build"), image(built)),
            (Origin::resource("config"), config(configured)),
        ];
        self.make("deploy", inputs, None);
    }

    /// The rollout is this far, with the newest generation of what was deployed.
    pub(crate) fn rollout(&mut self, stage: Stage) {
        let rollout = Rollout {
            uid: "deploy".into(),
            generation: Some(self.generations["deploy"]),
            stage,
            ..Rollout::default()
        };
        self.lineage.rollouts.insert("deploy".into(), rollout);
        self.lineage.note_live();
    }

    /// A resource is given inputs; nothing is made yet.
    pub(crate) fn apply<const N: usize>(
        &mut self,
        name: &'static str,
        inputs: [(Origin, Artifact); N],
    ) -> i64 {
        let generation = self.generations.entry(name).or_default();
        *generation += 1;
        let stamped = self
            .lineage
            .state
            .stamped(name, stamp(name, *generation, inputs));
        stamped.expect("it is on the path");
        *generation
    }

    fn make<const N: usize>(
        &mut self,
        name: &'static str,
        inputs: [(Origin, Artifact); N],
        output: Option<Artifact>,
    ) {
        let generation = self.apply(name, inputs);
        let seen = self
            .lineage
            .state
            .seen(name, &done(name, generation, output));
        seen.expect("it is on the path");
        self.lineage.note_live();
    }
}
