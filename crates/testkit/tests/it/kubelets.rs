use std::time::Duration;

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::Pod;
use kube::api::{ListParams, Patch, PatchParams, PostParams};
use kube::runtime::wait::{await_condition, conditions::is_deployment_completed};
use kube::{Api, Client};
use pathline_testkit::kube::{Crash, Kubelets, Options, RealCluster, with_temp_ns};
use serde_json::json;

/// Nothing on this machine takes longer.
const LIMIT: Duration = Duration::from_secs(120);

#[tokio::test]
async fn pods_run_with_an_image_id_or_crash_with_a_reason() -> anyhow::Result<()> {
    let Some(cluster) = RealCluster::shared("stand-in for kubelets", Options::with_pods()).await
    else {
        return Ok(());
    };
    let client = cluster.client().await?;
    let kubelets = Kubelets::start(client.clone()).await?;
    with_temp_ns(client, async |client, namespace| {
        let deployments: Api<Deployment> = Api::namespaced(client.clone(), &namespace);
        deployments.create(&PostParams::default(), &deployment()?).await?;
        let done = await_condition(deployments.clone(), "app", is_deployment_completed());
        tokio::time::timeout(LIMIT, done).await??;
        let statuses = statuses(&client, &namespace).await?;
        assert_eq!(statuses.len(), 2);
        assert!(statuses.iter().all(|it| it.image_id.contains("@sha256:")), "{statuses:?}");

        let crash = Crash {
            restarts: 3,
            exit_code: 7,
            message: "no config".to_owned(),
        };
        kubelets.crash("app:2", crash);
        let change = json!({"spec": {"template": {"spec": {"containers": [{"name": "app", "image": "app:2"}]}}}});
        deployments.patch("app", &PatchParams::default(), &Patch::Strategic(change)).await?;
        tokio::time::timeout(LIMIT, crashed(&client, &namespace)).await?
    })
    .await
}

fn deployment() -> anyhow::Result<Deployment> {
    Ok(serde_json::from_value(json!({
        "metadata": {"name": "app"},
        "spec": {
            "replicas": 2,
            "selector": {"matchLabels": {"app": "app"}},
            "template": {
                "metadata": {"labels": {"app": "app"}},
                "spec": {"containers": [{"name": "app", "image": "app:1"}]},
            },
        },
    }))?)
}

type ContainerStatus = k8s_openapi::api::core::v1::ContainerStatus;

async fn statuses(client: &Client, namespace: &str) -> anyhow::Result<Vec<ContainerStatus>> {
    let pods: Api<Pod> = Api::namespaced(client.clone(), namespace);
    let pods = pods.list(&ListParams::default()).await?;
    let statuses = pods
        .into_iter()
        .filter_map(|pod| pod.status?.container_statuses);
    Ok(statuses.flatten().collect())
}

/// Waits until a pod says why it crashes.
async fn crashed(client: &Client, namespace: &str) -> anyhow::Result<()> {
    let pods: Api<Pod> = Api::namespaced(client.clone(), namespace);
    let says = |pod: Pod| {
        let statuses = pod.status.and_then(|status| status.container_statuses);
        statuses.into_iter().flatten().any(|status| {
            let last = status.last_state.and_then(|it| it.terminated);
            let said = last
                .is_some_and(|it| it.exit_code == 7 && it.message.as_deref() == Some("no config"));
            status.restart_count == 3 && said
        })
    };
    let mut events = std::pin::pin!(kube::runtime::watcher(
        pods,
        kube::runtime::watcher::Config::default()
    ));
    while let Some(event) = futures::StreamExt::next(&mut events).await {
        use kube::runtime::watcher::Event;
        if let Event::Apply(pod) | Event::InitApply(pod) = event?
            && says(pod)
        {
            return Ok(());
        }
    }
    anyhow::bail!("no pod crashed")
}
