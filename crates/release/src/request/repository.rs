//! Repositories, and the hosts that they may be on.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::fields::Wrong;

/// The longest name of an owner, and of a repository.
const MAX_OWNER: usize = 39;
const MAX_NAME: usize = 100;

/// A repository, in its one spelling: `https://github.com/owner/name`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Repository {
    /// The scheme.
    pub scheme: Scheme,
    /// The host, with its port if it has one; empty for a directory.
    pub host: String,
    /// The path, without a slash at its ends.
    pub path: String,
}

/// The way in which a host is spoken to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scheme {
    /// Over TLS.
    Https,
    /// Without encryption.
    Http,
    /// Over SSH, as the user `git`.
    Ssh,
    /// On this machine.
    File,
}

/// A host from which repositories may be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host {
    /// The name, with the port if it is not the usual one; empty for directories.
    pub name: String,
    /// The ways in which it may be spoken to.
    pub schemes: Vec<Scheme>,
    /// Whether groups may be nested: more than an owner and a name.
    pub has_nested_groups: bool,
}

/// The hosts from which repositories may be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hosts(pub Vec<Host>);

impl Default for Hosts {
    /// Returns GitHub alone.
    fn default() -> Self {
        Self(vec![Host {
            name: "github.com".to_owned(),
            schemes: vec![Scheme::Https],
            has_nested_groups: false,
        }])
    }
}

impl Scheme {
    fn as_str(self) -> &'static str {
        match self {
            Self::Https => "https",
            Self::Http => "http",
            Self::Ssh => "ssh",
            Self::File => "file",
        }
    }
}

impl Repository {
    pub(super) fn parse(text: &str, hosts: &Hosts) -> Result<Self, Wrong> {
        let (scheme, rest) = match text.split_once("://") {
            None => ("https", format!("github.com/{text}")),
            Some((scheme, rest)) => (scheme, rest.to_owned()),
        };
        let scheme = match scheme.to_ascii_lowercase().as_str() {
            "https" => Scheme::Https,
            "http" => Scheme::Http,
            "ssh" => Scheme::Ssh,
            "file" => Scheme::File,
            _ => return Err(malformed()),
        };
        let (authority, path) = rest.split_once('/').ok_or_else(malformed)?;
        let authority = match authority.rsplit_once('@') {
            Some(("git", host)) if scheme == Scheme::Ssh => host,
            Some(_) => {
                let message = "a URL holds no credentials; there is `token` for them";
                return Err(("credentials-in-url", message.to_owned()));
            }
            None => authority,
        };
        if text.contains(['?', '#', '%', '\\']) || text.chars().any(char::is_control) {
            return Err(malformed());
        }
        let name = authority.to_ascii_lowercase();
        let found = hosts.0.iter().find(|it| it.name == name);
        let host = found.ok_or_else(|| ("unsupported-host", unknown_host(hosts)))?;
        if !host.schemes.contains(&scheme) {
            return Err(other_scheme(host, scheme));
        }
        let path = path.strip_suffix('/').unwrap_or(path);
        let path = match scheme {
            // Forges take both spellings for the same.
            Scheme::Https | Scheme::Http => path.strip_suffix(".git").unwrap_or(path),
            // Directories, here or over SSH, may have both names.
            Scheme::Ssh | Scheme::File => path,
        };
        if !is_path(path, scheme == Scheme::File, host.has_nested_groups) {
            return Err(malformed());
        }
        Ok(Self {
            scheme,
            host: name,
            path: path.to_owned(),
        })
    }
}

impl fmt::Display for Repository {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { host, path, .. } = self;
        match self.scheme {
            Scheme::Https => write!(f, "https://{host}/{path}"),
            Scheme::Http => write!(f, "http://{host}/{path}"),
            Scheme::Ssh => write!(f, "ssh://git@{host}/{path}"),
            Scheme::File => write!(f, "file:///{path}"),
        }
    }
}

fn unknown_host(hosts: &Hosts) -> String {
    let names = hosts.0.iter().map(|it| match it.name.as_str() {
        "" => "file",
        name => name,
    });
    let names = names.collect::<Vec<_>>().join(", ");
    format!(
        "the host is not configured; there is {names}. `hosts` in the file of `--config` adds others"
    )
}

fn other_scheme(host: &Host, scheme: Scheme) -> Wrong {
    let code = match scheme {
        Scheme::Http => "insecure-scheme",
        Scheme::Https | Scheme::Ssh | Scheme::File => "unsupported-host",
    };
    let names: Vec<_> = host.schemes.iter().map(|it| it.as_str()).collect();
    let names = names.join(", ");
    let message = format!(
        "the host is spoken to over {names} only; `schemes` of it in the file of `--config` adds others"
    );
    (code, message)
}

fn malformed() -> Wrong {
    let message = "a repository is `https://HOST/OWNER/NAME`, or `OWNER/NAME` on github.com";
    ("malformed", message.to_owned())
}

/// Tells whether a path names a repository: an owner and a name, a directory, or a name in nested groups.
fn is_path(path: &str, is_directory: bool, is_nested: bool) -> bool {
    let is_character = |it: char| it.is_ascii_alphanumeric() || "._-".contains(it);
    let is_segment = |it: &&str| {
        !it.is_empty()
            && *it != "."
            && *it != ".."
            && it.len() <= MAX_NAME
            && (is_directory || it.chars().all(is_character))
    };
    let segments: Vec<&str> = path.split('/').collect();
    let is_long_enough = match segments.len() {
        2 => is_directory || is_nested || segments[0].len() <= MAX_OWNER,
        count => is_directory || is_nested && count > 2,
    };
    is_long_enough && segments.iter().all(is_segment)
}
