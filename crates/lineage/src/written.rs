//! The commit that a `GitCommit` wrote.

use serde_json::Value;

use crate::artifact::Artifact;
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
        let is_ours = text("/apiVersion")?.starts_with("pathline.dev/");
        let generation = object.pointer("/metadata/generation")?.as_i64();
        let observed = object.pointer("/status/observedGeneration")?.as_i64();
        let conditions = object.pointer("/status/conditions")?.as_array()?;
        let is_ready = |it: &Value| it["type"] == "Ready" && it["status"] == "True";
        let is_written = observed == generation && conditions.iter().any(is_ready);
        if !is_ours || text("/kind")? != "GitCommit" || !is_written {
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
    use serde_json::json;

    use super::*;

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
}
