//! Handlers of artifacts.

mod subject;

use axum::Json;
use axum::extract::State;
use pathline_client::api::{ArtifactEntry, Contains};
use pathline_lineage::ArtifactId;
use serde::Deserialize;
use utoipa::IntoParams;

use self::subject::Subject;
use crate::AppState;
use crate::error::ApiError;
use crate::rest::extract::{Path, Query};
use crate::rest::openapi::example;
use crate::rest::openapi::responses::{BadRequest, NotFound, Unauthorized};
use crate::views::artifacts::{self, FindCarriers};

/// The artifacts to look for.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ContainsQuery {
    /// `source:REVISION`, by the whole revision, its commit or at least seven digits of it; or
    /// `image:REFERENCE`, by the reference or the digest.
    #[param(example = "source:def567", pattern = "^(source|image):[!-~]{1,512}$")]
    contains: String,
    /// At most so many carriers.
    #[param(minimum = 1, maximum = 500)]
    #[serde(default = "usual_limit")]
    limit: u32,
    /// The `continue` of the page before.
    #[serde(rename = "continue")]
    #[param(pattern = "^[0-9]{1,18}$")]
    after: Option<String>,
}

fn usual_limit() -> u32 {
    100
}

/// Names an artifact in a path.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Path)]
pub(crate) struct Id {
    /// The SHA-256 of the content, in hexadecimal digits.
    #[param(
        pattern = "^[0-9a-f]{64}$",
        example = "6ca13d52ca70c883e0f0bb101e425a89e8624de51db2d2392593af6a84118090"
    )]
    id: String,
}

/// Find where something has got to
///
/// Everything that was made of a source or an image, directly or through others, by all owners.
#[utoipa::path(
    get, path = "/artifacts", operation_id = "find_carriers", tag = "artifacts", params(ContainsQuery), security(("token" = ["read"])),
    responses(
        (status = 200, description = "What was asked about, and what contains it", body = Contains, example = json!(example::contains())),
        Unauthorized, BadRequest
    )
)]
pub(crate) async fn contains(
    State(state): State<AppState>,
    Query(asked): Query<ContainsQuery>,
) -> Result<Json<Contains>, ApiError> {
    let Subject { kind, text } = Subject::read(&asked.contains)?;
    let question = FindCarriers {
        kind,
        text: text.to_owned(),
        limit: asked.limit,
        after: asked.after,
    };
    artifacts::find_carriers(&state, question).await.map(Json)
}

/// Show an artifact
///
/// Its derivations and its uses: how it came to be, and what was made of it, over all owners and all time.
#[utoipa::path(
    get, path = "/artifacts/{id}", operation_id = "show_artifact", tag = "artifacts", params(Id), security(("token" = ["read"])),
    responses(
        (status = 200, description = "What is known of it", body = ArtifactEntry, example = json!(example::artifact_entry())),
        Unauthorized, BadRequest, NotFound
    )
)]
pub(crate) async fn show(
    State(state): State<AppState>,
    Path(Id { id }): Path<Id>,
) -> Result<Json<ArtifactEntry>, ApiError> {
    let is_lower = !id.bytes().any(|byte| byte.is_ascii_uppercase());
    let asked = ArtifactId::try_from(id.clone()).ok().filter(|_| is_lower);
    let asked = asked.ok_or_else(|| {
        ApiError::bad_request(format!("`{id}` is no artifact id")).with_hint(
            "an id has 64 hexadecimal digits; GET /artifacts?contains=image:REFERENCE finds it",
        )
    })?;
    artifacts::show(&state, asked).await.map(Json)
}
