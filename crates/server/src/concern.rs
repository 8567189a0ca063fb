//! Whom blueprints and templates concern, and who has been looked at with them.

mod catalogue;
mod following;
mod named;

use axum::Extension;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use utoipa::IntoParams;

pub(crate) use self::catalogue::Catalogue;
use self::following::Following;
pub(crate) use self::named::Named;
use crate::Doors;
use crate::api::{Concerned, example};
use crate::auth::Caller;
use crate::extract::Query;
use crate::openapi::refusals::{Crowded, Guarded, Picky};
use crate::refusal::Refusal;
use crate::wait;

/// The most blueprints and templates that can be asked about at once.
const MAX_ASKED: usize = 512;

/// Which blueprints and templates.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Asked {
    /// A blueprint or template as it was applied, `KIND/NAME@GENERATION`; repeat it for more.
    #[param(value_type = Vec<String>, required = true, example = json!(["ClusterTemplate/run@2"]))]
    seen: Vec<Named>,
    /// After so many seconds an answer comes in any case. A stream goes on.
    #[param(required = false, minimum = 0, maximum = 600)]
    timeout: u64,
}

/// Wait for all whom blueprints and templates concern
///
/// Answers when every workload and deliverable that uses one of them, used it before or should use it has
/// been looked at with it: `holds`, or `never` if some of them can't be stamped with it. Whether what was
/// stamped runs is not waited for. With `Accept: text/event-stream`, events `state` tell who is missing.
#[utoipa::path(
    get, path = "/concerned", operation_id = "wait_for_concerned", tag = "owners", security(("token" = ["read"])),
    params(Asked),
    responses(
        (status = 200, description = "Whom they concern", body = Concerned, example = json!(example::concerned())),
        Guarded, Picky, Crowded
    )
)]
pub(crate) async fn wait_for(
    State(doors): State<Doors>,
    Extension(caller): Extension<Caller>,
    headers: HeaderMap,
    Query(asked): Query<Vec<(String, String)>>,
) -> Result<Response, Refusal> {
    let asked = Asked::read(&asked)?;
    let timeout = std::time::Duration::from_secs(asked.timeout);
    let following = Box::pin(Following::start(&doors, caller, asked.seen)).await?;
    wait::respond(following, &headers, timeout).await
}

impl Asked {
    fn read(query: &[(String, String)]) -> Result<Self, Refusal> {
        let mut asked = Self {
            seen: Vec::new(),
            timeout: 30,
        };
        for (name, value) in query {
            match name.as_str() {
                "seen" => asked.seen.push(wait::named(value)?),
                "timeout" => asked.timeout = wait::seconds(value)?,
                other => {
                    return Err(Refusal::bad_request(format!(
                        "there is no parameter `{other}`; there are seen and timeout"
                    )));
                }
            }
        }
        if asked.seen.is_empty() || asked.seen.len() > MAX_ASKED {
            let message =
                format!("seen: from 1 to {MAX_ASKED} blueprints and templates are expected");
            return Err(Refusal::bad_request(message));
        }
        Ok(asked)
    }
}
