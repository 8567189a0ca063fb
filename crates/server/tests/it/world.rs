//! A ledger, a cluster and a server in front of both, in one process.

use axum::Router;
use axum::body::Body;
use axum::http::request::Builder;
use axum::http::{Request, Response, StatusCode, header};
use http_body_util::BodyExt;
use jiff::Timestamp;
use pathline_cluster::Cluster;
use pathline_ledger::{Ledger, Location, Permissions, SealKey};
use pathline_server::{AppState, Secret, app};
use serde_json::Value;
use tempfile::TempDir;
use tower::ServiceExt;

/// The server, and what it serves.
pub(crate) struct World {
    pub(crate) ledger: Ledger,
    pub(crate) cluster: Option<Cluster>,
    pub(crate) state: AppState,
    pub(crate) router: Router,
    pub(crate) directory: TempDir,
}

/// An answer, all of it.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: axum::http::HeaderMap,
    pub(crate) body: Value,
}

impl World {
    /// Starts a server with a ledger only.
    pub(crate) async fn without_cluster() -> Self {
        let directory = tempfile::tempdir().expect("a scratch directory");
        let file = directory.path().join("ledger.db");
        let ledger = Ledger::open(&Location::File(file)).await.expect("a ledger");
        let state = AppState::new("1.2.3").with_ledger(ledger.clone());
        Self {
            ledger,
            cluster: None,
            router: app(state.clone()),
            state,
            directory,
        }
    }

    /// Starts a server with a ledger that keeps secrets.
    pub(crate) async fn with_seal_key() -> Self {
        let world = Self::without_cluster().await;
        let ledger = world.ledger.clone();
        let ledger = ledger.with_seal_key(SealKey::new(&[1; 32])).await;
        let ledger = ledger.expect("nothing is sealed with another key");
        let state = AppState::new("1.2.3").with_ledger(ledger.clone());
        Self {
            ledger,
            router: app(state.clone()),
            state,
            ..world
        }
    }

    /// Starts a server with a ledger, and with a cluster that knows Pathline's kinds.
    pub(crate) async fn new() -> Self {
        Self::without_cluster().await.with_kinds().await
    }

    /// Adds a cluster that knows Pathline's kinds.
    pub(crate) async fn with_kinds(self) -> Self {
        let world = self.with_bare_cluster().await;
        let client = world.cluster.as_ref().expect("it is there").client();
        let installed = pathline_engine::crds::install(&client).await;
        installed.expect("the kinds");
        world
    }

    /// Adds a cluster that knows nothing.
    pub(crate) async fn with_bare_cluster(mut self) -> Self {
        let directory = self.directory.path().join("cluster");
        std::fs::create_dir(&directory).expect("a directory for the cluster");
        let cluster = Cluster::open(pathline_cluster::Options::new(&directory))
            .await
            .expect("a cluster");
        self.state = self.state.with_cluster(cluster.client());
        self.router = app(self.state.clone());
        self.cluster = Some(cluster);
        self
    }

    /// Makes a token and returns its secret.
    pub(crate) async fn token(&self, name: &str, scope: Permissions) -> String {
        self.token_until(name, scope, None).await
    }

    /// Makes a token that ends, and returns its secret.
    pub(crate) async fn token_until(
        &self,
        name: &str,
        scope: Permissions,
        expires: Option<Timestamp>,
    ) -> String {
        let secret = Secret::random().expect("randomness");
        let (hash, now) = (secret.hash(), Timestamp::now());
        self.ledger
            .access()
            .create_token(name, scope, &hash, expires, now)
            .await
            .expect("a token");
        secret.reveal().to_owned()
    }

    /// Asks for a path with a token.
    pub(crate) async fn get(&self, path: &str, token: &str) -> Answer {
        let request = Request::get(path);
        self.send(request, Some(token), Body::empty()).await
    }

    /// Sends a request and reads the whole answer.
    pub(crate) async fn send(&self, request: Builder, token: Option<&str>, body: Body) -> Answer {
        let response = self.open(request, token, body).await;
        let (status, headers) = (response.status(), response.headers().clone());
        let body = response.into_body().collect().await.expect("a whole body");
        let body = body.to_bytes();
        let text = String::from_utf8_lossy(&body).into_owned();
        Answer {
            status,
            headers,
            body: serde_json::from_str(&text).unwrap_or(Value::String(text)),
        }
    }

    /// Sends a request and returns the answer, of which the body may take its time.
    pub(crate) async fn open(
        &self,
        mut request: Builder,
        token: Option<&str>,
        body: Body,
    ) -> Response<Body> {
        if let Some(token) = token {
            request = request.header(header::AUTHORIZATION, format!("Bearer {token}"));
        }
        let request = request.body(body).expect("a well-formed request");
        let answer = self.router.clone().oneshot(request).await;
        answer.expect("the router never fails")
    }
}

impl Answer {
    /// Returns the code of an error.
    pub(crate) fn code(&self) -> &str {
        self.body["error"]["code"].as_str().unwrap_or_default()
    }

    /// Returns the message of an error.
    pub(crate) fn message(&self) -> &str {
        self.body["error"]["message"].as_str().unwrap_or_default()
    }
}
