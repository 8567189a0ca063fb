//! Pages of commits on the web: which repository, which hash.

use pathline_lineage::RepositoryId;
use url::Url;

use crate::commit::{NotAHash, SourceCommit};

/// Reads the address of the page of a commit, as GitHub, GitLab, Gitea and Bitbucket have it.
///
/// ```
/// use pathline_trace::commit_url;
///
/// let hash = "8f1c2e7a90b5c1d2e3f405162738495a6b7c8d9e";
/// let commit = commit_url::read(&format!("https://gitlab.example/group/sub/app/-/commit/{hash}"))?;
/// assert_eq!(commit.repository.as_str(), "gitlab.example/group/sub/app");
/// assert_eq!(commit.hash.as_str(), hash);
/// # Ok::<(), commit_url::NotAPage>(())
/// ```
///
/// # Errors
/// If it is not an address of http or https, or not that of a commit.
pub fn read(text: &str) -> Result<SourceCommit, NotAPage> {
    let url = Url::parse(text).map_err(|_| NotAPage::Address)?;
    if !["http", "https"].contains(&url.scheme()) || text.chars().any(char::is_control) {
        return Err(NotAPage::Address);
    }
    let segments: Vec<&str> = url.path_segments().into_iter().flatten().collect();
    let is_mark = |it: &&str| ["commit", "commits"].contains(it);
    let mark = segments.iter().rposition(is_mark).ok_or(NotAPage::Form)?;
    let hash = segments.get(mark + 1).ok_or(NotAPage::Form)?.parse()?;
    let path = match &segments[..mark] {
        [path @ .., "-"] | path => path,
    };
    if path.is_empty() || path.iter().any(|it| it.is_empty()) {
        return Err(NotAPage::Form);
    }
    let mut repository = url.clone();
    repository.set_path(&path.join("/"));
    repository.set_query(None);
    repository.set_fragment(None);
    Ok(SourceCommit {
        repository: RepositoryId::of(repository.as_str()),
        hash,
    })
}

/// Says why an address is not that of the page of a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotAPage {
    /// It is none of http or https.
    #[error("it must begin with https:// or http://")]
    Address,
    /// It is that of another page.
    #[error(
        "it names no commit: https://HOST/REPOSITORY/commit/HASH is expected; give `repository` where the host has other pages"
    )]
    Form,
    /// The hash is none.
    #[error(transparent)]
    Hash(#[from] NotAHash),
}

/// Returns the address of the page of a commit, if the address of its repository tells a host.
///
/// ```
/// use pathline_trace::commit_url::page;
///
/// let address = page("git@github.com:org/repo.git", "abc");
/// assert_eq!(address.as_deref(), Some("https://github.com/org/repo/commit/abc"));
/// ```
#[must_use]
pub fn page(repository: &str, hash: &str) -> Option<String> {
    let scheme = match repository.trim().split_once("://") {
        Some(("http", _)) => "http",
        Some(("https" | "ssh" | "git", _)) => "https",
        // As git has it, only what follows a host and a colon is on another machine.
        None if repository.contains('@') && repository.contains(':') => "https",
        Some(_) | None => return None,
    };
    let id = RepositoryId::of(repository);
    let (host, path) = id
        .as_str()
        .split_once('/')
        .filter(|(host, _)| !host.is_empty())?;
    let word = match host {
        "bitbucket.org" => "commits",
        _ => "commit",
    };
    (!path.is_empty()).then(|| format!("{scheme}://{host}/{path}/{word}/{hash}"))
}
