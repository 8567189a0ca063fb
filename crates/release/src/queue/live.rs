//! Live: the time for which a release has run in an environment.

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use super::{EntryState, Flow, Queues, Transition};
use crate::clauses::Clause;

/// The time for which a release has been live in an environment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Live {
    /// The time that has counted before `since`.
    pub counted: SignedDuration,
    /// The time since which it is live without interruption; nothing while it is not.
    pub since: Option<Timestamp>,
}

impl Live {
    /// Returns the time that has counted up to an instant.
    pub fn until(&self, at: Timestamp) -> SignedDuration {
        let since = self.since.map(|since| at.duration_since(since));
        // A clock that went back takes nothing away.
        let since = since.unwrap_or_default().max(SignedDuration::ZERO);
        self.counted.saturating_add(since)
    }

    /// Returns the instant at which a time has counted, if it stays as it is.
    pub(super) fn reaches(&self, duration: SignedDuration) -> Option<Timestamp> {
        let rest = duration.saturating_sub(self.counted);
        match rest.is_positive() {
            true => self.since?.checked_add(rest).ok(),
            false => Some(Timestamp::MIN),
        }
    }

    pub(super) fn begin(&mut self, at: Timestamp) {
        self.since.get_or_insert(at);
    }

    pub(super) fn end(&mut self, at: Timestamp) {
        self.counted = self.until(at);
        self.since = None;
    }
}

/// Counting
impl Queues {
    /// Takes the word that a deployed release is live in its environment, or is not. Only what was taken last there
    /// counts.
    pub fn live(
        &mut self,
        flow: &Flow,
        (environment, release): (&str, u64),
        is_live: bool,
        at: Timestamp,
    ) -> Vec<Transition> {
        // What has soaked by now has, whatever happens next.
        let transitions = self.advance(flow, at);
        let is_deploying = self.newest(environment, EntryState::Deploying).is_some();
        let is_newest = self.newest(environment, EntryState::Deployed) == Some(release);
        let is_there = flow.get(environment).is_some();
        let counts = is_live && is_newest && is_there && !is_deploying;
        let is_asked = !self.clauses.is_dropped(Clause::OnlyLive);
        match self.entry_mut(environment, release) {
            Some(entry) if counts => entry.live.begin(at),
            Some(entry) if !is_live && is_asked => entry.live.end(at),
            _ => {}
        }
        transitions
    }

    /// Writes down what has counted so far, so that less is lost when Pathline ends without a word.
    pub fn checkpoint(&mut self, at: Timestamp) {
        for live in self.counting() {
            live.end(at);
            live.begin(at);
        }
    }

    /// Goes on counting after a restart, without the time in which nobody watched.
    pub fn restarted(&mut self, at: Timestamp) {
        let is_asked = !self.clauses.is_dropped(Clause::Watched);
        for live in self.counting().filter(|_| is_asked) {
            live.since = Some(at);
        }
    }

    /// Ends the counts in an environment.
    pub(super) fn end_live(&mut self, environment: &str, at: Timestamp) {
        let entries = self.entries.get_mut(environment).into_iter().flatten();
        for (_, entry) in entries {
            entry.live.end(at);
        }
    }

    fn counting(&mut self) -> impl Iterator<Item = &mut Live> {
        let entries = self.entries.values_mut().flat_map(|it| it.values_mut());
        let lives = entries.map(|it| &mut it.live);
        lives.filter(|it| it.since.is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn second(second: i64) -> Timestamp {
        Timestamp::UNIX_EPOCH + SignedDuration::from_secs(second)
    }

    fn mk_live(counted: i64, since: Option<i64>) -> Live {
        Live {
            counted: SignedDuration::from_secs(counted),
            since: since.map(second),
        }
    }

    #[test]
    fn time_counts_while_it_is_live() {
        for (live, at, counted) in [
            (mk_live(0, None), 9, 0),
            (mk_live(5, None), 9, 5),
            (mk_live(5, Some(7)), 9, 7),
            (mk_live(5, Some(9)), 7, 5),
        ] {
            let counted = SignedDuration::from_secs(counted);
            assert_eq!(live.until(second(at)), counted, "{live:?}");
        }
    }

    #[test]
    fn time_is_reached_when_it_has_counted() {
        for (live, duration, reached) in [
            (mk_live(0, None), 0, Some(Timestamp::MIN)),
            (mk_live(0, None), 1, None),
            (mk_live(5, None), 5, Some(Timestamp::MIN)),
            (mk_live(5, Some(7)), 9, Some(second(11))),
            (mk_live(0, Some(7)), i64::MAX, None),
        ] {
            let duration = SignedDuration::from_secs(duration);
            assert_eq!(live.reaches(duration), reached, "{live:?}");
        }
    }

    #[test]
    fn interruption_keeps_what_has_counted() {
        let mut live = Live::default();
        live.begin(second(1));
        live.begin(second(3));
        live.end(second(5));
        live.end(second(8));
        live.begin(second(9));
        assert_eq!(live, mk_live(4, Some(9)));
    }
}
