//! Requests.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use reqwest::header::{HeaderName, HeaderValue};
use reqwest::{Method, Url};
use zeroize::Zeroizing;

use super::signs::shown;
use crate::Secret;

/// The number of bytes of an answer that are read unless the request says otherwise.
const DEFAULT_CAP: u64 = 1 << 20;

/// A request, and what may be done for it.
#[derive(Clone)]
pub struct Request {
    pub(super) method: Method,
    pub(super) url: Url,
    pub(super) headers: Vec<(HeaderName, HeaderValue)>,
    pub(super) authorization: Option<HeaderValue>,
    pub(super) secrets: Vec<Secret>,
    pub(super) body: Bytes,
    /// True if the body must not go to another origin.
    pub(super) is_body_secret: bool,
    pub(super) cap: u64,
    pub(super) allow_http: bool,
}

impl Request {
    /// A request for a URL. Credentials in the URL are not sent.
    pub fn new(method: Method, mut url: Url) -> Self {
        // They fail only for URLs that cannot have any.
        let _ = url.set_username("");
        let _ = url.set_password(None);
        Self {
            method,
            url,
            headers: Vec::new(),
            authorization: None,
            secrets: Vec::new(),
            body: Bytes::new(),
            is_body_secret: false,
            cap: DEFAULT_CAP,
            allow_http: false,
        }
    }

    /// A GET.
    pub fn get(url: Url) -> Self {
        Self::new(Method::GET, url)
    }

    /// Adds a header; one that cannot be sent is left out.
    #[must_use]
    pub fn header(mut self, name: HeaderName, value: &str) -> Self {
        if let Ok(value) = HeaderValue::try_from(value) {
            self.headers.push((name, value));
        }
        self
    }

    /// Sends a token to the origin of the URL, and to no other.
    #[must_use]
    pub fn bearer(self, token: &Secret) -> Self {
        let value = Zeroizing::new(format!("Bearer {}", token.reveal()));
        self.authorize(&value, token)
    }

    /// Sends a user and a password to the origin of the URL, and to no other.
    #[must_use]
    pub fn basic(self, username: &str, password: &Secret) -> Self {
        let pair = Zeroizing::new(format!("{username}:{}", password.reveal()));
        let value = Zeroizing::new(format!("Basic {}", STANDARD.encode(&*pair)));
        self.authorize(&value, password)
    }

    /// Notes a secret that is in the body: it is sent to the origin of the URL and to no other, and is not shown when the
    /// host repeats it.
    #[must_use]
    pub fn with_secret(mut self, secret: &Secret) -> Self {
        self.secrets.push(secret.clone());
        self.is_body_secret = true;
        self
    }

    /// Sends this content.
    #[must_use]
    pub fn body(mut self, body: impl Into<Bytes>) -> Self {
        self.body = body.into();
        self
    }

    /// Reads no more than so many bytes of the answer.
    #[must_use]
    pub fn cap(mut self, bytes: u64) -> Self {
        self.cap = bytes;
        self
    }

    /// Says whether the host of the URL may be asked without TLS. Other hosts, to which it redirects, have to be configured so.
    #[must_use]
    pub fn allow_http(mut self, allowed: bool) -> Self {
        self.allow_http = allowed;
        self
    }

    fn authorize(mut self, value: &str, secret: &Secret) -> Self {
        self.secrets.push(secret.clone());
        // A secret that is no header is sent to nobody; the host then says that it wants one.
        if let Ok(mut value) = HeaderValue::try_from(value) {
            value.set_sensitive(true);
            self.authorization = Some(value);
        }
        self
    }
}

/// Queries and contents may have secrets in them.
impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let url = shown(&self.url);
        f.debug_tuple("Request")
            .field(&self.method)
            .field(&url)
            .finish()
    }
}
