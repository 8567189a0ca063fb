//! Objects are written under the service account of their owner.

use k8s_openapi::api::core::v1::ServiceAccount;
use k8s_openapi::api::rbac::v1::{Role, RoleBinding};
use kube::api::{DeleteParams, Patch, PatchParams};
use kube::{Api, Resource};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::config_map;
use crate::world::{EVERYTHING, World, conditions_of, message, resource};

/// Makes a chain of one ConfigMap, under this account if there is one.
async fn apply_one(world: &World, account: Option<&str>) {
    let body = config_map("one", json!({"of": "$(workload.metadata.name)$"}));
    world
        .apply_spec("ClusterTemplate", "one", json!({"template": body}))
        .await;
    let mut spec = json!({
        "selector": {"app": world.namespace},
        "resources": [{"name": "one", "templateRef": {"kind": "ClusterTemplate", "name": "one"}}],
    });
    if let Some(account) = account {
        spec["serviceAccountRef"] = json!({"name": account});
    }
    world.apply_spec("ClusterSupplyChain", "one", spec).await;
}

async fn put<K>(world: &World, name: &str, mut object: Value)
where
    K: Resource<Scope = kube::core::NamespaceResourceScope, DynamicType = ()>
        + DeserializeOwned
        + Clone
        + std::fmt::Debug,
{
    object["apiVersion"] = json!(K::api_version(&()));
    object["kind"] = json!(K::kind(&()));
    object["metadata"] = json!({"name": name});
    let api: Api<K> = Api::namespaced(world.client.clone(), &world.namespace);
    let params = PatchParams::apply("a-user").force();
    api.patch(name, &params, &Patch::Apply(&object))
        .await
        .unwrap();
}

async fn put_account(world: &World, name: &str) {
    put::<ServiceAccount>(world, name, json!({})).await;
}

pub(crate) async fn the_nearest_account_is_used_and_a_missing_one_is_waited_for(world: &mut World) {
    apply_one(world, Some("of-the-chain")).await;
    world.apply_workload("app", json!({})).await;
    let missing = ["ResourcesSubmitted", "False", "ServiceAccountError"];
    let owner = world.wait_condition("Workload", "app", missing).await;
    let expected = |account: &str| {
        format!(
            "unable to get service account [{}/{account}]: serviceaccounts \"{account}\" not found",
            world.namespace
        )
    };
    assert_eq!(
        message(&owner["status"], "ResourcesSubmitted"),
        expected("of-the-chain")
    );
    assert_eq!(
        conditions_of(&owner["status"]),
        [
            ["SupplyChainReady", "True", "Ready"],
            missing,
            ["Ready", "False", "ServiceAccountError"]
        ]
    );
    put_account(world, "of-the-chain").await;
    world.wait_ready("Workload", "app").await;

    let own = json!({"serviceAccountName": "own"});
    world.apply_workload("app", own).await;
    let is_own = |owner: &Value| {
        let conditions = owner["status"]["conditions"].as_array();
        conditions.is_some_and(|all| all.iter().any(|one| one["message"] == expected("own")))
    };
    let what = "without its own account";
    world.wait_for("Workload", "app", what, is_own).await;
    put_account(world, "own").await;
    world.wait_ready("Workload", "app").await;
}

pub(crate) async fn an_account_that_is_made_anew_is_used_again(world: &mut World) {
    put_account(world, "builder").await;
    apply_one(world, Some("builder")).await;
    world.apply_workload("app", json!({})).await;
    world.wait_ready("Workload", "app").await;

    let accounts: Api<ServiceAccount> = Api::namespaced(world.client.clone(), &world.namespace);
    let params = DeleteParams::default();
    accounts.delete("builder", &params).await.unwrap();
    world.delete("ConfigMap", "one").await;
    let missing = ["ResourcesSubmitted", "False", "ServiceAccountError"];
    world.wait_condition("Workload", "app", missing).await;
    assert_eq!(world.get("ConfigMap", "one").await, None);
    put_account(world, "builder").await;
    world.wait_ready("Workload", "app").await;
    assert!(world.get("ConfigMap", "one").await.is_some());
}

