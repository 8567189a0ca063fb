//! `kubectl apply --server-side`, where the server merges and knows who owns which field.

use anyhow::Result;

use super::session::assert_recorded;
use super::target::Target;

conformance!(kubectl:
    conflicting_apply_is_refused_until_it_is_forced,
    several_conflicts_are_listed_by_manager,
    managers_share_lists_that_merge_by_key,
    fields_left_out_of_the_next_apply_are_removed,
    client_side_applied_object_moves_to_the_server_side,
    unknown_field_is_refused,
);

fn widget(spec: &str) -> String {
    format!(
        "{{apiVersion: conformance.pathline.dev/v1, kind: Widget, metadata: {{name: one}}, spec: {spec}}}"
    )
}

async fn conflicting_apply_is_refused_until_it_is_forced(t: &Target) -> Result<()> {
    let mut session = t.session();
    let first = widget("{color: red, size: 2}");
    let second = widget("{color: blue, size: 2}");
    session
        .feed("apply --server-side --field-manager=alice -f -", &first)
        .await?;
    session
        .feed("apply --server-side --field-manager=alice -f -", &first)
        .await?;
    session
        .feed("apply --server-side --field-manager=bob -f -", &second)
        .await?;
    session
        .run("get widget one -o jsonpath='{.spec.color}'")
        .await?;
    session
        .feed(
            "apply --server-side --field-manager=bob --force-conflicts -f -",
            &second,
        )
        .await?;
    session
        .run("get widget one -o yaml --show-managed-fields")
        .await?;
    assert_recorded!("conflict", session.transcript());
    Ok(())
}

async fn several_conflicts_are_listed_by_manager(t: &Target) -> Result<()> {
    let mut session = t.session();
    let ports = |port| {
        widget(&format!(
            "{{color: red, ports: [{{name: web, port: {port}}}]}}"
        ))
    };
    session
        .feed("apply --server-side --field-manager=alice -f -", &ports(80))
        .await?;
    session
        .run("patch widget one --type=merge --field-manager=carol -p '{\"spec\":{\"size\":3}}'")
        .await?;
    let third = widget("{color: green, size: 4, ports: [{name: web, port: 81}]}");
    session
        .feed("apply --server-side --field-manager=bob -f -", &third)
        .await?;
    const MAP: &str = "{apiVersion: v1, kind: ConfigMap, metadata: {name: m}, data: {a: A, b: B}}";
    session
        .feed("apply --server-side --field-manager=alice -f -", MAP)
        .await?;
    session
        .feed(
            "apply --server-side --field-manager=bob -f -",
            &MAP.replace(": A", ": Z"),
        )
        .await?;
    assert_recorded!("conflicts", session.transcript());
    Ok(())
}

async fn managers_share_lists_that_merge_by_key(t: &Target) -> Result<()> {
    let mut session = t.session();
    let alice = widget("{color: red, tags: [a, b], ports: [{name: web, port: 80}]}");
    let bob = widget("{tags: [b, c], ports: [{name: admin, port: 90, protocol: UDP}]}");
    session
        .feed("apply --server-side --field-manager=alice -f -", &alice)
        .await?;
    session
        .feed("apply --server-side --field-manager=bob -f -", &bob)
        .await?;
    session.run("get widget one -o jsonpath='{.spec}'").await?;
    let alice = widget("{color: red, tags: [a], ports: []}");
    session
        .feed("apply --server-side --field-manager=alice -f -", &alice)
        .await?;
    session.run("get widget one -o jsonpath='{.spec}'").await?;
    for manager in ["alice", "bob"] {
        let entry = format!("{{.metadata.managedFields[?(@.manager==\"{manager}\")].fieldsV1}}");
        session
            .run(&format!("get widget one -o jsonpath='{entry}'"))
            .await?;
    }
    assert_recorded!("shared_lists", session.transcript());
    Ok(())
}

async fn fields_left_out_of_the_next_apply_are_removed(t: &Target) -> Result<()> {
    let mut session = t.session();
    let full = widget("{color: red, note: gone soon, size: 5, limits: {cpu: 1, memory: 1Gi}}");
    let less = widget("{color: red, limits: {memory: 1Gi}}");
    session.feed("apply --server-side -f -", &full).await?;
    session.run("get widget one -o jsonpath='{.spec}'").await?;
    session.feed("apply --server-side -f -", &less).await?;
    session.run("get widget one -o jsonpath='{.spec}'").await?;
    assert_recorded!("fields_removed", session.transcript());
    Ok(())
}

async fn client_side_applied_object_moves_to_the_server_side(t: &Target) -> Result<()> {
    let mut session = t.session();
    let manifest = widget("{color: red, note: mine}");
    session.feed("apply -f -", &manifest).await?;
    session.feed("apply --server-side -f -", &manifest).await?;
    session
        .feed("apply --server-side -f -", &widget("{color: red}"))
        .await?;
    session
        .run("get widget one -o yaml --show-managed-fields")
        .await?;
    const MAP: &str = "{apiVersion: v1, kind: ConfigMap, metadata: {name: m}, data: {a: A, b: B}}";
    session.feed("apply -f -", MAP).await?;
    session
        .feed("apply --server-side -f -", &MAP.replace(", b: B", ""))
        .await?;
    session
        .run("get configmap m -o yaml --show-managed-fields")
        .await?;
    assert_recorded!("moved", session.transcript());
    Ok(())
}

async fn unknown_field_is_refused(t: &Target) -> Result<()> {
    let mut session = t.session();
    session
        .feed(
            "apply --server-side -f -",
            &widget("{color: red, colour: red}"),
        )
        .await?;
    session
        .feed(
            "apply --server-side --validate=warn -f -",
            &widget("{color: red, colour: red}"),
        )
        .await?;
    session
        .feed(
            "apply --server-side -f -",
            &widget("{color: red, size: many}"),
        )
        .await?;
    session.run("get widget one -o jsonpath='{.spec}'").await?;
    const MAP: &str = "{apiVersion: v1, kind: ConfigMap, metadata: {name: m}, date: {a: A}}";
    session.feed("apply --server-side -f -", MAP).await?;
    assert_recorded!("unknown_field", session.transcript());
    Ok(())
}
