//! Tokens of a token service.

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use reqwest::header::CONTENT_TYPE;
use reqwest::{Method, StatusCode, Url};
use serde::Deserialize;
use url::Host;
use url::form_urlencoded::Serializer;

use super::RegistryLogin;
use super::error::{RegistryError, refused};
use crate::Secret;
use crate::http::{HttpClient, Request, Signs, host_of};

/// The time that a token is used unless the service says otherwise.
const DEFAULT_SECONDS: i64 = 60;
/// The longest time that a token is used.
const MAX_SECONDS: i64 = 24 * 60 * 60;
/// The largest answer of a token service; tokens list what they are good for.
const MAX_TOKEN_BYTES: u64 = 256 << 10;
/// The name under which the service knows us.
const CLIENT: &str = "pathline";

/// A token and the time at which it ends.
#[derive(Clone, Debug)]
pub(super) struct Token {
    pub(super) secret: Secret,
    pub(super) expires: Timestamp,
}

/// The place where tokens are had, and for what.
#[derive(Clone, Debug)]
pub(super) struct TokenService {
    pub(super) realm: String,
    pub(super) service: Option<String>,
    pub(super) scope: String,
    /// The registries that are asked without TLS. One of them may be a token service, too; nobody else gets a password in
    /// clear text because a registry says so.
    pub(super) http_hosts: Arc<BTreeSet<String>>,
    /// The registry that names it.
    pub(super) registry: Url,
}

#[derive(Deserialize)]
struct Granted {
    token: Option<Secret>,
    access_token: Option<Secret>,
    expires_in: Option<f64>,
}

impl TokenService {
    /// Asks for a token.
    pub(super) async fn token(
        &self,
        http: &HttpClient,
        login: Option<&RegistryLogin>,
    ) -> Result<(Token, Signs), RegistryError> {
        let request = self.request(login)?;
        let asked = http.clock().now();
        let answer = http.send(request).await?;
        if answer.status != StatusCode::OK {
            return Err(refused(answer));
        }
        let granted = serde_json::from_slice(&answer.body);
        let Some(token) = granted.ok().and_then(|it| Token::of(it, asked)) else {
            let told = "answers with no token";
            return Err(answer.into_nonsense(told).into());
        };
        Ok((token, answer.signs))
    }

    fn request(&self, login: Option<&RegistryLogin>) -> Result<Request, RegistryError> {
        let realm = Url::parse(&self.realm);
        let told = "the registry names a token service that is no URL";
        let mut realm = realm.map_err(|_| RegistryError::new(told))?;
        let is_plain = self.registry.scheme() == "http";
        if !is_plain && is_inside(&realm) && !is_inside(&self.registry) {
            let told =
                "the registry names a token service inside of the network, which is not asked";
            return Err(RegistryError::new(told));
        }
        let host = host_of(&realm);
        let allow_http =
            self.http_hosts.contains(&host) || (is_plain && host == host_of(&self.registry));
        let request = match login {
            Some(RegistryLogin::Identity(token)) => {
                let mut form = Serializer::new(String::new());
                form.append_pair("grant_type", "refresh_token");
                form.append_pair("client_id", CLIENT);
                form.append_pair("scope", &self.scope);
                form.append_pair("service", self.service.as_deref().unwrap_or_default());
                form.append_pair("refresh_token", token.reveal());
                Request::new(Method::POST, realm)
                    .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
                    .body(form.finish())
                    .with_secret(token)
            }
            login => {
                let mut pairs = realm.query_pairs_mut();
                if let Some(service) = &self.service {
                    pairs.append_pair("service", service);
                }
                for scope in self.scope.split(' ').filter(|it| !it.is_empty()) {
                    pairs.append_pair("scope", scope);
                }
                drop(pairs);
                let request = Request::get(realm);
                match login {
                    Some(RegistryLogin::Basic { username, password }) => {
                        request.basic(username, password)
                    }
                    _ => request,
                }
            }
        };
        Ok(request.allow_http(allow_http).cap(MAX_TOKEN_BYTES))
    }
}

/// Tells whether a URL is that of an address which only this machine or its network has: a registry elsewhere has no
/// business to send us there, with credentials.
fn is_inside(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(it)) => {
            it.is_private() || it.is_loopback() || it.is_link_local() || it.is_unspecified()
        }
        Some(Host::Ipv6(it)) => {
            let is_mapped = it.to_ipv4_mapped().is_some();
            is_mapped
                || it.is_loopback()
                || it.is_unspecified()
                || it.is_unique_local()
                || it.is_unicast_link_local()
        }
        Some(Host::Domain(name)) => name == "localhost",
        None => true,
    }
}

impl Token {
    fn of(granted: Granted, asked: Timestamp) -> Option<Self> {
        let tokens = [granted.token, granted.access_token];
        let mut tokens = tokens.into_iter().flatten();
        let secret = tokens.find(|it| !it.reveal().is_empty())?;
        let seconds = match granted.expires_in {
            Some(seconds) if seconds >= 1.0 => (seconds as i64).min(MAX_SECONDS),
            _ => DEFAULT_SECONDS,
        };
        let lasts = SignedDuration::from_secs(seconds);
        Some(Self {
            secret,
            expires: asked.checked_add(lasts).ok()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lasts(json: &str) -> Option<i64> {
        let granted = serde_json::from_str(json).ok()?;
        let token = Token::of(granted, Timestamp::UNIX_EPOCH)?;
        assert_eq!(token.secret.reveal(), "t");
        Some(token.expires.as_second())
    }

    #[test]
    fn registry_elsewhere_does_not_send_us_inside() {
        let request = |registry: &str, realm: &str| {
            let service = TokenService {
                realm: realm.to_owned(),
                service: None,
                scope: String::new(),
                http_hosts: Arc::default(),
                registry: Url::parse(registry).unwrap(),
            };
            service.request(None).is_ok()
        };
        for realm in [
            "https://169.254.169.254/latest",
            "https://127.0.0.1:8443/",
            "https://localhost/",
            "https://10.0.0.1/",
            "https://[::1]/",
            "https://[fd00:ec2::254]/",
            "https://[::ffff:10.0.0.1]/",
        ] {
            assert!(!request("https://r.example/v2/", realm), "{realm}");
            assert!(request("https://10.1.2.3/v2/", realm), "{realm}");
        }
        assert!(request(
            "https://r.example/v2/",
            "https://auth.example/token"
        ));
        assert!(!request("https://r.example/v2/", "nowhere"));
    }

    #[test]
    fn p16_token_without_an_end_lasts_a_minute() {
        for (json, seconds) in [
            (r#"{"token":"t"}"#, 60),
            (r#"{"access_token":"t","expires_in":300}"#, 300),
            (r#"{"token":"t","access_token":"u","expires_in":null}"#, 60),
            (r#"{"token":"t","expires_in":0}"#, 60),
            (r#"{"token":"","access_token":"t","expires_in":-5}"#, 60),
            (r#"{"token":"t","expires_in":1e300}"#, MAX_SECONDS),
        ] {
            assert_eq!(lasts(json), Some(seconds), "{json}");
        }
        for json in ["{}", r#"{"token":""}"#, r#"{"expires_in":60}"#, "[]", ""] {
            assert_eq!(lasts(json), None, "{json}");
        }
    }
}
