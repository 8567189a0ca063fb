//! Questions about a file, and the answers.

use reqwest::Url;

use crate::Secret;

/// A file of a repository, and how it may be asked for.
#[derive(Clone, Debug)]
pub struct SourceRequest {
    /// The repository: `https://`, `http://`, `ssh://` or `file:///`, without credentials.
    pub url: String,
    /// The commit that is followed.
    pub reference: SourceReference,
    /// The path of the file, from the top of the repository.
    pub path: String,
    /// The token; it is sent to the repository's own host only, and without TLS only if that is allowed.
    pub secret: Option<Secret>,
    /// The base of the REST API, where the host is a GitHub.
    pub github_api: Option<Url>,
    /// Says whether the host may be asked without TLS.
    pub allow_http: bool,
}

/// Names the commit that is followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SourceReference {
    /// The default branch.
    Head,
    /// The tip of a branch, by its short name.
    Branch(String),
    /// A tag, by its short name; an annotated one stands for the commit it names.
    Tag(String),
    /// A commit by its full id, which never moves.
    Commit(String),
}

/// The state of a file that the caller has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Known {
    /// The commit.
    pub commit: String,
    /// The id of the file's content in it; nothing if it has no such file.
    pub blob: Option<String>,
}

/// The state of a file, as far as it is news.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SourceAnswer {
    /// The commit is the known one.
    Unchanged,
    /// The commit is another one, with the same file.
    Moved {
        /// The commit.
        commit: String,
        /// The id of the content.
        blob: String,
    },
    /// The file is another one, or was not known.
    Read {
        /// The commit.
        commit: String,
        /// The id of the content.
        blob: String,
        /// The content.
        content: Vec<u8>,
    },
}
