//! Across git: the deliveries that follow the repositories that supply chains write to.

use std::collections::HashMap;

use jiff::Timestamp;
use kube::{Client, ResourceExt};
use parking_lot::Mutex;
use pathline_blueprint::owner::Owner;
use pathline_ledger::Ledger;
use pathline_lineage::rollout::{
    DeliveredBy, Delivery, Files, is_same_repository, judge_delivered,
};
use pathline_lineage::{Delivered, Live, Rollout, Stage, Track, Written};
use pathline_remote::git::{Git, Kept};
use serde_json::Value;

use super::crossings::{Crossings, Writers, found_at, newest};
use crate::queue::Key;
use crate::wakeups::{Reconciled, Wakeups};
use crate::workers::{GitCommit, SecretReference, remote};

/// How many answers of git are remembered.
const MOST_ANSWERS: usize = 4_096;

/// Judges whether commits were delivered, and wakes who wrote them when a delivery gets further.
pub(crate) struct Deliveries {
    client: Client,
    git: Git,
    ledger: Ledger,
    wakeups: Wakeups,
    /// Those who write, and what they wrote.
    writers: Writers,
    crossings: Crossings,
    /// What was last seen of each delivery, and of which repository.
    seen: Mutex<HashMap<Key, (String, Seen)>>,
    answers: Mutex<HashMap<Question, Files>>,
}

/// How far the last mile of a commit is.
pub(super) struct Judged {
    pub(super) rollout: Rollout,
    /// Why git could not be asked, so that it must be asked again.
    pub(super) failure: Option<String>,
}

/// What of a delivery makes a difference to those who write to its repository.
#[derive(Debug, Clone, PartialEq)]
struct Seen {
    revision: Option<String>,
    live: Live,
    failure: Option<String>,
    /// When it found that, so that what is found anew is linked anew.
    since: Option<Timestamp>,
    /// The blueprint and the templates that it was looked at with.
    at: DeliveredBy,
}

/// Whether files of a commit are still there at another; the answer never changes.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Question {
    url: String,
    written: String,
    files: Vec<String>,
    later: String,
}

impl Deliveries {
    pub(crate) fn new(client: Client, git: Git, ledger: Ledger, wakeups: Wakeups) -> Self {
        Self {
            client,
            git,
            crossings: Crossings::new(ledger.clone()),
            ledger,
            wakeups,
            writers: Writers::default(),
            seen: Mutex::default(),
            answers: Mutex::default(),
        }
    }

    /// Judges the last mile of a commit that was stamped for an owner.
    pub(super) async fn judge(&self, owner: &Owner, object: &Value) -> Option<Judged> {
        let commit: GitCommit = serde_json::from_value(object.clone()).ok()?;
        let key = Key::new(&owner.namespace, &owner.name);
        let written = Written::read(object);
        let past = self.writers.note(&key, &commit.spec.url, written.as_ref());
        let mut judged = match &written {
            Some(written) => self.stage(&commit, written, &past).await,
            None => Judged::progressing("the commit has not been written yet"),
        };
        judged.rollout.uid = commit.uid().unwrap_or_default();
        judged.rollout.generation = commit.metadata.generation;
        Some(judged)
    }

    /// Takes note that a delivery was looked at.
    pub(crate) async fn looked_at(&self, owner: &Owner) {
        let url = owner
            .object
            .pointer("/spec/source/git/url")
            .and_then(Value::as_str);
        let Some(url) = url else {
            return;
        };
        let key = Key::new(&owner.namespace, &owner.name);
        let Some(track) = self.track(&key).await else {
            return;
        };
        let now = (url.to_owned(), Seen::of(&key, &track));
        let before = self.seen.lock().insert(key, now.clone());
        if before.as_ref() == Some(&now) {
            return;
        }
        self.wake_writers(url);
        if let Some((left, _)) = before.filter(|(before, _)| before != url) {
            self.wake_writers(&left);
        }
    }

    fn wake_writers(&self, url: &str) {
        for writer in self.writers.of(url) {
            self.wakeups
                .wake(Reconciled::Workload, &writer.namespace, &writer.name);
        }
    }

    /// Forgets an owner that is no longer there.
    pub(super) fn gone(&self, kind: Reconciled, key: &Key) {
        match kind {
            Reconciled::Workload => self.writers.gone(key),
            Reconciled::Deliverable => {
                let left = self.seen.lock().remove(key);
                if let Some((url, _)) = left {
                    self.wake_writers(&url);
                }
            }
            Reconciled::Runnable => {}
        }
    }

