//! Environments of a Pathline that runs: those it begins with, and those it refuses.

#![expect(clippy::unwrap_used, reason = "a helper that fails fails its test")]

use std::fs;

use k8s_openapi::api::core::v1::Namespace;
use kube::api::{DeleteParams, DynamicObject, ListParams, Patch, PatchParams, PostParams};
use kube::runtime::wait::await_condition;
use kube::{Api, Client, ResourceExt};
use pathline_kinds::environment::Environment;
use pathline_testkit::Leash;
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::program::{Running, pathline, stderr};
use crate::up::{UP, client};

const ANNOTATION: &str = "pathline.dev/environments";

async fn names(client: &Client) -> Vec<String> {
    let api: Api<Environment> = Api::all(client.clone());
    let all = api.list(&ListParams::default()).await.unwrap();
    all.iter().map(ResourceExt::name_any).collect()
}

async fn remembered(client: &Client) -> Option<String> {
    let api: Api<Namespace> = Api::all(client.clone());
    let namespace = api.get("kube-system").await.unwrap();
    namespace.annotations().get(ANNOTATION).cloned()
}

async fn remember(client: &Client, value: Value) {
    let api: Api<Namespace> = Api::all(client.clone());
    let patch = json!({"metadata": {"annotations": {ANNOTATION: value}}});
    let patch = Patch::Merge(patch);
    api.patch("kube-system", &PatchParams::default(), &patch)
        .await
        .unwrap();
}

async fn remove(client: &Client, name: &str) {
    let api: Api<Environment> = Api::all(client.clone());
    api.delete(name, &DeleteParams::default()).await.unwrap();
}

/// Starts it in a directory, and returns it with a client.
async fn start_in(leash: Leash, arguments: &[&str]) -> (Running, Client) {
    let mut up = Running::start_in(leash, &[&UP, arguments].concat());
    let client = client(&up.json()).await;
    (up, client)
}

fn stop(up: Running) -> Leash {
    up.signal(Signal::TERM);
    let ended = up.wait();
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    ended.leash
}

fn write(leash: &Leash, name: &str, content: &str) {
    let directory = leash.directory().join("trackers");
    fs::create_dir_all(&directory).unwrap();
    fs::write(directory.join(name), content).unwrap();
}

#[tokio::test]
async fn up_makes_four_environments_once_and_what_is_removed_stays_removed() {
    let leash = Leash::new("pathline-environments-").unwrap();
    let (up, cluster) = start_in(leash, &[]).await;
    assert_eq!(names(&cluster).await, ["dev", "ha", "preprod", "prod"]);
    assert_eq!(remembered(&cluster).await.as_deref(), Some("made"));
    let namespaces: Api<Namespace> = Api::all(cluster.clone());
    let environments: Api<Environment> = Api::all(cluster.clone());
    for name in ["dev", "ha", "preprod", "prod"] {
        assert!(namespaces.get_opt(name).await.unwrap().is_some(), "{name}");
        let is_ready = |it: Option<&Environment>| {
            let status = it.and_then(|it| it.status.as_ref());
            status.is_some_and(|it| it.conditions.iter().any(|it| it.status == "True"))
        };
        let ready = await_condition(environments.clone(), name, is_ready).await;
        let ready = ready.unwrap().unwrap();
        assert_eq!(ready.spec.release_frequency, Some(serde_json::Map::new()));
    }
    remove(&cluster, "ha").await;
    let (up, cluster) = start_in(stop(up), &[]).await;
    assert_eq!(names(&cluster).await, ["dev", "preprod", "prod"]);

    // A directory of an earlier Pathline has no such memory.
    for name in ["dev", "preprod", "prod"] {
        remove(&cluster, name).await;
    }
    remember(&cluster, Value::Null).await;
    let (up, cluster) = start_in(stop(up), &[]).await;
    assert_eq!(names(&cluster).await, ["dev", "ha", "preprod", "prod"]);

    // One that was killed while it made them goes on.
    remove(&cluster, "prod").await;
    remember(&cluster, json!("making")).await;
    let (up, cluster) = start_in(stop(up), &[]).await;
    assert_eq!(names(&cluster).await, ["dev", "ha", "preprod", "prod"]);

    // Where somebody has made some, there are enough.
    remove(&cluster, "prod").await;
    remember(&cluster, Value::Null).await;
    let (_up, cluster) = start_in(stop(up), &[]).await;
    assert_eq!(names(&cluster).await, ["dev", "ha", "preprod"]);
    assert_eq!(remembered(&cluster).await.as_deref(), Some("made"));
}

