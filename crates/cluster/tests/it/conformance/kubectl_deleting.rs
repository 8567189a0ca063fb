//! `kubectl delete`, finalizers, namespaces and dependents.

use anyhow::Result;

use super::session::assert_recorded;
use super::target::Target;

conformance!(kubectl:
    finalizer_holds_an_object_until_it_is_removed,
    deletion_by_label_and_of_all,
    deleted_namespace_takes_its_content_along,
    dependents_go_with_their_owner_or_stay,
);

const WIDGET: &str = "
apiVersion: conformance.pathline.dev/v1
kind: Widget
metadata: {name: one, finalizers: [example.com/hold]}
spec: {color: red}
";

async fn finalizer_holds_an_object_until_it_is_removed(t: &Target) -> Result<()> {
    let mut session = t.session();
    session.feed("create -f -", WIDGET).await?;
    session.run("delete widget one --wait=false").await?;
    session.run("delete widget one --timeout=1s").await?;
    session.run("get widget one -o jsonpath='{.metadata.deletionTimestamp} {.metadata.deletionGracePeriodSeconds} {.metadata.generation}'").await?;
    session.run(r#"patch widget one --type=merge -p '{"metadata":{"finalizers":["example.com/hold","example.com/late"]}}'"#).await?;
    session
        .run(r#"patch widget one --type=merge -p '{"spec":{"color":"blue"}}'"#)
        .await?;
    session
        .run(r#"patch widget one --type=json -p '[{"op":"remove","path":"/metadata/finalizers"}]'"#)
        .await?;
    session.run("get widget one").await?;
    session.run("delete widget one").await?;
    session.run("delete widget one --ignore-not-found").await?;
    assert_recorded!("finalizer", session.transcript());
    Ok(())
}

async fn deletion_by_label_and_of_all(t: &Target) -> Result<()> {
    const SECRETS: &str = "
{apiVersion: v1, kind: Secret, metadata: {name: a, labels: {tier: front}}}
---
{apiVersion: v1, kind: Secret, metadata: {name: b, labels: {tier: back}}}
---
{apiVersion: v1, kind: Secret, metadata: {name: c, labels: {tier: back}}}
---
{apiVersion: v1, kind: Secret, metadata: {name: d}}
";
    let mut session = t.session();
    session.feed("create -f -", SECRETS).await?;
    session.run("delete secret -l tier=back").await?;
    session.run("delete secret -l tier=back").await?;
    session.run("get secrets -o name").await?;
    session.run("delete secrets --all").await?;
    session.run("get secrets").await?;
    session.run("delete secret nope").await?;
    session.feed("delete -f -", SECRETS).await?;
    assert_recorded!("deleted", session.transcript());
    Ok(())
}

async fn deleted_namespace_takes_its_content_along(t: &Target) -> Result<()> {
    let other = format!("{}-other", t.namespace);
    let mut session = t.session();
    let namespace = format!("{{apiVersion: v1, kind: Namespace, metadata: {{name: {other}}}}}");
    session.feed("create -f -", &namespace).await?;
    session.run(&format!("get namespace {other} -o jsonpath='{{.status.phase}} {{.spec.finalizers}} {{.metadata.labels}}'")).await?;
    let widget = WIDGET.replace("namespace: NS", "");
    session
        .feed(&format!("create -f - --namespace {other}"), &widget)
        .await?;
    session
        .feed(
            &format!("create -f - --namespace {other}"),
            "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}",
        )
        .await?;
    session
        .run(&format!("delete namespace {other} --wait=false"))
        .await?;
    session
        .run(&format!(
            "wait --for=jsonpath={{.status.phase}}=Terminating namespace/{other} --timeout=30s"
        ))
        .await?;
    session
        .feed(
            &format!("create -f - --namespace {other}"),
            "{apiVersion: v1, kind: ConfigMap, metadata: {name: late}}",
        )
        .await?;
    session
        .run(&format!(
            "wait --for=delete configmap/a --namespace {other} --timeout=30s"
        ))
        .await?;
    session.run(&format!("wait --for=jsonpath={{.metadata.deletionTimestamp}} widget/one --namespace {other} --timeout=30s")).await?;
    session
        .run(&format!(
            "get widget one --namespace {other} -o jsonpath='{{.metadata.finalizers}}'"
        ))
        .await?;
    session.run(&format!(r#"patch widget one --namespace {other} --type=merge -p '{{"metadata":{{"finalizers":null}}}}'"#)).await?;
    session
        .run(&format!(
            "wait --for=delete namespace/{other} --timeout=60s"
        ))
        .await?;
    session.run(&format!("get namespace {other}")).await?;
    session
        .feed(
            &format!("create -f - --namespace {other}"),
            "{apiVersion: v1, kind: ConfigMap, metadata: {name: late}}",
        )
        .await?;
    let transcript = session.transcript();
    // Waiting for what is already gone prints nothing.
    let transcript = transcript
        .replace("configmap/a condition met\n", "")
        .replace("namespace/NAMESPACE-other condition met\n", "");
    assert_recorded!("namespace", transcript);
    Ok(())
}

async fn dependents_go_with_their_owner_or_stay(t: &Target) -> Result<()> {
    let kubectl = t.kubectl();
    for (policy, survives) in [
        ("background", false),
        ("foreground", false),
        ("orphan", true),
    ] {
        kubectl
            .apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: owner}}")
            .await?;
        let uid = kubectl
            .run_ok(&[
                "get",
                "configmap",
                "owner",
                "-o",
                "jsonpath={.metadata.uid}",
            ])
            .await?;
        let dependent = format!(
            "
apiVersion: v1
kind: Secret
metadata:
  name: dependent-{policy}
  ownerReferences:
  - {{apiVersion: v1, kind: ConfigMap, name: owner, uid: {uid}, blockOwnerDeletion: true}}
"
        );
        kubectl.apply(&dependent).await?;
        kubectl
            .run_ok(&[
                "delete",
                "configmap",
                "owner",
                &format!("--cascade={policy}"),
            ])
            .await?;
        let name = format!("secret/dependent-{policy}");
        if survives {
            let references = "jsonpath={.metadata.ownerReferences}";
            assert_eq!(kubectl.run_ok(&["get", &name, "-o", references]).await?, "");
        } else {
            kubectl
                .run_ok(&["wait", "--for=delete", &name, "--timeout=60s"])
                .await?;
        }
    }
    Ok(())
}
