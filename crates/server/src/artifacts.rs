//! What it is made of, what was made of it, and where it has got to.

mod entry;
mod objects;
mod subject;

use axum::Json;
use axum::extract::State;
use pathline_ledger::Page;
use pathline_lineage::ArtifactId;
use serde::Deserialize;
use utoipa::IntoParams;

use self::subject::Subject;
use crate::Doors;
use crate::api::{Artifact, ArtifactEntry, Carrier, Contains, example};
use crate::extract::{Path, Query};
use crate::openapi::refusals::{Guarded, MayMiss, Picky};
use crate::refusal::Refusal;

/// What to look for.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Asked {
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
    get, path = "/artifacts", operation_id = "find_carriers", tag = "artifacts", params(Asked), security(("token" = ["read"])),
    responses(
        (status = 200, description = "What was asked about, and what contains it", body = Contains, example = json!(example::contains())),
        Guarded, Picky
    )
)]
pub(crate) async fn contains(
    State(doors): State<Doors>,
    Query(asked): Query<Asked>,
) -> Result<Json<Contains>, Refusal> {
    let Subject { kind, text } = Subject::read(&asked.contains)?;
    if !(1..=500).contains(&asked.limit) {
        return Err(Refusal::bad_request(
            "limit: a number from 1 to 500 is expected",
        ));
    }
    let ledger = doors.ledger()?;
    let found = ledger.find(kind, text).await?;
    let page = Page {
        after: asked.after.clone(),
        limit: asked.limit,
    };
    let carriers = ledger.contains(kind, text, &page).await?;
    let mut told: Vec<Carrier> = carriers.items.into_iter().map(Carrier::from).collect();
    objects::name(&doors, &mut told).await;
    Ok(Json(Contains {
        found: found
            .iter()
            .map(|it| Artifact::from(&it.artifact))
            .collect(),
        carriers: told,
        next: carriers.next,
    }))
}

/// Show an artifact
///
/// How it came to be, and what was made of it, over all owners and all time.
#[utoipa::path(
    get, path = "/artifacts/{id}", operation_id = "show_artifact", tag = "artifacts", params(Id), security(("token" = ["read"])),
    responses(
        (status = 200, description = "What is known of it", body = ArtifactEntry, example = json!(example::artifact_entry())),
        Guarded, Picky, MayMiss
    )
)]
pub(crate) async fn show(
    State(doors): State<Doors>,
    Path(Id { id }): Path<Id>,
) -> Result<Json<ArtifactEntry>, Refusal> {
    let is_lower = !id.bytes().any(|byte| byte.is_ascii_uppercase());
    let asked = ArtifactId::try_from(id.clone()).ok().filter(|_| is_lower);
    let asked = asked.ok_or_else(|| {
        Refusal::bad_request(format!("`{id}` is no artifact id")).with_hint(
            "an id has 64 hexadecimal digits; GET /artifacts?contains=image:REFERENCE finds it",
        )
    })?;
    let entry = doors.ledger()?.artifact(asked).await?;
    let entry =
        entry.ok_or_else(|| Refusal::not_found(format!("nobody has seen the artifact {id}")))?;
    Ok(Json(ArtifactEntry::from(entry)))
}