#[tokio::test]
async fn environments_of_files_are_made_instead_of_the_four() {
    let leash = Leash::new("pathline-environments-").unwrap();
    write(
        &leash,
        "a.namespace.yaml",
        "dev: {}\nperf: {deployments: {releaseFrequency: {hour: 4, minute: 0}}, ingress: {}}\n",
    );
    write(
        &leash,
        "b.namespace.yaml",
        "apiVersion: pathline.dev/v1alpha1\nkind: Environment\nmetadata: {name: live}\nspec: {type: prod, namespace: shop}\n",
    );
    let arguments = ["--trackers", "trackers"];
    let (up, cluster) = start_in(leash, &arguments).await;
    assert_eq!(names(&cluster).await, ["dev", "live", "preprod"]);
    let environments: Api<Environment> = Api::all(cluster.clone());
    let preprod = environments.get("preprod").await.unwrap();
    assert_eq!(preprod.spec.type_.as_deref(), Some("preprod"));
    let rule = json!({"hour": 4, "minute": 0});
    assert_eq!(preprod.spec.release_frequency.as_ref(), rule.as_object());
    let namespaces: Api<Namespace> = Api::all(cluster.clone());
    assert!(namespaces.get_opt("shop").await.unwrap().is_some());

    // They are read once, and what is wrong later disturbs nobody.
    remove(&cluster, "live").await;
    let leash = stop(up);
    write(&leash, "c.namespace.yaml", "no environment at all");
    let (_up, cluster) = start_in(leash, &arguments).await;
    assert_eq!(names(&cluster).await, ["dev", "preprod"]);
}

#[tokio::test]
async fn mistake_in_a_file_of_environments_leaves_nothing_half_done() {
    let leash = Leash::new("pathline-environments-").unwrap();
    let tracker = "id: shop.web\nrepo: https://github.com/shop/web\nsourcePath: ''\n";
    write(&leash, "web.tracker.yaml", tracker);
    write(&leash, "a.namespace.yaml", "dev: {}\n");
    for (content, message) in [
        (
            "prod: {type: [MOON], ingres: {}}\n",
            "b.namespace.yaml: prod.ingres: ",
        ),
        ("prod: {type: [MOON], ingres: {}}\n", "; prod.type: "),
        ("dev: {}\n", "dev: there is another one of this name"),
        ("[", "b.namespace.yaml: line 1"),
        ("mandatory: {}\n", "b.namespace.yaml: mandatory: "),
    ] {
        write(&leash, "b.namespace.yaml", content);
        let mut command = pathline();
        command.args(UP).args(["--trackers", "trackers"]);
        let refused = command.current_dir(leash.directory()).output().unwrap();
        let said = stderr(&refused);
        assert_eq!(refused.status.code(), Some(3), "{content}: {said}");
        assert!(said.contains(message), "{content}: {said}");
        assert!(said.contains("hint: nothing was made"), "{said}");
    }
    let mut up = Running::start_in(leash, &UP);
    let ready = up.json();
    let cluster = client(&ready).await;
    assert_eq!(
        names(&cluster).await,
        ["dev", "ha", "preprod", "prod"],
        "the mistake has made none"
    );
    let token = fs::read_to_string(up.directory().join(".pathline/rest.token")).unwrap();
    let authorization = format!("Bearer {}", token.trim());
    let address = ready["url"].as_str().unwrap().trim_start_matches("http://");
    let headers = [("Authorization", authorization.as_str())];
    let trackers = pathline_testkit::rest::ask(address, "GET /trackers/", &headers, "");
    assert_eq!(trackers.unwrap().json(), json!([]), "nor a tracker");
}

#[tokio::test]
async fn environment_that_is_wrong_is_refused_with_all_problems() {
    let (_up, cluster) = start_in(Leash::new("pathline-environments-").unwrap(), &[]).await;
    let kind = kube::api::ApiResource::erase::<Environment>(&());
    let api: Api<DynamicObject> = Api::all_with(cluster, &kind);
    let mk = |name: &str, spec: Value| -> DynamicObject {
        serde_json::from_value(json!({
            "apiVersion": "pathline.dev/v1alpha1", "kind": "Environment", "metadata": {"name": name}, "spec": spec,
        }))
        .unwrap()
    };
    let wrong = json!({
        "type": "prod", "position": 1, "timeZone": "Mars/Phobos", "soak": "-1h", "freeze": [],
        "freezes": [{"from": "2026-02-01T00:00:00Z", "until": "2026-01-01T00:00:00Z"}],
    });
    let refused = api
        .create(&PostParams::default(), &mk("wrong", wrong))
        .await;
    let Err(kube::Error::Api(status)) = refused else {
        panic!("{refused:?}");
    };
    assert_eq!(status.code, 403, "{status:?}");
    for field in [
        "spec.position",
        "spec.timeZone",
        "spec.soak",
        "spec.freezes[0].until",
        "spec.freeze: ",
    ] {
        assert!(
            status.message.contains(field),
            "{field} in {}",
            status.message
        );
    }
    assert!(api.get_opt("wrong").await.unwrap().is_none());

    let created = api
        .create(&PostParams::default(), &mk("other", json!({"position": 1})))
        .await;
    created.unwrap();
    let patch = |spec: Value| Patch::Merge(json!({"spec": spec}));
    let refused = api
        .patch(
            "other",
            &PatchParams::default(),
            &patch(json!({"soak": "soon"})),
        )
        .await;
    assert!(refused.is_err_and(|error| error.to_string().contains("spec.soak")));
    let stored = api
        .patch(
            "other",
            &PatchParams::default(),
            &patch(json!({"soak": "1h"})),
        )
        .await;
    stored.unwrap();
    let stored = api.get("other").await.unwrap();
    assert_eq!(stored.data["spec"], json!({"position": 1, "soak": "1h"}));
}
