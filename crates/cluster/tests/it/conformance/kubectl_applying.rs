//! `kubectl apply` and `kubectl diff`, where the client computes the patch.

use anyhow::Result;

use super::session::assert_recorded;
use super::target::Target;

conformance!(kubectl:
    config_map_is_created_left_alone_and_changed,
    secret_is_created_left_alone_and_changed,
    custom_resource_is_created_left_alone_and_changed,
    unchanged_apply_keeps_the_resource_version,
    deployment_is_created_and_left_alone,
    documents_of_one_file_are_applied_one_by_one,
    unknown_and_wrong_fields_are_refused_by_name,
    dry_run_on_the_server_stores_nothing,
    diff_shows_what_apply_would_change,
);

const SETTINGS: &str = "
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, labels: {team: a}}
data: {mode: slow, level: info}
";

const SETTINGS_CHANGED: &str = "
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, labels: {team: b}, annotations: {note: changed}}
data: {mode: fast, colour: blue}
";

const WIDGET: &str = "
apiVersion: conformance.pathline.dev/v1
kind: Widget
metadata: {name: one}
spec: {color: red, note: first, ports: [{name: web, port: 80, protocol: TCP}]}
";

const WIDGET_CHANGED: &str = "
apiVersion: conformance.pathline.dev/v1
kind: Widget
metadata: {name: one, labels: {tier: front}}
spec: {color: green, ports: [{name: web, port: 8080}, {name: admin, port: 9090, protocol: UDP}]}
";

async fn config_map_is_created_left_alone_and_changed(t: &Target) -> Result<()> {
    let mut session = t.session();
    session.feed("apply -f -", SETTINGS).await?;
    session.feed("apply -f -", SETTINGS).await?;
    session.feed("apply -f -", SETTINGS_CHANGED).await?;
    session
        .run("get configmap settings -o jsonpath='{.data} {.metadata.labels}'")
        .await?;
    session.run("get configmap settings -o yaml").await?;
    assert_recorded!("config_map_applied", session.transcript());
    Ok(())
}

async fn secret_is_created_left_alone_and_changed(t: &Target) -> Result<()> {
    const FIRST: &str = "
apiVersion: v1
kind: Secret
metadata: {name: login}
stringData: {user: admin, password: first}
";
    const SECOND: &str = "
apiVersion: v1
kind: Secret
metadata: {name: login}
data: {user: cm9vdA==}
stringData: {password: second}
";
    let mut session = t.session();
    session.feed("apply -f -", FIRST).await?;
    session.feed("apply -f -", FIRST).await?;
    session
        .run("get secret login -o jsonpath='{.type} {.data}'")
        .await?;
    session.feed("apply -f -", SECOND).await?;
    session
        .run("get secret login -o jsonpath='{.type} {.data}'")
        .await?;
    session.run("get secret login").await?;
    assert_recorded!("secret_applied", session.transcript());
    Ok(())
}

async fn custom_resource_is_created_left_alone_and_changed(t: &Target) -> Result<()> {
    let mut session = t.session();
    session.feed("apply -f -", WIDGET).await?;
    session.feed("apply -f -", WIDGET).await?;
    session.feed("apply -f -", WIDGET_CHANGED).await?;
    session.run("get widget one -o yaml").await?;
    assert_recorded!("widget_applied", session.transcript());
    Ok(())
}

async fn unchanged_apply_keeps_the_resource_version(t: &Target) -> Result<()> {
    for manifest in [SETTINGS, WIDGET] {
        let kubectl = t.kubectl();
        kubectl.apply(manifest).await?;
        let version = async || {
            let arguments = [
                "get",
                "-f",
                "-",
                "-o",
                "jsonpath={.metadata.resourceVersion}",
            ];
            kubectl.run_with(&arguments, manifest).await?.ok()
        };
        let before = version().await?;
        assert!(kubectl.apply(manifest).await?.contains("unchanged"));
        assert_eq!(
            version().await?,
            before,
            "an apply that changes nothing writes nothing"
        );
    }
    Ok(())
}

async fn deployment_is_created_and_left_alone(t: &Target) -> Result<()> {
    const DEPLOYMENT: &str = "
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: 'registry.example/web:1'}]}
";
    let mut session = t.session();
    session.feed("apply -f -", DEPLOYMENT).await?;
    session.feed("apply -f -", DEPLOYMENT).await?;
    session.run("get deployment web").await?;
    session
        .run("get deployment web -o jsonpath='{.metadata.generation} {.spec.replicas}'")
        .await?;
    assert_recorded!("deployment_applied", session.transcript());
    Ok(())
}

