//! `apply --wait` of blueprints and templates answers about what was applied, never about before.

use anyhow::Result;
use kube::api::{Api, ApiResource, DeleteParams, DynamicObject, GroupVersionKind};
use serde_json::Value;

use crate::instance::{Instance, document, end};
use crate::story::objects::await_object;

const ROUNDS: usize = 10;

fn workload(name: &str, path: &str) -> String {
    format!(
        "---
apiVersion: carto.run/v1alpha1
kind: Workload
metadata: {{name: {name}, namespace: default, labels: {{path: {path}}}}}
spec: {{params: [{{name: {name}, value: 'on'}}]}}
"
    )
}

/// A template that runs something; `value` is what it needs.
fn template(value: &str, round: usize) -> String {
    format!(
        "---
apiVersion: carto.run/v1alpha1
kind: ClusterTemplate
metadata: {{name: run}}
spec:
  params: [{{name: debug, default: 'off'}}]
  healthRule: {{singleConditionType: Ready}}
  template:
    apiVersion: pathline.dev/v1alpha1
    kind: Process
    metadata: {{name: $(workload.metadata.name)$}}
    spec:
      env: [{{name: DEBUG, value: $(params.debug)$}}, {{name: OTHER, value: {value}}}, {{name: ROUND, value: 'r{round}'}}]
      command: [sleep, '100000']
"
    )
}

fn chain(name: &str, selector: &str, template: &str) -> String {
    format!(
        "---
apiVersion: carto.run/v1alpha1
kind: ClusterSupplyChain
metadata: {{name: {name}}}
spec:
  selector: {selector}
  resources: [{{name: run, templateRef: {{kind: ClusterTemplate, name: {template}}}}}]
"
    )
}

fn apply(instance: &Instance, text: &str) -> Result<(Option<i32>, String, String)> {
    let file = instance.file("changed.yaml", text)?;
    Ok(end(instance.ask(&[
        "apply",
        "-f",
        &file,
        "--wait",
        "--timeout",
        "2m",
    ])))
}

#[test]
fn point_10_a_broken_template_is_never_0_and_a_mended_one_never_1() -> Result<()> {
    let instance = Instance::start()?;
    let owner = workload("debug", "run");
    let all = [
        &template("fine", 0),
        &chain("run", "{path: run}", "run"),
        &owner[..],
    ]
    .concat();
    let (code, _, stderr) = apply(&instance, &all)?;
    assert_eq!(code, Some(0), "{stderr}");
    for round in 1..=ROUNDS {
        let broken = format!("$(params.missing{round})$");
        let (code, _, stderr) =
            apply(&instance, &[&template(&broken, round), &owner[..]].concat())?;
        assert_eq!(code, Some(1), "round {round}: {stderr}");
        assert!(stderr.contains(&format!("missing{round}")), "{stderr}");
        let (code, _, stderr) = apply(&instance, &[&template("fine", round), &owner[..]].concat())?;
        assert_eq!(code, Some(0), "round {round}: {stderr}");
    }
    Ok(())
}

#[test]
fn point_10_templates_alone_are_waited_for_until_all_concerned_have_seen_them() -> Result<()> {
    let instance = Instance::start()?;
    let owners = [workload("debug", "run"), workload("other", "run")].concat();
    let bystander = [
        &template("fine", 0).replace("name: run}", "name: aside}"),
        &chain("aside", "{path: aside}", "aside")[..],
        &workload("aside", "aside"),
    ]
    .concat();
    let all = [
        &template("fine", 0),
        &chain("run", "{path: run}", "run"),
        &owners,
        &bystander[..],
    ]
    .concat();
    let (code, _, stderr) = apply(&instance, &all)?;
    assert_eq!(code, Some(0), "{stderr}");

    // Only one of the two has what the template asks for now.
    let (code, _, stderr) = apply(&instance, &template("$(params.other)$", 1))?;
    assert_eq!(code, Some(1), "{stderr}");
    assert!(stderr.contains("workload default/debug: "), "{stderr}");
    assert!(!stderr.contains("workload default/aside"), "{stderr}");
    let last = stderr.split("it made some fail").last().unwrap_or_default();
    assert!(!last.contains("default/other"), "{stderr}");

    let file = instance.file("mended.yaml", &template("fine", 2))?;
    let (code, out, stderr) = end(instance.ask(&["apply", "-f", &file, "--wait", "-o", "json"]));
    assert_eq!(code, Some(0), "{stderr}");
    let concerned = document(&out)["concerned"].clone();
    assert_eq!(concerned["state"], "holds");
    let names: Vec<_> = (0..2)
        .map(|it| concerned["owners"][it]["name"].clone())
        .collect();
    assert_eq!(names, ["debug", "other"], "{concerned}");
    assert!(concerned["owners"][2].is_null(), "{concerned}");
    Ok(())
}

