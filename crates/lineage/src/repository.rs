//! Identities of git repositories, whatever address they are reached at.

use std::fmt;

/// Hosts for which `Org/App` and `org/app` are one repository.
const CASELESS: [&str; 3] = ["bitbucket.org", "github.com", "gitlab.com"];

/// The repository that an address names: its host and its path there, or its path on this machine.
///
/// The way that leads there is not part of it: https, ssh and scp-like addresses of one path are one repository, with or
/// without a user, a password, `.git` and `/` at the end. Of ports only that of http counts, and only if it is
/// not the usual one: ssh has a port of its own beside it.
///
/// ```
/// use pathline_lineage::RepositoryId;
///
/// let id = RepositoryId::of("git@git.example.org:shop/web.git");
/// assert_eq!(id, RepositoryId::of("https://me:secret@Git.Example.org/shop/web/"));
/// assert_eq!(id.to_string(), "git.example.org/shop/web");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RepositoryId(Box<str>);

impl RepositoryId {
    /// Returns the repository that an address names.
    #[must_use]
    pub fn of(address: &str) -> Self {
        let address = address.trim();
        let Some((scheme, rest)) = address.split_once("://") else {
            return match scp_like(address) {
                Some((host, path)) => Self::hosted(&host_name(host, "ssh"), path),
                None => Self::local(address),
            };
        };
        let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
        match scheme.to_ascii_lowercase().as_str() {
            "file" => Self::local(&format!("/{path}")),
            scheme => Self::hosted(&host_name(host, scheme), path),
        }
    }

    /// Returns the identity that was written as text before.
    #[must_use]
    pub fn from_text(text: &str) -> Self {
        Self(text.into())
    }

    /// Returns the identity as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    fn hosted(host: &str, path: &str) -> Self {
        let path = trimmed(path).trim_start_matches('/');
        let path = match CASELESS.contains(&host) {
            true => path.to_ascii_lowercase(),
            false => path.to_owned(),
        };
        Self(format!("{host}/{path}").into())
    }

    fn local(path: &str) -> Self {
        Self(trimmed(path).into())
    }
}

impl fmt::Display for RepositoryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Returns a path without what may be left out at its end.
fn trimmed(path: &str) -> &str {
    let path = path.trim_end_matches('/');
    let path = path.strip_suffix(".git").unwrap_or(path);
    path.trim_end_matches('/')
}

/// Splits `user@host:path`. As for git, a path with a `/` before the first `:` is one on this machine.
fn scp_like(address: &str) -> Option<(&str, &str)> {
    // The colons of an address of IPv6 are within brackets.
    let brackets = address.find(']').map_or(0, |end| end + 1);
    let colon = brackets + address[brackets..].find(':')?;
    let (host, path) = (&address[..colon], &address[colon + 1..]);
    (!host.is_empty() && !host.contains('/')).then_some((host, path))
}

/// Returns the name of a host without who asks there, and without a port that says nothing.
fn host_name(authority: &str, scheme: &str) -> String {
    let host = authority.rsplit_once('@').map_or(authority, |(_, it)| it);
    let host = host.to_ascii_lowercase();
    let end_of_name = host.find(']').unwrap_or(0);
    let Some(colon) = host[end_of_name..].find(':').map(|it| end_of_name + it) else {
        return host;
    };
    match (scheme, &host[colon + 1..]) {
        ("http", "80") | ("https", "443" | "") | ("http", "") => host[..colon].to_owned(),
        ("http" | "https", _) => host,
        _ => host[..colon].to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_one_repository_have_one_identity() {
        for (id, addresses) in [
            (
                "git.example.org/shop/web",
                &[
                    "https://git.example.org/shop/web",
                    "https://git.example.org/shop/web.git",
                    "https://git.example.org/shop/web.git/",
                    "http://git.example.org:80/shop/web",
                    "HTTPS://me:secret@GIT.example.ORG:443/shop/web//",
                    "ssh://git@git.example.org/shop/web.git",
                    "ssh://git@git.example.org:2222/shop/web.git",
                    "git://git.example.org/shop/web",
                    "git@git.example.org:shop/web.git",
                    "git@git.example.org:/shop/web",
                    "git.example.org:shop/web",
                    " https://git.example.org/shop/web\n",
                ][..],
            ),
            (
                "github.com/org/app",
                &["https://github.com/Org/App", "git@github.com:org/APP.git"],
            ),
            (
                "git.example.org:3000/a",
                &["http://git.example.org:3000/a.git"],
            ),
            (
                "[::1]/a/b",
                &["ssh://git@[::1]:22/a/b", "git@[::1]:a/b.git"],
            ),
            ("[::1]:3000/a", &["http://[::1]:3000/a"]),
            (
                "/srv/git/app",
                &[
                    "file:///srv/git/app.git",
                    "/srv/git/app",
                    "file://localhost/srv/git/app",
                ],
            ),
            ("../app", &["../app", "../app.git"]),
        ] {
            for address in addresses {
                assert_eq!(RepositoryId::of(address).as_str(), id, "{address}");
            }
        }
    }

    #[test]
    fn other_hosts_paths_and_ports_are_other_repositories() {
        let addresses = [
            "https://git.example.org/shop/web",
            "https://git.example.org/shop/Web",
            "https://git.example.org/shop/web2",
            "https://git.example.org/web",
            "https://git2.example.org/shop/web",
            "https://git.example.org:8443/shop/web",
            "file:///shop/web",
            "./a:b/shop/web",
        ];
        let ids: std::collections::BTreeSet<_> = addresses.map(RepositoryId::of).into();
        assert_eq!(ids.len(), addresses.len(), "{ids:?}");
    }
}
