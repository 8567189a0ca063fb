//! Whether what was deployed is still there, as it was written.

use kube::api::{DeleteParams, Patch, PatchParams};
use serde_json::{Value, json};

use super::Releasing;
use crate::tracked::Seen;

/// Starts a server with a release of `a.b` that is deployed in `dev`, and written there.
async fn deployed(seen: &Seen) -> Releasing {
    let releasing = Releasing::new().await;
    releasing.release_of("a.b", seen).await;
    releasing.deploy("dev", 1).await;
    releasing.write("dev", "a.b@1").await;
    let owner = json!({"apiVersion": "carto.run/v1alpha1", "kind": "Workload",
        "metadata": {"namespace": "dev"}});
    let live = Patch::Merge(json!({"status": {"live": "True"}}));
    let api = releasing.objects_of(&owner);
    let told = api
        .patch_status("a-b", &PatchParams::default(), &live)
        .await;
    told.expect("it is there");
    releasing
}

/// Returns what is said of `dev`, by `why` and by the board, which say the same.
async fn told(releasing: &Releasing, name: &str) -> (Value, String) {
    let why = releasing
        .get(&format!("/trackers/{name}/why?environment=dev"))
        .await;
    let why = &why.body["environments"][0];
    let board = releasing
        .get(&format!("/releases/board?tracker={name}"))
        .await;
    let cell = &board.body["items"][0]["environments"][0];
    let all = releasing.get("/releases/board").await;
    let of_all = &all.body["items"][0]["environments"][0];
    for it in [cell, of_all] {
        assert_eq!(
            (&it["sentence"], &it["live"]),
            (&why["sentence"], &why["live"])
        );
    }
    let sentence = why["sentence"].as_str().expect("a sentence");
    (why["live"].clone(), sentence.to_owned())
}

#[tokio::test]
async fn case_of_a_name_does_not_matter() {
    let releasing = deployed(&Seen::new("one", "sha256:1")).await;
    for name in ["a.b", "A.b", "A.B"] {
        let (live, sentence) = told(&releasing, name).await;
        assert_eq!(live, true, "{name}: {sentence}");
    }
    let hold = json!({"tracker": "A.B"});
    for (path, name) in [
        ("/environments/prod/hold", "a.b"),
        ("/environments/prod/resume", "a.b"),
    ] {
        let answer = releasing.post(path, hold.clone()).await;
        assert_eq!(answer.body["tracker"], name, "{answer:?}");
    }
}

#[tokio::test]
async fn whatever_somebody_changes_of_the_owner_is_told() {
    for (patch, said) in [
        (
            json!({"spec": {"image": "r.example/evil"}}),
            "(`spec.image` was changed)",
        ),
        (
            json!({"spec": {"env": [{"name": "A", "value": "1"}]}}),
            "(`spec.env` was changed)",
        ),
        (json!({"spec": {"env": null}}), "(`spec.env` was removed)"),
        (
            json!({"spec": {"resources": {"limits": {"cpu": "1"}}}}),
            "(`spec.resources` was added)",
        ),
        (
            json!({"metadata": {"labels": {"app.kubernetes.io/name": "other"}}}),
            "(`metadata.labels[app.kubernetes.io/name]` was changed)",
        ),
        (
            json!({"spec": {"params": []}}),
            "`spec.params[config]` was removed",
        ),
    ] {
        let releasing = deployed(&Seen::new("one", "sha256:1")).await;
        releasing.patch_owner("dev", patch).await;
        let (live, sentence) = told(&releasing, "a.b").await;
        assert_eq!(live, false, "{sentence}");
        let changed = "; somebody has changed Workload `a-b` in namespace `dev` ";
        assert!(
            sentence.contains(changed) && sentence.contains(said),
            "{sentence}"
        );
        let again = "`pathline release rollback dev a.b --release 1` writes it again";
        assert!(sentence.ends_with(again), "{sentence}");
    }
}

#[tokio::test]
async fn file_that_somebody_deletes_is_told() {
    let seen = Seen {
        secret: Some("c2VjcmV0"),
        ..Seen::new("one", "sha256:1")
    };
    let releasing = deployed(&seen).await;
    let (live, sentence) = told(&releasing, "a.b").await;
    assert_eq!(live, true, "{sentence}");
    let objects = releasing
        .get("/releases/a.b@1/objects?environment=dev")
        .await;
    let secret = &objects.body["objects"][0];
    let name = secret["metadata"]["name"].as_str().expect("a name");
    let deleted = releasing.objects_of(secret);
    let deleted = deleted.delete(name, &DeleteParams::default()).await;
    deleted.expect("it is there");
    let (live, sentence) = told(&releasing, "a.b").await;
    assert_eq!(live, false);
    let gone = format!("; Secret `{name}` in namespace `dev` is gone: ");
    assert!(sentence.contains(&gone), "{sentence}");
}

#[tokio::test]
async fn owner_of_a_version_before_is_known_by_its_release_and_its_image() {
    let releasing = deployed(&Seen::new("one", "sha256:1")).await;
    let without = json!({"metadata": {"annotations": {"pathline.dev/written": null}}});
    releasing.patch_owner("dev", without).await;
    releasing
        .patch_owner("dev", json!({"spec": {"env": null}}))
        .await;
    let (live, _) = told(&releasing, "a.b").await;
    assert_eq!(live, true, "nothing tells");
    let other = json!({"spec": {"image": "r.example/evil"}});
    releasing.patch_owner("dev", other).await;
    let (live, sentence) = told(&releasing, "a.b").await;
    assert_eq!(live, false);
    assert!(
        sentence.contains("somebody has changed Workload `a-b`"),
        "{sentence}"
    );
}
