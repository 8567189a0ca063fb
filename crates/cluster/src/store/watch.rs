//! A watch is a cursor into the shared history: it owns no queue, so a watcher that stops reading
//! holds nothing, and learns that it is too late when the history has moved past it.

use std::sync::Arc;

use super::object::{Collection, Event};
use super::{Expired, Shared};

/// Delivers the events of a collection, or of the whole store, in revision order.
pub(crate) struct Watch {
    shared: Arc<Shared>,
    collection: Option<Collection>,
    namespace: Option<Arc<str>>,
    position: u64,
}

impl Watch {
    pub(super) fn new(
        shared: Arc<Shared>,
        collection: Option<Collection>,
        namespace: Option<&str>,
        position: u64,
    ) -> Self {
        Self {
            shared,
            collection,
            namespace: namespace.map(Arc::from),
            position,
        }
    }

    /// Returns the next event, waiting for it if need be. Dropping the future loses nothing.
    ///
    /// # Errors
    /// [`Expired`] when events after [`Self::position`] have been forgotten; the watcher must list
    /// again.
    pub(crate) async fn next(&mut self) -> Result<Event, Expired> {
        loop {
            let changed = {
                let state = self.shared.state.read();
                let log = state
                    .log(self.collection.as_ref())
                    .expect("`watch` made room for it");
                log.changed()
            };
            let notified = changed.notified();
            tokio::pin!(notified);
            // From here on a change wakes us, so that none is missed between looking and waiting.
            notified.as_mut().enable();
            if let Some(event) = self.try_next()? {
                return Ok(event);
            }
            notified.await;
        }
    }

    /// Returns the next event if there is one already.
    ///
    /// # Errors
    /// As [`Self::next`].
    pub(crate) fn try_next(&mut self) -> Result<Option<Event>, Expired> {
        let state = self.shared.state.read();
        let log = state
            .log(self.collection.as_ref())
            .expect("`watch` made room for it");
        let next = log
            .after(self.position)?
            .find(|event| match &self.namespace {
                Some(namespace) => event.current.key.namespace == *namespace,
                None => true,
            });
        self.position = next.map_or(state.revision().max(self.position), Event::revision);
        Ok(next.map(Event::lend))
    }

    /// Returns the revision up to which every event has been delivered; a bookmark may say so.
    pub(crate) fn position(&self) -> u64 {
        self.position
    }
}
