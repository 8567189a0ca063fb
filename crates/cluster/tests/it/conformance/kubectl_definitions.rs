//! Custom resource definitions: installing, using, changing and removing them.

use anyhow::Result;

use super::session::assert_recorded;
use super::target::Target;

conformance!(kubectl:
    defined_kind_can_be_used_until_its_definition_is_deleted,
    definition_can_be_changed_while_objects_exist,
    defaults_are_filled_in_and_unknown_fields_pruned,
    definitions_that_make_no_sense_are_refused,
    cluster_scoped_kind_needs_no_namespace,
);

/// Returns a definition in a group of the test's own.
fn definition(t: &Target, scope: &str, schema: &str) -> String {
    format!(
        "
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {{name: gizmos.{ns}.example.com}}
spec:
  group: {ns}.example.com
  scope: {scope}
  names: {{kind: Gizmo, plural: gizmos}}
  versions:
  - name: v1alpha1
    served: true
    storage: true
    schema: {{openAPIV3Schema: {schema}}}
",
        ns = t.namespace
    )
}

fn gizmo(t: &Target, body: &str) -> String {
    format!(
        "{{apiVersion: {}.example.com/v1alpha1, kind: Gizmo, metadata: {{name: one}}, {body}}}",
        t.namespace
    )
}

/// Names the kind in full: other tests define gizmos too.
fn gizmos(t: &Target) -> String {
    format!("gizmos.{}.example.com", t.namespace)
}

async fn establish(t: &Target) -> Result<()> {
    let crd = format!("crd/{}", gizmos(t));
    t.kubectl()
        .run_ok(&["wait", "--for=condition=Established", &crd, "--timeout=30s"])
        .await?;
    Ok(())
}

const OPEN: &str = "{type: object, x-kubernetes-preserve-unknown-fields: true}";

async fn defined_kind_can_be_used_until_its_definition_is_deleted(t: &Target) -> Result<()> {
    let gizmos = gizmos(t);
    let crd = format!("crd {gizmos}");
    let mut session = t.session();
    session.feed("apply -f -", &gizmo(t, "spec: {}")).await?;
    session
        .feed("apply -f -", &definition(t, "Namespaced", OPEN))
        .await?;
    establish(t).await?;
    session.run(&format!("get {crd} -o jsonpath='{{.status.acceptedNames}} {{.status.storedVersions}} {{.spec.names}} {{.spec.conversion}}'")).await?;
    session.run(&format!("get {crd} -o jsonpath='{{range .status.conditions[*]}}{{.type}}={{.status}} {{.reason}}: {{.message}};{{end}}'")).await?;
    session
        .feed("apply -f -", &gizmo(t, "spec: {any: [thing, {at: all}]}"))
        .await?;
    session.run(&format!("get {gizmos}")).await?;
    session
        .run(&format!("get {gizmos} one -o jsonpath='{{.spec}}'"))
        .await?;
    session
        .run(&format!(
            r#"patch {gizmos} one --type=merge -p '{{"status":{{"plain":"field"}}}}'"#
        ))
        .await?;
    session
        .run(&format!(
            "get {gizmos} one -o jsonpath='{{.status}} {{.metadata.generation}}'"
        ))
        .await?;
    session.run(&format!("delete {crd} --timeout=30s")).await?;
    session.run(&format!("get {gizmos}")).await?;
    assert_recorded!("definition_used", session.transcript());
    Ok(())
}

async fn definition_can_be_changed_while_objects_exist(t: &Target) -> Result<()> {
    let (kubectl, gizmos) = (t.kubectl(), gizmos(t));
    kubectl.apply(&definition(t, "Namespaced", OPEN)).await?;
    establish(t).await?;
    kubectl
        .apply(&gizmo(t, "spec: {size: 3, old: true}"))
        .await?;
    let strict = "{type: object, properties: {spec: {type: object, properties: {size: {type: integer, maximum: 2}, shape: {type: string, default: round}}}}}";
    let mut session = t.session();
    session
        .feed("apply -f -", &definition(t, "Namespaced", strict))
        .await?;
    // A change of the schema takes effect a moment after it is stored.
    kubectl
        .run_ok(&[
            "wait",
            "--for=jsonpath={.spec.shape}=round",
            &format!("{gizmos}/one"),
        ])
        .await?;
    session
        .run(&format!("get {gizmos} one -o jsonpath='{{.spec}}'"))
        .await?;
    session
        .run(&format!("label {gizmos} one touched=yes"))
        .await?;
    session
        .run(&format!(
            r#"patch {gizmos} one --type=merge -p '{{"spec":{{"size":5}}}}'"#
        ))
        .await?;
    session
        .run(&format!(
            r#"patch {gizmos} one --type=merge -p '{{"spec":{{"size":2}}}}'"#
        ))
        .await?;
    session
        .run(&format!("get {gizmos} one -o jsonpath='{{.spec}}'"))
        .await?;
    assert_recorded!("definition_changed", session.transcript());
    Ok(())
}

