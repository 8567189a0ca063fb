//! Commits with manifests that have not been written yet.

use super::Stage;
use super::object::Object;

/// Judges the rollout of a `GitCommit` that has not written its commit, in its own words.
pub fn judge_unwritten(object: &Object) -> Stage {
    let ready = object.condition("Ready");
    let ready = ready.filter(|it| it.generation == object.generation && it.status != "True");
    let why = "the commit has not been written yet";
    Stage::progressing(match ready {
        Some(ready) => format!("{why}: {}", ready.message_of()),
        None => why.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn told(observed: i64) -> String {
        let object = json!({
            "metadata": {"generation": 2},
            "status": {"conditions": [{
                "type": "Ready", "status": "Unknown", "reason": "Suspended",
                "message": "nothing is pushed", "observedGeneration": observed,
            }]},
        });
        match judge_unwritten(&Object::read(&object)) {
            Stage::Progressing { why } => why,
            other => panic!("{other:?} has ended"),
        }
    }

    #[test]
    fn commit_that_is_not_written_says_why() {
        let why = "the commit has not been written yet";
        assert!(told(2).contains(&format!("{why}: Suspended: nothing is pushed")));
        assert!(
            !told(1).contains("Suspended"),
            "that is of the generation before"
        );
    }
}
