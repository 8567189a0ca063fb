//! One request on its way, through redirects and to the end of its answer.

use std::time::Duration;

use bytes::Bytes;
use reqwest::Url;
use reqwest::header::{AUTHORIZATION, HeaderValue};

use super::client::Sink;
use super::pace::host_of;
use super::redirect::{MAX_REDIRECTS, is_permanent, is_redirect, target};
use super::scrub::Scrubber;
use super::signs::shown;
use super::transport::{self, Broken, MAX_INTERIM, Response};
use super::{Answer, Failure, FailureKind, HttpClient, Moved, Request, Signs};

/// The most bytes that are read of an answer whose status is not a good one.
const MAX_ERROR_BYTES: u64 = 8 << 10;

/// One request on its way.
pub(super) struct Exchange<'a> {
    pub(super) client: &'a HttpClient,
    pub(super) request: &'a Request,
    pub(super) scrubber: Scrubber,
}

/// The next request to send, which redirects change.
struct Hop {
    url: Url,
    authorization: Option<HeaderValue>,
    moved: Option<Moved>,
}

/// The end of a hop.
enum Arrived {
    At(Answer),
    On(Hop),
}

impl Exchange<'_> {
    pub(super) async fn run(&self, sink: &mut Sink<'_>) -> Result<Answer, Failure> {
        let client = self.client;
        let total = client.options.timeouts.total;
        let mut hop = Hop {
            url: self.request.url.clone(),
            authorization: self.request.authorization.clone(),
            moved: None,
        };
        let mut left = total;
        for _ in 0..=MAX_REDIRECTS {
            let own = self.request.allow_http.then_some(&self.request.url);
            if !client.may_ask(&hop.url, own) {
                return Err(self.forbidden(&hop.url));
            }
            client.turn(&host_of(&hop.url)).await?;
            let begun = client.clock().instant();
            let arrived = tokio::time::timeout(left, self.go(hop, sink)).await;
            let timed_out = |_| self.timed_out(&self.request.url, total);
            match arrived.map_err(timed_out)?? {
                Arrived::At(answer) => return Ok(answer),
                Arrived::On(next) => hop = next,
            }
            left = left.saturating_sub(client.clock().instant().duration_since(begun));
        }
        let why = format!("redirects more than {MAX_REDIRECTS} times");
        Err(self.fail(FailureKind::Forbidden, &self.request.url, &why))
    }

    /// Sends one request, and reads the answer unless that leads on.
    async fn go(&self, hop: Hop, sink: &mut Sink<'_>) -> Result<Arrived, Failure> {
        let Hop {
            url,
            mut authorization,
            mut moved,
        } = hop;
        let next = self.prepared(&url, authorization.as_ref())?;
        let response = self.headers(&url, next).await?;
        let status = response.status;
        if !is_redirect(status) {
            let answer = self.collect(url, response, moved, sink).await;
            return answer.map(Arrived::At);
        }
        let to = target(&url, &response.headers);
        let to = to.map_err(|why| self.fail(FailureKind::Forbidden, &url, why))?;
        if is_permanent(status) {
            let from = moved.map_or_else(|| shown(&url), |it| it.from);
            let to = shown(&to);
            moved = Some(Moved { from, to });
        }
        // Once elsewhere, they do not come back: whoever redirects could be anybody.
        if to.origin() != url.origin() {
            if self.request.is_body_secret {
                let why = "redirects a secret elsewhere";
                return Err(self.fail(FailureKind::Forbidden, &url, why));
            }
            authorization = None;
        }
        Ok(Arrived::On(Hop {
            url: to,
            authorization,
            moved,
        }))
    }

    fn prepared(
        &self,
        url: &Url,
        authorization: Option<&HeaderValue>,
    ) -> Result<http::Request<Bytes>, Failure> {
        let request = self.request;
        let mut next = http::Request::new(request.body.clone());
        *next.method_mut() = request.method.clone();
        *next.uri_mut() = transport::uri(url).map_err(|why| self.broken(url, why))?;
        let headers = next.headers_mut();
        headers.extend(request.headers.iter().cloned());
        headers.extend(authorization.map(|it| (AUTHORIZATION, it.clone())));
        Ok(next)
    }

    async fn headers(&self, url: &Url, request: http::Request<Bytes>) -> Result<Response, Failure> {
        let header = self.client.options.timeouts.header;
        let sent = self.client.transport.send(request);
        match tokio::time::timeout(header, sent).await {
            Ok(response) => response.map_err(|why| self.broken(url, why)),
            Err(_) => Err(self.timed_out(url, header)),
        }
    }

    /// Reads the content, piece by piece and no further than allowed.
    async fn collect(
        &self,
        url: Url,
        mut response: Response,
        moved: Option<Moved>,
        sink: &mut Sink<'_>,
    ) -> Result<Answer, Failure> {
        let status = response.status;
        let headers = std::mem::take(&mut response.headers);
        let mut signs = Signs::read(status, &headers, self.client.now());
        // Before the content, which may take a while: others ask meanwhile.
        self.client.heed(&url, &signs);
        signs.moved = moved;
        let mut answer = Answer {
            status,
            headers,
            body: Vec::new(),
            url,
            signs,
            scrubber: self.scrubber.clone(),
            is_cut: false,
        };
        let is_good = status.is_success();
        let cap = if is_good {
            self.request.cap
        } else {
            MAX_ERROR_BYTES
        };
        let mut size = 0_u64;
        while let Some(piece) = response
            .chunk()
            .await
            .map_err(|failed| self.broken(&answer.url, failed))?
        {
            size += piece.len() as u64;
            if is_good && size > cap {
                let why = format!("answers with more than {cap} bytes");
                let mut failure = answer.into_nonsense(&why);
                failure.kind = FailureKind::TooLarge;
                return Err(failure);
            }
            if is_good {
                if sink(&piece).is_break() {
                    break;
                }
            } else {
                let room = (cap as usize).saturating_sub(answer.body.len());
                answer
                    .body
                    .extend_from_slice(&piece[..room.min(piece.len())]);
                answer.is_cut = size > cap;
                if answer.is_cut {
                    break;
                }
            }
        }
        Ok(answer)
    }

    /// Says why a URL is not asked, and what to configure if it should be.
    fn forbidden(&self, url: &Url) -> Failure {
        let mut why = "is not asked: only https is".to_owned();
        if url.scheme() == "http" {
            let host = host_of(url);
            why = format!(
                "is not asked without TLS: if `{host}` has none, name it in `registries` of the configuration, with \
                 `http: true`, or in `hosts`, with `schemes: [http]`, if it has repositories"
            );
        }
        if *url != self.request.url {
            why += &format!("; {} redirects to it", shown(&self.request.url));
        }
        self.fail(FailureKind::Forbidden, url, &why)
    }

    fn timed_out(&self, url: &Url, after: Duration) -> Failure {
        let why = format!("does not answer within {} s", after.as_secs());
        self.fail(FailureKind::TimedOut, url, &why)
    }

    fn broken(&self, url: &Url, why: Broken) -> Failure {
        match why {
            Broken::Unconnected => self.timed_out(url, self.client.options.timeouts.connect),
            Broken::Interim => {
                let why = format!("sends more than {MAX_INTERIM} interim responses and no answer");
                self.fail(FailureKind::Broken, url, &why)
            }
            Broken::Told(told) => self.fail(
                FailureKind::Broken,
                url,
                &format!("does not answer: {told}"),
            ),
        }
    }

    fn fail(&self, kind: FailureKind, url: &Url, why: &str) -> Failure {
        let message = self.scrubber.scrub(&format!("{} {why}", shown(url)));
        Failure {
            kind,
            status: None,
            signs: Box::default(),
            message,
        }
    }
}
