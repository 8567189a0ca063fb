//! The objects that run, added to the answer that they do.

use pathline_client::api::{WaitResult, WaitState};

use super::OwnerWait;
use crate::views::running;
use crate::views::wait::result;

impl OwnerWait {
    /// Names what runs, if that is what was waited for; none if it has ended, and that was said.
    pub(super) async fn with_running(&mut self, mut waited: WaitResult) -> Option<WaitResult> {
        let is_live = self.asked.is_live() && waited.state == WaitState::Holds;
        // When time is up meanwhile: what had ended runs again only if it was found.
        if !(is_live && self.has_ended) {
            self.last = Some(waited.clone());
        }
        if !is_live {
            self.has_ended = false;
            return Some(waited);
        }
        let found = running::find(&self.state, self.kind, &self.name).await;
        if !found.ended.is_empty() {
            let is_news = !self.has_ended;
            let ended = self.ended_meanwhile(&found.ended);
            return is_news.then_some(ended);
        }
        self.has_ended = false;
        self.last = Some(waited.clone());
        waited.running = found.running;
        waited.notes.extend(found.note);
        Some(waited)
    }

    /// Goes on waiting: what ran when it was looked at has ended since.
    fn ended_meanwhile(&mut self, processes: &[String]) -> WaitResult {
        self.has_ended = true;
        let ended = processes
            .iter()
            .map(|name| format!("process `{name}` does not run any more"));
        let ended: Vec<_> = ended.collect();
        let generation = self.generation();
        let waited = result::not_seen(self.asked.asked(), self.id(), generation, &ended);
        self.is_outdated = true;
        self.last = Some(waited.clone());
        waited
    }
}
