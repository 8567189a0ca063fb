//! The progress of one commit, as the objects of the cluster show it. Pure: no clock, no cluster.

use std::collections::BTreeMap;

use pathline_lineage::revision::commit_of;
use serde_json::Value;

use super::stage::Stage;

/// Knows the newest state of every object on the path, and how far the commit it follows has come.
#[derive(Debug, Default)]
pub(super) struct Story {
    stamped: BTreeMap<String, Value>,
    owners: BTreeMap<String, Value>,
    commit: String,
    manifest_commit: Option<String>,
    reached: Option<Stage>,
}

/// Something worth telling about the commit.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum News {
    /// It has come this far; `detail` says by what.
    Reached { stage: Stage, detail: String },
    /// It will not come this far.
    Failed { stage: Stage, trouble: Trouble },
    /// It was fetched, but a newer commit was fetched before it was running.
    Overtaken { by: String },
}

/// The reason that a commit does not come further, as far as the cluster knows.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Trouble {
    /// The object to look at, as `Kind/name`.
    pub(super) object: String,
    /// The message of it, or of its owner.
    pub(super) message: String,
    /// The last lines of its log.
    pub(super) log_tail: String,
    /// The file with the whole log.
    pub(super) log_path: Option<String>,
}

impl Story {
    /// Starts to follow another commit.
    pub(super) fn follow(&mut self, commit: &str) {
        commit.clone_into(&mut self.commit);
        self.manifest_commit = None;
        self.reached = None;
    }

    /// Takes in the newest state of an object.
    pub(super) fn see(&mut self, object: Value) {
        let resource = object["metadata"]["labels"]["carto.run/resource-name"].as_str();
        match (
            resource.map(str::to_owned),
            object["kind"].as_str().map(str::to_owned),
        ) {
            (Some(resource), _) => drop(self.stamped.insert(resource, object)),
            (None, Some(kind)) => drop(self.owners.insert(kind, object)),
            (None, None) => {}
        }
    }

    /// Returns what has happened to the commit since the last call.
    pub(super) fn news(&mut self) -> Vec<News> {
        if self.manifest_commit.is_none() {
            self.manifest_commit = self.written_as();
        }
        let mut news: Vec<_> = Stage::ALL
            .into_iter()
            .filter(|stage| Some(*stage) > self.reached)
            // A station further on implies those before it, even if their objects have moved on.
            .filter(|stage| {
                Stage::ALL
                    .iter()
                    .any(|further| further >= stage && self.is_at(*further))
            })
            .map(|stage| News::Reached {
                stage,
                detail: self.detail(stage),
            })
            .collect();
        if let Some(News::Reached { stage, .. }) = news.last() {
            self.reached = Some(*stage);
        }
        news.extend(self.end_of_the_road());
        news
    }

    /// Returns why the commit will not come further, if that is certain.
    fn end_of_the_road(&self) -> Option<News> {
        let stage = self.next()?;
        if self.has_failed(stage) {
            return Some(News::Failed {
                stage,
                trouble: self.trouble(stage),
            });
        }
        let newer = self
            .fetched()
            .filter(|fetched| self.reached.is_some() && *fetched != self.commit)?;
        Some(News::Overtaken {
            by: newer.to_owned(),
        })
    }

    /// Returns the station the commit has to reach next, if it is not running yet.
    pub(super) fn next(&self) -> Option<Stage> {
        Stage::ALL
            .into_iter()
            .find(|stage| Some(*stage) > self.reached)
    }

    /// Returns the commit that is followed, in short, as the subject of a sentence.
    pub(super) fn subject(&self) -> &str {
        if self.commit.is_empty() {
            "the first commit"
        } else {
            short(&self.commit)
        }
    }

    /// Returns the commit that the path has fetched last.
    pub(super) fn fetched(&self) -> Option<&str> {
        self.text(Stage::Fetched, "/status/artifact/revision")
            .map(commit_of)
    }

    /// Returns what the cluster says about a station that is not reached.
    pub(super) fn trouble(&self, stage: Stage) -> Trouble {
        let Some(object) = self.stamped.get(stage.resource()) else {
            return Trouble {
                object: format!("{}/hello", stage.owner()),
                message: self.owner_message(stage),
                ..Trouble::default()
            };
        };
        let text = |pointer| object.pointer(pointer).and_then(Value::as_str);
        let name = text("/metadata/name").unwrap_or_default();
        Trouble {
            object: format!("{}/{name}", stage.kind()),
            message: unmet_condition(object).unwrap_or_else(|| self.owner_message(stage)),
            log_tail: text("/status/logTail").unwrap_or_default().to_owned(),
            log_path: text("/status/logPath").map(str::to_owned),
        }
    }

