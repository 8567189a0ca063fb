//! The test kit's runner of kuttl tests must pass what holds, and nothing else.

use std::path::Path;
use std::time::Duration;

use k8s_openapi::api::core::v1::{ConfigMap, Namespace};
use kube::{Api, Client};
use pathline_cluster::{Cluster, Options};
use pathline_testkit::kuttl::{Runner, find};

/// Long enough for a write; what fails here waits for all of it.
const WAIT_TIMEOUT: Duration = Duration::from_secs(3);

const CONFIG: &str = r#"
apiVersion: v1
kind: ConfigMap
metadata:
  name: shelf
  labels: {room: "7"}
data: {first: a, second: b}
"#;

/// Runs one test made of these files and returns how it ended.
async fn run(client: Client, files: &[(&str, &str)]) -> Result<(), String> {
    let directory = tempfile::tempdir().unwrap();
    for (name, text) in files {
        std::fs::write(directory.path().join(name), text).unwrap();
    }
    run_directory(client, directory.path()).await
}

async fn run_directory(client: Client, directory: &Path) -> Result<(), String> {
    let cases = find(directory).unwrap();
    assert_eq!(cases.len(), 1);
    let ran = Runner::new(client, WAIT_TIMEOUT).run(&cases[0]).await;
    ran.map_err(|error| format!("{error:#}"))
}

fn config_map(rest: &str) -> String {
    format!("apiVersion: v1\nkind: ConfigMap\n{rest}")
}

#[tokio::test]
async fn an_assertion_passes_if_and_only_if_it_holds() {
    let directory = tempfile::tempdir().unwrap();
    let cluster = Cluster::open(Options::new(directory.path())).await.unwrap();
    let cases: [(&str, Option<&str>); 12] = [
        ("metadata: {name: shelf}\ndata: {first: a}\n", None),
        (
            "metadata: {labels: {room: \"7\"}}\ndata: {second: b}\n",
            None,
        ),
        ("data: {first: a, second: b}\n", None),
        (
            "metadata: {name: shelf}\ndata: {first: b}\n",
            Some(r#".data.first: is "a", and should be "b""#),
        ),
        (
            "metadata: {name: shelf}\ndata: {third: c}\n",
            Some(".data.third: is missing"),
        ),
        (
            "metadata: {name: shelf}\ndata: {first: null}\n",
            Some(".data.first: is"),
        ),
        (
            "metadata: {name: shelf, labels: {room: 7}}\n",
            Some(".metadata.labels.room: is \"7\", and should be 7"),
        ),
        (
            "metadata: {name: shelf, finalizers: []}\n",
            Some(".metadata.finalizers: is missing"),
        ),
        (
            "metadata: {name: table}\n",
            Some("ConfigMap table does not exist"),
        ),
        (
            "metadata: {labels: {room: \"8\"}}\n",
            Some("any ConfigMap is not as expected"),
        ),
        (
            "data: {first: a, second: c}\n",
            Some("any ConfigMap is not as expected"),
        ),
        (
            "metadata: {name: shelf, namespace: default}\n",
            Some("ConfigMap shelf does not exist"),
        ),
    ];
    let runs = cases.map(|(assertion, refusal)| {
        let client = cluster.client();
        async move {
            let expected = config_map(assertion);
            let ran = run(
                client,
                &[("00-it.yaml", CONFIG), ("00-assert.yaml", &expected)],
            )
            .await;
            match (ran, refusal) {
                (Ok(()), None) => {}
                (Err(said), Some(refusal)) => assert!(said.contains(refusal), "{said}"),
                (ran, _) => panic!("{assertion:?} gives {ran:?}"),
            }
        }
    });
    futures::future::join_all(runs).await;
    cluster.close().await;
}

#[tokio::test]
async fn what_must_not_exist_fails_a_step_as_long_as_it_does() {
    let directory = tempfile::tempdir().unwrap();
    let cluster = Cluster::open(Options::new(directory.path())).await.unwrap();
    let absent = config_map("metadata: {name: shelf}\ndata: {first: z}\n");
    let present = config_map("data: {first: a}\n");
    let missing = config_map("metadata: {name: table}\n");
    let unknown = "apiVersion: example.org/v1\nkind: Nothing\nmetadata: {name: x}\n";
    let run = |errors: &'static str, text: String| {
        let client = cluster.client();
        async move { run(client, &[("00-it.yaml", CONFIG), (errors, &text)]).await }
    };
    let (other, gone, found, not_served) = tokio::join!(
        run("00-errors.yaml", absent),
        run("00-errors.yaml", missing),
        run("01-errors.yaml", present),
        run("01-errors.yaml", unknown.to_owned()),
    );
    assert_eq!((other, gone), (Ok(()), Ok(())));
    let said = found.unwrap_err();
    assert!(
        said.contains("step 01") && said.contains("there must not be any ConfigMap"),
        "{said}"
    );
    let said = not_served.unwrap_err();
    assert!(
        said.contains("example.org/v1 Nothing is not served"),
        "{said}"
    );
    cluster.close().await;
}

