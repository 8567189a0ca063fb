//! Validation: the texts that an event may hold.

use std::collections::BTreeMap;
use std::fmt;

use jiff::{SignedDuration, Timestamp};
use pathline_lineage::RepositoryId;

use super::{Event, SentEvent, TriggerCommit};
use crate::commit::{CommitHash, SourceCommit};
use crate::{commit_url, trailers};

/// The longest name, key of a label, context or value.
const MAX_NAME: usize = 253;
/// The longest value, title, author or address.
const MAX_VALUE: usize = 4 << 10;
/// The longest message of a commit.
const MAX_MESSAGE: usize = 64 << 10;
/// The most labels, contexts or values.
const MAX_ENTRIES: usize = 64;
/// The time by which a clock may be ahead.
const MAX_AHEAD: SignedDuration = SignedDuration::from_hours(24);

/// Something that is wrong with a field.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field}: {message}")]
pub struct Problem {
    /// The field, as it is written in JSON.
    pub field: String,
    /// The complaint, and what to do.
    pub message: String,
}

/// Returns the event that somebody sends, or everything that is wrong with it.
///
/// # Errors
/// Lists all problems.
pub fn validate(sent: SentEvent, now: Timestamp) -> Result<Event, Vec<Problem>> {
    let mut problems = Problems::default();
    problems.check_name("name", &sent.name);
    problems.check_value("data", &sent.data);
    for (field, entries) in [
        ("labels", &sent.labels),
        ("contexts", &sent.contexts),
        ("values", &sent.values),
    ] {
        problems.check_entries(field, entries);
    }
    for key in sent.contexts.keys() {
        problems.check_context(key);
    }
    let commit = commit_of(&sent, now, &mut problems);
    if !problems.0.is_empty() {
        return Err(problems.0);
    }
    Ok(Event {
        name: sent.name,
        data: sent.data,
        labels: sent.labels,
        contexts: sent.contexts,
        values: sent.values,
        commit,
        pull_request: sent.pull_request,
    })
}

fn commit_of(sent: &SentEvent, now: Timestamp, problems: &mut Problems) -> Option<TriggerCommit> {
    for (field, text, limit) in [
        ("commitTitle", &sent.commit_title, MAX_VALUE),
        ("commitAuthor", &sent.commit_author, MAX_VALUE),
        ("commitUrl", &sent.commit_url, MAX_VALUE),
        ("repository", &sent.repository, MAX_VALUE),
    ] {
        problems.check_line(field, text.as_deref().unwrap_or_default(), limit);
    }
    problems.check_message(sent.commit_message.as_deref().unwrap_or_default());
    let time = sent.commit_timestamp.and_then(|it| problems.time(it, now));
    let page = sent.commit_url.as_deref().and_then(|it| {
        let read = commit_url::read(it);
        read.map_err(|error| problems.add("commitUrl", &error)).ok()
    });
    let given = sent.commit_hash.as_deref().and_then(|it| {
        let read = it.parse::<CommitHash>();
        read.map_err(|error| problems.add("commitHash", &error))
            .ok()
    });
    let repository = sent
        .repository
        .as_deref()
        .and_then(|it| problems.repository(it));
    let hash = match (given, page.as_ref()) {
        (Some(given), Some(page)) if page.hash != given => {
            let message = format!(
                "it is the page of {}, and `commitHash` another one",
                page.hash
            );
            problems.add("commitUrl", &message);
            return None;
        }
        (Some(given), _) => given,
        (None, Some(page)) => page.hash.clone(),
        (None, None) => return None,
    };
    let Some(repository) = repository.or_else(|| page.map(|it| it.repository)) else {
        if sent.commit_url.is_none() && sent.repository.is_none() {
            let message = "of which repository? Give `commitUrl`, the page of the commit, or `repository`, its address";
            problems.add("commitHash", &message);
        }
        return None;
    };
    Some(TriggerCommit {
        commit: SourceCommit { repository, hash },
        url: sent.commit_url.clone(),
        repository_url: sent.repository.clone(),
        title: sent.commit_title.clone(),
        message: sent.commit_message.clone(),
        author: sent.commit_author.clone(),
        time,
    })
}

