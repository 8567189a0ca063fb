//! Processes, which end with Pathline, and are started again before anybody looks.

use serde_json::Value;

use crate::kinds;
use crate::owner_lineage::OwnerLineage;
use crate::rollout::{Below, Object, ObjectName, Rollout, Stage, judge};

/// A process that ran when it was looked at last.
#[derive(Clone, Copy, Debug)]
pub struct ConfirmedProcess<'l> {
    /// The process, as the API names it.
    pub object: &'l ObjectName,
    uid: &'l str,
}

impl<'l> ConfirmedProcess<'l> {
    pub(super) fn all(lineage: &'l OwnerLineage) -> Vec<Self> {
        let is_process = |it: &&Rollout| it.object.kind == kinds::PROCESS.kind;
        let rollouts = lineage.rollouts.values().filter(is_process);
        let done = rollouts.filter(|it| it.stage == Stage::Done);
        let done = done.map(|Rollout { object, uid, .. }| Self { object, uid });
        done.collect()
    }

    /// Says that the very process does not run as it did; `now` is its object, if it is there.
    pub fn difference(&self, now: Option<&Value>) -> Option<String> {
        let runs = now.is_some_and(|now| {
            let now = judge(&Object::read(now), &Below::default(), &[]);
            now.uid == self.uid && now.stage == Stage::Done
        });
        (!runs).then(|| format!("{} does not run as it did", self.object))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn lineage(kind: &str, stage: Stage) -> OwnerLineage {
        let object = ObjectName {
            kind: kind.to_owned(),
            name: "web".to_owned(),
            ..ObjectName::default()
        };
        let rollout = Rollout {
            uid: "u1".to_owned(),
            stage,
            object,
            ..Rollout::default()
        };
        OwnerLineage {
            rollouts: [("run".to_owned(), rollout)].into(),
            ..OwnerLineage::default()
        }
    }

    fn process(uid: &str, ready: &str) -> Value {
        json!({
            "apiVersion": "pathline.dev/v1alpha1", "kind": "Process",
            "metadata": {"name": "web", "uid": uid, "generation": 1},
            "status": {
                "observedGeneration": 1, "running": {"generation": 1},
                "conditions": [{"type": "Ready", "status": ready, "observedGeneration": 1}],
            },
        })
    }

    #[test]
    fn process_that_ran_is_confirmed_if_the_very_one_still_runs() {
        let lineage = lineage("Process", Stage::Done);
        let [ran] = ConfirmedProcess::all(&lineage)[..] else {
            panic!("one process ran");
        };
        assert_eq!(ran.difference(Some(&process("u1", "True"))), None);
        for (now, why) in [
            (Some(process("u1", "False")), "it has ended"),
            (Some(process("u2", "True")), "it is another one"),
            (None, "it is gone"),
        ] {
            let difference = ran.difference(now.as_ref());
            assert_eq!(
                difference.as_deref(),
                Some("Process `web` does not run as it did"),
                "{why}"
            );
        }
    }

    #[test]
    fn only_processes_that_ran_are_confirmed() {
        let progressing = Stage::Progressing { why: String::new() };
        assert!(ConfirmedProcess::all(&lineage("Process", progressing)).is_empty());
        assert!(ConfirmedProcess::all(&lineage("Deployment", Stage::Done)).is_empty());
    }
}