pub(crate) async fn role_edits_wake_owners_whose_account_may_not_write(world: &mut World) {
    let bindings: Api<RoleBinding> = Api::namespaced(world.client.clone(), &world.namespace);
    let params = DeleteParams::default();
    bindings.delete(EVERYTHING, &params).await.unwrap();
    put_account(world, "builder").await;
    apply_one(world, Some("builder")).await;
    world.apply_workload("app", json!({})).await;
    let rejected = ["ResourcesSubmitted", "False", "TemplateRejectedByAPIServer"];
    let owner = world.wait_condition("Workload", "app", rejected).await;
    let text = message(resource(&owner, "one"), "ResourceSubmitted");
    let who = format!("system:serviceaccount:{}:builder", world.namespace);
    assert!(
        text.contains(&who) && text.contains("cannot patch resource"),
        "{text}"
    );

    let role = |verbs: Value| json!({"rules": [{"apiGroups": [""], "resources": ["configmaps"], "verbs": verbs}]});
    put::<Role>(world, "writer", role(json!(["get"]))).await;
    let binding = json!({
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "writer"},
        "subjects": [{"kind": "ServiceAccount", "name": "builder", "namespace": world.namespace}],
    });
    put::<RoleBinding>(world, "writer", binding).await;
    // The binding wakes the owner and does not help; editing the role does.
    put::<Role>(world, "writer", role(json!(["create", "patch"]))).await;
    world.wait_ready("Workload", "app").await;
}

pub(crate) async fn what_the_account_may_not_remove_is_shown_and_removed_later(world: &mut World) {
    let bindings: Api<RoleBinding> = Api::namespaced(world.client.clone(), &world.namespace);
    let params = DeleteParams::default();
    bindings.delete(EVERYTHING, &params).await.unwrap();
    put_account(world, "builder").await;
    let role = |verbs: Value| json!({"rules": [{"apiGroups": [""], "resources": ["configmaps"], "verbs": verbs}]});
    put::<Role>(world, "writer", role(json!(["create", "patch"]))).await;
    let binding = json!({
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "writer"},
        "subjects": [{"kind": "ServiceAccount", "name": "builder", "namespace": world.namespace}],
    });
    put::<RoleBinding>(world, "writer", binding).await;
    apply_one(world, Some("builder")).await;
    world.apply_workload("app", json!({})).await;
    world.wait_ready("Workload", "app").await;

    let renamed = config_map("other", json!({}));
    world
        .apply_spec("ClusterTemplate", "other", json!({"template": renamed}))
        .await;
    let other = json!({
        "selector": {"app": world.namespace},
        "serviceAccountRef": {"name": "builder"},
        "resources": [{"name": "other", "templateRef": {"kind": "ClusterTemplate", "name": "other"}}],
    });
    world.apply_spec("ClusterSupplyChain", "one", other).await;
    let told = world
        .wait_event("StampedObjectNotRemoved", "configmaps/one")
        .await;
    assert!(told.contains("cannot delete resource"), "{told}");
    let owner = world
        .wait_for("Workload", "app", "showing what is left", |owner| {
            let resources = owner["status"]["resources"].as_array();
            resources.is_some_and(|all| all.len() == 2)
        })
        .await;
    assert_eq!(
        conditions_of(resource(&owner, "one"))[0],
        ["ResourceSubmitted", "False", "StampedObjectNotRemoved"]
    );
    put::<Role>(world, "writer", role(json!(["create", "patch", "delete"]))).await;
    world.wait_gone("ConfigMap", "one").await;
    world
        .wait_for("Workload", "app", "with nothing left", |owner| {
            let resources = owner["status"]["resources"].as_array();
            resources.is_some_and(|all| all.len() == 1)
        })
        .await;
}
