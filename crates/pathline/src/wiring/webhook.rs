//! The validating webhook: real clusters ask it before they store a blueprint, a template or an
//! Environment.

mod authority;
mod registration;

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::StatusCode;
use axum::routing::{get, post};
use axum::{Json, Router};
use kube::Client;
use pathline_clock::Clock;
use pathline_cluster::{Verdict, serve_tls};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::wiring::admission::{Mode, judge};

pub(crate) use self::registration::Target;

/// The path to which a cluster posts its questions.
const PATH: &str = "/validate";

/// A review holds an object twice, before and after; etcd limits one to about 1.5 MB.
const MAX_REVIEW: usize = 8 << 20;

/// The time that a stop waits for the cluster.
const UNREGISTER_TIMEOUT: Duration = Duration::from_secs(5);

/// The registration of the webhook, as the cluster has it.
pub(crate) struct Registration {
    client: Client,
    target: Target,
    authority: String,
}

impl Registration {
    /// Takes it back where nobody else could answer. To be called while the webhook still answers.
    pub(crate) async fn end(self) {
        let ended = registration::unregister(&self.client, &self.target, &self.authority);
        let ended = tokio::time::timeout(UNREGISTER_TIMEOUT, ended).await;
        let error = match ended {
            Ok(Ok(())) => return,
            Ok(Err(error)) => error.to_string(),
            Err(_) => "the cluster did not answer".to_owned(),
        };
        tracing::warn!(
            error,
            "the webhook is still registered, so blueprints, templates and Environments cannot be written \
             until it runs again; `kubectl delete validatingwebhookconfiguration pathline` takes it back"
        );
    }
}

/// Prepares the webhook: certificates, and the cluster's knowledge of it. Returns what serves it until
/// it is told to stop, and what the cluster was told.
pub(crate) async fn start(
    client: &Client,
    namespace: &str,
    target: &Target,
    mode: Mode,
    listener: TcpListener,
    shutdown: CancellationToken,
    clock: Clock,
) -> anyhow::Result<(impl Future<Output = ()> + Send + use<>, Registration)> {
    let authority = authority::shared(client, namespace)
        .await
        .context("cannot share the certificate authority of the webhook")?;
    let tls = Arc::new(authority);
    let config = tls.server_config(target.names(), clock)?;
    registration::register(client, target, tls.certificate())
        .await
        .context("cannot register the webhook")?;
    let registration = Registration {
        client: client.clone(),
        target: target.clone(),
        authority: tls.certificate().to_owned(),
    };
    Ok((
        serve_tls(listener, config, router(mode), shutdown),
        registration,
    ))
}

fn router(mode: Mode) -> Router {
    Router::new()
        .route(PATH, post(validate))
        .route("/healthz", get(async || "ok\n"))
        .layer(DefaultBodyLimit::max(MAX_REVIEW))
        .with_state(mode)
}

/// Answers an `AdmissionReview` of `admission.k8s.io/v1`.
async fn validate(
    State(mode): State<Mode>,
    Json(review): Json<Value>,
) -> Result<Json<Value>, (StatusCode, &'static str)> {
    let request = &review["request"];
    if !request["uid"].is_string() {
        return Err((
            StatusCode::BAD_REQUEST,
            "this is no AdmissionReview with a request\n",
        ));
    }
    let mut response = json!({"uid": request["uid"]});
    let old = Some(&request["oldObject"]).filter(|it| !it.is_null());
    match judge(mode, &request["object"], old) {
        Verdict::Allowed(warnings) => {
            response["allowed"] = true.into();
            response["warnings"] = warnings.into();
        }
        Verdict::Denied(message) => {
            response["allowed"] = false.into();
            response["status"] = json!({"code": 403, "reason": "Forbidden", "message": message});
        }
    }
    Ok(Json(json!({
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "response": response,
    })))
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use http_body_util::BodyExt;
    use tower::ServiceExt;

    use super::*;

    async fn ask(mode: Mode, body: &Value) -> (StatusCode, Value) {
        let request = axum::http::Request::post(PATH)
            .header("content-type", "application/json")
            .body(Body::from(body.to_string()))
            .unwrap();
        let (head, body) = router(mode).oneshot(request).await.unwrap().into_parts();
        let bytes = body.collect().await.unwrap().to_bytes();
        (
            head.status,
            serde_json::from_slice(&bytes).unwrap_or_default(),
        )
    }

    fn review(spec: &Value) -> Value {
        let object =
            json!({"apiVersion": "carto.run/v1alpha1", "kind": "ClusterTemplate", "spec": spec});
        json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {"uid": "1", "object": object}})
    }

    #[tokio::test]
    async fn a_review_is_answered_under_its_uid() {
        let why = "invalid template: must specify one of template or ytt, found neither";
        let (_, answer) = ask(Mode::Enforce, &review(&json!({}))).await;
        let denied = json!({"code": 403, "reason": "Forbidden", "message": why});
        assert_eq!(
            answer["response"],
            json!({"uid": "1", "allowed": false, "status": denied})
        );
        let (_, answer) = ask(Mode::Warn, &review(&json!({}))).await;
        assert_eq!(
            answer["response"],
            json!({"uid": "1", "allowed": true, "warnings": [why]})
        );
        let (_, answer) = ask(Mode::Enforce, &review(&json!({"ytt": "a: 1"}))).await;
        assert_eq!(
            answer["response"],
            json!({"uid": "1", "allowed": true, "warnings": []})
        );
    }

    #[tokio::test]
    async fn environment_is_reviewed_with_what_it_replaces() {
        let object = |soak: &str| {
            json!({
                "apiVersion": "pathline.dev/v1alpha1", "kind": "Environment", "metadata": {"name": "prod"},
                "spec": {"type": "prod", "soak": soak},
            })
        };
        let review = |old: Value| json!({"request": {"uid": "1", "object": object("soon"), "oldObject": old}});
        for (old, allowed) in [
            (Value::Null, false),
            (object("1h"), false),
            (object("soon"), true),
        ] {
            let (_, answer) = ask(Mode::Enforce, &review(old)).await;
            assert_eq!(answer["response"]["allowed"], allowed, "{answer}");
        }
    }

    #[tokio::test]
    async fn what_is_no_review_is_a_bad_request() {
        assert_eq!(
            ask(Mode::Enforce, &json!({})).await.0,
            StatusCode::BAD_REQUEST
        );
    }
}
