//! `kubectl get` in all its forms.

use std::time::Duration;

use anyhow::{Context, Result};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::time::timeout;

use super::session::assert_recorded;
use super::target::Target;

conformance!(kubectl:
    custom_resources_are_printed_in_their_columns,
    every_output_format_shows_the_object,
    label_selectors_choose,
    field_selectors_choose,
    all_namespaces_are_listed_and_sorted,
    built_in_kinds_are_printed_in_their_columns,
    missing_things_are_not_found,
    watch_prints_each_change,
    watch_of_one_object_ends_its_story_with_the_deletion,
    long_lists_come_in_chunks,
);

async fn three_widgets(t: &Target) -> Result<()> {
    let widget = |name: &str, labels: &str, color: &str, size: u8| {
        format!(
            "---
apiVersion: conformance.pathline.dev/v1
kind: Widget
metadata: {{name: {name}, labels: {labels}}}
spec: {{color: {color}, size: {size}, note: the {name} one}}
"
        )
    };
    let manifest = [
        widget("apple", "{tier: front, owner: a}", "red", 3),
        widget("birch", "{tier: back, owner: a}", "green", 1),
        widget("cedar", "{tier: back}", "blue", 2),
    ];
    t.kubectl().apply(&manifest.concat()).await?;
    let status = r#"{"status":{"conditions":[{"type":"Ready","status":"True"}]}}"#;
    let patch = [
        "patch",
        "widget",
        "apple",
        "--subresource=status",
        "--type=merge",
        "-p",
        status,
    ];
    t.kubectl().run_ok(&patch).await?;
    Ok(())
}

async fn custom_resources_are_printed_in_their_columns(t: &Target) -> Result<()> {
    three_widgets(t).await?;
    let mut session = t.session();
    session.run("get widgets").await?;
    session.run("get wd -o wide").await?;
    session
        .run("get widgets.v1.conformance.pathline.dev apple birch")
        .await?;
    session.run("get gadgets --no-headers").await?;
    session.run("get widgets --show-labels").await?;
    session.run("get widgets -L tier,owner").await?;
    session.run("get widget/apple --show-kind").await?;
    assert_recorded!("widget_columns", session.transcript());
    Ok(())
}

async fn every_output_format_shows_the_object(t: &Target) -> Result<()> {
    three_widgets(t).await?;
    let mut session = t.session();
    session.run("get widget apple -o yaml").await?;
    session.run("get widget apple -o json").await?;
    session.run("get widgets -o name").await?;
    session
        .run("get widgets -o jsonpath='{range .items[*]}{.metadata.name}={.spec.size} {end}'")
        .await?;
    session
        .run("get widgets -o jsonpath='{.kind} {.apiVersion} {.items[0].kind}'")
        .await?;
    session
        .run("get widgets -o custom-columns=WHO:.metadata.name,C:.spec.color")
        .await?;
    session
        .run("get widgets -o go-template='{{range .items}}{{.spec.color}} {{end}}'")
        .await?;
    assert_recorded!("output_formats", session.transcript());
    Ok(())
}

async fn label_selectors_choose(t: &Target) -> Result<()> {
    three_widgets(t).await?;
    let mut session = t.session();
    for selector in [
        "tier=back",
        "tier==back",
        "tier!=back",
        "owner",
        "!owner",
        "tier in (front,side)",
        "tier notin (front)",
        "tier=back,owner=a",
        "tier=nowhere",
        "tier=",
        "tier in (",
        "a b",
        "-tier=x",
        "tier=a_very_long_value_that_is_longer_than_a_label_may_be_0123456789_0123456789",
    ] {
        session
            .run(&format!("get widgets -o name -l '{selector}'"))
            .await?;
    }
    assert_recorded!("label_selectors", session.transcript());
    Ok(())
}

async fn field_selectors_choose(t: &Target) -> Result<()> {
    three_widgets(t).await?;
    t.kubectl()
        .apply("{apiVersion: v1, kind: Secret, metadata: {name: plain}, type: example.com/own}")
        .await?;
    let mut session = t.session();
    for line in [
        "get widgets -o name --field-selector metadata.name=birch",
        "get widgets -o name --field-selector metadata.name!=birch",
        "get widgets -o name --field-selector metadata.name=birch,metadata.name=cedar",
        &format!(
            "get widgets -o name --field-selector metadata.namespace={}",
            t.namespace
        ),
        "get widgets -o name --field-selector metadata.namespace=other",
        "get widgets -o name --field-selector spec.color=red",
        "get widgets -o name --field-selector metadata.uid=x",
        "get secrets -o name --field-selector type=example.com/own",
        "get secrets -o name --field-selector type=Opaque",
        "get configmaps -o name --field-selector data.x=y",
        "get pods -o name --field-selector status.phase=Running",
        "get pods -o name --field-selector spec.nodeName=here",
        "get pods -o name --field-selector spec.replicas=1",
        "get events -o name --field-selector involvedObject.name=apple",
        "get deployments -o name --field-selector metadata.name=web",
        "get deployments -o name --field-selector spec.replicas=1",
        "get widgets -o name --field-selector metadata.name",
    ] {
        session.run(line).await?;
    }
    assert_recorded!("field_selectors", session.transcript());
    Ok(())
}

