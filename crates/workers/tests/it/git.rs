use std::path::{Path, PathBuf};

use futures::StreamExt;
use futures::future::ready;
use pathline_kinds::workers::{GitCommit, GitRepository, Task};
use pathline_testkit::git;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::fixture::{House, condition, message, text};

/// A bare repository with one commit on `main`, and a clone to make more.
fn repository(dir: &Path) -> (PathBuf, PathBuf) {
    let (bare, clone) = (dir.join("origin.git"), dir.join("clone"));
    git(dir, &["init", "-q", "--bare", "-b", "main", "origin.git"]);
    git(dir, &["clone", "-q", "origin.git", "clone"]);
    git(&clone, &["checkout", "-q", "-B", "main"]);
    commit(&clone, "README", "one\n");
    (bare, clone)
}

fn commit(clone: &Path, file: &str, content: &str) -> String {
    std::fs::write(clone.join(file), content).expect("the clone is writable");
    git(clone, &["add", "-A"]);
    git(clone, &["commit", "-q", "-m", "change"]);
    git(clone, &["push", "-q", "origin", "main"]);
    git(clone, &["rev-parse", "HEAD"])
}

fn is_ready(object: &Value) -> bool {
    let is_current = object["metadata"]["generation"] == object["status"]["observedGeneration"];
    is_current && condition(object, "Ready").0 == "True"
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repository_is_followed_and_a_failure_keeps_the_last_artifact() {
    let dir = TempDir::new().unwrap();
    let (bare, clone) = repository(dir.path());
    let first = git(&clone, &["rev-parse", "HEAD"]);
    let data = dir.path().join("data");
    let house = House::open(&data).await;
    let spec = json!({ "url": format!("file://{}", bare.display()), "interval": "1s", "ref": { "branch": "main" } });
    house.create::<GitRepository>("app", spec).await;
    let found = house.until::<GitRepository>("app", is_ready).await;
    let artifact = &found["status"]["artifact"];
    assert_eq!(artifact["revision"], format!("main@sha1:{first}"));
    let path = text(&artifact["url"])
        .strip_prefix("file://")
        .unwrap()
        .to_owned();
    assert!(
        Path::new(&path).starts_with(data.canonicalize().unwrap().join("artifacts")),
        "{path}"
    );
    assert!(path.ends_with(text(&artifact["path"])), "{path}");
    let sum = std::process::Command::new("sha256sum")
        .arg(&path)
        .output()
        .unwrap();
    let digest = text(&artifact["digest"]).strip_prefix("sha256:").unwrap();
    assert!(String::from_utf8(sum.stdout).unwrap().starts_with(digest));
    assert_eq!(artifact["size"], std::fs::metadata(&path).unwrap().len());
    let message_then = format!("stored artifact for revision 'main@sha1:{first}'");
    assert_eq!(message(&found, "Ready"), message_then);

    let second = commit(&clone, "README", "two\n");
    let url = artifact["url"].clone();
    let revision = format!("main@sha1:{second}");
    let found = wait_for_revision(&house, &revision).await;
    assert_ne!(found["status"]["artifact"]["url"], url);

    std::fs::rename(&bare, dir.path().join("away.git")).unwrap();
    let broken = house
        .until::<GitRepository>("app", |it| condition(it, "Ready").0 == "False")
        .await;
    assert_eq!(condition(&broken, "Ready").1, "GitOperationFailed");
    assert_eq!(condition(&broken, "FetchFailed").0, "True");
    assert_eq!(broken["status"]["artifact"], found["status"]["artifact"]);
    std::fs::rename(dir.path().join("away.git"), &bare).unwrap();
    let healed = house.until::<GitRepository>("app", is_ready).await;
    assert_eq!(condition(&healed, "FetchFailed"), ("", ""));
    house.close().await;
}

async fn wait_for_revision(house: &House, revision: &str) -> Value {
    for _ in 0..600 {
        let found = house
            .api::<GitRepository>()
            .get("app")
            .await
            .expect("it exists");
        let found = serde_json::to_value(found).expect("objects are JSON");
        if found["status"]["artifact"]["revision"] == revision {
            return found;
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    panic!("{revision} was never fetched");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_fetches_at_once_and_a_suspended_repository_is_left_alone() {
    let dir = TempDir::new().unwrap();
    let (bare, clone) = repository(dir.path());
    let house = House::open(&dir.path().join("data")).await;
    let spec = json!({ "url": bare, "interval": "24h", "ref": { "branch": "main" } });
    house.create::<GitRepository>("app", spec).await;
    let before = house.until::<GitRepository>("app", is_ready).await;

    let second = commit(&clone, "README", "two\n");
    let request = |at: &str| json!({ "metadata": { "annotations": { "reconcile.fluxcd.io/requestedAt": at } } });
    house.patch::<GitRepository>("app", request("1")).await;
    let after = house
        .until::<GitRepository>("app", |it| it["status"]["lastHandledReconcileAt"] == "1")
        .await;
    assert_eq!(
        after["status"]["artifact"]["revision"],
        format!("main@sha1:{second}")
    );
    assert_ne!(after["status"]["artifact"], before["status"]["artifact"]);

    house
        .patch::<GitRepository>("app", json!({ "spec": { "suspend": true } }))
        .await;
    house.patch::<GitRepository>("app", request("2")).await;
    // Another object that is served shows that the request had its turn.
    house
        .create::<GitRepository>(
            "other",
            json!({ "url": bare, "interval": "24h", "ref": { "branch": "main" } }),
        )
        .await;
    house.until::<GitRepository>("other", is_ready).await;
    let suspended = house.api::<GitRepository>().get("app").await.unwrap();
    assert_eq!(
        suspended
            .status
            .unwrap()
            .last_handled_reconcile_at
            .as_deref(),
        Some("1")
    );
    house.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_supported_or_malformed_stalls_with_a_reason() {
    let dir = TempDir::new().unwrap();
    let (bare, _) = repository(dir.path());
    let house = House::open(&dir.path().join("data")).await;
    for (name, spec, reason, part) in [
        (
            "semver",
            json!({ "url": bare, "interval": "1m", "ref": { "semver": ">=1" } }),
            "UnsupportedField",
            "ref.semver",
        ),
        (
            "include",
            json!({ "url": bare, "interval": "1m", "include": [{ "repository": { "name": "x" } }] }),
            "UnsupportedField",
            "include",
        ),
        (
            "url",
            json!({ "url": "gopher://x", "interval": "1m" }),
            "URLInvalid",
            "gopher",
        ),
        (
            "ref",
            json!({ "url": bare, "interval": "1m", "ref": { "branch": "a..b" } }),
            "InvalidReference",
            "a..b",
        ),
        (
            "branch",
            json!({ "url": bare, "interval": "1m" }),
            "GitOperationFailed",
            "has no branch `master`",
        ),
        (
            "secret",
            json!({ "url": bare, "interval": "1m", "secretRef": { "name": "none" } }),
            "AuthenticationFailed",
            "`none`",
        ),
    ] {
        house.create::<GitRepository>(name, spec).await;
        let found = house
            .until::<GitRepository>(name, |it| condition(it, "Ready").0 == "False")
            .await;
        assert_eq!(condition(&found, "Ready").1, reason, "{name}");
        let is_retried = matches!(reason, "GitOperationFailed" | "AuthenticationFailed");
        let [stalled, failed] = ["Stalled", "FetchFailed"].map(|it| condition(&found, it));
        if is_retried {
            assert_eq!([stalled, failed], [("", ""), ("True", reason)], "{name}");
        } else {
            assert_eq!([stalled, failed], [("True", reason), ("", "")], "{name}");
        }
        assert!(
            message(&found, "Ready").contains(part),
            "{}",
            message(&found, "Ready")
        );
    }
    house.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn old_artifacts_go_unless_somebody_refers_to_them() {
    let dir = TempDir::new().unwrap();
    let (bare, clone) = repository(dir.path());
    let data = dir.path().join("data");
    let house = House::open(&data).await;
    let spec = json!({ "url": bare, "interval": "500ms", "ref": { "branch": "main" } });
    house.create::<GitRepository>("app", spec).await;
    let first = house.until::<GitRepository>("app", is_ready).await;
    let url = text(&first["status"]["artifact"]["url"]).to_owned();
    house
        .create::<Task>(
            "uses-the-first",
            json!({ "command": ["true"], "source": { "url": url } }),
        )
        .await;
    for round in 0..9 {
        let commit = commit(&clone, "README", &format!("{round}\n"));
        wait_for_revision(&house, &format!("main@sha1:{commit}")).await;
    }
    let place = data.join("artifacts/gitrepository/default/app");
    for _ in 0..600 {
        if std::fs::read_dir(&place).unwrap().count() <= 6 {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    assert!(
        std::fs::read_dir(&place).unwrap().count() <= 6,
        "five new ones and the needed one"
    );
    assert!(
        Path::new(url.strip_prefix("file://").unwrap()).exists(),
        "the needed one stays"
    );
    house.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn many_commits_to_one_branch_all_arrive() {
    let dir = TempDir::new().unwrap();
    let (bare, _) = repository(dir.path());
    let house = House::open(&dir.path().join("data")).await;
    for writer in 0..8 {
        let spec = json!({
            "url": format!("file://{}", bare.display()),
            "files": { format!("sites/{writer}.yaml"): "image: x\n" },
            "message": format!("writer {writer}"),
            "author": { "name": "Ada", "email": "ada@example.org" },
            "trailers": { "Source-Commit": format!("abc{writer}") },
        });
        house
            .create::<GitCommit>(&format!("writer-{writer}"), spec)
            .await;
    }
    for writer in 0..8 {
        let written = house
            .until::<GitCommit>(&format!("writer-{writer}"), is_ready)
            .await;
        let commit = text(&written["status"]["commit"]);
        assert_eq!(written["status"]["revision"], format!("main@sha1:{commit}"));
        let trailer = git(
            &bare,
            &[
                "log",
                "-1",
                "--format=%an %(trailers:key=Source-Commit,valueonly)",
                commit,
            ],
        );
        assert_eq!(trailer.trim(), format!("Ada abc{writer}"));
    }
    assert_eq!(git(&bare, &["rev-list", "--count", "main"]), "9");
    assert_eq!(
        git(&bare, &["fsck", "--full", "--strict", "--no-dangling"]),
        ""
    );
    house.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_commit_follows_its_spec_and_writes_nothing_twice() {
    let dir = TempDir::new().unwrap();
    let (bare, _) = repository(dir.path());
    let data = dir.path().join("data");
    let house = House::open(&data).await;
    let spec = json!({ "url": bare, "files": { "site.yaml": "a\n" }, "message": "deploy" });
    house.create::<GitCommit>("site", spec).await;
    let first = house.until::<GitCommit>("site", is_ready).await;
    house
        .patch::<GitCommit>(
            "site",
            json!({ "spec": { "files": { "site.yaml": "b\n" } } }),
        )
        .await;
    let second = house
        .until::<GitCommit>("site", |it| {
            it["metadata"]["generation"] == 2 && is_ready(it)
        })
        .await;
    assert_ne!(first["status"]["commit"], second["status"]["commit"]);
    assert_eq!(git(&bare, &["show", "main:site.yaml"]), "b");
    house
        .patch::<GitCommit>("site", json!({ "spec": { "files": { "../x": "c\n" } } }))
        .await;
    let refused = house
        .until::<GitCommit>("site", |it| {
            condition(it, "Ready") == ("False", "InvalidSpec")
        })
        .await;
    assert!(message(&refused, "Ready").contains("`../x`"), "{refused:#}");
    assert_eq!(
        refused["status"]["commit"], second["status"]["commit"],
        "of the last success"
    );
    assert_eq!(condition(&refused, "Stalled"), ("True", "InvalidSpec"));
    let mended = json!({ "spec": { "files": { "../x": null } } });
    house.patch::<GitCommit>("site", mended).await;
    let mended = house
        .until::<GitCommit>("site", |it| {
            it["metadata"]["generation"] == 4 && is_ready(it)
        })
        .await;
    assert_eq!(condition(&mended, "Stalled"), ("", ""), "{mended:#}");
    house.close().await;
    assert_eq!(git(&bare, &["rev-list", "--count", "main"]), "3");
}

#[tokio::test(flavor = "multi_thread")]
async fn point_1_what_is_being_fetched_or_written_is_not_wrong() {
    let dir = TempDir::new().unwrap();
    let (bare, _) = repository(dir.path());
    let house = House::open(&dir.path().join("data")).await;
    let fetching = json!({ "url": bare, "interval": "1m", "ref": { "branch": "main" } });
    let writing = json!({ "url": bare, "files": { "a": "b\n" }, "message": "deploy" });
    let fetched = house.watch::<GitRepository>("app").await;
    let written = house.watch::<GitCommit>("site").await;
    house.create::<GitRepository>("app", fetching).await;
    house.create::<GitCommit>("site", writing).await;
    let first_words = |it: &Value| ready(it["status"].is_object());
    let (mut fetched, mut written) = (fetched.filter(first_words), written.filter(first_words));
    for first in [fetched.next().await, written.next().await] {
        let first = first.unwrap();
        assert_eq!(condition(&first, "Ready"), ("Unknown", "Progressing"));
        // Nothing has been made of this generation yet.
        assert_eq!(first["status"]["observedGeneration"], Value::Null);
    }
    house.until::<GitRepository>("app", is_ready).await;
    house.until::<GitCommit>("site", is_ready).await;
    house.close().await;
}