async fn defaults_are_filled_in_and_unknown_fields_pruned(t: &Target) -> Result<()> {
    let widget = |name: &str, spec: &str| {
        format!(
            "{{apiVersion: conformance.pathline.dev/v1, kind: Widget, metadata: {{name: {name}}}, spec: {spec}}}"
        )
    };
    let mut session = t.session();
    session
        .feed(
            "create --validate=false -f -",
            &widget(
                "a",
                "{color: red, colour: red, ports: [{name: web, port: 80, x: y}]}",
            ),
        )
        .await?;
    session.run("get widget a -o jsonpath='{.spec}'").await?;
    session
        .feed(
            "create --validate=warn -f -",
            &widget(
                "b",
                "{color: red, colour: red, size: null, template: {any: {thing: [1]}}}",
            ),
        )
        .await?;
    session.run("get widget b -o jsonpath='{.spec}'").await?;
    session
        .feed("create -f -", &widget("c", "{color: red, color: blue}"))
        .await?;
    session
        .feed("create -f -", &widget("d", "{color: null}"))
        .await?;
    session
        .feed(
            "create --validate=false -f -",
            &widget("e", "{color: red, limits: {cpu: 1, memory: 1Gi}}"),
        )
        .await?;
    session.run("get widget e -o jsonpath='{.spec}'").await?;
    session.feed("create --validate=false -f -", "{apiVersion: conformance.pathline.dev/v1, kind: Widget, metadata: {name: f}, extra: 1}").await?;
    assert_recorded!("defaults_and_pruning", session.transcript());
    Ok(())
}

async fn definitions_that_make_no_sense_are_refused(t: &Target) -> Result<()> {
    let good = definition(t, "Namespaced", OPEN);
    let mut session = t.session();
    for (part, instead) in [
        ("Namespaced", "Everywhere"),
        ("name: gizmos.", "name: gadgets."),
        ("storage: true", "storage: false"),
        ("served: true", "served: true, wrong: 1"),
        ("plural: gizmos", "plural: Gizmos"),
        ("kind: Gizmo, ", ""),
        ("    schema: ", "    other: "),
        (
            OPEN,
            "{type: object, properties: {spec: {properties: {a: {}}}}}",
        ),
        (
            OPEN,
            "{type: object, properties: {a: {type: string, default: 1}}}",
        ),
        (OPEN, "{type: object, properties: {a: {type: text}}}"),
        (OPEN, "{type: array}"),
        (OPEN, "{type: object, properties: {a: {type: array}}}"),
        (
            OPEN,
            "{type: object, properties: {a: {type: string, pattern: '['}}}",
        ),
        (
            OPEN,
            "{type: object, properties: {a: {type: array, items: {type: object}, x-kubernetes-list-type: map}}}",
        ),
        (
            OPEN,
            "{type: object, additionalProperties: {type: string}, properties: {a: {type: string}}}",
        ),
    ] {
        session
            .feed("create -f -", &good.replace(part, instead))
            .await?;
    }
    session.run(&format!("get crd {}", gizmos(t))).await?;
    assert_recorded!("bad_definitions", session.transcript());
    Ok(())
}

async fn cluster_scoped_kind_needs_no_namespace(t: &Target) -> Result<()> {
    let gizmos = gizmos(t);
    t.kubectl().apply(&definition(t, "Cluster", OPEN)).await?;
    establish(t).await?;
    let mut session = t.session();
    session
        .feed("apply -f -", &gizmo(t, "spec: {a: b}"))
        .await?;
    session
        .feed("apply -f -", &gizmo(t, "spec: {a: b}"))
        .await?;
    session
        .feed("apply -f -", &gizmo(t, "spec: {a: c}"))
        .await?;
    session.run(&format!("get {gizmos}")).await?;
    session
        .run(&format!(
            "get {gizmos} one -o jsonpath='{{.metadata.namespace}}{{.spec}}'"
        ))
        .await?;
    session.run(&format!("delete {gizmos} one")).await?;
    session.run(&format!("delete crd {gizmos}")).await?;
    assert_recorded!("cluster_scoped", session.transcript());
    Ok(())
}
