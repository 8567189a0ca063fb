//! Watches that show everything late.

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::{WAIT_TIMEOUT, World};

/// Watches of some kinds, which begin only when they are released. What was listed before counts.
#[derive(Clone)]
pub(crate) struct LateWatches {
    plurals: &'static [&'static str],
    held: watch::Sender<usize>,
    released: CancellationToken,
}

impl LateWatches {
    /// Holds a call back if it is such a watch.
    pub(super) async fn hold(&self, uri: &http::Uri) {
        let is_watch = uri.query().is_some_and(|it| it.contains("watch=true"));
        let plural = uri.path().rsplit('/').next().unwrap_or_default();
        if is_watch && self.plurals.contains(&plural) {
            self.held.send_modify(|held| *held += 1);
            self.released.cancelled().await;
        }
    }

    /// Waits until all kinds have been listed.
    pub(crate) async fn wait_listed(&self) {
        let mut held = self.held.subscribe();
        let all = held.wait_for(|held| *held >= self.plurals.len());
        let all = tokio::time::timeout(WAIT_TIMEOUT, all).await;
        all.expect("the kinds are listed")
            .expect("the sender is here");
    }

    /// Lets the watches begin.
    pub(crate) fn release(&self) {
        self.released.cancel();
    }
}

impl World {
    /// Holds back the watches of these kinds that the next engine begins.
    pub(crate) fn watch_late(&mut self, plurals: &'static [&'static str]) -> LateWatches {
        let late = LateWatches {
            plurals,
            held: watch::Sender::default(),
            released: CancellationToken::new(),
        };
        self.late = Some(late.clone());
        late
    }
}
