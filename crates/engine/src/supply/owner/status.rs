//! Writes what an owner reports.

use kube::api::{DynamicObject, PostParams};
use kube::{Api, Client, ResourceExt};
use pathline_observe::StatusReport;
use serde_json::json;

use crate::FIELD_MANAGER;
use crate::runtime::calls::{self, call};
use crate::runtime::queues::OwnedKind;

/// Writes the status unless the owner reports it already; returns the version that was written.
pub(super) async fn write(
    report: &StatusReport,
    client: &Client,
    owner: &DynamicObject,
) -> Result<Option<String>, calls::Error> {
    let status = json!(report.next);
    if owner.data.get("status") == Some(&status) {
        return Ok(None);
    }
    let mut reported = owner.clone();
    reported.data["status"] = status;
    let namespace = owner.namespace().unwrap_or_default();
    let resource = OwnedKind::from(report.kind()).resource();
    let api: Api<DynamicObject> = Api::namespaced_with(client.clone(), &namespace, &resource);
    let params = PostParams {
        field_manager: Some(FIELD_MANAGER.to_owned()),
        dry_run: false,
    };
    match call(api.replace_status(&owner.name_any(), &params, &reported)).await {
        Err(error) if error.is_absence() => Ok(None),
        other => other.map(|written| written.resource_version()),
    }
}