#[derive(Default)]
struct Problems(Vec<Problem>);

impl Problems {
    fn add(&mut self, field: &str, message: &dyn fmt::Display) {
        self.0.push(Problem {
            field: field.to_owned(),
            message: message.to_string(),
        });
    }

    fn check_name(&mut self, field: &str, text: &str) {
        self.check_value(field, text);
        if text.len() > MAX_NAME {
            self.add(
                field,
                &format!("it has {} bytes, {MAX_NAME} at most are taken", text.len()),
            );
        }
    }

    fn check_value(&mut self, field: &str, text: &str) {
        if text.is_empty() {
            self.add(field, &"it is empty");
        }
        self.check_line(field, text, MAX_VALUE);
    }

    /// A line break in a value would be another line of a file or another trailer.
    fn check_line(&mut self, field: &str, text: &str, limit: usize) {
        if text.chars().any(char::is_control) {
            self.add(field, &"it has a line break or another control character");
        }
        if text.len() > limit {
            self.add(
                field,
                &format!("it has {} bytes, {limit} at most are taken", text.len()),
            );
        }
    }

    fn check_message(&mut self, text: &str) {
        let is_control = |it: char| it.is_control() && !matches!(it, '\n' | '\r' | '\t');
        if text.chars().any(is_control) {
            self.add("commitMessage", &"it has a control character");
        }
        if text.len() > MAX_MESSAGE {
            let message = format!(
                "it has {} bytes, {MAX_MESSAGE} at most are taken",
                text.len()
            );
            self.add("commitMessage", &message);
        }
    }

    fn check_entries(&mut self, field: &str, entries: &BTreeMap<String, String>) {
        if entries.len() > MAX_ENTRIES {
            self.add(
                field,
                &format!(
                    "there are {}, {MAX_ENTRIES} at most are taken",
                    entries.len()
                ),
            );
        }
        for (key, value) in entries.iter().take(MAX_ENTRIES) {
            self.check_name(&format!("{field}.{key:?}"), key);
            self.check_value(&format!("{field}.{key:?}"), value);
        }
    }

    /// A context becomes a trailer.
    fn check_context(&mut self, key: &str) {
        let is_part =
            |it: &str| !it.is_empty() && it.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if !key.split('-').all(is_part) {
            let message =
                "the key of a trailer has letters and digits, with single dashes between them";
            self.add(&format!("contexts.{key:?}"), &message);
        }
        if trailers::is_reserved(key) {
            let message = "this key is written by Pathline itself; choose another one";
            self.add(&format!("contexts.{key:?}"), &message);
        }
    }

    fn time(&mut self, seconds: i64, now: Timestamp) -> Option<Timestamp> {
        let time = Timestamp::from_second(seconds)
            .ok()
            .filter(|_| seconds >= 0);
        let Some(time) = time else {
            self.add(
                "commitTimestamp",
                &"it is not a time since 1970, in seconds",
            );
            return None;
        };
        let is_ahead = now.checked_add(MAX_AHEAD).is_ok_and(|limit| time > limit);
        if is_ahead {
            self.add(
                "commitTimestamp",
                &format!("{time} is more than a day ahead; it is told in seconds"),
            );
        }
        (!is_ahead).then_some(time)
    }

    fn repository(&mut self, address: &str) -> Option<RepositoryId> {
        let id = RepositoryId::of(address);
        let scheme = address
            .split_once("://")
            .map(|(scheme, _)| scheme.to_ascii_lowercase());
        let is_known = match scheme.as_deref() {
            Some(scheme) => ["http", "https", "ssh", "git", "file"].contains(&scheme),
            // `git@host:path`, or a path of this machine.
            None => !address.contains([' ', '\\']) && !address.starts_with("javascript:"),
        };
        let path = id.as_str().split_once('/').map_or("", |(_, path)| path);
        if !is_known || path.is_empty() {
            let message =
                "it is not the address of a repository, like https://git.example.org/shop/web";
            self.add("repository", &message);
            return None;
        }
        Some(id)
    }
}
