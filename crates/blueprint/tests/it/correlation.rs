//! Correlation rules: the inputs that a stamped object says it used.

use pathline_blueprint::blueprint::{Blueprint, Input};
use pathline_blueprint::correlation;
use pathline_blueprint::output::Output;
use pathline_blueprint::owner::{Owner, OwnerKind};
use pathline_blueprint::stamp::Stamp;
use pathline_blueprint::template::Template;
use pathline_blueprint::template_reads::Reads;
use pathline_kinds::carto::{ClusterDeploymentTemplate, ClusterImageTemplate};
use serde_json::{Value, json};

fn names(reads: &Reads) -> Vec<String> {
    let params = reads.params.iter().map(|name| format!("param:{name}"));
    let fields = reads.fields.iter().map(|path| format!("field:{path}"));
    params
        .chain(fields)
        .chain(reads.inputs.iter().cloned())
        .collect()
}

/// Returns which inputs the rules name, and which of them the status proves.
fn judged(
    template: &Template,
    kind: &str,
    input: &Value,
    status: &Value,
) -> (Vec<String>, Vec<String>) {
    let delivery = kind == "ClusterDelivery";
    let mut resource = json!({
        "name": "make",
        "templateRef": {"kind": template.kind().name(), "name": "t"},
    });
    for (key, value) in input.as_object().expect("inputs are an object") {
        resource[key] = value.clone();
    }
    let blueprint = Blueprint::read(json!({
        "apiVersion": "carto.run/v1alpha1",
        "kind": kind,
        "metadata": {"name": "chain"},
        "spec": {"resources": [resource]},
    }))
    .expect("the test wrote a blueprint");
    let owner = json!({
        "metadata": {"name": "app", "namespace": "dev", "uid": "u"},
        "spec": {"params": [{"name": "debug", "value": "on"}], "image": "base@sha256:1"},
    });
    let owner_kind = if delivery {
        OwnerKind::Deliverable
    } else {
        OwnerKind::Workload
    };
    let owner = Owner::read(owner_kind, owner).expect("it is an owner");
    let output = Output::Source {
        url: json!("u1"),
        revision: json!("r1"),
    };
    let resource = &blueprint.resources[0];
    let inputs: Vec<(&Input, &Output)> = resource
        .inputs
        .iter()
        .map(|input| (input, &output))
        .collect();
    let stamp = Stamp {
        owner: &owner,
        blueprint: &blueprint,
        resource,
        template,
        inputs: &inputs,
    };
    let rendered = stamp.render().expect("it can be rendered").object;
    let mut live = rendered.clone();
    live["status"] = status.clone();
    let declared: Vec<&Input> = resource.inputs.iter().collect();
    let named = correlation::named(&owner, &blueprint, resource, template, &declared);
    (
        names(&named),
        names(&correlation::matched(&stamp, &rendered, &live)),
    )
}

fn image_template(rules: &Value) -> Template {
    let template: ClusterImageTemplate = serde_json::from_value(json!({
        "apiVersion": "carto.run/v1alpha1",
        "kind": "ClusterImageTemplate",
        "metadata": {"name": "t", "generation": 4},
        "spec": {
            "imagePath": ".status.image",
            "template": {
                "apiVersion": "v1", "kind": "Build", "metadata": {"name": "b"},
                "spec": {"revision": "$(source.revision)$", "debug": "$(params.debug)$"},
            },
            "artifactTracing": {"observedGenerationPath": ".status.seen", "correlationRules": rules},
        },
    }))
    .expect("the test wrote a template");
    template.into()
}

#[test]
fn a_rule_proves_the_input_it_names_and_no_other() {
    let rule = |input: &str, output: &str| json!({"input": input, "output": output});
    let source = rule("source.revision", ".status.built");
    let fetched = json!({"sources": [{"name": "code", "resource": "fetch"}]});
    let status = json!({"built": "r1", "debug": "on", "base": "base@sha256:1", "url": "u1"});
    let of_fetch: (&[&str], &[&str]) = (&["fetch"], &["fetch"]);
    let unmatched: (&[&str], &[&str]) = (&["fetch"], &[]);
    let rows = [
        (json!([source]), of_fetch),
        (
            json!([rule("sources.code.revision", ".status.built")]),
            of_fetch,
        ),
        (json!([rule("source.revision", ".status.other")]), unmatched),
        (json!([rule("source.revision", ".status.debug")]), unmatched),
        (
            json!([source, rule("source.revision", ".status.debug")]),
            unmatched,
        ),
        // What Pathline wrote is no witness.
        (
            json!([rule("source.revision", ".spec.revision")]),
            unmatched,
        ),
        // The address alone does not tell which revision of it was used.
        (json!([rule("source.url", ".status.url")]), (&[], &[])),
        (
            json!([rule("params.debug", ".status.debug"), source]),
            (&["param:debug", "fetch"], &["param:debug", "fetch"]),
        ),
        (
            json!([rule("workload.spec.image", ".status.base")]),
            (&["field:spec.image"], &["field:spec.image"]),
        ),
        (
            json!([rule("params.absent", ".status.absent")]),
            (&["param:absent"], &[]),
        ),
    ];
    for (rules, (named, matched)) in rows {
        let judged = judged(
            &image_template(&rules),
            "ClusterSupplyChain",
            &fetched,
            &status,
        );
        assert_eq!(judged.0, named, "{rules}");
        assert_eq!(judged.1, matched, "{rules}");
    }
}

#[test]
fn observed_matches_are_rules() {
    let template = |body: &Value| -> Template {
        let template: ClusterDeploymentTemplate = serde_json::from_value(json!({
            "apiVersion": "carto.run/v1alpha1",
            "kind": "ClusterDeploymentTemplate",
            "metadata": {"name": "t"},
            "spec": {
                "template": {"apiVersion": "v1", "kind": "App", "metadata": {"name": "a"}, "spec": body},
                "observedMatches": [{"input": "spec.ref", "output": "status.ref"}],
            },
        }))
        .expect("the test wrote a template");
        template.into()
    };
    let deployment = json!({"deployment": {"resource": "fetch"}});
    let judged = |body: &Value, seen: &str| {
        judged(
            &template(body),
            "ClusterDelivery",
            &deployment,
            &json!({"ref": seen}),
        )
    };
    let whole = json!({"ref": "$(deployment.revision)$"});
    let fetch = vec!["fetch".to_owned()];
    assert_eq!(judged(&whole, "r1"), (fetch.clone(), fetch.clone()));
    assert_eq!(judged(&whole, "r0"), (fetch, vec![]));
    let nothing = (vec![], vec![]);
    assert_eq!(judged(&json!({"ref": "$(deployment.url)$"}), "u1"), nothing);
    assert_eq!(judged(&json!({"ref": "literal"}), "literal"), nothing);
}

#[test]
fn an_observed_generation_is_where_the_template_says() {
    let template = image_template(&json!([{"input": "params.debug", "output": ".status.debug"}]));
    let object = json!({"status": {"seen": 3, "observedGeneration": 2}});
    assert_eq!(template.observed_generation(&object), Some(3));
    assert!(template.declares_observed_generation());
    assert_eq!(template.generation, Some(4));
    let mut silent = template;
    silent.tracing.observed_generation_path = None;
    assert_eq!(silent.observed_generation(&object), Some(2));
    assert!(!silent.declares_observed_generation());
}
