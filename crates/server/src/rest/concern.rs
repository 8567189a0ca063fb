//! The handler of waits for all owners that blueprints and templates concern.

use axum::Extension;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use pathline_client::api::Concerned;
use utoipa::IntoParams;

use crate::AppState;
use crate::auth::Caller;
use crate::error::ApiError;
use crate::rest::extract::Query;
use crate::rest::openapi::example;
use crate::rest::openapi::responses::{BadRequest, NotFound, TooManyRequests, Unauthorized};
use crate::rest::{answers, wait};
use crate::views::concern::{ConcernedWait, ObjectVersion};

/// The most blueprints and templates that can be asked about at once.
const MAX_ASKED: usize = 512;

/// The blueprints and templates that are asked about.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct ConcernedQuery {
    /// A blueprint or template as it was applied, `KIND/NAME@GENERATION`; repeat it for more.
    #[param(value_type = Vec<String>, required = true, example = json!(["ClusterTemplate/run@2"]))]
    seen: Vec<ObjectVersion>,
    /// After so many seconds an answer comes in any case. A stream goes on.
    #[param(required = false, minimum = 0, maximum = 600)]
    timeout: u64,
}

/// Wait for all whom blueprints and templates concern
///
/// Answers when every workload and deliverable that uses one of them, used it before or should use it has
/// been reconciled with it: `holds`, or `impossible` if some of them can't be stamped with it. Whether what was
/// stamped runs is not waited for. With `Accept: text/event-stream`, events `state` tell who is missing.
#[utoipa::path(
    get, path = "/concerned", operation_id = "wait_for_concerned", tag = "owners", security(("token" = ["read"])),
    params(ConcernedQuery),
    responses(
        (status = 200, description = "Whom they concern", body = Concerned, example = json!(example::concerned())),
        Unauthorized, BadRequest, NotFound, TooManyRequests
    )
)]
pub(crate) async fn wait_for(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    headers: HeaderMap,
    Query(asked): Query<Vec<(String, String)>>,
) -> Result<Response, ApiError> {
    let asked = ConcernedQuery::read(&asked)?;
    let timeout = std::time::Duration::from_secs(asked.timeout);
    let waiting = Box::pin(ConcernedWait::start(&state, caller, asked.seen)).await?;
    answers::respond(waiting, &headers, timeout).await
}

impl ConcernedQuery {
    fn read(query: &[(String, String)]) -> Result<Self, ApiError> {
        let mut asked = Self {
            seen: Vec::new(),
            timeout: 30,
        };
        for (name, value) in query {
            match name.as_str() {
                "seen" => asked.seen.push(wait::object_version(value)?),
                "timeout" => asked.timeout = wait::seconds(value)?,
                other => {
                    return Err(ApiError::bad_request(format!(
                        "there is no parameter `{other}`; there are seen and timeout"
                    )));
                }
            }
        }
        if asked.seen.is_empty() || asked.seen.len() > MAX_ASKED {
            let message =
                format!("seen: from 1 to {MAX_ASKED} blueprints and templates are expected");
            return Err(ApiError::bad_request(message));
        }
        Ok(asked)
    }
}
