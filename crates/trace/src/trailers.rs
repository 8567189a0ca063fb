//! Trailers of commits: which events and which sources a commit of manifests is made of.

use crate::commit::{CommitHash, SourceCommit};

/// The key of an event, by its id; one trailer each.
pub const EVENT: &str = "Pathline-Event";
/// The key of a commit that something was built from; one trailer each.
pub const SOURCE: &str = "Pathline-Source";
/// PipeCD's key of the hash that triggered a commit. It reads the first one.
pub const PIPECD: &str = "Pipecd-Dev-Trace-Trigger-Commit-Hash";
/// Argo CD's keys of the commit that a hydrated one refers to: they begin like this.
const ARGO_CD: &str = "Argocd-reference-commit-";

/// An event that a commit carries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Carried {
    /// The id of the event.
    pub event: String,
    /// The commit that it was registered for.
    pub source: Option<Source>,
}

/// The commit of an event, as far as other tools want to know it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// The commit.
    pub commit: SourceCommit,
    /// The address of its repository.
    pub repository_url: Option<String>,
    /// The author.
    pub author: Option<String>,
    /// The first line of its message.
    pub title: Option<String>,
}

/// Returns the trailers, as keys and values, of a commit that carries events; the newest event comes last.
///
/// Each event and each source has its own. PipeCD takes the first hash that it reads and Argo CD knows one
/// reference only, so the newest is first for the one and alone for the other.
#[must_use]
pub fn of_events(events: &[Carried]) -> Vec<(String, String)> {
    let mut all: Vec<(String, String)> = Vec::new();
    let mut add = |key: &str, value: String| {
        let trailer = (key.to_owned(), value);
        if !all.contains(&trailer) {
            all.push(trailer);
        }
    };
    for carried in events {
        add(EVENT, carried.event.clone());
    }
    let sources = || events.iter().filter_map(|it| it.source.as_ref());
    for source in sources() {
        add(SOURCE, source.commit.to_string());
    }
    for source in sources().rev() {
        add(PIPECD, source.commit.hash.to_string());
    }
    if let Some(newest) = sources().next_back() {
        let parts = [
            ("author", newest.author.clone()),
            ("repourl", newest.repository_url.clone()),
            ("sha", Some(newest.commit.hash.to_string())),
            ("subject", newest.title.clone()),
        ];
        for (part, value) in parts {
            if let Some(value) = value.map(|it| one_line(&it)).filter(|it| !it.is_empty()) {
                add(&format!("{ARGO_CD}{part}"), value);
            }
        }
    }
    all
}

/// Returns a text as one line, without control characters: a line break in a value would be another trailer.
fn one_line(text: &str) -> String {
    let words = text.split(|it: char| it.is_whitespace() || it.is_control());
    let words: Vec<&str> = words.filter(|it| !it.is_empty()).collect();
    words.join(" ")
}

/// Tells whether a key is ours or another tool's, so that nobody else may bring it.
#[must_use]
pub fn is_reserved(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    let begins = |with: &str| key.starts_with(&with.to_ascii_lowercase());
    begins("pathline-") || begins("pipecd-dev-trace-") || begins(ARGO_CD)
}

/// The claims of the trailers of a commit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Claims {
    /// The ids of events, in their order.
    pub events: Vec<String>,
    /// The commits that it is made of, with their repositories.
    pub sources: Vec<SourceCommit>,
    /// Hashes of commits of some repository or other, that no source names.
    pub hashes: Vec<CommitHash>,
}

/// Reads the trailers of a commit, given as keys and values. What is not understood is passed over:
/// anybody may have written it.
#[must_use]
pub fn read<'t>(trailers: impl IntoIterator<Item = (&'t str, &'t str)>) -> Claims {
    let mut claims = Claims::default();
    let mut hashes: Vec<CommitHash> = Vec::new();
    let (mut reference, mut address) = (None, None);
    for (key, value) in trailers {
        let is = |known: &str| key.eq_ignore_ascii_case(known);
        let is_argo_cd = |part: &str| is(&format!("{ARGO_CD}{part}"));
        if is(EVENT) {
            push_new(&mut claims.events, Some(value.trim().to_owned()));
        } else if is(SOURCE) {
            push_new(&mut claims.sources, value.trim().parse().ok());
        } else if is(PIPECD) {
            push_new(&mut hashes, value.trim().parse().ok());
        } else if is_argo_cd("sha") {
            reference = value.trim().parse::<CommitHash>().ok();
        } else if is_argo_cd("repourl") {
            address = Some(value.trim());
        }
    }
    match (reference, address) {
        (Some(hash), Some(address)) => {
            let repository = pathline_lineage::RepositoryId::of(address);
            push_new(&mut claims.sources, Some(SourceCommit { repository, hash }));
        }
        (Some(hash), None) => push_new(&mut hashes, Some(hash)),
        (None, _) => {}
    }
    let is_named = |hash: &CommitHash| claims.sources.iter().any(|it| it.hash == *hash);
    hashes.retain(|it| !is_named(it));
    claims.hashes = hashes;
    claims
}

/// Adds what is not there yet.
fn push_new<T: PartialEq>(all: &mut Vec<T>, one: Option<T>) {
    if let Some(one) = one.filter(|it| !all.contains(it)) {
        all.push(one);
    }
}
