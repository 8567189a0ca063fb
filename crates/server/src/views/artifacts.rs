//! Artifacts: how they came to be, what was made of them, and where they have got to.

mod objects;

use pathline_client::api::{Artifact, ArtifactEntry, Carrier, Contains};
use pathline_ledger::Page;
use pathline_lineage::{ArtifactId, Kind};

use crate::AppState;
use crate::error::ApiError;
use crate::views::convert;

/// A question for everything that was made of a source or an image, a page at a time.
#[derive(Debug)]
pub(crate) struct FindCarriers {
    /// A source or an image.
    pub(crate) kind: Kind,
    /// Its revision or reference, or a part of it by which it is known.
    pub(crate) text: String,
    /// The most carriers that are listed, from 1 to 500.
    pub(crate) limit: u32,
    /// The `next` of the page before.
    pub(crate) after: Option<String>,
}

/// Finds everything that was made of a source or an image, directly or through others.
pub(crate) async fn find_carriers(
    state: &AppState,
    asked: FindCarriers,
) -> Result<Contains, ApiError> {
    let FindCarriers {
        kind,
        text,
        limit,
        after,
    } = asked;
    if !(1..=500).contains(&limit) {
        return Err(ApiError::bad_request(
            "limit: a number from 1 to 500 is expected",
        ));
    }
    let ledger = state.ledger()?;
    let found = ledger.lineage().find_artifacts(kind, &text).await?;
    let page = Page { after, limit };
    let carriers = ledger.lineage().contains(kind, &text, &page).await?;
    let mut items: Vec<Carrier> = carriers.items.into_iter().map(convert::carrier).collect();
    objects::name(state, &mut items).await;
    Ok(Contains {
        found: found
            .iter()
            .map(|it| Artifact::from(&it.artifact))
            .collect(),
        carriers: items,
        next: carriers.next,
    })
}

/// Shows how an artifact came to be, and what was made of it, over all owners and all time.
pub(crate) async fn show(state: &AppState, id: ArtifactId) -> Result<ArtifactEntry, ApiError> {
    let entry = state.ledger()?.lineage().artifact(id).await?;
    let entry =
        entry.ok_or_else(|| ApiError::not_found(format!("nobody has seen the artifact {id}")))?;
    Ok(convert::artifact_entry(entry))
}
