//! Across git: the deliveries that follow the repositories that supply chains write to.

use std::collections::HashMap;

use kube::Client;
use parking_lot::Mutex;
use pathline_blueprint::owner::Owner;
use pathline_kinds::workers::GitCommitSpec;
use pathline_ledger::Ledger;
use pathline_lineage::revision::commit_of;
use pathline_lineage::rollout::{
    Delivery, DeliveryState, Files, followers, judge_delivered, judge_unwritten,
};
use pathline_lineage::{Artifact, OwnerLineage, Rollout, Stage, Written};
use pathline_observe::rollout::{CommitTarget, Writer};
use pathline_remote::git::{Git, Kept};
use pathline_workers::remote;
use serde_json::Value;

use super::crossings::Crossings;
use crate::runtime::env::Env;
use crate::runtime::queue::Key;
use crate::runtime::queues::{OwnedKind, Queues};

/// The number of answers of git that are remembered.
const MAX_ANSWERS: usize = 4_096;

/// Judges whether commits were delivered, and wakes who wrote them when a delivery gets further.
pub(crate) struct Deliveries {
    client: Client,
    git: Git,
    ledger: Ledger,
    queues: Queues,
    /// The owners that write, with what they wrote.
    writers: Mutex<HashMap<Key, Writer>>,
    crossings: Crossings,
    /// The last state of each delivery, with its repository.
    states: Mutex<HashMap<Key, (String, DeliveryState)>>,
    answers: Mutex<HashMap<Question, Files>>,
}

/// The rollout of a commit.
pub(super) struct Judged {
    pub(super) rollout: Rollout,
    /// The reason why git could not be asked, so that it must be asked again.
    pub(super) failure: Option<String>,
}

/// A commit, and where it is asked for.
#[derive(Clone, Copy)]
struct Commit<'t> {
    namespace: &'t str,
    spec: &'t GitCommitSpec,
}

/// A question to git: are files of a commit still there at another? The answer never changes.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Question {
    url: String,
    written: String,
    files: Vec<String>,
    later: String,
}

impl Deliveries {
    pub(super) fn new(env: &Env) -> Self {
        Self {
            client: env.client.clone(),
            git: env.git.clone(),
            crossings: Crossings::new(env.ledger.clone(), env.clock.clone()),
            ledger: env.ledger.clone(),
            queues: env.queues.clone(),
            writers: Mutex::default(),
            states: Mutex::default(),
            answers: Mutex::default(),
        }
    }

    /// Judges the rollout of a commit that was stamped for an owner.
    pub(super) async fn judge(&self, owner: &Owner, target: &CommitTarget) -> Option<Judged> {
        let CommitTarget {
            object,
            spec,
            written,
        } = target;
        let commit = Commit {
            namespace: &object.namespace,
            spec: spec.as_ref()?,
        };
        let key = Key::new(&owner.namespace, &owner.name);
        let past = {
            let mut writers = self.writers.lock();
            let writer = writers.entry(key).or_default();
            writer.note(&commit.spec.url, written.as_ref())
        };
        let mut judged = match written {
            Some(written) => self.stage(commit, written, &past).await,
            None => Judged::at(judge_unwritten(object)),
        };
        judged.rollout.uid = object.uid.clone();
        judged.rollout.generation = object.generation;
        Some(judged)
    }

    /// Takes note that a delivery was reconciled, and has this lineage since.
    pub(crate) fn reconciled(&self, owner: &Owner, lineage: &OwnerLineage) {
        let url = owner
            .object
            .pointer("/spec/source/git/url")
            .and_then(Value::as_str);
        let Some(url) = url else {
            return;
        };
        let key = Key::new(&owner.namespace, &owner.name);
        let state = DeliveryState::of(&key.namespace, &key.name, lineage);
        let now = (url.to_owned(), state);
        let before = self.states.lock().insert(key, now.clone());
        if before.as_ref() == Some(&now) {
            return;
        }
        self.wake_writers(url);
        if let Some((left, _)) = before.filter(|(before, _)| before != url) {
            self.wake_writers(&left);
        }
    }

    fn wake_writers(&self, url: &str) {
        let writers = self.writers.lock();
        for (key, _) in writers.iter().filter(|(_, writer)| writer.writes_to(url)) {
            self.queues
                .wake(OwnedKind::Workload, &key.namespace, &key.name);
        }
    }

    /// Forgets an owner that is no longer there.
    pub(super) fn gone(&self, kind: OwnedKind, key: &Key) {
        match kind {
            OwnedKind::Workload => {
                self.writers.lock().remove(key);
            }
            OwnedKind::Deliverable => {
                let left = self.states.lock().remove(key);
                if let Some((url, _)) = left {
                    self.wake_writers(&url);
                }
            }
            OwnedKind::Runnable => {}
        }
    }

