//! The address of a repository, and the credentials for it.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use gix::url::Scheme;
use sha2::{Digest, Sha256};

use super::Error;

/// A user name and a password or token. Never printed.
#[derive(Clone, PartialEq, Eq)]
pub struct Credentials {
    /// The user; many servers accept anything beside a token.
    pub username: String,
    /// The password or token.
    pub password: String,
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Credentials(..)")
    }
}

/// The URL of a repository, without the credentials it may have been given with.
#[derive(Clone, PartialEq, Eq)]
pub struct RedactedUrl(Arc<gix::Url>);

impl RedactedUrl {
    pub(super) fn as_gix(&self) -> &gix::Url {
        &self.0
    }
}

impl fmt::Display for RedactedUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0.to_bstring())
    }
}

impl fmt::Debug for RedactedUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// A repository somewhere else.
#[derive(Clone, Debug)]
pub struct Remote {
    url: RedactedUrl,
    credentials: Option<Credentials>,
    timeout: Duration,
    access: HttpAccess,
}

/// The ways in which a server may be asked over HTTP.
#[derive(Clone, Debug, Default)]
pub(crate) struct HttpAccess {
    /// Certificates of authorities, as PEM, that are trusted beside those of the machine.
    pub(crate) extra_roots: Arc<[Vec<u8>]>,
    /// Says whether credentials may be sent without TLS.
    pub(crate) plain_credentials: bool,
    /// The other hosts to which it may redirect without TLS; any of them where none are named.
    pub(crate) plain_hosts: Option<Arc<BTreeSet<String>>>,
}

impl Remote {
    /// The time-out of an operation unless [`Remote::with_timeout`] says otherwise.
    pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60);

    /// Takes `https://`, `http://`, `ssh://` and `file://` URLs, scp-like ones (`git@host:path`)
    /// and absolute paths. Credentials in the URL are used and hidden.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidUrl`] for anything else.
    pub fn new(url: &str) -> Result<Self, Error> {
        let invalid = |reason: &str| Error::InvalidUrl {
            url: without_userinfo(url),
            reason: reason.to_owned(),
        };
        let mut parsed = gix::url::parse(url).map_err(|_| invalid("it cannot be parsed"))?;
        match parsed.scheme {
            Scheme::Https | Scheme::Http | Scheme::Ssh => {}
            Scheme::File if parsed.host().is_none() && parsed.path.starts_with(b"/") => {}
            Scheme::File => return Err(invalid("a path must be absolute and have no host")),
            _ => return Err(invalid("use https, http, ssh or file")),
        }
        let mut credentials = None;
        if parsed.scheme != Scheme::Ssh {
            let username = parsed.set_user(None);
            let password = parsed.set_password(None);
            if username.is_some() || password.is_some() {
                credentials = Some(Credentials {
                    username: username.unwrap_or_default(),
                    password: password.unwrap_or_default(),
                });
            }
        } else if parsed.set_password(None).is_some() {
            return Err(invalid("ssh takes no password; use a key"));
        }
        let url = RedactedUrl(Arc::new(parsed));
        Ok(Self {
            url,
            credentials,
            timeout: Self::DEFAULT_TIMEOUT,
            access: HttpAccess::default(),
        })
    }

    /// Uses these credentials instead of any in the URL.
    #[must_use]
    pub fn with_credentials(mut self, credentials: Credentials) -> Self {
        self.credentials = Some(credentials);
        self
    }

    /// Gives every operation this long.
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Says how the server may be asked over HTTP.
    #[must_use]
    pub(crate) fn with_access(mut self, access: HttpAccess) -> Self {
        self.access = access;
        self
    }

    pub(super) fn access(&self) -> &HttpAccess {
        &self.access
    }

    /// The URL, without credentials.
    pub fn url(&self) -> &RedactedUrl {
        &self.url
    }

    /// A directory name for this URL and user. It says nothing of the password: see [`super::let_in`].
    pub(super) fn cache_name(&self) -> String {
        let mut hasher = Sha256::new();
        hasher.update(self.url.to_string());
        if let Some(Credentials { username, .. }) = &self.credentials {
            hasher.update(format!("\0{username}"));
        }
        let digest = hasher.finalize();
        let short: String = digest[..16]
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        format!("{short}.git")
    }

    pub(super) fn timeout(&self) -> Duration {
        self.timeout
    }

    pub(super) fn credentials(&self) -> Option<&Credentials> {
        self.credentials.as_ref()
    }
}

/// Hides everything between `://` and `@`, in text that need not be a URL.
fn without_userinfo(text: &str) -> String {
    match (text.split_once("://"), text.rsplit_once('@')) {
        (Some((scheme, rest)), Some(_)) if rest.contains('@') => {
            let (_, host) = rest.rsplit_once('@').expect("the guard has seen it");
            format!("{scheme}://{host}")
        }
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_in_a_url_are_used_and_never_shown() {
        let remote = Remote::new("https://bot:s3cret@example.org/a.git").unwrap();
        assert_eq!(remote.credentials().unwrap().password, "s3cret");
        let shown = format!("{remote:?} {}", remote.url());
        assert!(shown.contains("https://example.org/a.git"), "{shown}");
        assert!(
            !shown.contains("s3cret") && !shown.contains("bot"),
            "{shown}"
        );
    }

    #[test]
    fn cache_is_named_by_url_and_user_and_not_by_the_password() {
        let name = |url| Remote::new(url).unwrap().cache_name();
        let anonymous = name("https://example.org/a.git");
        let bot = name("https://bot:one@example.org/a.git");
        assert_eq!(bot, name("https://bot:two@example.org/a.git"));
        assert_ne!(bot, anonymous);
        assert_ne!(bot, name("https://other:one@example.org/a.git"));
        assert_ne!(bot, name("https://bot:one@example.org/b.git"));
    }

    #[test]
    fn a_refused_url_does_not_show_its_credentials() {
        let refused = Remote::new("gopher://bot:s3cret@example.org/a")
            .unwrap_err()
            .to_string();
        assert!(!refused.contains("s3cret"), "{refused}");
    }

    #[test]
    fn urls_that_git_would_run_as_programs_are_refused() {
        for url in [
            "ext::sh -c date",
            "relative/path",
            "git://example.org/a",
            "",
            "file://../x",
        ] {
            assert!(Remote::new(url).is_err(), "{url:?}");
        }
        for url in ["/srv/a.git", "file:///srv/a.git", "git@example.org:a/b.git"] {
            assert!(Remote::new(url).is_ok(), "{url:?}");
        }
    }
}
