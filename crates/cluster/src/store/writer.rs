//! The one task that changes the store.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

use super::disk::Disk;
use super::object::{Collection, Event, EventKind, Key, Stored};
use super::state::State;
use super::write::{Change, Expect, Refused, Write, check_size};
use super::{Limits, Request, Shared};

/// The interval of write probes while the disk refuses writes, and the most bytes of one.
const PROBE_EVERY: Duration = Duration::from_secs(1);
const PROBE_BYTES: usize = 1 << 20;

/// The most writes, and about the most bytes, that are committed together.
const BATCH_WRITES: usize = 256;
const BATCH_BYTES: usize = 8 << 20;

type Answer = oneshot::Sender<Result<Arc<Stored>, Refused>>;

/// Owns the disk; everyone else only reads.
pub(super) struct Writer {
    disk: Disk,
    shared: Arc<Shared>,
    limits: Limits,
    namespaces: Collection,
    /// The bytes that the disk refused last, unless it has taken some since.
    refused: Option<usize>,
}

/// Writes that are committed together.
#[derive(Default)]
struct Batch {
    /// The states the batch makes, which later writes in it are checked against.
    pending: HashMap<Key, Option<Arc<Stored>>>,
    events: Vec<Event>,
    bytes: usize,
    answers: Vec<(Answer, Result<Arc<Stored>, Refused>)>,
}

impl Writer {
    pub(super) fn new(disk: Disk, shared: Arc<Shared>, limits: Limits) -> Self {
        Self {
            disk,
            shared,
            limits,
            namespaces: Collection::new("", "namespaces"),
            refused: None,
        }
    }

    /// Serves the queue until told to close, or until every handle is gone.
    pub(super) async fn run(mut self, mut queue: mpsc::Receiver<Request>) {
        let mut open = true;
        while open {
            let mut batch = Batch::default();
            let mut next = self.next(&mut queue).await;
            loop {
                match next {
                    Some(Request::Write(write, answer)) => self.admit(&mut batch, write, answer),
                    Some(Request::Close) | None => open = false,
                }
                if !open || batch.is_full() {
                    break;
                }
                let Ok(request) = queue.try_recv() else { break };
                next = Some(request);
            }
            self.commit(batch).await;
        }
        self.disk.close().await;
    }

    /// Waits for the next request, and tries meanwhile whether the disk takes writes again if it did
    /// not.
    async fn next(&mut self, queue: &mut mpsc::Receiver<Request>) -> Option<Request> {
        while let Some(bytes) = self.refused {
            if let Ok(next) = timeout(PROBE_EVERY, queue.recv()).await {
                return next;
            }
            match self.disk.probe(bytes).await {
                Ok(()) => self.note(None),
                Err(error) => tracing::debug!(%error, "the disk still refuses"),
            }
        }
        queue.recv().await
    }

    /// Notes how many bytes the disk refused, or that it took some.
    fn note(&mut self, refused: Option<usize>) {
        self.refused = refused.map(|bytes| bytes.min(PROBE_BYTES));
        self.shared.writable.send_if_modified(|writable| {
            let before = std::mem::replace(writable, refused.is_none());
            before != *writable
        });
    }

    /// Decides about one write and, if it is to happen, adds its event to the batch.
    fn admit(&self, batch: &mut Batch, write: Write, answer: Answer) {
        let decided = decide(&self.shared.state.read(), batch, &self.namespaces, write);
        let decided = decided.map(|decision| match decision {
            Decision::Nothing(current) => current,
            Decision::Event(event) => batch.push(event),
        });
        batch.answers.push((answer, decided));
    }

