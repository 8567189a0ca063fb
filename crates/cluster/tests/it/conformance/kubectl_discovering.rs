//! Discovery, as kubectl does it.

use anyhow::{Context, Result};

use super::session::assert_recorded;
use super::target::Target;

conformance!(kubectl:
    api_resources_name_every_kind_of_the_issue,
    api_resources_of_one_group,
    api_versions_list_every_group,
    version_is_recent,
);

/// Kinds that supply chains store and stamp, with their short names and verbs.
const KINDS: &[&str] = &[
    "configmaps",
    "events",
    "namespaces",
    "pods",
    "secrets",
    "serviceaccounts",
    "services",
    "customresourcedefinitions",
    "deployments",
    "replicasets",
    "statefulsets",
    "jobs",
    "leases",
    "clusterroles",
    "clusterrolebindings",
    "roles",
    "rolebindings",
    "widgets",
];

async fn api_resources_name_every_kind_of_the_issue(t: &Target) -> Result<()> {
    let listed = t
        .kubectl()
        .run_ok(&["api-resources", "-o", "wide", "--no-headers"])
        .await?;
    let mut shown = Vec::new();
    for line in listed.lines() {
        let words: Vec<_> = line.split_whitespace().map(sorted_list).collect();
        if KINDS.contains(&words[0].as_str()) {
            shown.push(words.join(" "));
        }
    }
    shown.sort();
    assert_recorded!("api_resources", shown.join("\n"));
    Ok(())
}

/// Sorts what is a list of verbs, whose order means nothing.
fn sorted_list(word: &str) -> String {
    let mut items: Vec<_> = word.split(',').collect();
    items.sort_unstable();
    items.join(",")
}

async fn api_resources_of_one_group(t: &Target) -> Result<()> {
    let mut session = t.session();
    session
        .run("api-resources --api-group=conformance.pathline.dev")
        .await?;
    session
        .run("api-resources --api-group=coordination.k8s.io --namespaced=true -o name")
        .await?;
    session
        .run("api-resources --api-group=apiextensions.k8s.io --namespaced=false")
        .await?;
    session
        .run("api-resources --categories=gadgets -o name")
        .await?;
    session
        .run("api-resources --api-group=nope.example.com")
        .await?;
    assert_recorded!("api_resources_of_group", session.transcript());
    Ok(())
}

async fn api_versions_list_every_group(t: &Target) -> Result<()> {
    let listed = t.kubectl().run_ok(&["api-versions"]).await?;
    for version in [
        "v1",
        "apps/v1",
        "batch/v1",
        "coordination.k8s.io/v1",
        "events.k8s.io/v1",
        "rbac.authorization.k8s.io/v1",
        "apiextensions.k8s.io/v1",
        "conformance.pathline.dev/v1",
    ] {
        assert!(
            listed.lines().any(|line| line == version),
            "{version} in {listed}"
        );
    }
    Ok(())
}

async fn version_is_recent(t: &Target) -> Result<()> {
    let version = t.kubectl().json(&["version", "-o", "json"]).await?;
    let server = &version["serverVersion"];
    assert_eq!(server["major"], "1", "{version}");
    let minor = server["minor"].as_str().context("a minor version")?;
    let digits: String = minor.chars().take_while(char::is_ascii_digit).collect();
    assert!(digits.parse::<u32>()? >= 32, "{version}");
    assert!(
        server["gitVersion"]
            .as_str()
            .is_some_and(|v| v.starts_with("v1.")),
        "{version}"
    );
    Ok(())
}