async fn all_namespaces_are_listed_and_sorted(t: &Target) -> Result<()> {
    three_widgets(t).await?;
    let mut session = t.session();
    session
        .run("get widgets -o name --sort-by=.spec.size")
        .await?;
    session.run("get widgets --sort-by={.spec.color}").await?;
    session
        .run("get widgets --sort-by=.metadata.name --no-headers")
        .await?;
    let everywhere = t.kubectl().run_ok(&["get", "widgets", "-A"]).await?;
    let mine = everywhere
        .lines()
        .filter(|line| line.starts_with(&t.namespace))
        .count();
    assert_eq!(mine, 3, "{everywhere}");
    assert!(everywhere.starts_with("NAMESPACE "), "{everywhere}");
    assert_recorded!("sorted", session.transcript());
    Ok(())
}

async fn built_in_kinds_are_printed_in_their_columns(t: &Target) -> Result<()> {
    const OBJECTS: &str = "
{apiVersion: v1, kind: ConfigMap, metadata: {name: map}, data: {a: x, b: why}, binaryData: {c: eA==}}
---
{apiVersion: v1, kind: Secret, metadata: {name: secret}, stringData: {a: x}}
---
{apiVersion: v1, kind: ServiceAccount, metadata: {name: account}}
---
apiVersion: coordination.k8s.io/v1
kind: Lease
metadata: {name: lease}
spec: {holderIdentity: me, leaseDurationSeconds: 15}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: role}
rules: [{apiGroups: [''], resources: [configmaps], verbs: [get]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: binding}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: role}
subjects: [{kind: ServiceAccount, name: account}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: deployment}
spec:
  selector: {matchLabels: {app: a}}
  template:
    metadata: {labels: {app: a}}
    spec: {containers: [{name: c, image: 'i:1'}, {name: d, image: 'i:2'}]}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: stateful}
spec:
  serviceName: web
  selector: {matchLabels: {app: a}}
  template:
    metadata: {labels: {app: a}}
    spec: {containers: [{name: c, image: 'i:1'}]}
---
apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: replicas}
spec:
  replicas: 3
  selector: {matchLabels: {app: a}}
  template:
    metadata: {labels: {app: a}}
    spec: {containers: [{name: c, image: 'i:1'}]}
---
apiVersion: batch/v1
kind: Job
metadata: {name: job}
spec:
  template: {spec: {restartPolicy: Never, containers: [{name: c, image: 'i:1'}]}}
---
apiVersion: v1
kind: Pod
metadata: {name: pod}
spec: {containers: [{name: c, image: 'i:1'}, {name: d, image: 'i:1'}]}
---
apiVersion: v1
kind: Service
metadata: {name: service}
spec: {clusterIP: None, selector: {app: a}, ports: [{name: web, port: 80}]}
";
    t.kubectl().apply(OBJECTS).await?;
    let mut session = t.session();
    for kind in [
        "configmaps",
        "secrets",
        "serviceaccounts",
        "leases",
        "roles",
        "rolebindings",
        "deployments",
        "statefulsets",
        "replicasets",
        "pods",
        "services",
    ] {
        session.run(&format!("get {kind}")).await?;
        session.run(&format!("get {kind} -o wide")).await?;
    }
    session.run("get jobs").await?;
    session
        .run(&format!("get namespace {}", t.namespace))
        .await?;
    session
        .run("get crd widgets.conformance.pathline.dev")
        .await?;
    assert_recorded!("built_in_columns", session.transcript());
    Ok(())
}

async fn missing_things_are_not_found(t: &Target) -> Result<()> {
    let mut session = t.session();
    session.run("get widgets").await?;
    session.run("get widget nope").await?;
    session.run("get configmap nope other").await?;
    session.run("get nopes").await?;
    session.run("get nopes.conformance.pathline.dev").await?;
    session.run("get widget nope --ignore-not-found").await?;
    session.run("get widgets -n nowhere").await?;
    session.run("get --raw /apis/nope.example.com/v1").await?;
    session.run("get --raw /api/v1/nopes").await?;
    assert_recorded!("missing", session.transcript());
    Ok(())
}

