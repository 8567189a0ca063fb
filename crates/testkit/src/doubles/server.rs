//! The HTTP server under all doubles: it remembers what it was asked.

use std::collections::{BTreeSet, VecDeque};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{ConnectInfo, State};
use axum::http::{HeaderMap, Method, Response, StatusCode, Uri};
use jiff::Timestamp;
use parking_lot::Mutex;
use tokio::sync::oneshot;

/// A request that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// The time at which it arrived.
    pub at: Timestamp,
    /// The method.
    pub method: String,
    /// The path.
    pub path: String,
    /// The query, without its question mark.
    pub query: String,
    /// The headers; their names are in lower case.
    pub headers: Vec<(String, String)>,
    /// The content.
    pub body: Vec<u8>,
}

impl Recorded {
    /// Returns a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        let found = headers.find(|(key, _)| key == name);
        found.map(|(_, value)| value.as_str())
    }

    /// Returns a parameter of the query; it must need no decoding but that of `%2F` and `%3A`.
    pub fn parameter(&self, name: &str) -> Option<String> {
        let mut pairs = self.query.split('&').filter_map(|it| it.split_once('='));
        let found = pairs.find(|(key, _)| *key == name);
        found.map(|(_, value)| value.replace("%2F", "/").replace("%3A", ":"))
    }

    /// Returns the method and the path.
    pub fn line(&self) -> String {
        format!("{} {}", self.method, self.path)
    }
}

/// An answer of a double.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// The status; with 0 there is no answer for as long as the client waits.
    pub status: u16,
    /// The headers.
    pub headers: Vec<(String, String)>,
    /// The content.
    pub body: Vec<u8>,
}

impl Reply {
    /// An answer without content.
    pub fn new(status: u16) -> Self {
        Self {
            status,
            headers: Vec::new(),
            body: Vec::new(),
        }
    }

    /// No answer at all.
    pub fn never() -> Self {
        Self::new(0)
    }

    /// Adds a header.
    #[must_use]
    pub fn header(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers.push((name.to_owned(), value.into()));
        self
    }

    /// Adds the content.
    #[must_use]
    pub fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self
    }
}

/// Answers a request.
type Handler = dyn Fn(&Recorded) -> Reply + Send + Sync;

/// A server that runs until this is dropped.
pub struct Server {
    /// The address at which it listens.
    pub address: SocketAddr,
    shared: Arc<Shared>,
    _stop: oneshot::Sender<()>,
}

struct Shared {
    handler: Box<Handler>,
    requests: Mutex<Vec<Recorded>>,
    next: Mutex<VecDeque<Reply>>,
    /// The ports of those who have asked.
    clients: Mutex<BTreeSet<u16>>,
}

impl Server {
    /// Answers every request as `handler` does.
    ///
    /// # Panics
    ///
    /// If there is no free port.
    pub fn start(handler: impl Fn(&Recorded) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let address = listener.local_addr().expect("it is bound");
        listener.set_nonblocking(true).expect("a socket takes it");
        let shared = Arc::new(Shared {
            handler: Box::new(handler),
            requests: Mutex::default(),
            next: Mutex::default(),
            clients: Mutex::default(),
        });
        let router = Router::new().fallback(answer).with_state(shared.clone());
        let (stop, stopped) = oneshot::channel::<()>();
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build();
            runtime.expect("a runtime").block_on(async move {
                let listener = tokio::net::TcpListener::from_std(listener);
                let service = router.into_make_service_with_connect_info::<SocketAddr>();
                let serving = axum::serve(listener.expect("it is nonblocking"), service);
                tokio::select! {
                    _ = serving.into_future() => {}
                    _ = stopped => {}
                }
            });
        });
        Self {
            address,
            shared,
            _stop: stop,
        }
    }

    /// Returns its URL, without a slash at the end.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns all requests since it was asked last.
    pub fn take_requests(&self) -> Vec<Recorded> {
        std::mem::take(&mut self.shared.requests.lock())
    }

    /// Returns the number of connections on which it was asked.
    pub fn connections(&self) -> usize {
        self.shared.clients.lock().len()
    }

    /// Answers the next request so, whatever it asks for; one reply for each call.
    pub fn reply_next(&self, reply: Reply) {
        self.shared.next.lock().push_back(reply);
    }
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Server").field(&self.address).finish()
    }
}

async fn answer(
    State(shared): State<Arc<Shared>>,
    ConnectInfo(client): ConnectInfo<SocketAddr>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response<Body> {
    let headers = headers.iter();
    let headers = headers.map(|(name, value)| {
        let value = String::from_utf8_lossy(value.as_bytes());
        (name.to_string(), value.into_owned())
    });
    let request = Recorded {
        at: Timestamp::now(),
        method: method.to_string(),
        path: uri.path().to_owned(),
        query: uri.query().unwrap_or_default().to_owned(),
        headers: headers.collect(),
        body: body.to_vec(),
    };
    shared.clients.lock().insert(client.port());
    shared.requests.lock().push(request.clone());
    let next = shared.next.lock().pop_front();
    let reply = next.unwrap_or_else(|| (shared.handler)(&request));
    if reply.status == 0 {
        std::future::pending::<()>().await;
    }
    let status = StatusCode::from_u16(reply.status).expect("a double knows its statuses");
    let mut response = Response::builder().status(status);
    for (name, value) in reply.headers {
        response = response.header(name, value);
    }
    let response = response.body(Body::from(reply.body));
    response.expect("a double knows its headers")
}
