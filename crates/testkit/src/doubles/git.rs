//! A double of a host of git repositories, cheap enough to hold thousands of them and to be asked often.
//!
//! It speaks version 2 of git's protocol over HTTP, and only as far as somebody reads: references, whole repositories and
//! single objects. A repository has one commit with one file.

mod objects;
mod packet;

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;

use self::objects::Repository;
use self::packet::{flush, lines, write_band, write_line};
use super::{Recorded, Reply, Server};

/// The references of every repository; the first one stands for the other.
const REFERENCES: [&str; 2] = ["HEAD", "refs/heads/main"];
/// The tails of the URLs that are asked.
const INFO_REFS: &str = "/info/refs";
const UPLOAD_PACK: &str = "/git-upload-pack";

type Repositories = HashMap<String, Repository>;

/// A host of repositories.
#[derive(Debug)]
pub struct GitHost {
    /// The server, which knows all requests.
    pub server: Server,
    repositories: Arc<Mutex<Repositories>>,
}

impl GitHost {
    /// Starts one that has nothing.
    pub fn start() -> Self {
        let repositories = Arc::new(Mutex::new(Repositories::new()));
        let shared = repositories.clone();
        let server = Server::start(move |request| answer(&shared.lock(), request));
        Self {
            server,
            repositories,
        }
    }

    /// Returns its host and port.
    pub fn host(&self) -> String {
        self.server.address.to_string()
    }

    /// Returns the URL of a repository, `OWNER/NAME`.
    pub fn url(&self, name: &str) -> String {
        format!("{}/{name}", self.server.url())
    }

    /// Adds a repository, `OWNER/NAME`, whose one file lies at its top, or replaces it; returns its commit.
    pub fn add(&self, name: &str, file: &str, content: &[u8]) -> String {
        let repository = Repository::new(file, content);
        let commit = repository.commit().to_owned();
        self.repositories.lock().insert(name.to_owned(), repository);
        commit
    }
}

fn answer(repositories: &Repositories, request: &Recorded) -> Reply {
    let path = request.path.trim_start_matches('/');
    let (name, is_advertisement) =
        match (path.strip_suffix(INFO_REFS), path.strip_suffix(UPLOAD_PACK)) {
            (Some(name), _) => (name, true),
            (_, Some(name)) => (name, false),
            _ => return Reply::new(404),
        };
    let name = name.strip_suffix(".git").unwrap_or(name);
    let Some(repository) = repositories.get(name) else {
        return Reply::new(404);
    };
    if is_advertisement {
        return reply("advertisement", advertisement());
    }
    let Some(lines) = lines(&request.body) else {
        return Reply::new(400);
    };
    match lines.first() {
        Some(&"command=ls-refs") => reply("result", list(repository, &lines)),
        Some(&"command=fetch") => fetch(repository, &lines),
        _ => Reply::new(400),
    }
}

fn reply(kind: &str, body: Vec<u8>) -> Reply {
    let media_type = format!("application/x-git-upload-pack-{kind}");
    Reply::new(200)
        .header("content-type", media_type)
        .header("cache-control", "no-cache")
        .body(body)
}

fn advertisement() -> Vec<u8> {
    let mut body = Vec::new();
    write_line(&mut body, "# service=git-upload-pack");
    flush(&mut body);
    for line in [
        "version 2",
        "agent=double",
        "ls-refs",
        "fetch=shallow filter",
        "object-format=sha1",
    ] {
        write_line(&mut body, line);
    }
    flush(&mut body);
    body
}

fn list(repository: &Repository, lines: &[&str]) -> Vec<u8> {
    let prefixes = lines.iter().filter_map(|it| it.strip_prefix("ref-prefix "));
    let prefixes: Vec<_> = prefixes.collect();
    let mut body = Vec::new();
    for name in REFERENCES {
        if prefixes.is_empty() || prefixes.iter().any(|it| name.starts_with(it)) {
            write_line(&mut body, &format!("{} {name}", repository.commit()));
        }
    }
    flush(&mut body);
    body
}

/// Sends the objects that are wanted; with all that they refer to, unless the client does without.
fn fetch(repository: &Repository, lines: &[&str]) -> Reply {
    let wanted = lines.iter().filter_map(|it| it.strip_prefix("want "));
    let wanted: Vec<_> = wanted.collect();
    let is_alone = lines.contains(&"filter tree:0");
    let Some(pack) = repository.pack(&wanted, is_alone) else {
        return Reply::new(404);
    };
    let mut body = Vec::new();
    write_line(&mut body, "packfile");
    write_band(&mut body, &pack);
    flush(&mut body);
    reply("result", body)
}