    /// Returns how far a commit is, and why git could not be asked about it.
    ///
    /// `past` are commits that the same object wrote before, the newest first.
    async fn stage(&self, commit: &GitCommit, written: &Written, past: &[Written]) -> Judged {
        let (mut deliveries, mut failure) = (Vec::new(), None);
        let mut judged_by = Vec::new();
        for (key, url) in self.wakeups.repositories(Reconciled::Deliverable) {
            if is_same_repository(&url, &commit.spec.url) {
                let track = self.track(&key).await.unwrap_or_default();
                let (delivery, why) = self.delivery(&key, &track, commit, written).await;
                let linked = self.link(&track, &delivery, commit, (written, past)).await;
                deliveries.push(delivery);
                judged_by.push(delivered_by(&key, &track));
                failure = why.or(linked.err()).or(failure);
            }
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
        key: &Key,
        track: &Track,
        commit: &GitCommit,
        written: &Written,
    ) -> (Delivery, Option<String>) {
        let Seen {
            revision,
            mut live,
            mut failure,
            ..
        } = Seen::of(key, track);
        // What is recorded is of a Pathline that has ended, and its processes with it.
        if !self.seen.lock().contains_key(key) {
            (live, failure) = (Live::Unknown, None);
        }
        let files = match &revision {
            Some(revision) => self.files(commit, written, revision).await.map(Some),
            None => Ok(None),
        };
        let (files, why) = match files {
            Ok(files) => (files, None),
            Err(why) => (None, Some(why)),
        };
        let delivery = Delivery {
            name: format!("deliverable `{}/{}`", key.namespace, key.name),
            revision,
            files,
            live,
            failure,
        };
        (delivery, why)
    }

    /// Records which commit of an object a delivery has: the last one, or, where the delivery is not
    /// there yet, the newest of those before that git knows at its revision.
    async fn link(
        &self,
        track: &Track,
        delivery: &Delivery,
        commit: &GitCommit,
        (written, past): (&Written, &[Written]),
    ) -> Result<(), String> {
        let Some(revision) = &delivery.revision else {
            return Ok(());
        };
        let mut files = delivery.files.clone();
        let mut commits = [written].into_iter().chain(past);
        while let (Some(written), Some(is)) = (commits.next(), files) {
            match is {
                Files::Kept => return self.cross(track, revision, written).await,
                Files::Changed(_) => return Ok(()),
                Files::Elsewhere => {}
            }
            let Some(before) = commits.clone().next() else {
                return Ok(());
            };
            files = Some(self.files(commit, before, revision).await?);
        }
        Ok(())
    }

    async fn cross(&self, track: &Track, revision: &str, written: &Written) -> Result<(), String> {
        for found in found_at(track, revision) {
            let crossed = self.crossings.record(track, found, &written.artifact);
            crossed.await.map_err(|error| error.to_string())?;
        }
        Ok(())
    }

    /// Returns what became of the files of a commit at a revision.
    async fn files(
        &self,
        commit: &GitCommit,
        written: &Written,
        revision: &str,
    ) -> Result<Files, String> {
        let later = revision.rsplit(':').next().unwrap_or(revision);
        let question = Question {
            url: commit.spec.url.clone(),
            written: written.commit.clone(),
            files: written.files.clone(),
            later: later.to_owned(),
        };
        if let Some(known) = self.answers.lock().get(&question) {
            return Ok(known.clone());
        }
        let namespace = commit.namespace();
        let secret = commit.spec.secret_ref.as_ref();
        let files = match self.ask(namespace.as_deref(), secret, &question).await? {
            Kept::All => Files::Kept,
            Kept::Elsewhere => Files::Elsewhere,
            Kept::Changed(files) => Files::Changed(files),
        };
        let mut answers = self.answers.lock();
        if answers.len() >= MOST_ANSWERS {
            answers.clear();
        }
        answers.insert(question, files.clone());
        Ok(files)
    }

    async fn ask(
        &self,
        namespace: Option<&str>,
        secret: Option<&SecretReference>,
        question: &Question,
    ) -> Result<Kept, String> {
        let Question {
            url,
            written,
            files,
            later,
        } = question;
        let remote = remote(&self.client, namespace.unwrap_or_default(), url, secret);
        let remote = remote.await.map_err(|error| error.to_string())?;
        let kept = self.git.kept(&remote, written, files, later).await;
        kept.map_err(|error| error.to_string())
    }

    async fn track(&self, key: &Key) -> Option<Track> {
        let kind = Reconciled::Deliverable.name();
        let track = self
            .ledger
            .find_track(kind, &key.namespace, &key.name)
            .await;
        track
            .inspect_err(|error| tracing::warn!(%error, "a delivery cannot be looked up"))
            .ok()?
    }
}

impl Seen {
    fn of(key: &Key, track: &Track) -> Self {
        let Delivered { source, live } = track.delivered();
        let crash = track.rollouts.values().find_map(|it| match &it.stage {
            Stage::Failed { reason } => Some(reason.clone()),
            _ => None,
        });
        // What keeps a delivery from having a path at all may be mended a moment later.
        let mut stuck = track.failures.iter().filter(|(name, _)| !name.is_empty());
        let failure = crash.or_else(|| stuck.next().map(|(_, why)| why.clone()));
        Self {
            revision: source.map(|it| it.shown().to_owned()),
            live,
            failure,
            since: newest(track),
            at: delivered_by(key, track),
        }
    }
}

impl Judged {
    fn progressing(why: &str) -> Self {
        let why = why.to_owned();
        Self {
            rollout: Rollout {
                stage: Stage::Progressing { why },
                ..Rollout::default()
            },
            failure: None,
        }
    }
}

/// Returns a delivery as it was when it was looked at last.
fn delivered_by(key: &Key, track: &Track) -> DeliveredBy {
    DeliveredBy {
        namespace: key.namespace.clone(),
        name: key.name.clone(),
        generation: track.generation,
        marks: track.marks.clone(),
        used: track.used.clone(),
        revision: track.delivered().source.map(|it| it.shown().to_owned()),
    }
}
