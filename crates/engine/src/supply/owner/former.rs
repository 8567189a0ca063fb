//! Statuses of owners that a Pathline wrote which has ended.

use kube::api::{ApiResource, DynamicObject, GroupVersionKind, ListParams, Patch, PatchParams};
use kube::{Api, Client, ResourceExt};
use pathline_blueprint::owner::OwnerKind;
use pathline_kinds::carto::API_VERSION;
use pathline_kinds::split_api_version;
use pathline_observe::former;
use serde_json::json;

/// The number of objects that are read at a time.
const PAGE: u32 = 100;

/// Says of every owner that nothing is known of what runs: processes have ended with the Pathline that
/// wrote its status. The first reconcile of each says how it is now.
///
/// To be called before anybody is answered. Where the kinds are not installed, there is none.
///
/// # Errors
///
/// Fails if the cluster cannot be read or written.
pub async fn forget_live(client: &Client) -> Result<(), kube::Error> {
    for kind in OwnerKind::ALL {
        let (group, version) = split_api_version(API_VERSION);
        let gvk = GroupVersionKind::gvk(group, version, kind.name());
        let resource = ApiResource::from_gvk(&gvk);
        let everywhere = Api::<DynamicObject>::all_with(client.clone(), &resource);
        let mut page = ListParams::default().limit(PAGE);
        loop {
            let listed = match everywhere.list(&page).await {
                Err(kube::Error::Api(refusal)) if refusal.is_not_found() => break,
                listed => listed?,
            };
            for owner in &listed.items {
                forget(client, &resource, owner).await?;
            }
            match listed.metadata.continue_.filter(|it| !it.is_empty()) {
                Some(more) => page = page.continue_token(&more),
                None => break,
            }
        }
    }
    Ok(())
}

async fn forget(
    client: &Client,
    resource: &ApiResource,
    owner: &DynamicObject,
) -> Result<(), kube::Error> {
    let Some(changed) = former::forget_live(&owner.data["status"]) else {
        return Ok(());
    };
    let namespace = owner.namespace().unwrap_or_default();
    let api = Api::<DynamicObject>::namespaced_with(client.clone(), &namespace, resource);
    let patch = Patch::Merge(json!({ "status": changed }));
    let patched = api
        .patch_status(&owner.name_any(), &PatchParams::default(), &patch)
        .await;
    match patched {
        Err(kube::Error::Api(refusal)) if refusal.is_not_found() => Ok(()),
        patched => patched.map(drop),
    }
}
