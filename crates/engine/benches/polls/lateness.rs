//! The lateness of polls.

use std::collections::BTreeMap;
use std::fmt;

use anyhow::Result;
use jiff::{SignedDuration, Timestamp};
use pathline_engine::TrackingMetrics;
use prometheus_client::encoding::text::encode;
use prometheus_client::registry::Registry;

use crate::fleet::Member;
use crate::ground::{Following, Ground};
use crate::tally::Tally;

/// The time before the end of a measurement in which nobody is expected to be asked any more.
const GRACE: SignedDuration = SignedDuration::from_secs(10);

/// The times at which trackers are due, as the board says.
#[derive(Debug, Default)]
pub(crate) struct Dues(Vec<(Member, Timestamp)>);

/// Times, sorted.
pub(crate) struct Times(Vec<SignedDuration>);

impl Dues {
    /// Notes the next poll of all trackers; of those that are being looked at just now nobody knows it yet.
    pub(crate) fn note(&mut self, ground: &Ground, following: &Following) {
        let now = Timestamp::now();
        for (index, uid) in ground.uids.iter().enumerate() {
            let polls = following.tracking.board.of(uid);
            if let Some(polls) = polls.filter(|it| it.next > now) {
                self.0.push((Member(index), polls.next));
            }
        }
    }

    /// Returns how long after it was due each repository was asked, which is after its registry has answered. One that
    /// was not asked at all is late by as long as it could be.
    pub(crate) fn lateness(&self, tally: &Tally, end: Timestamp) -> Times {
        let expected = self.0.iter().filter(|(_, due)| *due < end - GRACE);
        let lateness = expected.map(|(member, due)| {
            let polls = tally.polls.get(&member.repository());
            let mut polls = polls.into_iter().flatten();
            let due = due.as_millisecond();
            let asked = polls.find(|at| **at >= due).copied();
            SignedDuration::from_millis(asked.unwrap_or(end.as_millisecond()) - due)
        });
        Times::new(lateness.collect())
    }
}

impl Times {
    pub(crate) fn new(mut times: Vec<SignedDuration>) -> Self {
        times.sort_unstable();
        Self(times)
    }

    /// Returns the time that so many of a hundred do not exceed.
    pub(crate) fn percentile(&self, percent: usize) -> SignedDuration {
        let place = (self.0.len() * percent / 100).min(self.0.len().saturating_sub(1));
        self.0.get(place).copied().unwrap_or_default()
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}

/// The buckets of the metric of lateness: the number of polls that were late by so much or less.
pub(crate) struct Buckets(BTreeMap<String, u64>);

impl Buckets {
    pub(crate) fn read(metrics: &TrackingMetrics) -> Result<Self> {
        let mut registry = Registry::default();
        metrics.register(&mut registry);
        let mut text = String::new();
        encode(&mut text, &registry)?;
        let mut buckets = BTreeMap::new();
        for line in text.lines() {
            let bucket = line.strip_prefix("poll_lateness_seconds_bucket{le=\"");
            if let Some((bound, count)) = bucket.and_then(|it| it.split_once("\"} ")) {
                buckets.insert(bound.to_owned(), count.parse()?);
            }
        }
        Ok(Self(buckets))
    }

    /// Returns the bound in seconds that so many of a hundred polls since an earlier reading do not exceed.
    pub(crate) fn percentile_since(&self, earlier: &Self, percent: u64) -> Option<f64> {
        let since = |bound: &String| self.0[bound] - earlier.0.get(bound).copied().unwrap_or(0);
        let all = self.0.keys().map(since).max()?;
        let enough = |bound: &&String| since(bound) * 100 >= all * percent;
        let bounds = self.0.keys().filter(enough);
        let bounds = bounds.filter_map(|it| it.parse::<f64>().ok());
        bounds.min_by(f64::total_cmp)
    }
}

impl fmt::Display for Times {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [median, high, worst] = [50, 99, 100].map(|it| self.percentile(it).as_millis());
        write!(f, "{median} ms / {high} ms / {worst} ms")
    }
}
