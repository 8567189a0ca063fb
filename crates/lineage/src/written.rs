//! The commit that a `GitCommit` wrote.

use serde_json::Value;

use crate::artifact::Artifact;
use crate::kinds::{self, GroupKind};
use crate::rollout::without_user;

/// The commit that carries what a `GitCommit` asks for at its generation.
#[derive(Clone, Debug, PartialEq)]
pub struct Written {
    /// The uid of the object.
    pub uid: String,
    /// The generation of the object whose files the commit has.
    pub generation: Option<i64>,
    /// The commit: a source at the address of the repository, without who asks.
    pub artifact: Artifact,
    /// The id of the commit.
    pub commit: String,
    /// The files that it has as the object asks for them.
    pub files: Vec<String>,
}

impl Written {
    /// Reads the commit of an object. There is none if the object is of another kind, or does not say
    /// that the commit of its very generation has been written.
    pub fn read(object: &Value) -> Option<Self> {
        let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str);
        let (group, _) = text("/apiVersion")?.split_once('/')?;
        let is_ours = GroupKind::new(group, text("/kind")?) == kinds::GIT_COMMIT;
        let generation = object.pointer("/metadata/generation")?.as_i64();
        let observed = object.pointer("/status/observedGeneration")?.as_i64();
        let conditions = object.pointer("/status/conditions")?.as_array()?;
        let is_ready = |it: &Value| it["type"] == "Ready" && it["status"] == "True";
        let is_written = observed == generation && conditions.iter().any(is_ready);
        if !is_ours || !is_written {
            return None;
        }
        let files = object.pointer("/spec/files")?.as_object()?;
        let url = without_user(text("/spec/url")?);
        Some(Self {
            uid: text("/metadata/uid")?.to_owned(),
            generation,
            artifact: Artifact::source(&url, Some(text("/status/revision")?)),
            commit: text("/status/commit")?.to_owned(),
            files: files.keys().cloned().collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use jiff::Timestamp;
    use serde_json::json;

    use super::*;
    use crate::chain::{Chain, Resource};
    use crate::{Applied, Health, Origin, Snapshot, Stamp, State, Template, Tracing};

    fn commit() -> Value {
        json!({
            "apiVersion": "pathline.dev/v1alpha1", "kind": "GitCommit",
            "metadata": {"uid": "u1", "generation": 3},
            "spec": {"url": "https://me:secret@git.example/app.git", "files": {"a.yaml": "", "b": ""}},
            "status": {
                "observedGeneration": 3, "commit": "8f1c2e7", "revision": "main@sha1:8f1c2e7",
                "conditions": [{"type": "Ready", "status": "True"}],
            },
        })
    }

    #[test]
    fn point_16_commit_is_a_source_of_its_repository_and_tells_no_secret() {
        let written = Written::read(&commit()).unwrap();
        let artifact = Artifact::source("https://git.example/app.git", Some("main@sha1:8f1c2e7"));
        assert_eq!(written.artifact, artifact);
        assert_eq!((written.uid.as_str(), written.generation), ("u1", Some(3)));
        assert_eq!(written.files, ["a.yaml", "b"]);
    }

    #[test]
    fn point_16_nothing_else_than_the_commit_of_this_generation_counts() {
        let changes = [
            ("/metadata/generation", json!(4)),
            ("/status/observedGeneration", json!(2)),
            ("/status/observedGeneration", json!(null)),
            ("/status/conditions/0/status", json!("False")),
            ("/status/revision", json!(null)),
            ("/kind", json!("GitRepository")),
            ("/apiVersion", json!("example.org/v1")),
        ];
        for (pointer, value) in changes {
            let mut object = commit();
            *object.pointer_mut(pointer).unwrap() = value;
            assert_eq!(Written::read(&object), None, "{pointer}");
        }
        assert_eq!(Written::read(&json!({})), None);
    }

    const RESOURCE: &str = "manifest";

    /// One resource, a sink, and the object that is stamped for it.
    struct Sink {
        state: State,
        generation: i64,
    }

    impl Sink {
        fn new() -> Self {
            let resource = Resource {
                name: RESOURCE.into(),
                upstream: BTreeSet::new(),
                reads: ["param:debug".to_owned()].into(),
                tracing: Tracing::default(),
                emits: false,
                makes: None,
            };
            let chain = Chain::new(vec![resource]).unwrap();
            Self {
                state: State::new(chain),
                generation: 0,
            }
        }

        /// Applies a value, and sees the object.
        fn apply(&mut self, value: &str) {
            self.generation += 1;
            let debug = Artifact::param("debug", &json!(value));
            let stamp = Stamp {
                template: Template::default(),
                uid: "u1".into(),
                generation: Some(self.generation),
                inputs: [(Origin::owner("param:debug"), debug)].into(),
                offered: BTreeSet::new(),
                applied: Applied::Object,
                rendered: None,
                time: Timestamp::UNIX_EPOCH,
            };
            self.state.stamped(RESOURCE, stamp).unwrap();
            self.see();
        }

        fn see(&mut self) {
            let snapshot = Snapshot {
                template: Template::default(),
                uid: "u1".into(),
                generation: Some(self.generation),
                observed: None,
                condition_observed: None,
                health: Health::Unknown,
                held: Some(true),
                matched: Some(BTreeSet::new()),
                failed: None,
                inputs_id: None,
                earlier: Vec::new(),
                output: None,
                time: Timestamp::UNIX_EPOCH,
            };
            self.state.seen(RESOURCE, &snapshot).unwrap();
        }

        /// Sees a commit of a generation; tells whether that is news.
        fn write(&mut self, generation: i64, commit: &str) -> bool {
            let written = Written {
                uid: "u1".into(),
                generation: Some(generation),
                artifact: Artifact::source("git", Some(commit)),
                commit: commit.into(),
                files: Vec::new(),
            };
            let time = Timestamp::UNIX_EPOCH;
            self.state
                .wrote(RESOURCE, &written, time)
                .unwrap()
                .is_some()
        }

        fn commit(&self) -> Option<&str> {
            let made = self.state.current(RESOURCE).unwrap();
            made.commit.as_ref().map(Artifact::shown)
        }
    }

    #[test]
    fn point_16_commit_stays_with_the_inputs_that_it_was_made_of() {
        let mut sink = Sink::new();
        sink.apply("A");
        assert!(sink.write(1, "c1"));
        assert!(!sink.write(1, "c1"), "it is known");
        sink.see();
        assert_eq!(sink.commit(), Some("c1"), "another look takes nothing away");

        sink.apply("B");
        assert!(!sink.write(1, "c1"), "that is of the generation before");
        assert_eq!(sink.commit(), None, "B has not been written yet");
        sink.write(2, "c2");
        sink.apply("A");
        assert_eq!(sink.commit(), None, "A is to be written again");
        sink.write(3, "c3");
        assert_eq!(sink.commit(), Some("c3"));
        // Somebody changed the object and Pathline applied the same again.
        sink.generation += 1;
        sink.see();
        assert_eq!(sink.commit(), Some("c3"));
        assert!(sink.write(4, "c4"), "it was written once more");
    }
}
