//! A cluster behind its TLS port, and the directory it lives in.

use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use futures::StreamExt;
use k8s_openapi::api::core::v1::{ConfigMap, Namespace, ServiceAccount};
use kube::api::{ListParams, WatchParams};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Api, Client, Config};
use pathline_cluster::{Cluster, OpenError, Options, ServeError};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// The longest any test waits for what should take a fraction of it.
const AT_MOST: Duration = Duration::from_secs(30);

/// A cluster that is served.
struct Served {
    cluster: Cluster,
    kubeconfig: String,
    shutdown: CancellationToken,
    serving: JoinHandle<Result<(), ServeError>>,
    directory: tempfile::TempDir,
}

impl Served {
    async fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let cluster = Cluster::open(Options::new(directory.path())).await.unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let kubeconfig = cluster.kubeconfig(listener.local_addr().unwrap());
        let shutdown = CancellationToken::new();
        let serving = tokio::spawn({
            let (cluster, shutdown) = (cluster.clone(), shutdown.clone());
            async move { cluster.serve(listener, shutdown).await }
        });
        Self {
            cluster,
            kubeconfig,
            shutdown,
            serving,
            directory,
        }
    }

    async fn client(&self) -> Client {
        client(&self.kubeconfig).await
    }
}

async fn client(kubeconfig: &str) -> Client {
    let kubeconfig = Kubeconfig::from_yaml(kubeconfig).unwrap();
    let options = KubeConfigOptions::default();
    let config = Config::from_custom_kubeconfig(kubeconfig, &options)
        .await
        .unwrap();
    Client::try_from(config).unwrap()
}

#[tokio::test]
async fn the_kubeconfig_lets_a_client_in() {
    let served = Served::new().await;
    let client = served.client().await;
    let namespaces = Api::<Namespace>::all(client.clone());
    let names: Vec<String> = namespaces
        .list(&ListParams::default())
        .await
        .unwrap()
        .into_iter()
        .filter_map(|namespace| namespace.metadata.name)
        .collect();
    assert_eq!(
        names,
        ["default", "kube-node-lease", "kube-public", "kube-system"]
    );
    let trust = Api::<ConfigMap>::default_namespaced(client)
        .get("kube-root-ca.crt")
        .await
        .unwrap();
    assert!(trust.data.unwrap()["ca.crt"].starts_with("-----BEGIN CERTIFICATE"));
}

#[tokio::test]
async fn a_client_with_another_token_is_told_401() {
    let served = Served::new().await;
    let token = std::fs::read_to_string(served.directory.path().join("admin.token")).unwrap();
    let stranger = client(&served.kubeconfig.replace(token.trim(), "guessed")).await;
    let refused = Api::<Namespace>::all(stranger)
        .list(&ListParams::default())
        .await
        .unwrap_err();
    let kube::Error::Api(status) = refused else {
        panic!("{refused}")
    };
    assert_eq!((status.code, status.reason.as_str()), (401, "Unauthorized"));
}

#[tokio::test]
async fn a_client_that_trusts_another_authority_does_not_connect() {
    let (served, other) = (Served::new().await, Served::new().await);
    let authority = |text: &str| {
        let line = text
            .lines()
            .find(|line| line.contains("certificate-authority-data"));
        line.unwrap().to_owned()
    };
    let (own, foreign) = (authority(&served.kubeconfig), authority(&other.kubeconfig));
    let misled = client(&served.kubeconfig.replace(&own, &foreign)).await;
    let refused = Api::<Namespace>::all(misled)
        .list(&ListParams::default())
        .await
        .unwrap_err();
    assert!(
        !matches!(refused, kube::Error::Api(_)),
        "no answer came through: {refused}"
    );
}

#[tokio::test]
async fn stopping_ends_watches_at_once() {
    let served = Served::new().await;
    let accounts = Api::<ServiceAccount>::default_namespaced(served.client().await);
    let watch = accounts
        .watch(&WatchParams::default().timeout(290), "0")
        .await
        .unwrap();
    let mut watch = watch.boxed();
    watch.next().await.unwrap().unwrap();
    served.shutdown.cancel();
    let rest = tokio::time::timeout(AT_MOST, watch.count()).await;
    rest.expect("the watch does not outlive the server");
    let stopped = tokio::time::timeout(AT_MOST, served.serving)
        .await
        .expect("the server stops");
    stopped.unwrap().unwrap();
}

#[tokio::test]
async fn closing_stops_serving_and_frees_the_directory() {
    let served = Served::new().await;
    served.cluster.close().await;
    let stopped = tokio::time::timeout(AT_MOST, served.serving)
        .await
        .expect("the server stops");
    stopped.unwrap().unwrap();
    let again = Cluster::open(Options::new(served.directory.path()))
        .await
        .unwrap();
    again.close().await;
}

#[tokio::test]
async fn a_directory_in_use_is_refused_and_left_alone() {
    let directory = tempfile::tempdir().unwrap();
    let cluster = Cluster::open(Options::new(directory.path())).await.unwrap();
    let Err(refused) = Cluster::open(Options::new(directory.path())).await else {
        panic!("two clusters in one directory");
    };
    assert!(matches!(refused, OpenError::Lock(_)), "{refused}");
    assert!(
        refused
            .to_string()
            .contains(&std::process::id().to_string()),
        "{refused}"
    );
    Api::<Namespace>::all(cluster.client())
        .get("default")
        .await
        .expect("the first one works on");
    cluster.close().await;
}

#[tokio::test]
async fn nobody_else_can_read_the_directory() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    Cluster::open(Options::new(&data))
        .await
        .unwrap()
        .close()
        .await;
    let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&data), 0o700);
    for secret in ["admin.token", "pki/ca.key", "pki/service-accounts.key"] {
        assert_eq!(mode(&data.join(secret)), 0o600, "{secret}");
    }
}
