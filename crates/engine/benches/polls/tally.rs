//! Counts of what hosts were asked.

use std::collections::BTreeMap;

use pathline_testkit::doubles::Recorded;
use serde::{Deserialize, Serialize};

/// The request that a poll of a repository is known by.
pub(crate) const LIST_REFERENCES: &str = "ls-refs";

/// The requests to all hosts.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Tally {
    /// By the address of the host.
    pub(crate) hosts: BTreeMap<String, HostTally>,
    /// The times at which references of a repository were asked for, in milliseconds since 1970.
    pub(crate) polls: BTreeMap<String, Vec<i64>>,
}

/// The requests to one host.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct HostTally {
    /// By what they ask for, on behalf of trackers of a tag.
    pub(crate) of_tags: BTreeMap<String, u64>,
    /// The same, on behalf of trackers of a range.
    pub(crate) of_ranges: BTreeMap<String, u64>,
    /// By the second, since 1970.
    pub(crate) seconds: BTreeMap<i64, u64>,
}

impl Tally {
    /// Counts requests to a host.
    pub(crate) fn count(&mut self, host: &str, requests: &[Recorded]) {
        let counts = self.hosts.entry(host.to_owned()).or_default();
        for request in requests {
            let kind = kind_of(request);
            let name = repository_of(&request.path);
            let by_kind = match name.contains("/range-") {
                true => &mut counts.of_ranges,
                false => &mut counts.of_tags,
            };
            *by_kind.entry(kind.to_owned()).or_default() += 1;
            *counts.seconds.entry(request.at.as_second()).or_default() += 1;
            if kind == LIST_REFERENCES {
                let polls = self.polls.entry(name).or_default();
                polls.push(request.at.as_millisecond());
            }
        }
    }

    /// Returns the requests to all hosts by what they ask for, of trackers of a range or of a tag.
    pub(crate) fn by_kind(&self, of_ranges: bool) -> BTreeMap<&str, u64> {
        let mut counts = BTreeMap::new();
        for host in self.hosts.values() {
            let of_host = match of_ranges {
                true => &host.of_ranges,
                false => &host.of_tags,
            };
            for (kind, count) in of_host {
                *counts.entry(kind.as_str()).or_default() += count;
            }
        }
        counts
    }

    /// Returns the number of polls.
    pub(crate) fn polls(&self) -> usize {
        self.polls.values().map(Vec::len).sum()
    }
}

impl HostTally {
    /// Returns the number of all requests.
    pub(crate) fn total(&self) -> u64 {
        self.seconds.values().sum()
    }

    /// Returns the most requests that came within so many seconds of the clock.
    pub(crate) fn busiest(&self, window: i64) -> u64 {
        let starts = self.seconds.keys();
        let within = starts.map(|start| self.seconds.range(start..&(start + window)));
        let counts = within.map(|seconds| seconds.map(|(_, count)| count).sum());
        counts.max().unwrap_or_default()
    }
}

fn kind_of(request: &Recorded) -> &'static str {
    let has = |part: &str| request.path.contains(part);
    match request.method.as_str() {
        "POST" if request.body.starts_with(b"0014command=ls-refs") => LIST_REFERENCES,
        "POST" => "fetch",
        "HEAD" if has("/manifests/") => "HEAD manifest",
        "GET" if has("/info/refs") => "info/refs",
        "GET" if has("/tags/list") => "tags/list",
        "GET" if has("/manifests/") => "GET manifest",
        "GET" if has("/blobs/") => "GET blob",
        _ => "other",
    }
}

/// Returns `OWNER/NAME` of a path, whichever protocol it is of.
fn repository_of(path: &str) -> String {
    let path = path.strip_prefix("/v2").unwrap_or(path);
    let parts: Vec<_> = path.trim_start_matches('/').splitn(3, '/').collect();
    parts.iter().take(2).copied().collect::<Vec<_>>().join("/")
}
