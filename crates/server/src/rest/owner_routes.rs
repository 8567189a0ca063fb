//! Routes that workloads and deliverables share: one handler each, described for workloads and registered twice.

use axum::Extension;
use pathline_blueprint::owner::OwnerKind;
use serde_json::Value;
use utoipa::openapi::path::Operation;
use utoipa::openapi::{PathItem, RefOr};
use utoipa_axum::router::{UtoipaMethodRouter, UtoipaMethodRouterExt};

use crate::AppState;

/// The differences between the description of a route for deliverables and that for workloads, besides the noun.
#[derive(Clone, Copy, Default)]
pub(crate) struct Differences {
    pub(crate) description: Option<&'static str>,
    pub(crate) example: Option<fn() -> Value>,
}

/// Registers a handler for workloads, as it is described.
pub(super) fn for_workloads(route: UtoipaMethodRouter<AppState>) -> UtoipaMethodRouter<AppState> {
    route.layer(Extension(OwnerKind::Workload))
}

/// Registers a handler for deliverables.
pub(super) fn for_deliverables(
    (schemas, mut paths, router): UtoipaMethodRouter<AppState>,
    differences: Differences,
) -> UtoipaMethodRouter<AppState> {
    let described = std::mem::take(&mut paths.paths).into_iter();
    let described = described.map(|(path, item)| (renamed(&path), differences.apply(item)));
    paths.paths = described.collect();
    (schemas, paths, router).layer(Extension(OwnerKind::Deliverable))
}

impl Differences {
    fn apply(self, mut item: PathItem) -> PathItem {
        if let Some(operation) = &mut item.get {
            self.describe(operation);
        }
        item
    }

    fn describe(self, operation: &mut Operation) {
        let texts = [&mut operation.operation_id, &mut operation.summary];
        for text in texts.into_iter().flatten() {
            *text = renamed(text);
        }
        if let Some(description) = self.description {
            operation.description = Some(description.to_owned());
        }
        let Some(RefOr::T(answer)) = operation.responses.responses.get_mut("200") else {
            return;
        };
        answer.description = renamed(&answer.description);
        for content in answer.content.values_mut() {
            if let (RefOr::T(content), Some(example)) = (content, self.example) {
                content.example = Some(example());
            }
        }
    }
}

fn renamed(text: &str) -> String {
    text.replace(OwnerKind::Workload.noun(), OwnerKind::Deliverable.noun())
}
