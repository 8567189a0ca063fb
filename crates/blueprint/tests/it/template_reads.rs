//! The reads of a template are what its object is made from: nothing else matters, and nothing too much.

use std::collections::BTreeSet;

use pathline_blueprint::blueprint::{Blueprint, Input};
use pathline_blueprint::output::Output;
use pathline_blueprint::owner::{Owner, OwnerKind};
use pathline_blueprint::stamp::{Rendered, Stamp};
use pathline_blueprint::template::Template;
use pathline_blueprint::template_reads::{self, Reads};
use pathline_jsonpath::{FieldPath, Segment};
use pathline_kinds::carto::ClusterTemplate;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde_json::{Map, Value, json};

/// Paths that lead to one value, most of the time.
const PLAIN: [&str; 14] = [
    "params.a",
    "params.b",
    "params.c",
    "sources.code.url",
    "sources.code.revision",
    "sources.tools.revision",
    "image",
    "configs.app.config",
    "workload.spec.source.git.url",
    "workload.spec.source.git.ref.branch",
    "workload.spec.image",
    "workload.metadata.labels.x",
    r"workload.metadata.labels.example\.com/y",
    "workload.spec.serviceAccountName",
];

/// Paths that search, reach into lists, lead to whole trees, or nowhere.
const OTHERS: [&str; 26] = [
    "params",
    "params.b.deep",
    "params.b.list[0]",
    "params.b.list[-1]",
    "params['a','absent']",
    "params.*",
    "sources",
    "sources.code",
    "sources.code.name",
    "sources..revision",
    "images.base",
    "config.key",
    "configs.*.config.key",
    "deployment",
    "labels",
    "workload",
    "workload.spec",
    "workload.spec.source",
    "workload.spec.env[0].value",
    "workload.spec.env[?(@.name=='A')].value",
    "workload.spec.env[?(@.value)].name",
    "workload.spec.env[0:1].name",
    "workload.spec.params[?(@.name=='a')].value",
    "workload.metadata.name",
    "deliverable.metadata.labels",
    "..branch",
];

/// Everything a template is rendered with.
#[derive(Debug, Clone)]
struct World {
    owner: Value,
    /// The values of each input, in declared order.
    outputs: Vec<Value>,
}

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        6 => "[a-z]{1,3}".prop_map(Value::from),
        1 => (0..9_i64).prop_map(Value::from),
        1 => any::<bool>().prop_map(Value::from),
        1 => Just(Value::Null),
    ]
}

