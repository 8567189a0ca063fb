//! A double of GitHub's REST API, as far as files are followed with it.
//!
//! It counts requests by token, knows which token may read what, answers 404 where a token may not, and sends renamed
//! repositories elsewhere. An ETag is good for one token only, except the id of a commit, which is one for everybody.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;
use sha2::{Digest as _, Sha256};

use super::{Recorded, Reply, Server};

/// The requests that are left to a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// All of them.
    pub limit: u64,
    /// Those that are left.
    pub remaining: u64,
    /// The time at which all of them are there again, in seconds since 1970.
    pub reset: i64,
}

#[derive(Debug, Default)]
struct State {
    repositories: BTreeMap<String, Repository>,
    /// By token; the empty one is nobody.
    limits: BTreeMap<String, Limit>,
    /// Says whether errors repeat what was sent.
    echoes: bool,
}

#[derive(Debug, Default)]
struct Repository {
    number: usize,
    /// The tokens that may read it; nothing if everybody may.
    readers: Option<Vec<String>>,
    /// The name under which it was known before.
    old_name: Option<String>,
    /// Commits by `HEAD`, `heads/NAME` and `tags/NAME`.
    references: BTreeMap<String, String>,
    /// Contents by commit and path.
    files: BTreeMap<(String, String), Vec<u8>>,
}

/// A GitHub.
#[derive(Debug)]
pub struct GitHub {
    /// The server, which knows all requests.
    pub server: Server,
    state: Arc<Mutex<State>>,
}

impl GitHub {
    /// Starts one that has nothing.
    pub fn start() -> Self {
        let state = Arc::new(Mutex::new(State::default()));
        let shared = state.clone();
        let server = Server::start(move |request| shared.lock().answer(request));
        Self { server, state }
    }

    /// Returns the base of its API.
    pub fn api(&self) -> String {
        self.server.url()
    }

    /// Adds a repository, `OWNER/NAME`, that these tokens may read; everybody may if there are none.
    pub fn add(&self, name: &str, readers: &[&str]) {
        let mut state = self.state.lock();
        let readers = readers.iter().map(|it| (*it).to_owned());
        let readers: Vec<_> = readers.collect();
        let number = state.repositories.len() + 1;
        let repository = Repository {
            number,
            readers: (!readers.is_empty()).then_some(readers),
            ..Repository::default()
        };
        state.repositories.insert(name.to_owned(), repository);
    }

    /// Lets another token read a repository, instead of those that could.
    ///
    /// # Panics
    ///
    /// If there is no such repository.
    pub fn set_readers(&self, name: &str, readers: &[&str]) {
        let mut state = self.state.lock();
        let repository = state.repositories.get_mut(name).expect("it was added");
        repository.readers = Some(readers.iter().map(|it| (*it).to_owned()).collect());
    }

    /// Sets references (`HEAD`, `heads/NAME`, `tags/NAME`) to a commit with these files.
    ///
    /// # Panics
    ///
    /// If there is no such repository.
    pub fn commit(&self, name: &str, references: &[&str], commit: &str, files: &[(&str, &[u8])]) {
        let mut state = self.state.lock();
        let repository = state.repositories.get_mut(name).expect("it was added");
        for reference in references {
            let reference = (*reference).to_owned();
            repository.references.insert(reference, commit.to_owned());
        }
        for (path, content) in files {
            let key = (commit.to_owned(), (*path).to_owned());
            repository.files.insert(key, content.to_vec());
        }
    }

    /// Renames a repository; the old name leads to the new one.
    ///
    /// # Panics
    ///
    /// If there is no such repository.
    pub fn rename(&self, old: &str, new: &str) {
        let mut state = self.state.lock();
        let mut repository = state.repositories.remove(old).expect("it was added");
        repository.old_name = Some(old.to_owned());
        state.repositories.insert(new.to_owned(), repository);
    }

    /// Limits a token; the empty one is nobody.
    pub fn limit(&self, token: &str, limit: Limit) {
        self.state.lock().limits.insert(token.to_owned(), limit);
    }

    /// Returns what is left to a token.
    pub fn remaining(&self, token: &str) -> Option<u64> {
        self.state.lock().limits.get(token).map(|it| it.remaining)
    }

    /// Lets errors repeat what was sent.
    pub fn echo(&self) {
        self.state.lock().echoes = true;
    }
}

impl State {
    fn answer(&mut self, request: &Recorded) -> Reply {
        let authorization = request.header("authorization").unwrap_or_default();
        let token = authorization.strip_prefix("Bearer ").unwrap_or_default();
        let token = token.to_owned();
        let exhausted = self.limits.get(&token).is_some_and(|it| it.remaining == 0);
        let mut reply = match exhausted {
            true => self.problem(403, "API rate limit exceeded", request),
            false => self.route(request, &token),
        };
        if let Some(limit) = self.limits.get_mut(&token) {
            // What is not modified costs nothing.
            if !exhausted && reply.status != 304 {
                limit.remaining -= 1;
            }
            for (name, value) in [
                ("x-ratelimit-limit", limit.limit.to_string()),
                ("x-ratelimit-remaining", limit.remaining.to_string()),
                ("x-ratelimit-reset", limit.reset.to_string()),
            ] {
                reply = reply.header(name, value);
            }
        }
        reply
    }