    /// Returns how far a commit is, and why git could not be asked about it.
    ///
    /// `past` are commits that the same object wrote before, the newest first.
    async fn stage(&self, commit: Commit<'_>, written: &Written, past: &[Written]) -> Judged {
        let (mut deliveries, mut failure) = (Vec::new(), None);
        let mut judged_by = Vec::new();
        let repositories = self.queues.repositories(OwnedKind::Deliverable);
        for (key, counts) in followers(repositories, &commit.spec.url, &commit.spec.branch) {
            let lineage = self.lineage(&key).await.unwrap_or_default();
            let state = DeliveryState::of(&key.namespace, &key.name, &lineage);
            let at = state.at.clone();
            // What is recorded is of a Pathline that has ended, and its processes with it.
            let is_current = self.states.lock().contains_key(&key);
            let state = if is_current {
                state
            } else {
                state.left_behind()
            };
            let (delivery, why) = self.delivery(state, commit, written).await;
            let linked = self
                .link(&lineage, &delivery, commit, (written, past))
                .await;
            if counts {
                judged_by.push(at);
                deliveries.push(delivery);
                failure = why.or(failure);
            }
            failure = linked.err().or(failure);
        }
        Judged {
            rollout: Rollout {
                stage: judge_delivered(&commit.spec.url, &deliveries),
                deliveries: judged_by,
                ..Rollout::default()
            },
            failure,
        }
    }

    /// Returns what is known of a delivery, and why git could not be asked, if it could not.
    async fn delivery(
        &self,
        state: DeliveryState,
        commit: Commit<'_>,
        written: &Written,
    ) -> (Delivery, Option<String>) {
        let files = match &state.revision {
            Some(revision) => self.files(commit, written, revision).await.map(Some),
            None => Ok(None),
        };
        let (files, why) = match files {
            Ok(files) => (files, None),
            Err(why) => (None, Some(why)),
        };
        (state.delivery(files), why)
    }

    /// Records which commit of an object a delivery has: the last one, or, where the delivery is not
    /// there, the newest of those before that git knows at its revision. A delivery that has gone back
    /// further than commits are remembered has those that it had at that revision before.
    async fn link(
        &self,
        lineage: &OwnerLineage,
        delivery: &Delivery,
        commit: Commit<'_>,
        (written, past): (&Written, &[Written]),
    ) -> Result<(), String> {
        let Some(revision) = &delivery.revision else {
            return Ok(());
        };
        let mut files = delivery.files.clone();
        let mut commits = [written].into_iter().chain(past);
        while let (Some(written), Some(is)) = (commits.next(), files) {
            match is {
                Files::Kept => return self.cross(lineage, revision, &written.artifact).await,
                Files::Changed(_) => return Ok(()),
                Files::Elsewhere => {}
            }
            let Some(before) = commits.clone().next() else {
                return self.cross_again(lineage, revision).await;
            };
            files = Some(self.files(commit, before, revision).await?);
        }
        Ok(())
    }

    /// Records of a revision what was recorded of it before: that never changes.
    async fn cross_again(&self, lineage: &OwnerLineage, revision: &str) -> Result<(), String> {
        let ledger = self.ledger.lineage();
        let before = ledger.commits_found_before(&lineage.uid, commit_of(revision));
        for commit in before.await.map_err(|error| error.to_string())? {
            self.cross(lineage, revision, &commit).await?;
        }
        Ok(())
    }

    async fn cross(
        &self,
        lineage: &OwnerLineage,
        revision: &str,
        written: &Artifact,
    ) -> Result<(), String> {
        for found in lineage.sources_at(revision) {
            let crossed = self.crossings.record(lineage, found, written);
            crossed.await.map_err(|error| error.to_string())?;
        }
        Ok(())
    }

    /// Returns what became of the files of a commit at a revision.
    async fn files(
        &self,
        commit: Commit<'_>,
        written: &Written,
        revision: &str,
    ) -> Result<Files, String> {
        let question = Question {
            url: commit.spec.url.clone(),
            written: written.commit.clone(),
            files: written.files.clone(),
            later: commit_of(revision).to_owned(),
        };
        if let Some(known) = self.answers.lock().get(&question) {
            return Ok(known.clone());
        }
        let files = match self.ask(commit, &question).await? {
            Kept::All => Files::Kept,
            Kept::Elsewhere => Files::Elsewhere,
            Kept::Changed(files) => Files::Changed(files),
        };
        let mut answers = self.answers.lock();
        if answers.len() >= MAX_ANSWERS {
            answers.clear();
        }
        answers.insert(question, files.clone());
        Ok(files)
    }

    async fn ask(&self, commit: Commit<'_>, question: &Question) -> Result<Kept, String> {
        let Question {
            url,
            written,
            files,
            later,
        } = question;
        let secret = commit.spec.secret_ref.as_ref();
        let remote = remote(&self.client, commit.namespace, url, secret);
        let remote = remote.await.map_err(|error| error.to_string())?;
        let kept = self.git.kept(&remote, written, files, later).await;
        kept.map_err(|error| error.to_string())
    }

    async fn lineage(&self, key: &Key) -> Option<OwnerLineage> {
        let kind = OwnedKind::Deliverable.name();
        let lineage = self
            .ledger
            .lineage()
            .find(kind, &key.namespace, &key.name)
            .await;
        lineage
            .inspect_err(|error| tracing::warn!(%error, "a delivery cannot be looked up"))
            .ok()?
    }
}

impl Judged {
    fn at(stage: Stage) -> Self {
        Self {
            rollout: Rollout {
                stage,
                ..Rollout::default()
            },
            failure: None,
        }
    }
}
