//! `kubectl describe` and `kubectl events`.

use anyhow::Result;

use super::session::assert_recorded;
use super::target::Target;

conformance!(kubectl:
    custom_resource_is_described_with_its_events,
    config_map_and_secret_are_described,
    events_are_listed,
);

const WIDGET: &str = "
apiVersion: conformance.pathline.dev/v1
kind: Widget
metadata: {name: one, labels: {tier: front}, annotations: {why: told}}
spec: {color: red, ports: [{name: web, port: 80}]}
";

/// Stores what an event recorder would say about the widget.
async fn say(t: &Target, name: &str, kind: &str, reason: &str, message: &str) -> Result<()> {
    let uid = t
        .kubectl()
        .run_ok(&["get", "widget", "one", "-o", "jsonpath={.metadata.uid}"])
        .await?;
    let event = format!(
        "
apiVersion: v1
kind: Event
metadata: {{name: {name}}}
type: {kind}
reason: {reason}
message: {message}
count: 2
firstTimestamp: 2026-01-01T00:00:00Z
lastTimestamp: 2026-01-01T00:01:00Z
source: {{component: tester}}
involvedObject:
  apiVersion: conformance.pathline.dev/v1
  kind: Widget
  name: one
  namespace: {}
  uid: {uid}
",
        t.namespace
    );
    t.kubectl()
        .run_with(&["create", "-f", "-"], &event)
        .await?
        .ok()?;
    Ok(())
}

async fn custom_resource_is_described_with_its_events(t: &Target) -> Result<()> {
    t.kubectl()
        .run_with(&["create", "-f", "-"], WIDGET)
        .await?
        .ok()?;
    say(t, "one.painted", "Normal", "Painted", "it is red").await?;
    say(t, "one.faded", "Warning", "Faded", "it was red").await?;
    let mut session = t.session();
    session.run("describe widget one").await?;
    session.run("describe widget nope").await?;
    let transcript = session.transcript();
    // The age of a fixed past time grows every day.
    let shown: Vec<_> = transcript
        .lines()
        .filter(|line| !line.contains("(x2 over"))
        .collect();
    assert_eq!(
        transcript.lines().count() - shown.len(),
        2,
        "both events are shown: {transcript}"
    );
    for (kind, reason, message) in [
        ("Normal", "Painted", "it is red"),
        ("Warning", "Faded", "it was red"),
    ] {
        let line = transcript
            .lines()
            .find(|line| line.contains(reason))
            .unwrap_or_default();
        assert!(
            line.contains(kind) && line.ends_with(message),
            "{reason} in {transcript}"
        );
    }
    assert_recorded!("described_widget", shown.join("\n"));
    Ok(())
}

async fn config_map_and_secret_are_described(t: &Target) -> Result<()> {
    const OBJECTS: &str = "
{apiVersion: v1, kind: ConfigMap, metadata: {name: map}, data: {a: x, b: 'two\nlines'}}
---
{apiVersion: v1, kind: Secret, metadata: {name: secret}, stringData: {a: hidden}}
";
    t.kubectl()
        .run_with(&["create", "-f", "-"], OBJECTS)
        .await?
        .ok()?;
    let mut session = t.session();
    session.run("describe configmap map").await?;
    session.run("describe secret/secret").await?;
    session.run("describe configmap -l none=here").await?;
    assert_recorded!("described_built_ins", session.transcript());
    Ok(())
}

async fn events_are_listed(t: &Target) -> Result<()> {
    t.kubectl()
        .run_with(&["create", "-f", "-"], WIDGET)
        .await?
        .ok()?;
    say(t, "one.painted", "Normal", "Painted", "it is red").await?;
    let listed = t.kubectl().run_ok(&["events"]).await?;
    assert!(listed.starts_with("LAST SEEN"), "{listed}");
    assert!(
        listed.contains("Widget/one") && listed.contains("it is red"),
        "{listed}"
    );
    let table = t.kubectl().run_ok(&["get", "events"]).await?;
    let columns = ["LAST SEEN", "TYPE", "REASON", "OBJECT", "MESSAGE"];
    let mut rest = table.as_str();
    for column in columns {
        rest = rest
            .split_once(column)
            .map_or_else(|| panic!("{column} in {table}"), |(_, r)| r);
    }
    assert!(
        rest.contains("widget/one") && rest.contains("it is red"),
        "{table}"
    );
    let in_group = t
        .kubectl()
        .run_ok(&["get", "events.events.k8s.io", "-o", "name"])
        .await?;
    assert_eq!(
        in_group, "event.events.k8s.io/one.painted\n",
        "both groups show one event"
    );
    Ok(())
}
