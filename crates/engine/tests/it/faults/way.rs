//! A way to a cluster on which everything goes wrong that can.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use futures::StreamExt;
use http::{Method, Request, Response};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, BodyStream, Full, StreamBody};
use kube::Client;
use kube::client::Body;
use pathline_cluster::Cluster;
use pathline_engine::Connection;
use serde_json::json;
use tower::{BoxError, service_fn};

use super::server::Server;

/// The duration of a watch.
const WATCH_LASTS: Duration = Duration::from_secs(1);

/// A server that can be stopped and started, and the faulty way to it.
pub(crate) struct Way {
    pub(crate) server: Server,
    is_calm: AtomicBool,
    writes: AtomicUsize,
    requests: AtomicUsize,
}

/// The fault of one request, or none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    Nothing,
    Conflict,
    TooMany,
    /// The request is answered, but the answer does not arrive.
    AnswerLost,
}

impl Way {
    /// Leads to a server; the way is calm until told otherwise.
    pub(crate) fn to(server: Server) -> Arc<Self> {
        Arc::new(Self {
            server,
            is_calm: AtomicBool::new(true),
            writes: AtomicUsize::new(0),
            requests: AtomicUsize::new(0),
        })
    }

    pub(crate) fn set_calm(&self, is_calm: bool) {
        self.is_calm.store(is_calm, Ordering::Relaxed);
    }

    /// Returns a client that nothing happens to, unless the server is stopped.
    pub(crate) fn client(&self) -> Option<Client> {
        let connection = self.server.connection()?;
        Some(connection.client().clone())
    }

    /// Returns the faulty connection; it belongs to the runtime this is called on.
    pub(crate) fn connection(self: &Arc<Self>) -> Connection {
        match &self.server {
            Server::Embedded { .. } => {
                let anonymous = |cluster: &Cluster| Client::new(cluster.service(), "default");
                Connection::new(
                    self.to_embedded(Cluster::client),
                    self.to_embedded(anonymous),
                )
            }
            Server::Real { .. } => {
                let connection = self.server.connection().expect("it has always one");
                connection.map(|client| self.through(move |_| Some(client.clone())))
            }
        }
    }

    fn to_embedded(self: &Arc<Self>, client: fn(&Cluster) -> Client) -> Client {
        self.through(move |server| match server {
            Server::Embedded { cluster, .. } => cluster.lock().as_ref().map(client),
            Server::Real { .. } => None,
        })
    }

    fn through(
        self: &Arc<Self>,
        client: impl Fn(&Server) -> Option<Client> + Send + 'static,
    ) -> Client {
        let way = self.clone();
        let service = service_fn(move |request: Request<Body>| {
            let (way, client) = (way.clone(), client(&way.server));
            async move { way.pass(client, request).await }
        });
        Client::new(service, "default")
    }

    async fn pass(
        &self,
        client: Option<Client>,
        request: Request<Body>,
    ) -> Result<Response<UnsyncBoxBody<Bytes, BoxError>>, BoxError> {
        let client = client.ok_or("connection refused")?;
        let fault = self.fault(request.method());
        match fault {
            Fault::Conflict => return Ok(refusal(409, "Conflict")),
            Fault::TooMany => return Ok(refusal(429, "TooManyRequests")),
            Fault::Nothing | Fault::AnswerLost => {}
        }
        let is_watch = request
            .uri()
            .query()
            .is_some_and(|query| query.contains("watch="));
        let answer = client.send(request).await?;
        if fault == Fault::AnswerLost {
            return Err("connection reset by peer".into());
        }
        let (parts, body) = answer.into_parts();
        let body = body.map_err(BoxError::from);
        let body = if is_watch && !self.is_calm() {
            let ends = Box::pin(tokio::time::sleep(WATCH_LASTS));
            StreamBody::new(BodyStream::new(body).take_until(ends)).boxed_unsync()
        } else {
            body.boxed_unsync()
        };
        Ok(Response::from_parts(parts, body))
    }

    fn fault(&self, method: &Method) -> Fault {
        if self.is_calm() {
            return Fault::Nothing;
        }
        let request = self.requests.fetch_add(1, Ordering::Relaxed);
        if request % 11 == 10 {
            return Fault::TooMany;
        }
        if method == Method::GET {
            return Fault::Nothing;
        }
        match self.writes.fetch_add(1, Ordering::Relaxed) % 4 {
            0 | 2 => Fault::Conflict,
            1 => Fault::AnswerLost,
            _ => Fault::Nothing,
        }
    }

    fn is_calm(&self) -> bool {
        self.is_calm.load(Ordering::Relaxed)
    }
}

fn refusal(code: u16, reason: &str) -> Response<UnsyncBoxBody<Bytes, BoxError>> {
    let status = json!({
        "apiVersion": "v1", "kind": "Status", "metadata": {}, "status": "Failure",
        "code": code, "reason": reason, "message": format!("made up: {reason}"),
    });
    let body = Full::new(Bytes::from(status.to_string()));
    let answer = Response::builder()
        .status(code)
        .header("content-type", "application/json")
        .header("retry-after", "1");
    let body = body.map_err(|never| match never {}).boxed_unsync();
    answer.body(body).expect("a well-formed answer")
}
