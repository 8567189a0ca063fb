//! The image that runs.

use super::*;

const REPOSITORY: &str = "registry.example/app";

pub(crate) async fn tag_proves_nothing_and_a_digest_does(world: &mut World, kubelets: &Kubelets) {
    let [wanted, other] = ["a", "b"].map(|it| format!("{REPOSITORY}@sha256:{}", it.repeat(64)));
    world.apply_image_and_deployment().await;
    let tagged = format!("{REPOSITORY}:1");
    kubelets.identify(&tagged, &other);
    world.apply_params(&[("pull", &tagged)]).await;
    world
        .set_status("app", json!({"image": wanted, "observedGeneration": 1}))
        .await;
    world
        .wait_missing(1, "param:pull=registry.example/app:1", "does not run, but")
        .await;

    kubelets.identify(&format!("{REPOSITORY}:2"), &wanted);
    world
        .apply_params(&[("pull", &format!("{REPOSITORY}:2"))])
        .await;
    world.wait_live(2).await;

    // A node may name what it runs by another digest; the pod is pinned to the one that counts.
    kubelets.identify(&wanted, "docker://sha256:0123");
    world.apply_params(&[("pull", &wanted)]).await;
    world.wait_live(3).await;
}

impl World {
    /// Makes a supply chain with an image, and a Deployment that pulls it as a param says.
    async fn apply_image_and_deployment(&self) {
        let body = json!({
            "apiVersion": "test.pathline.dev/v1", "kind": "Test",
            "metadata": {"name": "$(workload.metadata.name)$"}, "spec": {},
        });
        let spec = json!({
            "imagePath": ".status.image", "template": body,
            "artifactTracing": {"observedGenerationPath": ".status.observedGeneration"},
        });
        self.apply_spec("ClusterImageTemplate", "image", spec).await;
        let mut body = deployment();
        body["metadata"]["annotations"] = json!({"image": "$(image)$"});
        body["spec"]["template"]["spec"]["containers"][0]["image"] = json!("$(params.pull)$");
        body["spec"]["template"]["spec"]["containers"][0]["env"] = json!([]);
        let spec = json!({"template": body, "params": [{"name": "pull", "default": ""}]});
        self.apply_spec("ClusterTemplate", "run", spec).await;
        let resources = json!([
            {"name": "image", "templateRef": {"kind": "ClusterImageTemplate", "name": "image"}},
            {
                "name": "run",
                "templateRef": {"kind": "ClusterTemplate", "name": "run"},
                "images": [{"name": "image", "resource": "image"}],
            },
        ]);
        self.apply_chain("run", resources).await;
    }
}
