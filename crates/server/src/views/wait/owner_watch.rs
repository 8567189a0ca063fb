//! Watches of owners that nothing is known of yet, one for all who wait for the same owner.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use futures::{Stream, StreamExt};
use kube::ResourceExt;
use kube::api::DynamicObject;
use kube::runtime::{WatchStreamExt, watcher};
use parking_lot::Mutex;
use pathline_blueprint::owner::OwnerKind;
use pathline_engine::OwnerVersion;
use tokio::sync::watch;
use tokio_util::task::TaskTracker;

use crate::views::names::OwnerName;
use crate::views::owners;

/// An owner as a watch shows it, which may be a little late.
#[derive(Clone, Debug, Default)]
pub(crate) struct WatchedOwner {
    /// The owner, if it is there.
    pub(crate) found: Option<OwnerVersion>,
    /// The deletions of owners of that name since the watch began.
    pub(crate) deletions: u64,
}

/// The watches that somebody needs. A watch ends when the last one who needs it has left.
#[derive(Clone)]
pub(crate) struct OwnerWatches {
    open: Arc<Mutex<HashMap<Key, watch::Sender<WatchedOwner>>>>,
    tasks: TaskTracker,
}

type Key = (OwnerKind, String, String);

impl OwnerWatches {
    /// Watches in tasks of their own.
    pub(crate) fn new(tasks: TaskTracker) -> Self {
        Self {
            open: Arc::default(),
            tasks,
        }
    }

    /// Follows an owner by its name, whether it is there or not.
    pub(crate) fn follow(
        &self,
        client: &kube::Client,
        kind: OwnerKind,
        name: &OwnerName,
    ) -> watch::Receiver<WatchedOwner> {
        let key = (kind, name.namespace.clone(), name.name.clone());
        match self.open.lock().entry(key.clone()) {
            Entry::Occupied(open) => open.get().subscribe(),
            Entry::Vacant(vacant) => {
                let sender = watch::Sender::new(WatchedOwner::default());
                let receiver = vacant.insert(sender.clone()).subscribe();
                let objects = owners::api(client, kind, &name.namespace);
                let only = watcher::Config::default();
                let only = only.fields(&format!("metadata.name={}", name.name));
                let events = watcher(objects, only).default_backoff();
                self.tasks.spawn(self.clone().run(key, sender, events));
                receiver
            }
        }
    }

    async fn run(
        self,
        key: Key,
        sender: watch::Sender<WatchedOwner>,
        events: impl Stream<Item = watcher::Result<watcher::Event<DynamicObject>>>,
    ) {
        let mut events = std::pin::pin!(events);
        let mut listed = None;
        loop {
            tokio::select! {
                event = events.next() => match event {
                    Some(Ok(event)) => show(&sender, &mut listed, event),
                    Some(Err(error)) => tracing::debug!(%error, "cannot watch an owner; trying again"),
                    None => return,
                },
                () = sender.closed() => if self.end(&key, &sender) {
                    return;
                }
            }
        }
    }

    /// Ends a watch unless somebody has come to need it again.
    fn end(&self, key: &Key, sender: &watch::Sender<WatchedOwner>) -> bool {
        let mut open = self.open.lock();
        let is_unused = sender.receiver_count() == 0;
        if is_unused {
            open.remove(key);
        }
        is_unused
    }
}

/// Shows what an event says; `listed` is what a list under way has found so far.
fn show(
    sender: &watch::Sender<WatchedOwner>,
    listed: &mut Option<OwnerVersion>,
    event: watcher::Event<DynamicObject>,
) {
    let found = match event {
        watcher::Event::Init => {
            *listed = None;
            return;
        }
        watcher::Event::InitApply(object) => {
            *listed = Some(OwnerVersion::of(&object));
            return;
        }
        watcher::Event::InitDone => listed.take(),
        watcher::Event::Apply(object) => Some(OwnerVersion::of(&object)),
        // Another one of the same name may be there already.
        watcher::Event::Delete(object) => {
            let found = sender.borrow().found.clone();
            found.filter(|it| Some(&it.uid) != object.uid().as_ref())
        }
    };
    sender.send_if_modified(|shown| {
        let uid = |found: &Option<OwnerVersion>| found.as_ref().map(|it| it.uid.clone());
        let (before, now) = (uid(&shown.found), uid(&found));
        shown.deletions += u64::from(before.is_some() && before != now);
        shown.found = found;
        before != now
    });
}
