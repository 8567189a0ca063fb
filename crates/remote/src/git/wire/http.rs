//! The smart protocol over http (gitprotocol-http).
//!
//! No answer is read beyond its limit and nothing is waited for beyond the deadline, whatever the server
//! does: each step runs on a runtime of its own, which ends with it, and its sockets.

use std::collections::BTreeSet;
use std::io::{self, BufRead, Read};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use reqwest::header::{
    ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue, LOCATION, USER_AGENT,
};
use reqwest::redirect::Policy;
use reqwest::{Certificate, Client, Request, Response, StatusCode, Url};
use tokio::runtime::Runtime;

use super::guard::{Guard, Unauthenticated, timed_out};
use super::{Service, Version};
use crate::authorities;
use crate::git::{Credentials, Remote};
use crate::http::host_of;

/// The most redirects before an answer.
const MAX_REDIRECTS: usize = 5;
/// The time-out of a connect.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(20);

/// A server, and how to be let in.
pub(in crate::git) struct Http {
    runtime: Option<Runtime>,
    client: Client,
    /// The repository, without a slash at its end; where redirects lead once they were followed.
    base: String,
    /// The server that the credentials are for.
    origin: url::Origin,
    credentials: Option<Credentials>,
    /// True if they may be sent without TLS.
    plain_credentials: bool,
    /// The other hosts to which it may redirect without TLS.
    plain_hosts: Option<Arc<BTreeSet<String>>>,
    /// Sent with every request once the server has asked for it.
    authorization: Option<HeaderValue>,
    service: Service,
    version: Version,
    guard: Rc<Guard>,
}

impl Http {
    pub(super) fn new(
        remote: &Remote,
        service: Service,
        version: Version,
        guard: Rc<Guard>,
    ) -> io::Result<Self> {
        let url = remote.url().to_string();
        let mut roots = Vec::new();
        for pem in remote.access().extra_roots.iter() {
            roots.extend(Certificate::from_pem_bundle(pem).map_err(explain)?);
        }
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        // What is not decompressed cannot expand.
        let begin = || {
            Client::builder()
                .connect_timeout(CONNECT_TIMEOUT)
                .redirect(Policy::none())
                .no_gzip()
                .no_deflate()
                .no_brotli()
                .no_zstd()
        };
        let client = authorities::build(begin, &roots).map_err(explain)?;
        let parsed = Url::parse(&url).map_err(io::Error::other)?;
        Ok(Self {
            runtime: Some(runtime),
            client,
            base: url.trim_end_matches('/').to_owned(),
            origin: parsed.origin(),
            credentials: remote.credentials().cloned(),
            plain_credentials: remote.access().plain_credentials,
            plain_hosts: remote.access().plain_hosts.clone(),
            authorization: None,
            service,
            version,
            guard,
        })
    }

