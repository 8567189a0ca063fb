//! An embedded cluster in a scratch directory, and requests to it as they go over the wire.

use anyhow::{Context, Result};
use bytes::Bytes;
use http::{Method, Request, Response};
use http_body::Body;
use http_body_util::{BodyExt, Full};
use pathline_cluster::{Cluster, Options, ResponseBody};
use serde_json::{Value, json};
use tower::ServiceExt;

/// A cluster that is gone with this value.
pub(crate) struct Embedded {
    pub(crate) cluster: Cluster,
    token: String,
    _directory: tempfile::TempDir,
}

/// An answer whose body has been read.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) code: u16,
    pub(crate) headers: http::HeaderMap,
    pub(crate) body: Value,
}

impl Embedded {
    pub(crate) async fn open() -> Result<Self> {
        Self::open_with(|_| {}).await
    }

    /// Opens a cluster with changed options.
    pub(crate) async fn open_with(change: impl FnOnce(&mut Options)) -> Result<Self> {
        let directory = tempfile::tempdir()?;
        let mut options = Options::new(directory.path());
        change(&mut options);
        let cluster = Cluster::open(options).await?;
        let token = std::fs::read_to_string(directory.path().join("admin.token"))?;
        Ok(Self {
            cluster,
            token: token.trim().to_owned(),
            _directory: directory,
        })
    }

    /// Sends a request and returns the answer with its body still to be read.
    pub(crate) async fn start<B>(&self, request: Request<B>) -> Result<Response<ResponseBody>>
    where
        B: Body<Data = Bytes> + Send + 'static,
    {
        let mut request = request;
        let token = format!("Bearer {}", self.token).parse()?;
        request.headers_mut().insert("authorization", token);
        Ok(self.cluster.service().oneshot(request).await?)
    }

    pub(crate) async fn send<B>(&self, request: Request<B>) -> Result<Answer>
    where
        B: Body<Data = Bytes> + Send + 'static,
    {
        let response = self.start(request).await?;
        let (head, body) = response.into_parts();
        let bytes = body.collect().await?.to_bytes();
        let body = serde_json::from_slice(&bytes).unwrap_or_default();
        Ok(Answer {
            code: head.status.as_u16(),
            headers: head.headers,
            body,
        })
    }

    pub(crate) async fn get(&self, path: &str) -> Result<Answer> {
        self.send(bare(Method::GET, path)).await
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> Result<Answer> {
        self.send(with_body(
            Method::POST,
            path,
            "application/json",
            body.to_string(),
        ))
        .await
    }

    /// Returns the newest revision.
    pub(crate) async fn revision(&self) -> Result<u64> {
        let list = self.get("/api/v1/namespaces").await?;
        let version = list.body["metadata"]["resourceVersion"].as_str();
        Ok(version.context("a list has a version")?.parse()?)
    }

    /// Installs the Widget definition and waits until it is established.
    pub(crate) async fn install_widgets(&self) -> Result<()> {
        self.install(&widget_definition()).await
    }

    /// Installs a definition of Widgets and waits until it is established.
    pub(crate) async fn install(&self, definition: &Value) -> Result<()> {
        let made = self.post(DEFINITIONS, definition).await?;
        anyhow::ensure!(
            made.code == 201,
            "the definition was refused: {}",
            made.body
        );
        let path = format!("{DEFINITIONS}/widgets.probe.dev");
        loop {
            let read = self.get(&path).await?;
            let conditions = read.body["status"]["conditions"].as_array().cloned();
            let established = conditions.unwrap_or_default().iter().any(|condition| {
                condition["type"] == "Established" && condition["status"] == "True"
            });
            if established {
                return Ok(());
            }
            tokio::task::yield_now().await;
        }
    }
}

pub(crate) const CONFIG_MAPS: &str = "/api/v1/namespaces/default/configmaps";
pub(crate) const WIDGETS: &str = "/apis/probe.dev/v1/namespaces/default/widgets";
pub(crate) const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

pub(crate) fn bare(method: Method, path: &str) -> Request<Full<Bytes>> {
    request(method, path, Bytes::new())
}

pub(crate) fn with_body(
    method: Method,
    path: &str,
    media_type: &str,
    body: impl Into<Bytes>,
) -> Request<Full<Bytes>> {
    let mut request = request(method, path, body.into());
    request
        .headers_mut()
        .insert("content-type", media_type.parse().unwrap());
    request
}

fn request(method: Method, path: &str, body: Bytes) -> Request<Full<Bytes>> {
    Request::builder()
        .method(method)
        .uri(path)
        .body(Full::new(body))
        .unwrap()
}

pub(crate) fn config_map(name: &str) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name},
        "data": {"a": "1"},
    })
}

pub(crate) fn widget(name: &str) -> Value {
    json!({
        "apiVersion": "probe.dev/v1",
        "kind": "Widget",
        "metadata": {"name": name},
        "spec": {"size": "small"},
    })
}

pub(crate) fn widget_definition() -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.probe.dev"},
        "spec": {
            "group": "probe.dev",
            "scope": "Namespaced",
            "names": {"plural": "widgets", "kind": "Widget", "shortNames": ["wd"]},
            "versions": [{
                "name": "v1",
                "served": true,
                "storage": true,
                "subresources": {"status": {}},
                "schema": {"openAPIV3Schema": {
                    "type": "object",
                    "properties": {
                        "spec": {
                            "type": "object",
                            "required": ["size"],
                            "properties": {
                                "size": {"type": "string"},
                                "color": {"type": "string", "default": "red"},
                                "replicas": {"type": "integer", "minimum": 0},
                            },
                        },
                        "status": {
                            "type": "object",
                            "x-kubernetes-preserve-unknown-fields": true,
                        },
                    },
                }},
            }],
        },
    })
}
