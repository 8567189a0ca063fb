//! The handler of objects of the cluster.

use axum::Json;
use axum::extract::State;
use pathline_client::api::ObjectLineage;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::AppState;
use crate::error::ApiError;
use crate::rest::extract::Path;
use crate::rest::openapi::example;
use crate::rest::openapi::responses::{BadRequest, ClusterForbidden, NotFound, Unauthorized};
use crate::views::objects::{self, ExplainObject};

/// Names an object in a path.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Path)]
pub(crate) struct ObjectPath {
    /// Its namespace.
    #[param(
        example = "dev",
        pattern = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$",
        max_length = 63
    )]
    namespace: String,
    /// Its kind: `pod`, `deployment`, `process` and the like, or `KIND.VERSION.GROUP`.
    #[param(
        example = "pod",
        pattern = "^[a-zA-Z0-9]([-.a-zA-Z0-9]*[a-zA-Z0-9])?$",
        max_length = 253
    )]
    kind: String,
    /// Its name.
    #[param(
        example = "web-6b7f9c-x2xql",
        pattern = "^[a-z0-9]([-.a-z0-9]*[a-z0-9])?$",
        max_length = 253
    )]
    name: String,
}

/// Show what an object is made of
///
/// From a running pod, or anything else below what was stamped for a workload or deliverable, up to
/// its owner. What it is made of is told for the revision that the object is of, if that is proven; below
/// a commit that another owner wrote, what that one made it of.
#[utoipa::path(
    get, path = "/objects/{namespace}/{kind}/{name}/lineage", operation_id = "explain_object", tag = "artifacts",
    params(ObjectPath), security(("token" = ["read"])),
    responses(
        (status = 200, description = "What it is made of", body = ObjectLineage, example = json!(example::object_lineage())),
        Unauthorized, BadRequest, NotFound, ClusterForbidden
    )
)]
pub(crate) async fn lineage(
    State(state): State<AppState>,
    Path(asked): Path<ObjectPath>,
) -> Result<Json<ObjectLineage>, ApiError> {
    let ObjectPath {
        namespace,
        kind,
        name,
    } = asked;
    let question = ExplainObject {
        namespace,
        kind,
        name,
    };
    objects::explain(&state, &question).await.map(Json)
}
