//! The blueprint that an owner comes nearest to, where none selects it.

use kube::api::{Api, ApiResource, DynamicObject, ListParams};
use pathline_blueprint::blueprint::Blueprint;
use pathline_blueprint::owner::{Owner, OwnerKind};
use pathline_blueprint::selection;
use pathline_client::api::{NearestBlueprint, OwnerSummary};
use pathline_kinds::carto::{ClusterDelivery, ClusterSupplyChain};

use super::answer;
use crate::AppState;

/// The most blueprints that are compared.
const MAX_BLUEPRINTS: u32 = 500;

/// Finds the blueprint that an owner comes nearest to. There is none for an owner that has one, and none
/// where the cluster does not show its blueprints: the rest of the answer is worth telling.
pub(super) async fn find(
    state: &AppState,
    kind: OwnerKind,
    object: &DynamicObject,
    summary: &OwnerSummary,
) -> Option<NearestBlueprint> {
    let is_refused = summary
        .ready
        .as_ref()
        .is_some_and(|it| it.status == "False");
    if summary.blueprint.is_some() || !is_refused {
        return None;
    }
    let client = state.cluster().ok()?.clone();
    let api: Api<DynamicObject> = Api::all_with(client, &resource(kind));
    let page = ListParams::default().limit(MAX_BLUEPRINTS);
    let listed = answer(api.list(&page)).await.ok()?;
    let read = |it: DynamicObject| {
        let mut blueprint = serde_json::to_value(it).ok()?;
        // Objects of a list do not say what they are.
        blueprint["kind"] = kind.blueprint_kind().into();
        Blueprint::read(blueprint).ok()
    };
    let blueprints: Vec<Blueprint> = listed.items.into_iter().filter_map(read).collect();
    let owner = Owner::read(kind, serde_json::to_value(object).ok()?).ok()?;
    let nearest = selection::nearest(&owner, &blueprints)?;
    Some(NearestBlueprint {
        kind: kind.blueprint_kind().to_owned(),
        name: nearest.blueprint,
        unmet: nearest.unmet,
    })
}

fn resource(kind: OwnerKind) -> ApiResource {
    match kind {
        OwnerKind::Workload => ApiResource::erase::<ClusterSupplyChain>(&()),
        OwnerKind::Deliverable => ApiResource::erase::<ClusterDelivery>(&()),
    }
}