    /// Asks what the server has.
    pub(super) fn handshake(&mut self) -> io::Result<Body<'_>> {
        let tail = format!("/info/refs?service={}", self.service.name());
        for _ in 0..=MAX_REDIRECTS {
            let request = self.build_request(reqwest::Method::GET, &tail)?;
            let response = self.answer(request)?;
            let status = response.status();
            if status.is_redirection() {
                self.base = redirected(&response, &tail, self.plain_hosts.as_deref())?;
                self.authorization = None;
            } else if status == StatusCode::UNAUTHORIZED && self.authorization.is_none() {
                self.authorization = Some(self.authenticate()?);
            } else {
                return self.body(response, "advertisement");
            }
        }
        Err(io::Error::other(format!(
            "it redirects more than {MAX_REDIRECTS} times"
        )))
    }

    /// Sends a request and returns the answer.
    pub(super) fn request(&mut self, content: Vec<u8>) -> io::Result<Body<'_>> {
        let service = self.service.name();
        let mut request = self.build_request(reqwest::Method::POST, &format!("/{service}"))?;
        let kinds = [(CONTENT_TYPE, "request"), (ACCEPT, "result")];
        for (header, kind) in kinds {
            let value = format!("application/x-{service}-{kind}");
            let value = HeaderValue::try_from(value).map_err(io::Error::other)?;
            request.headers_mut().insert(header, value);
        }
        *request.body_mut() = Some(content.into());
        let response = self.answer(request)?;
        self.body(response, "result")
    }

    fn build_request(&self, method: reqwest::Method, tail: &str) -> io::Result<Request> {
        let url = Url::parse(&format!("{}{tail}", self.base)).map_err(io::Error::other)?;
        let mut request = Request::new(method, url);
        let headers: &mut HeaderMap = request.headers_mut();
        let agent = concat!("git/pathline-", env!("CARGO_PKG_VERSION"));
        headers.insert(USER_AGENT, HeaderValue::from_static(agent));
        if self.version == Version::V2 {
            headers.insert("git-protocol", HeaderValue::from_static("version=2"));
        }
        if let Some(known) = &self.authorization {
            headers.insert(AUTHORIZATION, known.clone());
        }
        Ok(request)
    }

    /// Returns the header that lets us in, unless it would be seen by others.
    fn authenticate(&self) -> io::Result<HeaderValue> {
        let refused = |why| io::Error::other(Unauthenticated(why));
        let Some(Credentials { username, password }) = &self.credentials else {
            return Err(refused("HTTP status 401"));
        };
        let here = Url::parse(&self.base).map_err(io::Error::other)?;
        if here.origin() != self.origin {
            let told = "it redirects to another server, which wants credentials";
            return Err(io::Error::other(told));
        }
        if here.scheme() != "https" && !self.plain_credentials {
            let told = "it wants credentials, which are not sent in clear text over http";
            return Err(io::Error::other(told));
        }
        let request = self.client.get(here).basic_auth(username, Some(password));
        let mut request = request.build().map_err(explain)?;
        let header = request.headers_mut().remove(AUTHORIZATION);
        header.ok_or_else(|| refused("the credentials cannot be sent"))
    }

    fn answer(&self, request: Request) -> io::Result<Response> {
        let answer = self.client.execute(request);
        self.within(async { answer.await.map_err(explain) })
    }

    /// Runs a step, until the deadline.
    fn within<T>(&self, step: impl Future<Output = io::Result<T>>) -> io::Result<T> {
        self.guard.remaining()?;
        let deadline = self.guard.deadline();
        let runtime = self.runtime.as_ref().expect("it ends when this is dropped");
        let result = runtime.block_on(async { tokio::time::timeout_at(deadline, step).await });
        result.map_err(|_| timed_out())?
    }

    /// Returns the content of an answer that is one.
    fn body(&self, response: Response, kind: &str) -> io::Result<Body<'_>> {
        let status = response.status();
        if status == StatusCode::UNAUTHORIZED {
            return Err(io::Error::other(Unauthenticated("HTTP status 401")));
        }
        if !status.is_success() {
            return Err(io::Error::other(format!("HTTP status {}", status.as_u16())));
        }
        let expected = format!("application/x-{}-{kind}", self.service.name());
        let found = response.headers().get(CONTENT_TYPE);
        if found.is_none_or(|it| it.as_bytes() != expected.as_bytes()) {
            let told = "it does not speak git's smart protocol";
            return Err(io::Error::other(told));
        }
        Ok(Body {
            http: self,
            response,
            piece: bytes::Bytes::new(),
        })
    }
}

impl Drop for Http {
    fn drop(&mut self) {
        // A name that is being resolved is not waited for.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// Returns the repository that a redirect leads to.
fn redirected(
    response: &Response,
    tail: &str,
    plain_hosts: Option<&BTreeSet<String>>,
) -> io::Result<String> {
    let refused = |why: &str| io::Error::other(format!("it redirects {why}"));
    let target = response.headers().get(LOCATION);
    let target = target.and_then(|it| it.to_str().ok());
    let target = target.and_then(|it| response.url().join(it).ok());
    let target = target.ok_or_else(|| refused("nowhere"))?;
    match (response.url().scheme(), target.scheme()) {
        (_, "https") => {}
        ("http", "http") => {
            let (from, to) = (host_of(response.url()), host_of(&target));
            if from != to && plain_hosts.is_some_and(|it| !it.contains(&to)) {
                return Err(refused(&format!(
                    "to `{to}`, which is not asked without TLS: if it has none, name it in `hosts` of the configuration, \
                     with `schemes: [http]`"
                )));
            }
        }
        _ => return Err(refused("to what is not safe")),
    }
    if !target.username().is_empty() || target.password().is_some() {
        return Err(refused("with credentials"));
    }
    let base = target.as_str().strip_suffix(tail);
    let base = base.ok_or_else(|| refused("to what is not a repository"))?;
    Ok(base.to_owned())
}

/// Joins an error with its causes; the URL is told elsewhere.
fn explain(failed: reqwest::Error) -> io::Error {
    let failed = failed.without_url();
    let mut told = failed.to_string();
    let mut cause = std::error::Error::source(&failed);
    while let Some(found) = cause {
        told = format!("{told}: {found}");
        cause = found.source();
    }
    io::Error::other(told)
}

/// The content of an answer.
pub(super) struct Body<'a> {
    http: &'a Http,
    response: Response,
    piece: bytes::Bytes,
}

impl BufRead for Body<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        while self.piece.is_empty() {
            let next = self.response.chunk();
            let next = self.http.within(async { next.await.map_err(explain) })?;
            let Some(piece) = next else {
                break;
            };
            self.http.guard.spend(piece.len())?;
            self.piece = piece;
        }
        Ok(&self.piece)
    }

    fn consume(&mut self, count: usize) {
        let _ = self.piece.split_to(count.min(self.piece.len()));
    }
}

impl Read for Body<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.fill_buf()?.read(buffer)?;
        self.consume(count);
        Ok(count)
    }
}
