use k8s_openapi::api::core::v1::{ConfigMap, Namespace};
use kube::Api;
use kube::api::PostParams;
use kube::runtime::wait::{await_condition, conditions::is_deleted};
use pathline_testkit::kube::{Options, RealCluster, with_temp_ns};

#[tokio::test]
async fn real_cluster_serves_kube_rs_and_kubectl() -> anyhow::Result<()> {
    let Some(cluster) = RealCluster::shared("real cluster", Options::with_pods()).await else {
        return Ok(());
    };
    let client = cluster.client().await?;
    let namespace = with_temp_ns(client.clone(), async |client, namespace| {
        let maps: Api<ConfigMap> = Api::namespaced(client, &namespace);
        let mut map = ConfigMap::default();
        map.metadata.name = Some("from-kube-rs".to_owned());
        maps.create(&PostParams::default(), &map).await?;

        let kubectl = cluster.kubectl().in_namespace(&namespace);
        let printed = kubectl.run_ok(&["get", "configmaps", "-o", "name"]).await?;
        assert!(printed.contains("configmap/from-kube-rs\n"), "{printed}");
        anyhow::Ok(
            Api::<Namespace>::all(maps.into_client())
                .get(&namespace)
                .await?,
        )
    })
    .await?;
    let name = namespace.metadata.name.expect("a stored object has a name");
    let uid = namespace.metadata.uid.expect("a stored object has a uid");
    await_condition(Api::<Namespace>::all(client), &name, is_deleted(&uid)).await?;
    Ok(())
}
