//! `kubectl create -f`.

use anyhow::Result;

use super::session::assert_recorded;
use super::target::Target;

conformance!(kubectl:
    generated_names_are_all_different,
    object_that_exists_is_not_created_again,
    invalid_names_are_refused,
);

async fn generated_names_are_all_different(t: &Target) -> Result<()> {
    const GENERATED: &str = "
apiVersion: conformance.pathline.dev/v1
kind: Widget
metadata: {generateName: red-}
spec: {color: red}
---
apiVersion: v1
kind: ConfigMap
metadata: {generateName: settings-}
";
    let mut names = Vec::new();
    for _ in 0..3 {
        let created = t
            .kubectl()
            .run_with(&["create", "-f", "-", "-o", "name"], GENERATED)
            .await?
            .ok()?;
        names.extend(created.lines().map(str::to_owned));
    }
    names.sort();
    names.dedup();
    assert_eq!(names.len(), 6, "{names:?}");
    for name in &names {
        let suffix = name
            .strip_prefix("widget.conformance.pathline.dev/red-")
            .or_else(|| name.strip_prefix("configmap/settings-"))
            .unwrap_or_else(|| panic!("{name} has its prefix"));
        assert!(
            suffix.len() == 5 && suffix.chars().all(|c| c.is_ascii_alphanumeric()),
            "{name}"
        );
    }
    let mut session = t.session();
    session.feed("apply -f -", GENERATED).await?;
    session
        .feed(
            "create -f -",
            "{apiVersion: v1, kind: ConfigMap, metadata: {labels: {a: b}}}",
        )
        .await?;
    assert_recorded!("generated_names", session.transcript());
    Ok(())
}

async fn object_that_exists_is_not_created_again(t: &Target) -> Result<()> {
    const BOTH: &str = "
apiVersion: conformance.pathline.dev/v1
kind: Widget
metadata: {name: one}
spec: {color: red}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: one}
";
    let mut session = t.session();
    session.feed("create -f -", BOTH).await?;
    session.feed("create -f -", BOTH).await?;
    session.feed("create -f - --dry-run=server", BOTH).await?;
    assert_recorded!("exists", session.transcript());
    Ok(())
}

async fn invalid_names_are_refused(t: &Target) -> Result<()> {
    let mut session = t.session();
    let long = "x".repeat(254);
    for (api_version, kind) in [
        ("v1", "ConfigMap"),
        ("v1", "Namespace"),
        ("v1", "ServiceAccount"),
        ("conformance.pathline.dev/v1", "Widget"),
        ("rbac.authorization.k8s.io/v1", "Role"),
    ] {
        for name in [
            "Upper",
            "under_score",
            "a..b",
            "-a",
            "a/b",
            "..",
            long.as_str(),
        ] {
            let manifest = format!(
                "{{apiVersion: {api_version}, kind: {kind}, metadata: {{name: '{name}'}}, spec: {{color: red}}}}"
            );
            session
                .feed("create --validate=false -f -", &manifest)
                .await?;
        }
    }
    for metadata in [
        "name: a, labels: {'bad key!': x}",
        "name: a, labels: {key: 'bad value!'}",
        "name: a, annotations: {'bad key!': x}",
        "name: a, finalizers: ['bad finalizer!']",
        "name: a, namespace: elsewhere",
        "name: a, ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: b}]",
    ] {
        for (api_version, kind) in [
            ("v1", "ConfigMap"),
            ("conformance.pathline.dev/v1", "Widget"),
        ] {
            let manifest = format!(
                "{{apiVersion: {api_version}, kind: {kind}, metadata: {{{metadata}}}, spec: {{color: red}}}}"
            );
            session
                .feed("create --validate=false -f -", &manifest)
                .await?;
        }
    }
    session
        .run("get configmaps,widgets,serviceaccounts,roles")
        .await?;
    assert_recorded!("invalid_names", session.transcript());
    Ok(())
}