    fn is_at(&self, stage: Stage) -> bool {
        match stage {
            Stage::Fetched => {
                self.revision_is(stage, "/status/artifact/revision", Some(&self.commit))
            }
            Stage::Tested | Stage::Built => {
                self.revision_is(stage, "/status/source/revision", Some(&self.commit))
            }
            Stage::Written => self.manifest_commit.is_some(),
            Stage::Delivered => self.revision_is(
                stage,
                "/status/artifact/revision",
                self.manifest_commit.as_ref(),
            ),
            Stage::Running => {
                self.revision_is(
                    stage,
                    "/status/running/source/revision",
                    self.manifest_commit.as_ref(),
                ) && self.condition_is(stage, "Ready", "True")
            }
        }
    }

    /// Returns the manifest commit that says our commit should run.
    fn written_as(&self) -> Option<String> {
        let manifest = self.text(Stage::Written, "/spec/files/site.yaml")?;
        let ours =
            manifest.contains(&self.commit) && self.condition_is(Stage::Written, "Ready", "True");
        self.text(Stage::Written, "/status/commit")
            .filter(|_| ours)
            .map(str::to_owned)
    }

    /// Only a task can fail for good; everything else is tried again.
    fn has_failed(&self, stage: Stage) -> bool {
        stage.kind() == "Task"
            && self.revision_is(stage, "/spec/source/revision", Some(&self.commit))
            && self.condition_is(stage, "Succeeded", "False")
    }

    fn detail(&self, stage: Stage) -> String {
        let text = |pointer| self.text(stage, pointer).unwrap_or_default();
        let object = format!("{}/{}", stage.kind(), text("/metadata/name"));
        match stage {
            Stage::Fetched | Stage::Delivered => {
                let commit = commit_of(text("/status/artifact/revision"));
                format!("{object} has {}", short(commit))
            }
            Stage::Tested => format!("{object} passed"),
            Stage::Built => {
                let archive = text("/status/outputs/image")
                    .rsplit('/')
                    .next()
                    .unwrap_or_default();
                format!("{object} made {}", archive.get(..14).unwrap_or(archive))
            }
            Stage::Written => {
                let commit = self.manifest_commit.as_deref().unwrap_or_default();
                format!(
                    "{object} pushed {} to the manifest repository",
                    short(commit)
                )
            }
            Stage::Running => format!("{object} is ready"),
        }
    }

    fn owner_message(&self, stage: Stage) -> String {
        let owner = stage.owner();
        match self.owners.get(owner) {
            None => format!("the {owner} is not there"),
            Some(object) => unmet_condition(object)
                .unwrap_or_else(|| format!("the {owner} has no {} yet", stage.kind())),
        }
    }

    fn text(&self, stage: Stage, pointer: &str) -> Option<&str> {
        self.stamped
            .get(stage.resource())?
            .pointer(pointer)?
            .as_str()
    }

    fn revision_is(&self, stage: Stage, pointer: &str, commit: Option<&String>) -> bool {
        self.text(stage, pointer)
            .map(commit_of)
            .is_some_and(|seen| Some(seen) == commit.map(String::as_str))
    }

    /// A condition counts only if it speaks about the newest spec.
    fn condition_is(&self, stage: Stage, kind: &str, status: &str) -> bool {
        self.stamped.get(stage.resource()).is_some_and(|object| {
            object["status"]["observedGeneration"] == object["metadata"]["generation"]
                && conditions(object)
                    .any(|condition| condition["type"] == kind && condition["status"] == status)
        })
    }
}

/// Returns the first characters of a commit id, as people write it.
pub(super) fn short(commit: &str) -> &str {
    commit.get(..7).unwrap_or(commit)
}

fn conditions(object: &Value) -> impl Iterator<Item = &Value> {
    object["status"]["conditions"]
        .as_array()
        .into_iter()
        .flatten()
}

/// Returns what the first condition that is not true says.
fn unmet_condition(object: &Value) -> Option<String> {
    let condition = conditions(object).find(|condition| condition["status"] != "True")?;
    let (kind, reason) = (
        condition["type"].as_str()?,
        condition["reason"].as_str().unwrap_or("Unknown"),
    );
    let message = condition["message"].as_str().unwrap_or_default();
    Some(
        format!(
            "{kind} is {}: {reason} {message}",
            condition["status"].as_str()?
        )
        .trim_end()
        .to_owned(),
    )
}

#[cfg(test)]
mod tests;