/// Reads the next line of a growing output, without what differs from run to run.
async fn next_line(lines: &mut tokio::io::Lines<impl AsyncBufReadExt + Unpin>) -> Result<String> {
    let line = timeout(Duration::from_secs(30), lines.next_line()).await;
    let line = line
        .context("no line within 30 s")??
        .context("the output ended")?;
    let words: Vec<_> = line.split_whitespace().collect();
    let (_age, rest) = words.split_last().context("an empty line")?;
    Ok(rest.join(" "))
}

async fn watch_prints_each_change(t: &Target) -> Result<()> {
    let kubectl = t.kubectl();
    three_widgets(t).await?;
    let mut watch = kubectl
        .command(&["get", "widgets", "-w", "-l", "tier=back"])
        .spawn()?;
    let stdout = watch.stdout.take().context("the output is a pipe")?;
    let mut lines = BufReader::new(stdout).lines();
    assert_eq!(next_line(&mut lines).await?, "NAME COLOR SIZE READY");
    assert_eq!(next_line(&mut lines).await?, "birch green 1");
    assert_eq!(next_line(&mut lines).await?, "cedar blue 2");

    let paint = r#"{"spec":{"color":"red"}}"#;
    kubectl
        .run_ok(&["patch", "widget", "apple", "--type=merge", "-p", paint])
        .await?;
    kubectl
        .run_ok(&["patch", "widget", "birch", "--type=merge", "-p", paint])
        .await?;
    assert_eq!(
        next_line(&mut lines).await?,
        "birch red 1",
        "apple is not selected"
    );
    kubectl
        .run_ok(&["label", "widget", "apple", "tier=back", "--overwrite"])
        .await?;
    assert_eq!(
        next_line(&mut lines).await?,
        "apple red 3 True",
        "apple came into sight"
    );
    kubectl
        .run_ok(&["label", "widget", "cedar", "tier-"])
        .await?;
    assert_eq!(
        next_line(&mut lines).await?,
        "cedar blue 2",
        "cedar went out of sight"
    );
    kubectl.run_ok(&["delete", "widget", "birch"]).await?;
    assert_eq!(
        next_line(&mut lines).await?,
        "birch red 1",
        "the last state is shown"
    );
    watch.kill().await?;
    Ok(())
}

async fn watch_of_one_object_ends_its_story_with_the_deletion(t: &Target) -> Result<()> {
    let kubectl = t.kubectl();
    kubectl
        .apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: one}, data: {a: x}}")
        .await?;
    let arguments = [
        "get",
        "configmap",
        "one",
        "-w",
        "--output-watch-events",
        "-o",
        "jsonpath={.type} {.object.data} -\n",
    ];
    let mut watch = kubectl.command(&arguments).spawn()?;
    let stdout = watch.stdout.take().context("the output is a pipe")?;
    let mut lines = BufReader::new(stdout).lines();
    assert_eq!(next_line(&mut lines).await?, r#"ADDED {"a":"x"}"#);
    kubectl
        .run_ok(&["patch", "configmap", "one", "-p", r#"{"data":{"b":"y"}}"#])
        .await?;
    assert_eq!(
        next_line(&mut lines).await?,
        r#"MODIFIED {"a":"x","b":"y"}"#
    );
    kubectl.run_ok(&["delete", "configmap", "one"]).await?;
    assert_eq!(next_line(&mut lines).await?, r#"DELETED {"a":"x","b":"y"}"#);
    watch.kill().await?;
    Ok(())
}

async fn long_lists_come_in_chunks(t: &Target) -> Result<()> {
    let secrets: Vec<_> = (0..25)
        .map(|i| format!("{{apiVersion: v1, kind: Secret, metadata: {{name: m{i:02}}}}}\n---\n"))
        .collect();
    t.kubectl()
        .run_with(&["create", "-f", "-"], &secrets.concat())
        .await?
        .ok()?;
    let whole = t
        .kubectl()
        .run_ok(&["get", "secrets", "-o", "name"])
        .await?;
    let chunked = t
        .kubectl()
        .run_ok(&["get", "secrets", "-o", "name", "--chunk-size=4"])
        .await?;
    assert_eq!(whole.lines().count(), 25);
    assert_eq!(
        chunked, whole,
        "pages add up to the whole, in the same order"
    );
    Ok(())
}
