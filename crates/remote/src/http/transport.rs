//! The transport: hyper's pooled client, on connections that can be cut.
//!
//! It is ours, and not that of reqwest, because of interim responses: hyper parses one after the other for as long as a
//! host sends them, without yielding, so that a host that never stops keeps the thread, and whatever else would run on it.
//! Here they are counted while they are parsed, and the connection is cut before the next read.

mod dial;
mod interim;

use std::error::Error;
use std::fmt;
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, HeaderMap, HeaderValue, PROXY_AUTHORIZATION, USER_AGENT};
use http::{StatusCode, Uri};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper_util::client::legacy::Client;
use hyper_util::rt::{TokioExecutor, TokioTimer};

use self::dial::{Dial, TimedOut};
use self::interim::Interim;
pub(super) use self::interim::MAX_INTERIM;

/// The name under which hosts know us.
const AGENT: &str = concat!("pathline/", env!("CARGO_PKG_VERSION"));
/// The most connections to a host that are kept for the next poll.
const MAX_IDLE: usize = 8;
/// The time for which they are kept.
const IDLE_TIMEOUT: Duration = Duration::from_secs(90);
/// The most bytes that are read at once, and the most that the head of an answer may have.
const MAX_BUFFER: usize = 64 << 10;

/// The pooled connections of all polls; cheap to clone.
#[derive(Clone, Debug)]
pub(super) struct Transport {
    client: Client<Dial, Full<Bytes>>,
    dial: Dial,
}

/// The head of an answer, and the rest of it.
pub(super) struct Response {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    body: Incoming,
}

/// The reason why there is no answer, or no more of it.
pub(super) enum Broken {
    /// There was no connection in time.
    Unconnected,
    /// The host sends interim responses, and no answer.
    Interim,
    /// Anything else, in the words of whoever found it.
    Told(String),
}

impl Transport {
    /// Makes a transport that believes the authorities of the machine, and others.
    pub(super) fn new(tls: rustls::ClientConfig, connect: Duration) -> Self {
        let dial = Dial::new(tls, connect);
        let client = Client::builder(TokioExecutor::new())
            .timer(TokioTimer::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE_TIMEOUT)
            .pool_max_idle_per_host(MAX_IDLE)
            .http1_max_buf_size(MAX_BUFFER)
            .build(dial.clone());
        Self { client, dial }
    }

    /// Sends a request, and waits for the head of its answer.
    pub(super) async fn send(&self, request: http::Request<Bytes>) -> Result<Response, Broken> {
        let mut request = request.map(Full::new);
        let proxy = self.dial.proxy_authorization(request.uri());
        let headers = request.headers_mut();
        headers.extend(proxy.map(|it| (PROXY_AUTHORIZATION, it)));
        headers.insert(USER_AGENT, HeaderValue::from_static(AGENT));
        let accept = headers.entry(ACCEPT);
        accept.or_insert(HeaderValue::from_static("*/*"));
        let interim = Interim::watch(&mut request);
        match self.client.request(request).await {
            Ok(response) => {
                let (head, body) = response.into_parts();
                Ok(Response {
                    status: head.status,
                    headers: head.headers,
                    body,
                })
            }
            Err(_) if interim.is_too_much() => Err(Broken::Interim),
            Err(failed) => Err(Broken::of(&failed)),
        }
    }
}

impl Response {
    /// Returns the next piece of the content.
    pub(super) async fn chunk(&mut self) -> Result<Option<Bytes>, Broken> {
        while let Some(frame) = self.body.frame().await {
            let frame = frame.map_err(|failed| Broken::of(&failed))?;
            // What is no content is a trailer, which nobody asked for.
            if let Ok(piece) = frame.into_data() {
                return Ok(Some(piece));
            }
        }
        Ok(None)
    }
}

impl Broken {
    /// Joins an error with its causes.
    fn of(failed: &(dyn Error + 'static)) -> Self {
        let mut told = failed.to_string();
        let mut cause = failed.source();
        while let Some(found) = cause {
            if found.is::<TimedOut>() {
                return Self::Unconnected;
            }
            told = format!("{told}: {found}");
            cause = found.source();
        }
        // The words of the TLS library for an answer in plain text.
        if told.contains("InvalidContentType") {
            told += "; it does not speak TLS: a host without it is configured with `http`";
        }
        Self::Told(told)
    }
}

impl fmt::Debug for Response {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Response").field(&self.status).finish()
    }
}

/// Returns a URL as hyper names it.
pub(super) fn uri(url: &reqwest::Url) -> Result<Uri, Broken> {
    let told = |_| Broken::Told("it is no URL that can be asked".to_owned());
    Uri::try_from(url.as_str()).map_err(told)
}
