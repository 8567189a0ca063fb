//! A way to an embedded cluster on which everything goes wrong that can.

use std::path::{Path, PathBuf};
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
use parking_lot::Mutex;
use pathline_cluster::{Cluster, Options};
use pathline_engine::Connection;
use serde_json::json;
use tower::{BoxError, service_fn};

/// How long a watch lasts.
const WATCH_LASTS: Duration = Duration::from_secs(1);

/// An embedded cluster that can be stopped and started, and the faulty way to it.
pub(crate) struct Way {
    data_dir: PathBuf,
    cluster: Mutex<Option<Cluster>>,
    is_calm: AtomicBool,
    writes: AtomicUsize,
    requests: AtomicUsize,
}

/// What happens to one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    Nothing,
    Conflict,
    TooMany,
    /// The request is answered, but the answer does not arrive.
    AnswerLost,
}

impl Way {
    /// Opens the cluster; the way is calm until told otherwise.
    pub(crate) async fn open(data_dir: &Path) -> Arc<Self> {
        let way = Arc::new(Self {
            data_dir: data_dir.to_owned(),
            cluster: Mutex::default(),
            is_calm: AtomicBool::new(true),
            writes: AtomicUsize::new(0),
            requests: AtomicUsize::new(0),
        });
        way.start().await;
        way
    }

    /// Starts the cluster.
    pub(crate) async fn start(&self) {
        let cluster = Cluster::open(Options::new(&self.data_dir)).await;
        *self.cluster.lock() = Some(cluster.expect("the cluster opens again"));
    }

    /// Stops the cluster.
    pub(crate) async fn stop(&self) {
        let cluster = self.cluster.lock().take();
        cluster.expect("the cluster runs").close().await;
    }

    pub(crate) fn set_calm(&self, is_calm: bool) {
        self.is_calm.store(is_calm, Ordering::Relaxed);
    }

    /// Returns a client that nothing happens to, unless the cluster is stopped.
    pub(crate) fn client(&self) -> Option<Client> {
        self.cluster.lock().as_ref().map(Cluster::client)
    }

    /// Returns the faulty connection; it belongs to the runtime this is called on.
    pub(crate) fn connection(self: &Arc<Self>) -> Connection {
        let anonymous = |cluster: &Cluster| Client::new(cluster.service(), "default");
        Connection::new(self.through(Cluster::client), self.through(anonymous))
    }

    fn through(self: &Arc<Self>, client: fn(&Cluster) -> Client) -> Client {
        let way = self.clone();
        let service = service_fn(move |request: Request<Body>| {
            let way = way.clone();
            async move { way.pass(client, request).await }
        });
        Client::new(service, "default")
    }

    async fn pass(
        &self,
        client: fn(&Cluster) -> Client,
        request: Request<Body>,
    ) -> Result<Response<UnsyncBoxBody<Bytes, BoxError>>, BoxError> {
        let client = self.cluster.lock().as_ref().map(client);
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