#[test]
fn point_10_a_blueprint_that_takes_an_owner_over_is_waited_for_and_nobody_else() -> Result<()> {
    let instance = Instance::start()?;
    let owner = workload("debug", "run");
    let all = [
        &template("fine", 0),
        &chain("run", "{path: run}", "run"),
        &owner[..],
    ]
    .concat();
    let (code, _, stderr) = apply(&instance, &all)?;
    assert_eq!(code, Some(0), "{stderr}");

    // A blueprint that no owner uses concerns nobody.
    let (code, out, stderr) = apply(&instance, &chain("nobody", "{path: nobody}", "run"))?;
    assert_eq!(code, Some(0), "{stderr}");
    assert!(out.contains("no workload and no deliverable uses"), "{out}");

    // One that names a template that is not there is said to be so, and a change of the other is seen.
    let missing = chain("run", "{path: run}", "run").replace(
        "resources: [",
        "resources: [{name: no, templateRef: {kind: ClusterTemplate, name: no}}, ",
    );
    let (code, _, stderr) = apply(&instance, &missing)?;
    assert_eq!(code, Some(1), "{stderr}");
    assert!(stderr.contains("workload default/debug: "), "{stderr}");
    let (code, _, stderr) = apply(&instance, &template("fine", 1))?;
    assert_eq!(code, Some(1), "it is still not there: {stderr}");
    let (code, _, stderr) = apply(&instance, &chain("run", "{path: run}", "run"))?;
    assert_eq!(code, Some(0), "{stderr}");

    // One that gives the owner up, and one that takes it over with a template that is broken for it.
    let broken = template("$(params.nothing)$", 0).replace("name: run}", "name: broken}");
    let taken = [
        &broken,
        &chain("run", "{path: elsewhere}", "run"),
        &chain("taking", "{path: run}", "broken")[..],
    ]
    .concat();
    let (code, _, stderr) = apply(&instance, &taken)?;
    assert_eq!(code, Some(1), "{stderr}");
    assert!(stderr.contains("workload default/debug: "), "{stderr}");
    assert!(stderr.contains("nothing"), "{stderr}");
    Ok(())
}

#[test]
fn point_10_a_field_that_the_kind_does_not_have_cannot_be_stamped() -> Result<()> {
    let instance = Instance::start()?;
    let owner = workload("debug", "run");
    let fine = template("fine", 0);
    let mistyped = fine.replace("command:", "colour: red\n      command:");
    let chain = chain("run", "{path: run}", "run");
    let (code, _, stderr) = apply(&instance, &[&mistyped[..], &chain, &owner].concat())?;
    assert_eq!(code, Some(1), "{stderr}");
    assert!(
        stderr.contains(".spec.colour: field not declared"),
        "{stderr}"
    );
    let (code, _, stderr) = apply(&instance, &fine)?;
    assert_eq!(code, Some(0), "{stderr}");
    Ok(())
}

#[tokio::test]
async fn point_7_what_a_deleted_template_stamped_is_not_live() -> Result<()> {
    let instance = Instance::start()?;
    let (run, owner) = (template("fine", 0), workload("debug", "run"));
    let chain = chain("run", "{path: run}", "run");
    let (code, _, stderr) = apply(&instance, &[&run[..], &chain, &owner].concat())?;
    assert_eq!(code, Some(0), "{stderr}");
    let client = instance.client().await;
    let workload = ("carto.run/v1alpha1", "Workload");
    await_object(&client, workload, "debug", |it| {
        it["status"]["live"] == "True"
    })
    .await;
    let template = GroupVersionKind::gvk("carto.run", "v1alpha1", "ClusterTemplate");
    let templates: Api<DynamicObject> =
        Api::all_with(client.clone(), &ApiResource::from_gvk(&template));
    templates.delete("run", &DeleteParams::default()).await?;
    let gone = await_object(&client, workload, "debug", |it| {
        it["status"]["live"] != "True"
    })
    .await;
    assert_eq!(gone["status"]["liveGeneration"], Value::Null);
    let wait = [
        "wait",
        "workload/debug",
        "--for",
        "current",
        "--timeout",
        "2s",
    ];
    let (code, _, stderr) = end(instance.ask(&wait));
    assert_eq!(code, Some(124), "{stderr}");
    assert!(stderr.contains("did not find the template"), "{stderr}");
    let (code, _, stderr) = apply(&instance, &run)?;
    assert_eq!(code, Some(0), "{stderr}");
    let wait = ["wait", "workload/debug", "--for", "current", "--live"];
    let (code, _, stderr) = end(instance.ask(&wait));
    assert_eq!(code, Some(0), "{stderr}");
    Ok(())
}
