//! Signs: what a host says beside the answer.

use jiff::{SignedDuration, Timestamp};
use pathline_release::poll::{Quota, retry_after};
use reqwest::header::{HeaderMap, RETRY_AFTER};
use reqwest::{StatusCode, Url};

/// The number below which the time of a reset is a number of seconds from now, as it is in the draft of the IETF.
const MAX_RELATIVE: i64 = 1_000_000_000;

/// The names of headers by which hosts tell their limits: the limit, the rest of it, and its reset.
const QUOTAS: [[&str; 3]; 2] = [
    [
        "x-ratelimit-limit",
        "x-ratelimit-remaining",
        "x-ratelimit-reset",
    ],
    ["ratelimit-limit", "ratelimit-remaining", "ratelimit-reset"],
];

/// The signs of a host, beside the answer or the failure.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Signs {
    /// The requests that the host still allows.
    pub quota: Option<Quota>,
    /// The time before which the host does not want to be asked again.
    pub retry_after: Option<Timestamp>,
    /// The place to which the host says that all has moved.
    pub moved: Option<Moved>,
}

/// A permanent redirect. It is followed, and somebody should be told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moved {
    /// The place that was asked, without query and credentials.
    pub from: String,
    /// The place that answered, without query and credentials.
    pub to: String,
}

impl Signs {
    /// Reads the headers of an answer. A good one may be had again at once, whatever `Retry-After` says beside it: that has a
    /// meaning only where something was refused (RFC 9110, 10.2.3).
    pub(super) fn read(status: StatusCode, headers: &HeaderMap, now: Timestamp) -> Self {
        let text = |name: &str| headers.get(name).and_then(|it| it.to_str().ok());
        let quota = QUOTAS.iter().find_map(|[limit, remaining, reset]| {
            let reset = text(reset).map(|it| absolute(it, now));
            Quota::read(text(limit), text(remaining)?, reset.as_deref())
        });
        let is_refused = status.is_client_error() || status.is_server_error();
        let retry = text(RETRY_AFTER.as_str()).filter(|_| is_refused);
        let retry = retry.and_then(|it| retry_after(it, now));
        Self {
            quota,
            retry_after: retry,
            moved: None,
        }
    }

    /// Adds the signs of a later answer of the same host.
    #[must_use]
    pub fn then(self, later: Self) -> Self {
        Self {
            quota: later.quota.or(self.quota),
            retry_after: later.retry_after.max(self.retry_after),
            moved: self.moved.or(later.moved),
        }
    }

    /// Tells whether the host says that there were too many requests.
    pub(crate) fn is_limited(&self) -> bool {
        self.retry_after.is_some() || self.quota.is_some_and(|it| it.remaining == 0)
    }
}

/// Returns the time of a reset in seconds since 1970, which some hosts tell in seconds from now.
fn absolute(reset: &str, now: Timestamp) -> String {
    match reset.trim().parse::<i64>() {
        Ok(seconds) if (0..MAX_RELATIVE).contains(&seconds) => now
            .checked_add(SignedDuration::from_secs(seconds))
            .unwrap_or(Timestamp::MAX)
            .as_second()
            .to_string(),
        _ => reset.to_owned(),
    }
}

/// Returns a URL as it may be shown: without query, fragment and credentials.
pub(crate) fn shown(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    let port = url.port().map(|it| format!(":{it}")).unwrap_or_default();
    format!("{}://{host}{port}{}", url.scheme(), url.path())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signs(headers: &[(&'static str, &str)]) -> Signs {
        let now = Timestamp::from_second(1_800_000_000).unwrap();
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.insert(*name, value.parse().unwrap());
        }
        Signs::read(StatusCode::TOO_MANY_REQUESTS, &map, now)
    }

    #[test]
    fn quotas_of_different_hosts_are_read() {
        let at = |second| Timestamp::from_second(second).ok();
        for (headers, limit, remaining, reset) in [
            (
                &[
                    ("x-ratelimit-limit", "5000"),
                    ("x-ratelimit-remaining", "0"),
                    ("x-ratelimit-reset", "1800000600"),
                ][..],
                5000,
                0,
                at(1_800_000_600),
            ),
            (
                &[
                    ("ratelimit-limit", "100;w=21600"),
                    ("ratelimit-remaining", "76;w=21600"),
                ],
                100,
                76,
                None,
            ),
            (
                &[
                    ("ratelimit-limit", "600"),
                    ("ratelimit-remaining", "599"),
                    ("ratelimit-reset", "30"),
                ],
                600,
                599,
                at(1_800_000_030),
            ),
            (
                &[
                    ("x-ratelimit-remaining", "0"),
                    ("x-ratelimit-reset", "1800000600"),
                ],
                0,
                0,
                at(1_800_000_600),
            ),
        ] {
            let expected = Quota {
                limit,
                remaining,
                reset,
            };
            assert_eq!(signs(headers).quota, Some(expected), "{headers:?}");
        }
        assert_eq!(signs(&[("x-ratelimit-limit", "5000")]), Signs::default());
        assert_eq!(signs(&[("retry-after", "soon")]), Signs::default());
    }

    #[test]
    fn later_signs_count_more_and_waits_are_not_forgotten() {
        let early = signs(&[("retry-after", "30")]);
        let late = signs(&[
            ("retry-after", "10"),
            ("x-ratelimit-limit", "9"),
            ("x-ratelimit-remaining", "8"),
        ]);
        let both = early.clone().then(late.clone());
        assert_eq!(both.retry_after, early.retry_after);
        assert_eq!(both.quota, late.quota);
    }

    #[test]
    fn shown_url_has_neither_query_nor_credentials() {
        let url = Url::parse("https://bot:s3cret@example.org:8443/a/b?token=s3cret#x").unwrap();
        assert_eq!(shown(&url), "https://example.org:8443/a/b");
    }
}