    /// Puts the batch on disk, then shows it, then answers.
    async fn commit(&mut self, batch: Batch) {
        if !batch.events.is_empty() {
            let floor = self.shared.state.read().excess(&self.limits);
            if let Err(error) = self.disk.append(&batch.events, floor).await {
                tracing::error!(%error, writes = batch.events.len(), "cannot store; refusing");
                self.note(Some(batch.bytes));
                return batch.refuse(&error.to_string());
            }
            self.note(None);
            self.publish(&batch.events, floor);
        }
        for (answer, decided) in batch.answers {
            // Nobody listens if the caller has gone away.
            let _ = answer.send(decided);
        }
    }

    fn publish(&self, events: &[Event], floor: Option<u64>) {
        let mut state = self.shared.state.write();
        for event in events {
            state.apply(event.clone());
        }
        if let Some(floor) = floor {
            state.forget(floor);
        }
        let touched: HashSet<_> = events
            .iter()
            .map(|event| &event.current.key.collection)
            .collect();
        state.announce(touched.into_iter());
    }
}

impl Batch {
    fn is_full(&self) -> bool {
        self.answers.len() >= BATCH_WRITES || self.bytes >= BATCH_BYTES
    }

    fn get(&self, state: &State, key: &Key) -> Option<Arc<Stored>> {
        match self.pending.get(key) {
            Some(pending) => pending.clone(),
            None => state.get(key).map(Stored::lend),
        }
    }

    fn push(&mut self, event: Event) -> Arc<Stored> {
        let current = Arc::clone(&event.current);
        let live = (event.kind != EventKind::Deleted).then(|| Arc::clone(&current));
        self.pending.insert(current.key.clone(), live);
        self.bytes += event.bytes();
        self.events.push(event);
        current
    }

    /// Refuses every write, also the ones refused before: what they were compared with may be a
    /// state that never came to be.
    fn refuse(self, why: &str) {
        let why: Arc<str> = why.into();
        for (answer, _) in self.answers {
            let _ = answer.send(Err(Refused::Storage(Arc::clone(&why))));
        }
    }
}

/// The action for a write that is not refused.
enum Decision {
    /// It changes nothing.
    Nothing(Arc<Stored>),
    /// It makes this event.
    Event(Event),
}

fn decide(
    state: &State,
    batch: &Batch,
    namespaces: &Collection,
    write: Write,
) -> Result<Decision, Refused> {
    let Write {
        key,
        expect,
        change,
        needs_namespace,
    } = write;
    let current = batch.get(state, &key);
    let found = current
        .as_ref()
        .map_or(Expect::Absent, |stored| Expect::Revision(stored.revision));
    if found != expect {
        return Err(Refused::Conflict { current });
    }
    if needs_namespace {
        check_namespace(
            batch
                .get(state, &Key::new(namespaces, "", &key.namespace))
                .as_deref(),
        )?;
    }
    let revision = state.revision() + batch.events.len() as u64 + 1;
    let (kind, object) = match (change, &current) {
        (Change::Put(object), None) => (EventKind::Added, object),
        (Change::Put(mut object), Some(current)) => {
            object["metadata"]["resourceVersion"] = current.revision.to_string().into();
            if object == *current.object() {
                return Ok(Decision::Nothing(Arc::clone(current)));
            }
            (EventKind::Modified, object)
        }
        (Change::Remove(object), Some(_)) => (EventKind::Deleted, object),
        (Change::Remove(_), None) => return Err(Refused::Conflict { current: None }),
    };
    let stored = Arc::new(Stored::new(key, revision, object));
    if kind != EventKind::Deleted {
        check_size(current.as_deref(), &stored)?;
    }
    Ok(Decision::Event(Event {
        kind,
        current: stored,
        previous: current,
    }))
}

fn check_namespace(namespace: Option<&Stored>) -> Result<(), Refused> {
    let object = namespace.ok_or(Refused::NamespaceMissing)?.object();
    let terminating = object["metadata"]["deletionTimestamp"] != Value::Null
        || object["status"]["phase"] == "Terminating";
    if terminating {
        Err(Refused::NamespaceTerminating)
    } else {
        Ok(())
    }
}
