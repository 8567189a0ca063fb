//! `kubectl patch`, `label`, `annotate`, `replace` and `edit`.

use std::os::unix::fs::PermissionsExt;

use anyhow::Result;

use super::session::assert_recorded;
use super::target::Target;

conformance!(kubectl:
    merge_patch_sets_replaces_and_removes,
    json_patch_is_done_in_order_or_not_at_all,
    default_patch_of_a_config_map_merges_it,
    strategic_patch_of_a_custom_resource_is_refused,
    status_is_patched_apart_from_the_rest,
    labels_and_annotations_are_set_and_removed,
    replace_needs_the_current_version,
    edit_saves_what_the_editor_wrote,
);

const WIDGET: &str = "
apiVersion: conformance.pathline.dev/v1
kind: Widget
metadata: {name: one, labels: {tier: front}}
spec: {color: red, size: 2, note: first, tags: [a, b]}
";
const MAP: &str = "
apiVersion: v1
kind: ConfigMap
metadata: {name: map, labels: {tier: front}, finalizers: [example.com/a, example.com/b]}
data: {a: x, b: why}
";

async fn create(t: &Target, manifest: &str) -> Result<()> {
    t.kubectl()
        .run_with(&["create", "-f", "-"], manifest)
        .await?
        .ok()?;
    Ok(())
}

