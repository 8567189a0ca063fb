//! Logins from the `config.json` of Docker, which Kubernetes keeps in Secrets, too.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};
use serde::Deserialize;
use zeroize::Zeroizing;

use super::image::is_hub;
use super::{ImageRepository, RegistryLogin};
use crate::Secret;

/// The largest file that is read.
const MAX_CONFIG_BYTES: usize = 1 << 20;
/// The key under which Docker keeps the login for its Hub.
pub(super) const HUB_KEY: &str = "https://index.docker.io/v1/";

/// Base64, padded or not: both are found in such files.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &base64::alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// The logins of a `config.json`, and the programs that know others.
#[derive(Clone, Debug, Default)]
pub struct DockerConfig {
    logins: BTreeMap<String, RegistryLogin>,
    helpers: BTreeMap<String, String>,
    store: Option<String>,
}

/// A `config.json` that cannot be read. Its content is not told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DockerConfigError {
    /// It is larger than a mebibyte.
    #[error("the configuration of Docker has more than {MAX_CONFIG_BYTES} bytes")]
    TooLarge,
    /// It is not the JSON that is expected.
    #[error("the configuration of Docker is not the JSON that Docker writes, at line {line}")]
    Malformed {
        /// The line of the first mistake.
        line: usize,
    },
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct File {
    auths: Option<BTreeMap<String, Auth>>,
    cred_helpers: Option<BTreeMap<String, String>>,
    creds_store: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Auth {
    auth: Option<Secret>,
    username: Option<String>,
    password: Option<Secret>,
    identitytoken: Option<Secret>,
}

/// The answer about one repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Found<'a> {
    Login(&'a RegistryLogin),
    /// The name of a program, and the key to ask it for.
    Helper(&'a str, String),
    Nothing,
}

impl DockerConfig {
    /// Reads the content of a file.
    ///
    /// # Errors
    ///
    /// Fails when it is not what Docker writes. A login that cannot be read is left out.
    pub fn parse(content: &[u8]) -> Result<Self, DockerConfigError> {
        if content.len() > MAX_CONFIG_BYTES {
            return Err(DockerConfigError::TooLarge);
        }
        let file: File = serde_json::from_slice(content)
            .map_err(|e| DockerConfigError::Malformed { line: e.line() })?;
        let logins = file.auths.unwrap_or_default().into_iter();
        let logins = logins.filter_map(|(key, auth)| Some((normal(&key), auth.login()?)));
        let helpers = file.cred_helpers.unwrap_or_default().into_iter();
        Ok(Self {
            logins: logins.collect(),
            helpers: helpers.map(|(key, name)| (normal(&key), name)).collect(),
            store: file.creds_store.filter(|it| !it.is_empty()),
        })
    }

    /// Returns the login that the file itself has for a repository.
    pub fn login(&self, image: &ImageRepository) -> Option<&RegistryLogin> {
        places(image).find_map(|it| self.logins.get(&it))
    }

    /// Finds out who knows the login for a repository, as Docker does: the program for the registry, then the file, then
    /// the program for all.
    pub(super) fn find(&self, image: &ImageRepository) -> Found<'_> {
        let key = || match image.is_on_hub() {
            true => HUB_KEY.to_owned(),
            false => image.registry.clone(),
        };
        let helper = places(image).find_map(|it| self.helpers.get(&it));
        match (helper, self.login(image), &self.store) {
            (Some(name), _, _) => Found::Helper(name, key()),
            (None, Some(login), _) => Found::Login(login),
            (None, None, Some(name)) => Found::Helper(name, key()),
            (None, None, None) => Found::Nothing,
        }
    }
}

impl Auth {
    fn login(self) -> Option<RegistryLogin> {
        let is_there = |secret: &Secret| !secret.reveal().is_empty();
        if let Some(token) = self.identitytoken.filter(is_there) {
            return Some(RegistryLogin::Identity(token));
        }
        let (username, password) = match self.auth.filter(is_there) {
            Some(auth) => {
                let pair = Zeroizing::new(BASE64.decode(auth.reveal().trim()).ok()?);
                let pair = std::str::from_utf8(&pair).ok()?;
                let (username, password) = pair.split_once(':')?;
                // Docker once wrote what it had in memory behind the password.
                (
                    username.to_owned(),
                    Secret::new(password.trim_end_matches('\0')),
                )
            }
            None => (self.username?, self.password?),
        };
        Some(RegistryLogin::Basic { username, password })
    }
}

/// Returns the names of a repository and all that it is in, the longest first.
fn places(image: &ImageRepository) -> impl Iterator<Item = String> + use<> {
    let registry = match is_hub(&image.registry) {
        true => "docker.io",
        false => &image.registry,
    };
    let whole = format!("{registry}/{}", image.repository);
    let mut next = Some(whole);
    std::iter::from_fn(move || {
        let here = next.take()?;
        next = here.rsplit_once('/').map(|(above, _)| above.to_owned());
        Some(here)
    })
}

/// Returns a key without what differs between those who write it: scheme, version of the API, and names of the Hub.
fn normal(key: &str) -> String {
    let key = key.trim();
    let key = key.strip_prefix("https://").unwrap_or(key);
    let key = key.strip_prefix("http://").unwrap_or(key);
    let key = key.trim_end_matches('/');
    let key = ["/v1", "/v2"]
        .iter()
        .find_map(|it| key.strip_suffix(it))
        .unwrap_or(key);
    match key.split_once('/') {
        Some((host, path)) if is_hub(host) => format!("docker.io/{path}"),
        None if is_hub(key) => "docker.io".to_owned(),
        _ => key.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image(registry: &str, repository: &str) -> ImageRepository {
        ImageRepository {
            registry: registry.to_owned(),
            repository: repository.to_owned(),
        }
    }

    fn basic(username: &str, password: &str) -> RegistryLogin {
        RegistryLogin::Basic {
            username: username.to_owned(),
            password: Secret::new(password),
        }
    }

    fn parse(text: &str) -> DockerConfig {
        DockerConfig::parse(text.as_bytes()).unwrap()
    }

    #[test]
    fn logins_are_found_by_registry_and_by_what_is_in_it() {
        // `bot:s3cret`, `team:a:b` without padding, and `x:y` with what Docker once left behind it.
        let config = parse(
            r#"{"auths": {
                "ghcr.io": {"auth": "Ym90OnMzY3JldA=="},
                "ghcr.io/team": {"auth": "dGVhbTphOmI"},
                "https://r.example:5000/v2/": {"auth": "eDp5AAA="},
                "plain.example": {"username": "u", "password": "p"},
                "token.example": {"auth": "Ym90Og==", "identitytoken": "refresh"},
                "broken.example": {"auth": "not base64!"},
                "empty.example": {}
            }, "HttpHeaders": {"x": "y"}}"#,
        );
        for (registry, repository, expected) in [
            ("ghcr.io", "other/app", Some(basic("bot", "s3cret"))),
            ("ghcr.io", "team/app", Some(basic("team", "a:b"))),
            ("ghcr.io", "team", Some(basic("team", "a:b"))),
            ("ghcr.io", "teams/app", Some(basic("bot", "s3cret"))),
            ("r.example:5000", "app", Some(basic("x", "y"))),
            ("r.example", "app", None),
            ("plain.example", "app", Some(basic("u", "p"))),
            (
                "token.example",
                "app",
                Some(RegistryLogin::Identity(Secret::new("refresh"))),
            ),
            ("broken.example", "app", None),
            ("empty.example", "app", None),
            ("docker.io", "app", None),
        ] {
            let image = image(registry, repository);
            assert_eq!(config.login(&image).cloned(), expected, "{image:?}");
        }
    }

    #[test]
    fn docker_hub_is_found_under_all_its_names() {
        for key in [
            "https://index.docker.io/v1/",
            "https://index.docker.io/v1",
            "index.docker.io",
            "docker.io",
            "https://registry-1.docker.io/v2/",
        ] {
            let config = parse(&format!(r#"{{"auths": {{"{key}": {{"auth": "YTpi"}}}}}}"#));
            for registry in ["docker.io", "index.docker.io", "registry-1.docker.io"] {
                let found = config.login(&image(registry, "library/nginx"));
                assert_eq!(found, Some(&basic("a", "b")), "{key} {registry}");
            }
        }
    }

    #[test]
    fn programs_are_asked_where_docker_asks_them() {
        let config = parse(
            r#"{"auths": {"a.example": {"auth": "YTpi"}, "b.example": {}},
                "credHelpers": {"a.example": "ecr-login", "https://c.example": "gcloud"},
                "credsStore": "pass"}"#,
        );
        let helper = |name, key: &str| Found::Helper(name, key.to_owned());
        assert_eq!(
            config.find(&image("a.example", "x")),
            helper("ecr-login", "a.example")
        );
        assert_eq!(
            config.find(&image("b.example", "x")),
            helper("pass", "b.example")
        );
        assert_eq!(
            config.find(&image("c.example", "x")),
            helper("gcloud", "c.example")
        );
        assert_eq!(
            config.find(&image("docker.io", "x")),
            helper("pass", HUB_KEY)
        );
        let without = parse(r#"{"auths": {"a.example": {"auth": "YTpi"}}}"#);
        let login = basic("a", "b");
        assert_eq!(without.find(&image("a.example", "x")), Found::Login(&login));
        assert_eq!(without.find(&image("b.example", "x")), Found::Nothing);
    }

    #[test]
    fn what_cannot_be_read_is_not_shown() {
        let error = DockerConfig::parse(b"{\n\"auths\": {\"x\": \"c2VjcmV0\"}}").unwrap_err();
        assert_eq!(error, DockerConfigError::Malformed { line: 2 });
        assert!(!format!("{error} {error:?}").contains("c2VjcmV0"));
        let large = vec![b' '; MAX_CONFIG_BYTES + 1];
        assert_eq!(
            DockerConfig::parse(&large).unwrap_err(),
            DockerConfigError::TooLarge
        );
        let config = parse(r#"{"auths": {"ghcr.io": {"auth": "Ym90OnMzY3JldA=="}}}"#);
        assert!(!format!("{config:?}").contains("s3cret"));
        assert!(parse("{}").logins.is_empty());
        assert!(
            parse(r#"{"auths": null, "credsStore": ""}"#)
                .store
                .is_none()
        );
    }
}