async fn documents_of_one_file_are_applied_one_by_one(t: &Target) -> Result<()> {
    let manifest = format!(
        "{SETTINGS}---{WIDGET}---
apiVersion: v1
kind: List
items:
- {{apiVersion: v1, kind: ServiceAccount, metadata: {{name: builder}}}}
- {{apiVersion: v1, kind: ConfigMap, metadata: {{name: Not-A-Name}}}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {{name: reader}}
rules: [{{apiGroups: [''], resources: [configmaps], verbs: [get]}}]
"
    );
    let mut session = t.session();
    session.feed("apply -f -", &manifest).await?;
    session
        .run("get serviceaccount,role,widget,configmap -o name")
        .await?;
    assert_recorded!("documents_applied", session.transcript());
    Ok(())
}

async fn unknown_and_wrong_fields_are_refused_by_name(t: &Target) -> Result<()> {
    let widget = |spec: &str| {
        format!(
            "{{apiVersion: conformance.pathline.dev/v1, kind: Widget, metadata: {{name: bad}}, spec: {spec}}}"
        )
    };
    let mut session = t.session();
    session
        .feed("apply -f -", &widget("{color: red, colour: red}"))
        .await?;
    session
        .feed(
            "apply -f -",
            &widget("{color: red, a: 1, ports: [{name: x, port: 1, b: 2}]}"),
        )
        .await?;
    session
        .feed("apply -f -", &widget("{color: purple}"))
        .await?;
    session.feed("apply -f -", &widget("{size: 1}")).await?;
    session
        .feed("apply -f -", &widget("{color: red, size: 11}"))
        .await?;
    session
        .feed("apply -f -", &widget("{color: red, size: many}"))
        .await?;
    session
        .feed(
            "apply -f -",
            &widget("{color: red, note: UPPER and much too long for it}"),
        )
        .await?;
    session
        .feed("apply -f -", &widget("{color: red, tags: [a, a]}"))
        .await?;
    session
        .feed(
            "apply -f -",
            &widget("{color: red, ports: [{name: a, port: 1}, {name: a, port: 2}]}"),
        )
        .await?;
    session
        .feed("apply -f -", &widget("{color: red, ports: [{name: a}]}"))
        .await?;
    session
        .feed("apply -f -", &widget("{color: red, limits: {cpu: [1]}}"))
        .await?;
    session
        .feed(
            "apply -f -",
            "{apiVersion: v1, kind: ConfigMap, metadata: {name: bad}, date: {}}",
        )
        .await?;
    session
        .feed(
            "apply -f -",
            "{apiVersion: v1, kind: ConfigMap, metadata: {name: bad}, data: {'a b': x}}",
        )
        .await?;
    session
        .feed(
            "apply -f -",
            "{apiVersion: v1, kind: Confection, metadata: {name: bad}}",
        )
        .await?;
    session.run("get widgets,configmaps").await?;
    assert_recorded!("bad_fields_refused", session.transcript());
    Ok(())
}

async fn dry_run_on_the_server_stores_nothing(t: &Target) -> Result<()> {
    let mut session = t.session();
    session
        .feed("apply --dry-run=server -f -", SETTINGS)
        .await?;
    session.feed("apply --dry-run=server -f -", WIDGET).await?;
    session.run("get configmap settings").await?;
    session.run("get widget one").await?;
    session.feed("apply -f -", WIDGET).await?;
    session
        .feed("apply --dry-run=server -f -", WIDGET_CHANGED)
        .await?;
    session
        .feed(
            "apply --server-side --dry-run=server --force-conflicts -f -",
            WIDGET_CHANGED,
        )
        .await?;
    session.run("delete --dry-run=server widget one").await?;
    session.run("get widget one -o jsonpath='{.spec}'").await?;
    assert_recorded!("dry_run", session.transcript());
    Ok(())
}

async fn diff_shows_what_apply_would_change(t: &Target) -> Result<()> {
    let kubectl = t.kubectl();
    kubectl.apply(WIDGET).await?;
    assert_eq!(
        kubectl.run_with(&["diff", "-f", "-"], WIDGET).await?.code,
        0,
        "nothing differs"
    );

    let changed = kubectl
        .run_with(&["diff", "-f", "-"], WIDGET_CHANGED)
        .await?;
    assert_eq!(changed.code, 1, "{}", changed.stderr);
    // The head of a diff names scratch files.
    let body: Vec<_> = changed
        .stdout
        .lines()
        .filter(|line| line.starts_with(['+', '-']) && !line.contains("/tmp"))
        .filter(|line| !line.starts_with("+++") && !line.starts_with("---"))
        .collect();
    assert_recorded!("diff", body.join("\n"));
    Ok(())
}
