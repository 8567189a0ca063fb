//! The last use of tokens, to about a minute: a write for every request would be too dear.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use parking_lot::Mutex;
use pathline_ledger::{Ledger, Token};
use tokio_util::task::TaskTracker;

const NOTE_INTERVAL: SignedDuration = SignedDuration::from_secs(60);

/// Remembers which tokens were noted lately.
#[derive(Clone, Debug)]
pub(crate) struct Usage {
    noted: Arc<Mutex<BTreeMap<String, Timestamp>>>,
    tasks: TaskTracker,
}

impl Usage {
    /// Notes what is used in tasks of its own.
    pub(crate) fn new(tasks: TaskTracker) -> Self {
        Self {
            noted: Arc::default(),
            tasks,
        }
    }

    /// Notes that a token is used, unless that was done lately. No request waits for it, and a use that
    /// cannot be noted is no reason to refuse.
    pub(crate) fn note(&self, ledger: &Ledger, token: &Token, now: Timestamp) {
        if !self.is_news(token, now) {
            return;
        }
        let (ledger, name) = (ledger.clone(), token.name.clone());
        self.tasks.spawn(async move {
            if let Err(error) = ledger.access().used_token(&name, now).await {
                tracing::debug!("the use of token `{name}` is not noted: {error}");
            }
        });
    }

    fn is_news(&self, token: &Token, now: Timestamp) -> bool {
        let mut noted = self.noted.lock();
        let last = noted.get(&token.name).copied().max(token.last_used);
        let lately = last.is_some_and(|last| now.duration_since(last) < NOTE_INTERVAL);
        if !lately {
            noted.insert(token.name.clone(), now);
        }
        !lately
    }
}

#[cfg(test)]
mod tests {
    use pathline_ledger::Permissions;

    use super::*;

    #[test]
    fn use_is_noted_once_a_minute() {
        let usage = Usage::new(TaskTracker::new());
        let token = Token {
            name: "ci".to_owned(),
            permissions: Permissions::READ,
            created: Timestamp::UNIX_EPOCH,
            expires: None,
            last_used: None,
            revoked: None,
        };
        let at = |second| Timestamp::from_second(second).unwrap();
        let news = [100, 101, 159, 160, 161].map(|second| usage.is_news(&token, at(second)));
        assert_eq!(news, [true, false, false, true, false]);
    }
}
