//! One connection, from the first byte to the last.

use std::convert::Infallible;

use bytes::Bytes;
use http::header::CONNECTION;
use http::{HeaderValue, Request, Response, StatusCode, Version};
use http_body::Body;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use pathline_clock::instant;
use rustix::net::sockopt;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::{Duration, Instant, MissedTickBehavior, interval, sleep_until, timeout};
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tower::{Service, ServiceExt};

use super::activity::Activity;
use super::arriving::Arriving;
use super::body::{Answer, Readers};
use super::guard::Guarded;
use super::room::{Seat, Visitor};
use super::{BoxError, Limits};

/// The interval of TCP keep-alive probes, once a client has been silent for
/// [`Limits::send`], and how often in vain before it is gone.
const PROBE_EVERY: Duration = Duration::from_secs(10);
const PROBES: u32 = 3;

/// The reason for which a connection ended.
#[derive(Debug)]
pub(super) enum Ended {
    /// Either side closed it in good order, or it broke.
    Closed,
    /// The client took too long to greet.
    Greeting,
    /// The client did not read.
    Stalled,
    /// Somebody else needed the room.
    SentAway,
    /// The server stops, or there was no request for long, and the client did not close it.
    Drained,
}

/// The settings and the state of one connection.
pub(super) struct Connection {
    pub(super) tls: Option<TlsAcceptor>,
    pub(super) limits: Limits,
    pub(super) shutdown: CancellationToken,
    pub(super) seat: Seat,
}

impl Connection {
    /// Serves what comes over a connection until it ends.
    pub(super) async fn run<S, B>(self, stream: TcpStream, service: S) -> Ended
    where
        S: Service<Request<Arriving>, Response = Response<B>, Error = Infallible>,
        S: Clone + Send + 'static,
        S::Future: Send,
        B: Body<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        prepare(&stream, self.limits.send);
        let activity = Activity::new();
        let guarded = Guarded::new(stream, self.limits.send, activity.clone());
        let Some(tls) = &self.tls else {
            return self.talk(guarded, service, activity).await;
        };
        let handshake = timeout(self.limits.greeting, tls.accept(guarded));
        let stream = tokio::select! {
            () = self.shutdown.cancelled() => return Ended::Drained,
            () = self.seat.leave.cancelled() => return Ended::SentAway,
            greeted = handshake => match greeted {
                Ok(Ok(stream)) => stream,
                Ok(Err(_)) => return Ended::Closed,
                Err(_) => return Ended::Greeting,
            },
        };
        Box::pin(self.talk(stream, service, activity)).await
    }

    /// Speaks HTTP, of either version.
    async fn talk<I, S, B>(&self, stream: I, service: S, activity: Activity) -> Ended
    where
        I: AsyncRead + AsyncWrite + Unpin + Send + 'static,
        S: Service<Request<Arriving>, Response = Response<B>, Error = Infallible>,
        S: Clone + Send + 'static,
        S::Future: Send,
        B: Body<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        let readers = Readers::new(self.limits.send, self.shutdown.clone());
        let desk = Desk {
            service,
            activity: activity.clone(),
            readers: readers.clone(),
            visitor: self.seat.visitor.clone(),
            timeout: self.limits.body,
        };
        let answering = service_fn(move |request| desk.clone().answer(request));
        let builder = http(&self.limits);
        let connection = builder.serve_connection(TokioIo::new(stream), answering);
        tokio::pin!(connection);
        let mut check = interval(self.limits.send.min(self.limits.idle) / 4);
        check.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut greeting_until = Some(instant() + self.limits.greeting);
        let mut stop = Stop::default();
        loop {
            tokio::select! {
                _ = connection.as_mut() => return Ended::Closed,
                () = self.seat.leave.cancelled() => return Ended::SentAway,
                () = passed(greeting_until) => {
                    if !activity.has_begun() {
                        return Ended::Greeting;
                    }
                    greeting_until = None;
                }
                () = self.shutdown.cancelled(), if !stop.has_begun() => {
                    connection.as_mut().graceful_shutdown();
                    stop = Stop::begin(&self.limits);
                }
                () = passed(stop.arrived) => {
                    if activity.waits_for_client() {
                        return Ended::Drained;
                    }
                    stop.arrived = None;
                }
                () = passed(stop.drained) => return Ended::Drained,
                _ = check.tick() => {
                    if readers.any_stalled(instant()) {
                        return Ended::Stalled;
                    }
                    if !stop.has_begun() && activity.is_idle(self.limits.idle) {
                        connection.as_mut().graceful_shutdown();
                        stop = Stop::begin(&self.limits);
                    }
                }
            }
        }
    }
}

/// The deadlines of a connection, once the server shuts down or the connection is of no use.
#[derive(Default)]
struct Stop {
    /// The deadline for requests to arrive.
    arrived: Option<Instant>,
    /// The deadline for them to be answered.
    drained: Option<Instant>,
}

impl Stop {
    fn begin(limits: &Limits) -> Self {
        let now = instant();
        Self {
            arrived: Some(now + limits.arrive),
            drained: Some(now + limits.drain),
        }
    }

    fn has_begun(&self) -> bool {
        self.drained.is_some()
    }
}

/// The service and the limits with which the requests of one connection are answered.
#[derive(Clone)]
struct Desk<S> {
    service: S,
    activity: Activity,
    readers: Readers,
    visitor: Visitor,
    timeout: Duration,
}

impl<S> Desk<S> {
    async fn answer<B>(self, request: Request<Incoming>) -> Result<Response<Answer<B>>, Infallible>
    where
        S: Service<Request<Arriving>, Response = Response<B>, Error = Infallible>,
        B: Body<Data = Bytes>,
    {
        let under_way = self.activity.begin();
        let version = request.version();
        let mut request = request.map(|body| Arriving::new(body, &self.activity, self.timeout));
        request.extensions_mut().insert(self.visitor);
        let mut response = self.service.oneshot(request).await?;
        if response.status() == StatusCode::PAYLOAD_TOO_LARGE && version < Version::HTTP_2 {
            // The rest of the body is not read, so there is no next request on this connection.
            let close = HeaderValue::from_static("close");
            response.headers_mut().insert(CONNECTION, close);
        }
        Ok(response.map(|body| Answer::new(body, &self.readers, under_way)))
    }
}

/// Sets the socket up so that small answers do not wait for more, and a client that is gone without
/// a word is noticed.
fn prepare(stream: &TcpStream, silence: Duration) {
    let _ = stream.set_nodelay(true);
    let _ = sockopt::set_socket_keepalive(stream, true);
    let _ = sockopt::set_tcp_keepidle(stream, silence.max(Duration::from_secs(1)));
    let _ = sockopt::set_tcp_keepintvl(stream, PROBE_EVERY);
    let _ = sockopt::set_tcp_keepcnt(stream, PROBES);
}

/// Waits until `moment`; without one, forever.
async fn passed(moment: Option<Instant>) {
    match moment {
        Some(moment) => sleep_until(moment).await,
        None => std::future::pending().await,
    }
}

fn http(limits: &Limits) -> auto::Builder<TokioExecutor> {
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.idle)
        .max_buf_size(64 << 10);
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(limits.streams)
        .max_header_list_size(32 << 10)
        .max_send_buf_size(64 << 10)
        .keep_alive_interval(limits.send)
        .keep_alive_timeout(limits.send);
    builder
}
