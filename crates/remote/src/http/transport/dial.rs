//! Connections: to a host or to the proxy before it, with TLS or without.

use std::error::Error;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use http::Uri;
use http::header::HeaderValue;
use http::uri::Scheme;
use hyper_rustls::{HttpsConnector, MaybeHttpsStream};
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::connect::proxy::Tunnel;
use hyper_util::client::proxy::matcher::{Intercept, Matcher};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tower::Service;

use super::interim::Cuttable;

/// The time without a word after which a connection is asked whether it is still there, and between two such questions.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

type BoxError = Box<dyn Error + Send + Sync>;
type Dialing<T> = Pin<Box<dyn Future<Output = Result<T, BoxError>> + Send>>;
/// A connection to a host or a proxy, before TLS to the host itself.
type Line = MaybeHttpsStream<TokioIo<TcpStream>>;

/// There was no connection in time.
#[derive(Debug, thiserror::Error)]
#[error("no connection in time")]
pub(super) struct TimedOut;

/// Makes connections, all of which can be cut.
#[derive(Clone)]
pub(super) struct Dial {
    https: HttpsConnector<Route>,
    proxies: Arc<Matcher>,
    timeout: Duration,
}

/// Makes a line to a host, through a proxy where the environment names one.
#[derive(Clone)]
struct Route {
    tcp: HttpConnector,
    /// For proxies, to which there may be TLS.
    to_proxy: HttpsConnector<HttpConnector>,
    proxies: Arc<Matcher>,
}

impl Dial {
    pub(super) fn new(tls: rustls::ClientConfig, timeout: Duration) -> Self {
        let mut tcp = HttpConnector::new();
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        tcp.set_keepalive(Some(KEEP_ALIVE));
        tcp.set_keepalive_interval(Some(KEEP_ALIVE));
        let tls = Arc::new(tls);
        let proxies = Arc::new(Matcher::from_env());
        let route = Route {
            to_proxy: HttpsConnector::from((tcp.clone(), tls.clone())),
            tcp,
            proxies: proxies.clone(),
        };
        Self {
            https: HttpsConnector::from((route, tls)),
            proxies,
            timeout,
        }
    }

    /// Returns what a proxy that sees the whole request wants to be told with it.
    pub(super) fn proxy_authorization(&self, uri: &Uri) -> Option<HeaderValue> {
        plain_proxy(&self.proxies, uri)?.basic_auth().cloned()
    }
}

/// Returns the proxy that is sent whole requests; where there is TLS, it only passes bytes on.
fn plain_proxy(proxies: &Matcher, uri: &Uri) -> Option<Intercept> {
    let is_plain = uri.scheme() == Some(&Scheme::HTTP);
    proxies.intercept(uri).filter(|_| is_plain)
}

impl Service<Uri> for Dial {
    type Response = Cuttable<MaybeHttpsStream<Line>>;
    type Error = BoxError;
    type Future = Dialing<Self::Response>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.https.poll_ready(context)
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let is_proxied = plain_proxy(&self.proxies, &uri).is_some();
        let connecting = tokio::time::timeout(self.timeout, self.https.call(uri));
        Box::pin(async move {
            let stream = connecting.await.map_err(|_| TimedOut)??;
            Ok(Cuttable::new(stream, is_proxied))
        })
    }
}

impl Service<Uri> for Route {
    type Response = Line;
    type Error = BoxError;
    type Future = Dialing<Line>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.tcp.poll_ready(context).map_err(Into::into)
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let Some(proxy) = self.proxies.intercept(&uri) else {
            let connecting = self.tcp.call(uri);
            return Box::pin(async move { Ok(MaybeHttpsStream::Http(connecting.await?)) });
        };
        if plain_proxy(&self.proxies, &uri).is_some() {
            return self.to_proxy.call(proxy.uri().clone());
        }
        let mut tunnel = Tunnel::new(proxy.uri().clone(), self.to_proxy.clone());
        if let Some(authorization) = proxy.basic_auth() {
            tunnel = tunnel.with_auth(authorization.clone());
        }
        let connecting = tunnel.call(uri);
        Box::pin(async move { Ok(connecting.await?) })
    }
}

/// The environment may name a proxy with a password.
impl fmt::Debug for Dial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dial").finish_non_exhaustive()
    }
}
