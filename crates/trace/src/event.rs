//! Events: somebody says that something was built.

mod key;
mod validate;

use std::collections::BTreeMap;

use jiff::Timestamp;

pub use self::key::EventKey;
pub use self::validate::{Problem, validate};
use crate::commit::SourceCommit;

/// An event as somebody sends it; nothing of it is trusted.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct SentEvent {
    /// The name that subscriptions match.
    pub name: String,
    /// The value that is written into files.
    pub data: String,
    /// Labels that subscriptions match, too.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// More trailers of the commits that carry it.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub contexts: BTreeMap<String, String>,
    /// More values, by the names that replacements know them by.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub values: BTreeMap<String, String>,
    /// The hash of the commit that it was built from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit_hash: Option<String>,
    /// The address of the page of that commit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit_url: Option<String>,
    /// The address of its repository.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repository: Option<String>,
    /// The first line of its message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit_title: Option<String>,
    /// Its message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit_message: Option<String>,
    /// Its author.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit_author: Option<String>,
    /// The time at which it was made, in seconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit_timestamp: Option<i64>,
    /// The number of the pull request that it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pull_request: Option<u64>,
}

/// An event that can be registered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// The name.
    pub name: String,
    /// The value.
    pub data: String,
    /// Labels.
    pub labels: BTreeMap<String, String>,
    /// More trailers.
    pub contexts: BTreeMap<String, String>,
    /// More values.
    pub values: BTreeMap<String, String>,
    /// The commit that it was built from.
    pub commit: Option<TriggerCommit>,
    /// The number of its pull request.
    pub pull_request: Option<u64>,
}

impl Event {
    /// Returns the key by which subscriptions match it.
    #[must_use]
    pub fn key(&self) -> EventKey {
        EventKey::of(&self.name, &self.labels)
    }

    /// Returns the value that a replacement writes: the one it names, or the event's own.
    #[must_use]
    pub fn value(&self, key: Option<&str>) -> Option<&str> {
        match key {
            None => Some(&self.data),
            Some(key) => self.values.get(key).map(String::as_str),
        }
    }
}

/// The commit that an event was built from, and what is told of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TriggerCommit {
    /// The commit.
    pub commit: SourceCommit,
    /// The address of its page.
    pub url: Option<String>,
    /// The address of its repository.
    pub repository_url: Option<String>,
    /// The first line of its message.
    pub title: Option<String>,
    /// Its message.
    pub message: Option<String>,
    /// Its author.
    pub author: Option<String>,
    /// The time at which it was made.
    pub time: Option<Timestamp>,
}
