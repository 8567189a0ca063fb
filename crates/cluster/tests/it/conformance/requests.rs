//! Requests as they go over the wire, for what no client would send.

use anyhow::Result;
use http::{Method, Request};
use kube::client::Body;
use serde_json::Value;

use super::target::Target;

/// An answer as it came over the wire.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) code: u16,
    pub(crate) text: String,
}

impl Answer {
    /// Returns the body as JSON; null if it is not.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_default()
    }
}

/// A request in the making.
#[derive(Debug, Clone)]
pub(crate) struct Raw {
    method: Method,
    path: String,
    headers: Vec<(&'static str, String)>,
    body: Vec<u8>,
}

impl Raw {
    pub(crate) fn new(method: &Method, path: impl Into<String>) -> Self {
        Self {
            method: method.clone(),
            path: path.into(),
            headers: Vec::new(),
            body: Vec::new(),
        }
    }

    pub(crate) fn get(path: impl Into<String>) -> Self {
        Self::new(&Method::GET, path)
    }

    pub(crate) fn post(path: impl Into<String>, body: impl Into<Vec<u8>>) -> Self {
        Self::new(&Method::POST, path).body("application/json", body)
    }

    pub(crate) fn put(path: impl Into<String>, body: impl Into<Vec<u8>>) -> Self {
        Self::new(&Method::PUT, path).body("application/json", body)
    }

    pub(crate) fn delete(path: impl Into<String>) -> Self {
        Self::new(&Method::DELETE, path)
    }

    /// Makes a PATCH with a content type: `json-patch+json`, `merge-patch+json`, `apply-patch+yaml`.
    pub(crate) fn patch(path: impl Into<String>, kind: &str, body: impl Into<Vec<u8>>) -> Self {
        Self::new(&Method::PATCH, path).body(&format!("application/{kind}"), body)
    }

    #[must_use]
    pub(crate) fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    #[must_use]
    pub(crate) fn body(mut self, content_type: &str, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self.header("content-type", content_type)
    }

    /// Sends the request; `NS` in its path is the test's namespace.
    pub(crate) async fn send(self, target: &Target) -> Result<Answer> {
        let path = self.path.replace("/NS", &format!("/{}", target.namespace));
        let mut request = Request::builder().method(self.method).uri(path);
        for (name, value) in &self.headers {
            request = request.header(*name, value);
        }
        let response = target
            .client
            .send(request.body(Body::from(self.body))?)
            .await?;
        let code = response.status().as_u16();
        let bytes = response.into_body().collect_bytes().await?;
        Ok(Answer {
            code,
            text: String::from_utf8_lossy(&bytes).into_owned(),
        })
    }
}
