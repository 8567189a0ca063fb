//! Objects that were stamped before: nothing is live while it, or what runs below it, is still there.

use super::*;

const HELD: &str = "test.pathline.dev/held";

/// A Deployment that has a param in its name.
fn named_deployment() -> Value {
    let name = json!("$(workload.metadata.name)$-$(params.debug)$");
    let mut body = deployment();
    body["metadata"]["name"] = name.clone();
    body["spec"]["selector"]["matchLabels"]["app"] = name.clone();
    body["spec"]["template"]["metadata"]["labels"]["app"] = name;
    body
}

/// The pods of the old Deployment outlive it by their grace period, and Pathline is started again
/// meanwhile.
pub(crate) async fn point_3_pods_of_a_former_deployment_keep_the_new_one_from_being_live(
    world: &mut World,
    _: &Kubelets,
) {
    world
        .apply_one_resource(named_deployment(), &["debug", "image"])
        .await;
    world.run("off", "app:1").await;
    world.wait_live(1).await;
    let pod = world.finalize_a_pod(&json!([HELD])).await;

    world.run("on", "app:1").await;
    let still_there = "1 pods of Deployment `app-off`";
    world.wait_missing(2, "param:debug=on", still_there).await;
    world.stop_engine().await;
    world.start_engine();
    world.wait_missing(2, "param:debug=on", still_there).await;
    world.assert_not_live_with("debug", "on").await;

    world.finalize(&pod, &json!(null)).await;
    world.wait_live(2).await;
    assert_eq!(world.running_with(&world.namespace).await, ["on", "on"]);
}

/// Somebody else's finalizer keeps the old Deployment.
pub(crate) async fn point_3_former_deployment_with_a_finalizer_keeps_the_new_one_from_being_live(
    world: &mut World,
    _: &Kubelets,
) {
    let mut body = named_deployment();
    body["metadata"]["finalizers"] = json!([HELD]);
    world.apply_one_resource(body, &["debug", "image"]).await;
    world.run("off", "app:1").await;
    world.wait_live(1).await;

    world.run("on", "app:1").await;
    let still_there = "Deployment `app-off`, which nothing stamps any more, is still there";
    world.wait_missing(2, "param:debug=on", still_there).await;
    let types = TypeMeta {
        api_version: "apps/v1".to_owned(),
        kind: "Deployment".to_owned(),
    };
    let deployments = world.kind_api(&types, &world.namespace);
    let free = Patch::Merge(json!({"metadata": {"finalizers": null}}));
    let params = PatchParams::default();
    let freed = deployments.patch("app-off", &params, &free);
    freed.await.unwrap();
    world.wait_live(2).await;
    // So that the namespace can go.
    let freed = deployments.patch("app-on", &params, &free);
    freed.await.unwrap();
}