fn world() -> impl Strategy<Value = World> {
    let present = prop::collection::vec(prop::bool::weighted(0.85), 12);
    let values = prop::collection::vec(scalar(), 24);
    (present, values).prop_map(|(present, values)| {
        let text = |index: usize| match &values[index] {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let mut spec = json!({
            "params": [
                {"name": "a", "value": values[0]},
                {"name": "b", "value": {"deep": values[1], "list": [values[2], values[3]]}},
                {"name": "c", "value": values[4]},
            ],
            "env": [{"name": "A", "value": text(5)}, {"name": "B", "value": text(6)}],
            "source": {"git": {"url": text(7), "ref": {"branch": text(8)}}, "subPath": text(9)},
            "image": text(10),
            "serviceAccountName": text(11),
        });
        let mut labels = json!({"x": text(12), "example.com/y": text(13), "z": text(14)});
        let members = spec.as_object_mut().expect("it is one");
        for (name, present) in ["env", "image", "serviceAccountName", "source"]
            .iter()
            .zip(&present)
        {
            if !present {
                members.remove(*name);
            }
        }
        if !present[4] {
            labels.as_object_mut().expect("it is one").remove("x");
        }
        World {
            owner: json!({
                "metadata": {"name": "app", "namespace": "dev", "uid": "u", "resourceVersion": "1",
                    "labels": labels, "annotations": {"note": text(15)}},
                "spec": spec,
                "status": {"observedGeneration": 1},
            }),
            outputs: vec![
                json!({"url": values[16], "revision": values[17]}),
                json!({"url": values[18], "revision": values[19]}),
                values[20].clone(),
                json!({"key": values[21], "other": values[22]}),
            ],
        }
    })
}

fn blueprint() -> Blueprint {
    Blueprint::read(json!({
        "apiVersion": "carto.run/v1alpha1",
        "kind": "ClusterSupplyChain",
        "metadata": {"name": "chain"},
        "spec": {"selector": {"x": "y"}, "params": [{"name": "c", "default": "of the blueprint"}], "resources": [{
            "name": "build",
            "templateRef": {"kind": "ClusterTemplate", "name": "t"},
            "sources": [{"name": "code", "resource": "fetch"}, {"name": "tools", "resource": "get"}],
            "images": [{"name": "base", "resource": "pull"}],
            "configs": [{"name": "app", "resource": "configure"}],
        }]},
    }))
    .expect("the test wrote a blueprint")
}

fn template(texts: &[String]) -> Template {
    let data: Map<String, Value> = texts
        .iter()
        .enumerate()
        .map(|(index, text)| (index.to_string(), json!(text)))
        .collect();
    let template: ClusterTemplate = serde_json::from_value(json!({
        "apiVersion": "carto.run/v1alpha1",
        "kind": "ClusterTemplate",
        "metadata": {"name": "t"},
        "spec": {"template": {
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m"}, "data": data,
        }},
    }))
    .expect("the test wrote a template");
    template.into()
}

fn render(world: &World, template: &Template) -> Option<Rendered> {
    let owner = Owner::read(OwnerKind::Workload, world.owner.clone()).expect("it is an owner");
    let blueprint = blueprint();
    let resource = &blueprint.resources[0];
    let source = |value: &Value| Output::Source {
        url: value["url"].clone(),
        revision: value["revision"].clone(),
    };
    let outputs = [
        source(&world.outputs[0]),
        source(&world.outputs[1]),
        Output::Image(world.outputs[2].clone()),
        Output::Config(world.outputs[3].clone()),
    ];
    let inputs: Vec<(&Input, &Output)> = resource.inputs.iter().zip(&outputs).collect();
    let stamp = Stamp {
        owner: &owner,
        blueprint: &blueprint,
        resource,
        template,
        inputs: &inputs,
    };
    let rendered = stamp.render().ok()?;
    let declared: Vec<&Input> = resource.inputs.iter().collect();
    let foreseen = template_reads::expected(&owner, &blueprint, resource, template, &declared);
    assert_eq!(
        rendered.reads, foreseen,
        "reads are known before there are inputs"
    );
    Some(rendered)
}

/// Changes everything that was not read, each leaf to something that no world has.
fn change_the_rest(world: &World, reads: &Reads) -> World {
    let mut changed = world.clone();
    let spec = FieldPath::default().field("spec");
    let params = spec.field("params");
    if !reads.covers(&params) {
        for param in changed.owner["spec"]["params"]
            .as_array_mut()
            .expect("a list")
        {
            let is_read = reads
                .params
                .contains(param["name"].as_str().expect("a name"));
            if !is_read {
                param["value"] = json!({"changed": true});
            }
        }
    }
    let metadata = FieldPath::default().field("metadata");
    let members =
        ["env", "image", "serviceAccountName", "source", "build"].map(|name| spec.field(name));
    for path in members
        .into_iter()
        .chain(["labels", "annotations"].map(|name| metadata.field(name)))
    {
        let [Segment::Field(section), Segment::Field(member)] = path.segments() else {
            unreachable!("each is a member of a section");
        };
        if !reads.covers(&path) {
            change(
                &mut changed.owner[section.as_str()][member.as_str()],
                &path,
                reads,
            );
        }
    }
    let producers = ["fetch", "get", "pull", "configure"];
    for (producer, output) in producers.iter().zip(&mut changed.outputs) {
        if !reads.inputs.contains(*producer) {
            *output = json!({"url": "changed", "revision": "changed"});
        }
    }
    changed
}

fn change(value: &mut Value, path: &FieldPath, reads: &Reads) {
    let below = reads.fields.iter().any(|read| read.starts_with(path));
    match value {
        Value::Object(members) if below => {
            let members = members
                .iter_mut()
                .map(|(name, member)| (path.field(name), member));
            for (path, member) in members.filter(|(path, _)| !reads.covers(path)) {
                change(member, &path, reads);
            }
        }
        // Something below is read and found absent: to bring it into being would be to change it.
        _ if below => {}
        Value::Object(members)
            if path.segments().len() == 2 && path.to_string().starts_with("metadata") =>
        {
            members.insert("changed".to_owned(), json!("changed"));
        }
        other => *other = json!("changed"),
    }
}

fn text() -> impl Strategy<Value = String> {
    let path = prop_oneof![
        2 => prop::sample::select(PLAIN.to_vec()),
        1 => prop::sample::select(OTHERS.to_vec()),
    ];
    (path, any::<bool>()).prop_map(|(path, is_whole)| {
        if is_whole {
            format!("$({path})$")
        } else {
            format!("of $({path})$, $(params.a)$")
        }
    })
}

#[test]
fn what_is_not_read_does_not_matter() {
    let mut runner = TestRunner::new(pathline_testkit::cases(5_000));
    let rendered = std::cell::Cell::new(0);
    let law = |(world, texts): (World, Vec<String>)| {
        let template = template(&texts);
        let Some(before) = render(&world, &template) else {
            return Ok(());
        };
        rendered.set(rendered.get() + 1);
        let after = render(&change_the_rest(&world, &before.reads), &template);
        // Identity and the cluster's own notes never change here, so that they are no reads is fine.
        prop_assert_eq!(Some(before), after);
        Ok(())
    };
    let cases = (world(), prop::collection::vec(text(), 1..4));
    runner.run(&cases, law).expect("the law holds");
    assert!(rendered.get() > 1_000, "most templates can be rendered");
}

#[test]
fn what_is_read_by_name_matters() {
    let mut runner = TestRunner::new(pathline_testkit::cases(512));
    let path = prop::sample::select(PLAIN.to_vec());
    let law = |(world, path): (World, &str)| {
        let template = template(&[format!("$({path})$")]);
        let Some(before) = render(&world, &template) else {
            return Ok(());
        };
        let names: BTreeSet<String> = names(&before.reads);
        prop_assert_eq!(names.len(), 1, "{:?}", names);
        let mut changed = world;
        change_read(&mut changed, &before.reads);
        let after = render(&changed, &template);
        prop_assert_ne!(Some(before.object), after.map(|rendered| rendered.object));
        Ok(())
    };
    runner.run(&(world(), path), law).expect("the law holds");
}

fn names(reads: &Reads) -> BTreeSet<String> {
    let fields = reads.fields.iter().map(FieldPath::to_string);
    let named = reads.params.iter().chain(&reads.inputs).cloned();
    fields.chain(named).collect()
}

/// Changes all that was read.
fn change_read(world: &mut World, reads: &Reads) {
    for param in world.owner["spec"]["params"]
        .as_array_mut()
        .expect("a list")
    {
        if reads
            .params
            .contains(param["name"].as_str().expect("a name"))
        {
            param["value"] = json!("changed");
        }
    }
    for field in &reads.fields {
        let steps = field.segments().iter();
        let place = steps.fold(&mut world.owner, |value, step| match step {
            Segment::Field(name) => &mut value[name.as_str()],
            Segment::Index(_) => {
                unreachable!("a list is one value")
            }
        });
        *place = json!("changed");
    }
    let producers = ["fetch", "get", "pull", "configure"];
    for (producer, output) in producers.iter().zip(&mut world.outputs) {
        if reads.inputs.contains(*producer) {
            *output = json!({"url": "changed", "revision": "changed"});
        }
    }
}
