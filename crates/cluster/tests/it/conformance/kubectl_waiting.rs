//! `kubectl wait`: for a condition, a value, creation and deletion.

use anyhow::Result;

use super::session::assert_recorded;
use super::target::Target;

conformance!(kubectl:
    wait_ends_when_the_condition_comes_true,
    wait_ends_when_the_value_is_there,
    wait_ends_when_the_object_is_deleted,
    wait_ends_when_the_object_is_created,
    wait_gives_up_with_a_message,
);

const WIDGET: &str = "
apiVersion: conformance.pathline.dev/v1
kind: Widget
metadata: {name: one}
spec: {color: red}
";

async fn set_status(t: &Target, status: &str) -> Result<()> {
    let patch = format!(r#"{{"status":{status}}}"#);
    let arguments = [
        "patch",
        "widget",
        "one",
        "--subresource=status",
        "--type=merge",
        "-p",
        &patch,
    ];
    t.kubectl().run_ok(&arguments).await?;
    Ok(())
}

async fn wait_ends_when_the_condition_comes_true(t: &Target) -> Result<()> {
    let kubectl = t.kubectl();
    kubectl.apply(WIDGET).await?;
    let arguments = [
        "wait",
        "--for=condition=Ready",
        "widget/one",
        "--timeout=30s",
    ];
    let (waited, ()) = tokio::try_join!(kubectl.run_ok(&arguments), async {
        set_status(t, r#"{"conditions":[{"type":"Ready","status":"False"}]}"#).await?;
        set_status(t, r#"{"conditions":[{"type":"Ready","status":"True"}]}"#).await
    })?;
    assert_eq!(
        waited,
        "widget.conformance.pathline.dev/one condition met\n"
    );
    let mut session = t.session();
    session
        .run("wait --for=condition=Ready widget --all --timeout=10s")
        .await?;
    session
        .run("wait --for=condition=ready=false widget/one --timeout=1s")
        .await?;
    session
        .run("wait --for=condition=Established crd/widgets.conformance.pathline.dev")
        .await?;
    assert_recorded!("condition", session.transcript());
    Ok(())
}

async fn wait_ends_when_the_value_is_there(t: &Target) -> Result<()> {
    let kubectl = t.kubectl();
    kubectl.apply(WIDGET).await?;
    let arguments = [
        "wait",
        "--for=jsonpath={.status.phase}=Done",
        "widget/one",
        "--timeout=30s",
    ];
    let (waited, ()) = tokio::try_join!(
        kubectl.run_ok(&arguments),
        set_status(t, r#"{"phase":"Done"}"#)
    )?;
    assert_eq!(
        waited,
        "widget.conformance.pathline.dev/one condition met\n"
    );
    kubectl
        .apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: m}, data: {a: x}}")
        .await?;
    let arguments = [
        "wait",
        "--for=jsonpath={.data.b}=y",
        "configmap/m",
        "--timeout=30s",
    ];
    let patch = ["patch", "configmap", "m", "-p", r#"{"data":{"b":"y"}}"#];
    let (waited, _) = tokio::try_join!(kubectl.run_ok(&arguments), kubectl.run_ok(&patch))?;
    assert_eq!(waited, "configmap/m condition met\n");
    Ok(())
}

async fn wait_ends_when_the_object_is_deleted(t: &Target) -> Result<()> {
    let kubectl = t.kubectl();
    kubectl
        .apply(&WIDGET.replace("{name: one}", "{name: one, finalizers: [example.com/hold]}"))
        .await?;
    kubectl
        .run_ok(&["delete", "widget", "one", "--wait=false"])
        .await?;
    let arguments = ["wait", "--for=delete", "widget/one", "--timeout=30s"];
    let release = [
        "patch",
        "widget",
        "one",
        "--type=merge",
        "-p",
        r#"{"metadata":{"finalizers":null}}"#,
    ];
    let (waited, _) = tokio::try_join!(kubectl.run_ok(&arguments), kubectl.run_ok(&release))?;
    // A wait that starts after the deletion has nothing to report.
    assert!(["", "widget.conformance.pathline.dev/one condition met\n"].contains(&waited.as_str()));
    let gone = kubectl.run(&["get", "widget", "one"]).await?.refused()?;
    assert!(gone.contains("NotFound"), "{gone}");
    Ok(())
}

async fn wait_ends_when_the_object_is_created(t: &Target) -> Result<()> {
    let arguments = ["wait", "--for=create", "widget/one", "--timeout=30s"];
    let (waited, _) = tokio::try_join!(t.kubectl().run_ok(&arguments), t.kubectl().apply(WIDGET))?;
    assert_eq!(
        waited,
        "widget.conformance.pathline.dev/one condition met\n"
    );
    Ok(())
}

async fn wait_gives_up_with_a_message(t: &Target) -> Result<()> {
    t.kubectl().apply(WIDGET).await?;
    let mut session = t.session();
    session
        .run("wait --for=condition=Ready widget/one --timeout=3s")
        .await?;
    session
        .run("wait --for=delete widget/one --timeout=3s")
        .await?;
    session
        .run("wait --for=condition=Ready widget/nope --timeout=3s")
        .await?;
    assert_recorded!("gave_up", session.transcript());
    Ok(())
}