    fn route(&self, request: &Recorded, token: &str) -> Reply {
        let missing = || self.problem(404, "Not Found", request);
        let is_known = |it: &Repository| {
            let readers = it.readers.as_ref();
            readers.is_some_and(|it| it.iter().any(|reader| reader == token))
        };
        if !token.is_empty() && !self.repositories.values().any(is_known) {
            return self.problem(401, "Bad credentials", request);
        }
        let Some((repository, rest)) = self.find(&request.path) else {
            return match self.find_renamed(request) {
                Some(location) => Reply::new(301).header("location", location),
                None => missing(),
            };
        };
        let readers = repository.readers.as_ref();
        if readers.is_some_and(|it| !it.iter().any(|reader| reader == token)) {
            return missing();
        }
        if let Some(reference) = rest.strip_prefix("/commits/") {
            return match repository.commit(reference) {
                Some(commit) => commit_reply(commit, request, token),
                None => self.problem(422, "No commit found for SHA", request),
            };
        }
        let path = rest.strip_prefix("/contents/");
        let reference = request.parameter("ref");
        match path.zip(reference) {
            Some((path, reference)) => repository.content(&reference, path).unwrap_or_else(missing),
            None => missing(),
        }
    }

    /// Finds a repository by its name or its number, and the rest of the path.
    fn find<'a>(&self, path: &'a str) -> Option<(&Repository, &'a str)> {
        self.repositories.iter().find_map(|(name, repository)| {
            let by_name = format!("/repos/{name}");
            let by_number = format!("/repositories/{}", repository.number);
            let rest = path.strip_prefix(&*by_name);
            let rest = rest.or_else(|| path.strip_prefix(&*by_number))?;
            rest.starts_with('/').then_some((repository, rest))
        })
    }

    fn find_renamed(&self, request: &Recorded) -> Option<String> {
        self.repositories.values().find_map(|repository| {
            let old = format!("/repos/{}/", repository.old_name.as_ref()?);
            let rest = request.path.strip_prefix(&*old)?;
            let query = match request.query.as_str() {
                "" => String::new(),
                query => format!("?{query}"),
            };
            Some(format!("/repositories/{}/{rest}{query}", repository.number))
        })
    }

    fn problem(&self, status: u16, message: &str, request: &Recorded) -> Reply {
        let authorization = request.header("authorization").unwrap_or_default();
        let echo = if self.echoes { authorization } else { "" };
        let body = serde_json::json!({"message": message, "sent": echo});
        Reply::new(status)
            .header("content-type", "application/json; charset=utf-8")
            .body(body.to_string())
    }
}

impl Repository {
    fn commit(&self, reference: &str) -> Option<&str> {
        let found = self.references.get(reference);
        let is_commit = || self.references.values().find(|it| *it == reference);
        found.or_else(is_commit).map(String::as_str)
    }

    fn content(&self, commit: &str, path: &str) -> Option<Reply> {
        let key = (commit.to_owned(), path.to_owned());
        if let Some(content) = self.files.get(&key) {
            let kind = "application/vnd.github.raw+json; charset=utf-8";
            let reply = Reply::new(200).header("content-type", kind);
            return Some(reply.body(content.clone()));
        }
        let below = format!("{path}/");
        let mut files = self.files.keys();
        let is_directory = files.any(|(at, file)| at == commit && file.starts_with(&below));
        is_directory.then(|| {
            Reply::new(200)
                .header("content-type", "application/json; charset=utf-8")
                .body("[]")
        })
    }
}

/// Answers with a commit. Its own id is an ETag for everybody; any other one is good for one token.
fn commit_reply(commit: &str, request: &Recorded, token: &str) -> Reply {
    let is_short = request.header("accept") == Some("application/vnd.github.sha");
    let own: String = Sha256::digest(format!("{token} {commit}"))[..8]
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let tags = match is_short {
        true => vec![format!("\"{commit}\""), format!("\"{own}\"")],
        false => vec![format!("\"{own}\"")],
    };
    let known = request.header("if-none-match").unwrap_or_default();
    let reply = Reply::new(if tags.iter().any(|it| it == known) {
        304
    } else {
        200
    });
    let reply = reply.header("etag", tags[0].as_str());
    match reply.status {
        304 => reply,
        _ => reply
            .header("content-type", "application/vnd.github.sha; charset=utf-8")
            .body(commit),
    }
}
