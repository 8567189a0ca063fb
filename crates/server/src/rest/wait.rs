//! Handlers of waits for workloads and deliverables.

mod params;

use axum::Extension;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use pathline_blueprint::owner::OwnerKind;
use pathline_client::api::WaitResult;

use self::params::WaitParams;
pub(crate) use self::params::{object_version, seconds};
use crate::AppState;
use crate::auth::Caller;
use crate::error::ApiError;
use crate::rest::answers;
use crate::rest::extract::{Path, Query};
use crate::rest::openapi::example;
use crate::rest::openapi::responses::{BadRequest, TooManyRequests, Unauthorized};
use crate::rest::owner_routes::Differences;
use crate::rest::owners::OwnerPath;
use crate::views::wait::OwnerWait;

/// Wait for a workload
///
/// Answers when everything that is asked `for` is true of the workload in one state, or can't become
/// true any more, or after the time-out with what is known then. A workload that is not there yet is
/// waited for, which the first answer of a stream says; one that is deleted meanwhile is `gone`. With `Accept: text/event-stream`,
/// server-sent events `state` tell where everything is whenever that changes; the last one decides.
#[utoipa::path(
    get, path = "/workloads/{namespace}/{name}/wait", operation_id = "for_workload", tag = "owners",
    security(("token" = ["read"])),
    params(OwnerPath, WaitParams, ("Last-Event-ID" = Option<String>, Header, description = "The id of the last answer or event, to go on with what was learned", pattern = "^[0-9]{1,18}(-[01]{1,512})?([.][0-9a-f]{8})?$")),
    responses(
        (status = 200, description = "What can be said", body = WaitResult, example = json!(example::waited())),
        Unauthorized, BadRequest, TooManyRequests
    )
)]
pub(crate) async fn for_owner(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Extension(kind): Extension<OwnerKind>,
    Path(name): Path<OwnerPath>,
    headers: HeaderMap,
    Query(asked): Query<Vec<(String, String)>>,
) -> Result<Response, ApiError> {
    let params = WaitParams::read(&asked, &headers)?;
    let timeout = params.timeout();
    let question = params.question();
    // In a box of its own: it takes far more memory to begin than to wait.
    let waiting = OwnerWait::start(&state, caller, kind, name.into(), question);
    let waiting = Box::pin(waiting).await?;
    answers::respond(waiting, &headers, timeout).await
}

/// The description of a wait for a deliverable.
pub(crate) const FOR_DELIVERABLE: Differences = Differences {
    description: Some("As for a workload."),
    example: None,
};