#[tokio::test]
async fn steps_follow_each_other_and_later_files_are_merged_into_objects() {
    let directory = tempfile::tempdir().unwrap();
    let cluster = Cluster::open(Options::new(directory.path())).await.unwrap();
    let change = config_map("metadata: {name: shelf}\ndata: {first: null, third: c}\n");
    let changed =
        config_map("metadata: {name: shelf, labels: {room: \"7\"}}\ndata: {second: b, third: c}\n");
    let first = config_map("metadata: {name: shelf}\ndata: {first: a}\n");
    let ran = run(
        cluster.client(),
        &[
            ("00-it.yaml", CONFIG),
            ("00-assert.yaml", &first),
            ("01-change.yaml", &change),
            ("01-assert.yaml", &changed),
            ("01-errors.yaml", &first),
        ],
    )
    .await;
    assert_eq!(ran, Ok(()));

    let both = format!("{changed}---\n{first}");
    let ran = run(
        cluster.client(),
        &[
            ("00-it.yaml", CONFIG),
            ("00-assert.yaml", &both),
            ("01-it.yaml", &change),
        ],
    )
    .await;
    let said = ran.unwrap_err();
    assert!(
        said.contains("step 00") && said.contains(".data.third"),
        "{said}"
    );
    cluster.close().await;
}

#[tokio::test]
async fn nothing_is_left_of_a_test_that_passed_or_failed() {
    let directory = tempfile::tempdir().unwrap();
    let cluster = Cluster::open(Options::new(directory.path())).await.unwrap();
    let role =
        "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: left}\n";
    let missing = config_map("metadata: {name: table}\n");
    let wrong = &[
        ("00-a.yaml", CONFIG),
        ("00-b.yaml", role),
        ("01-assert.yaml", &missing),
    ];
    run(cluster.client(), wrong).await.unwrap_err();
    let unnamed = config_map("data: {a: b}\n");
    let said = run(
        cluster.client(),
        &[("00-a.yaml", role), ("00-b.yaml", &unnamed)],
    )
    .await;
    assert!(said.unwrap_err().contains("needs a metadata.name"));

    let roles: Api<k8s_openapi::api::rbac::v1::ClusterRole> = Api::all(cluster.client());
    assert!(roles.get_opt("left").await.unwrap().is_none());
    let maps: Api<ConfigMap> = Api::all(cluster.client());
    let maps = maps.list(&Default::default()).await.unwrap();
    assert!(
        maps.iter()
            .all(|map| map.metadata.name.as_deref() != Some("shelf")),
        "{maps:?}"
    );
    let namespaces: Api<Namespace> = Api::all(cluster.client());
    let left = namespaces.list(&Default::default()).await.unwrap();
    let mut left = left
        .iter()
        .filter(|it| it.metadata.name.as_deref().unwrap().starts_with("test-"));
    assert!(left.all(|namespace| namespace.metadata.deletion_timestamp.is_some()));
    cluster.close().await;
}
