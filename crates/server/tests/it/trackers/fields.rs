use serde_json::{Value, json};

use crate::tracked::{Tracked, details, with};

/// Posts the usual body with changes, each of which is refused in the same way; nothing is made.
async fn refused(changes: impl IntoIterator<Item = Value>, expected: &[(&str, &str)]) {
    let tracked = Tracked::new().await;
    for change in changes {
        let answer = tracked.post(&with(change.clone())).await;
        assert_eq!(details(&answer), expected, "{change}: {answer:?}");
    }
    let listed = tracked.get("/trackers").await;
    assert_eq!(listed.body, json!([]), "nothing was made");
}

/// Posts the usual body with changes, and returns the tracker.
async fn made(changes: Value) -> Value {
    Tracked::new().await.make(changes).await.body
}

#[tokio::test]
async fn h20_missing_fields_are_told_together_in_their_order() {
    let change = json!({"token": null, "repo": null});
    refused([change], &[("token", "required"), ("repo", "required")]).await;
    let none = json!({"id": null, "token": null, "repo": null, "sourcePath": null, "x": 1});
    let all = [
        ("id", "required"),
        ("token", "required"),
        ("repo", "required"),
        ("sourcePath", "required"),
        ("x", "unknown-field"),
    ];
    refused([none], &all).await;
}

#[tokio::test]
async fn h21_token_that_is_no_text_is_refused_and_not_repeated() {
    let tracked = Tracked::new().await;
    for token in [
        json!(7_654_321),
        json!(["SENTINEL"]),
        json!({"SENTINEL": 1}),
    ] {
        let answer = tracked.post(&with(json!({"token": token}))).await;
        assert_eq!(details(&answer), [("token", "wrong-type")]);
        assert!(!answer.body.to_string().contains("7654321"), "{answer:?}");
    }
}

#[tokio::test]
async fn h22_empty_token_is_none() {
    let tracker = made(json!({"token": ""})).await;
    assert_eq!(tracker["hasToken"], false);
}

#[tokio::test]
async fn h23_token_of_other_characters_is_refused_and_not_repeated() {
    let tokens = ["SENTINEL\n", "SENTINEL x", "\u{e9}SENTINEL", "SENTINEL\0"];
    let changes = tokens.map(|token| json!({"token": token}));
    refused(changes, &[("token", "malformed")]).await;
    let long = json!({"token": "SENTINEL".repeat(65)});
    refused([long], &[("token", "malformed")]).await;
    assert_eq!(
        made(json!({"token": "x".repeat(512)})).await["hasToken"],
        true
    );
}

#[tokio::test]
async fn h24_credentials_in_a_url_are_refused_and_not_repeated() {
    let urls = [
        "https://tok-SENTINEL@github.com/o/r",
        "https://user:tok-SENTINEL@github.com/o/r",
        "https://x@tok-SENTINEL@github.com/o/r",
    ];
    let changes = urls.map(|repo| json!({"repo": repo}));
    refused(changes, &[("repo", "credentials-in-url")]).await;
}

#[tokio::test]
async fn h25_plain_http_is_insecure() {
    let change = json!({"repo": "http://github.com/o/r"});
    refused([change], &[("repo", "insecure-scheme")]).await;
}

#[tokio::test]
async fn h26_other_hosts_are_not_supported() {
    let urls = [
        "https://evil.example/o/r",
        "https://github.com.evil.example/o/r",
        "https://github.com:444/o/r",
        "ssh://git@github.com/o/r",
    ];
    let changes = urls.map(|repo| json!({"repo": repo}));
    refused(changes, &[("repo", "unsupported-host")]).await;
}

#[tokio::test]
async fn h26_what_is_no_repository_is_malformed() {
    let urls = [
        "",
        "r",
        "o/r/x",
        "o/..",
        "https://github.com/o",
        "https://github.com/o/r?x=1",
        "https://github.com/o/r#x",
        "https://github.com/o%2Fr/x",
        "ftp://github.com/o/r",
        "o/r\0",
    ];
    let changes = urls.map(|repo| json!({"repo": repo}));
    refused(changes, &[("repo", "malformed")]).await;
}

#[tokio::test]
async fn h27_repository_without_a_host_is_on_github() {
    let tracker = made(json!({"repo": "o/r"})).await;
    assert_eq!(tracker["repo"], "https://github.com/o/r");
}

#[tokio::test]
async fn h28_repository_has_one_spelling() {
    for repo in ["https://github.com/o/r.git/", "https://GitHub.com/o/r/"] {
        let tracker = made(json!({"repo": repo})).await;
        assert_eq!(tracker["repo"], "https://github.com/o/r", "{repo}");
    }
}

#[tokio::test]
async fn h29_path_stays_in_the_repository() {
    let paths = ["../x", "/x", "a//b", "a/./b", "a\\b", "a\0", "a/../b", "a/"];
    let changes = paths.map(|path| json!({"sourcePath": path}));
    refused(changes, &[("sourcePath", "malformed")]).await;
    let long = json!({"sourcePath": "x".repeat(1025)});
    refused([long], &[("sourcePath", "malformed")]).await;
}

#[tokio::test]
async fn h30_one_reference_is_followed() {
    let change = json!({"branch": "main", "tag": "v1"});
    refused(
        [change],
        &[("tag", "ref-conflict"), ("branch", "ref-conflict")],
    )
    .await;
}

#[tokio::test]
async fn h31_commit_is_given_whole() {
    let commits = [
        "abc123".to_owned(),
        "A".repeat(40),
        "a".repeat(41),
        "a".repeat(64),
    ];
    let changes = commits.map(|commit| json!({"commit": commit}));
    refused(changes, &[("commit", "malformed")]).await;
    let commit = "0123456789abcdef0123456789abcdef01234567";
    assert_eq!(made(json!({"commit": commit})).await["commit"], commit);
}

#[tokio::test]
async fn h32_branch_is_one_that_git_takes() {
    let branches = [
        "a..b", "-x", "x.lock", "", "a b", "@{x", "x/", "a\u{7f}", "x.",
    ];
    let changes = branches.map(|branch| json!({"branch": branch}));
    refused(changes, &[("branch", "malformed")]).await;
    let tags = ["a..b", "-x", "x.lock"].map(|tag| json!({"tag": tag}));
    refused(tags, &[("tag", "malformed")]).await;
}

#[tokio::test]
async fn h33_unknown_field_is_refused() {
    let change = json!({"sourcepath": ""});
    refused([change], &[("sourcepath", "unknown-field")]).await;
}

#[tokio::test]
async fn h34_names_that_the_file_needs_are_reserved() {
    let names = ["a.group", "mandatory.b"].map(|id| json!({"id": id}));
    refused(names, &[("id", "reserved")]).await;
}