async fn merge_patch_sets_replaces_and_removes(t: &Target) -> Result<()> {
    create(t, WIDGET).await?;
    let mut session = t.session();
    let patch = "patch widget one --type=merge -p";
    session
        .run(&format!(
            r#"{patch} '{{"spec":{{"color":"blue","note":null,"tags":["c"]}}}}'"#
        ))
        .await?;
    session.run("get widget one -o jsonpath='{.spec}'").await?;
    session
        .run(&format!(r#"{patch} '{{"spec":{{"color":"blue"}}}}'"#))
        .await?;
    session
        .run(&format!(r#"{patch} '{{"spec":{{"color":"mauve"}}}}'"#))
        .await?;
    session
        .run(&format!(r#"{patch} '{{"spec":{{"size":null}}}}'"#))
        .await?;
    session
        .run("get widget one -o jsonpath='{.spec} {.metadata.generation}'")
        .await?;
    session
        .run(&format!(r#"{patch} '{{"metadata":{{"name":"two"}}}}'"#))
        .await?;
    session
        .run(&format!(r#"{patch} '{{"metadata":{{"uid":"other"}}}}'"#))
        .await?;
    session
        .run(&format!(
            r#"{patch} '{{"metadata":{{"resourceVersion":"1"}}}}'"#
        ))
        .await?;
    session.run(&format!("{patch} '[1, 2'")).await?;
    session
        .run(r#"patch widget nope --type=merge -p '{"spec":{}}'"#)
        .await?;
    assert_recorded!("merge_patch", session.transcript());
    Ok(())
}

async fn json_patch_is_done_in_order_or_not_at_all(t: &Target) -> Result<()> {
    create(t, WIDGET).await?;
    let mut session = t.session();
    for operations in [
        r#"[{"op":"replace","path":"/spec/size","value":4},{"op":"add","path":"/spec/tags/-","value":"c"}]"#,
        r#"[{"op":"test","path":"/spec/size","value":4},{"op":"remove","path":"/spec/note"}]"#,
        r#"[{"op":"remove","path":"/spec/tags/0"},{"op":"test","path":"/spec/size","value":5}]"#,
        r#"[{"op":"remove","path":"/spec/absent"}]"#,
        r#"[{"op":"replace","path":"/spec/absent","value":1}]"#,
        r#"[{"op":"add","path":"/spec/deep/er","value":1}]"#,
        r#"[{"op":"frobnicate","path":"/spec/size"}]"#,
        r#"[{"op":"copy","from":"/spec/color","path":"/metadata/labels/color"}]"#,
        r#"[{"op":"move","from":"/metadata/labels/color","path":"/metadata/labels/tint"}]"#,
        r#"[{"op":"test","path":"/metadata/finalizers","value":null}]"#,
        r#"[{"op":"test","path":"/metadata/labels/tint","value":null}]"#,
        r#"[{"op":"add","path":"/spec/tags/7","value":"far"}]"#,
    ] {
        session
            .run(&format!("patch widget one --type=json -p '{operations}'"))
            .await?;
    }
    session
        .run("get widget one -o jsonpath='{.spec} {.metadata.labels}'")
        .await?;
    assert_recorded!("json_patch", session.transcript());
    Ok(())
}

async fn default_patch_of_a_config_map_merges_it(t: &Target) -> Result<()> {
    create(t, MAP).await?;
    let mut session = t.session();
    session.run(r#"patch configmap map -p '{"data":{"b":null,"c":"z"},"metadata":{"labels":{"tier":null}}}'"#).await?;
    session
        .run(r#"patch configmap map -p '{"metadata":{"finalizers":["example.com/c"]}}'"#)
        .await?;
    session
        .run("get configmap map -o jsonpath='{.data} {.metadata.labels} {.metadata.finalizers}'")
        .await?;
    session.run(r#"patch configmap map -p '{"metadata":{"$deleteFromPrimitiveList/finalizers":["example.com/a"]}}'"#).await?;
    session
        .run(r#"patch configmap map -p '{"data":{"$patch":"replace","only":"this"}}'"#)
        .await?;
    session
        .run("get configmap map -o jsonpath='{.data} {.metadata.finalizers}'")
        .await?;
    session
        .run(r#"patch configmap map --type=merge -p '{"metadata":{"finalizers":null}}'"#)
        .await?;
    session
        .run("get configmap map -o jsonpath='{.metadata.finalizers}'")
        .await?;
    assert_recorded!("default_patch", session.transcript());
    Ok(())
}

async fn strategic_patch_of_a_custom_resource_is_refused(t: &Target) -> Result<()> {
    create(t, WIDGET).await?;
    let mut session = t.session();
    session
        .run(r#"patch widget one --type=strategic -p '{"spec":{"size":3}}'"#)
        .await?;
    session
        .run("get widget one -o jsonpath='{.spec.size}'")
        .await?;
    assert_recorded!("strategic_patch", session.transcript());
    Ok(())
}

async fn status_is_patched_apart_from_the_rest(t: &Target) -> Result<()> {
    create(t, WIDGET).await?;
    let mut session = t.session();
    let both =
        r#"{"spec":{"size":9},"status":{"phase":"Done"},"metadata":{"labels":{"by":"patch"}}}"#;
    let show = "get widget one -o jsonpath='{.spec.size} {.status} {.metadata.labels} {.metadata.generation}'";
    session
        .run(&format!(
            "patch widget one --type=merge --subresource=status -p '{both}'"
        ))
        .await?;
    session.run(show).await?;
    session
        .run(&format!(
            "patch widget one --type=merge -p '{}'",
            both.replace("Done", "Undone")
        ))
        .await?;
    session.run(show).await?;
    session.run("get widget one --subresource=status").await?;
    session
        .run(r#"patch configmap map --type=merge --subresource=status -p '{"status":{}}'"#)
        .await?;
    assert_recorded!("status_patch", session.transcript());
    Ok(())
}

async fn labels_and_annotations_are_set_and_removed(t: &Target) -> Result<()> {
    create(t, WIDGET).await?;
    create(t, MAP).await?;
    let mut session = t.session();
    for object in ["widget/one", "configmap/map"] {
        for change in [
            "label OBJECT size=big",
            "label OBJECT tier=back",
            "label OBJECT tier=back --overwrite",
            "label OBJECT size-",
            "label OBJECT size-",
            "label OBJECT bad=a/b",
            "label OBJECT a=b a-",
            "annotate OBJECT note='any text: at all'",
            "annotate OBJECT note=more --overwrite",
            "annotate OBJECT note-",
            "label OBJECT x=1 --resource-version=1",
        ] {
            session.run(&change.replace("OBJECT", object)).await?;
        }
        session.run(&format!("get {object} -o jsonpath='{{.metadata.labels}} {{.metadata.annotations}} {{.metadata.generation}}'")).await?;
    }
    session
        .run("label widgets,configmaps --all everything=labelled")
        .await?;
    session
        .run("get widgets,configmaps -o name -l everything=labelled")
        .await?;
    assert_recorded!("labels", session.transcript());
    Ok(())
}

async fn replace_needs_the_current_version(t: &Target) -> Result<()> {
    create(t, WIDGET).await?;
    let kubectl = t.kubectl();
    let before = kubectl
        .run_ok(&["get", "widget", "one", "-o", "json"])
        .await?;
    let mut session = t.session();
    session
        .feed("replace -f -", &before.replace("\"red\"", "\"green\""))
        .await?;
    session
        .feed("replace -f -", &before.replace("\"red\"", "\"blue\""))
        .await?;
    session
        .run("get widget one -o jsonpath='{.spec.color}'")
        .await?;
    session.feed("replace -f -", WIDGET).await?;
    session
        .run("get widget one -o jsonpath='{.spec.color}'")
        .await?;
    session.feed("replace --force -f -", WIDGET).await?;
    session
        .feed("replace -f -", &WIDGET.replace("one", "nope"))
        .await?;
    let after = kubectl
        .json(&["get", "widget", "one", "-o", "json"])
        .await?;
    assert!(
        !before.contains(after["metadata"]["uid"].as_str().unwrap_or("-")),
        "it is a new one"
    );
    assert_recorded!("replaced", session.transcript());
    Ok(())
}

async fn edit_saves_what_the_editor_wrote(t: &Target) -> Result<()> {
    create(t, WIDGET).await?;
    create(t, MAP).await?;
    let directory = tempfile::tempdir()?;
    let editor = directory.path().join("editor");
    std::fs::write(
        &editor,
        "#!/bin/sh\nsed -i -e 's/color: red/color: blue/' -e 's/a: x/a: edited/' \"$1\"\n",
    )?;
    std::fs::set_permissions(&editor, std::fs::Permissions::from_mode(0o755))?;
    let mut session = t.session();
    for arguments in [
        ["edit", "widget", "one"],
        ["edit", "configmap", "map"],
        ["edit", "widget", "one"],
    ] {
        let mut command = t.kubectl().command(&arguments);
        command
            .env("KUBE_EDITOR", &editor)
            .env("TMPDIR", directory.path());
        let outcome = t.kubectl().run_command(command, &arguments).await?;
        session.note(&arguments.join(" "), &outcome);
    }
    session
        .run("get widget one -o jsonpath='{.spec.color}'")
        .await?;
    session
        .run("get configmap map -o jsonpath='{.data}'")
        .await?;
    assert_recorded!("edited", session.transcript());
    Ok(())
}
