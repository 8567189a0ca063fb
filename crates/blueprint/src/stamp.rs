//! From a template to the object that is written to the cluster.

use serde_json::{Map, Value, json};

use crate::blueprint::{Blueprint, Input, InputKind, Resource, Templates};
use crate::interpolate::{self, interpolate};
use crate::model::Lifecycle;
use crate::output::{self, Output};
use crate::owner::Owner;
use crate::params;
use crate::template::{Body, Template};
use crate::yaml;

/// The annotation that remembers what was applied, so that nothing is applied twice.
pub const APPLIED_ANNOTATION: &str = "pathline.dev/applied";

/// The label by which stamped objects are found.
pub const RESOURCE_NAME_LABEL: &str = "carto.run/resource-name";

/// Says why a template could not be stamped.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Error {
    /// The template has neither a body nor ytt, or both.
    #[error("invalid template: must specify one of template or ytt")]
    Undecided,
    /// The template is written in ytt.
    #[error("ytt templates are not supported; write the template with $(...)$")]
    Ytt,
    /// The template makes a new object for each change.
    #[error("lifecycle [{0}] is not supported; use [mutable]")]
    Lifecycle(&'static str),
    /// A `$(...)$` could not be filled in.
    #[error(transparent)]
    Interpolate(#[from] interpolate::Error),
    /// A field that every object needs is missing or of the wrong type.
    #[error("invalid template: the object needs {wanted} at [{field}]")]
    Malformed {
        /// The field.
        field: &'static str,
        /// What should be there.
        wanted: &'static str,
    },
    /// The template names a namespace that is not the owner's.
    #[error("cannot set namespace in resource template")]
    Namespace,
}

/// Everything a resource is stamped from.
#[derive(Debug, Clone, Copy)]
pub struct Stamp<'a> {
    /// The owner on whose behalf it is stamped.
    pub owner: &'a Owner,
    /// The blueprint of the resource.
    pub blueprint: &'a Blueprint,
    /// The resource.
    pub resource: &'a Resource,
    /// The template that was chosen.
    pub template: &'a Template,
    /// What the resource takes in; every declared input is there.
    pub inputs: &'a [(&'a Input, &'a Output)],
}

impl Stamp<'_> {
    /// Renders the object: filled in, in the owner's namespace, labelled, owned and remembered.
    pub fn render(&self) -> Result<Value, Error> {
        let body = match (&self.template.body, self.template.lifecycle) {
            (Body::Undecided, _) => return Err(Error::Undecided),
            (Body::Ytt(_), _) => return Err(Error::Ytt),
            (_, Lifecycle::Immutable) => return Err(Error::Lifecycle("immutable")),
            (_, Lifecycle::Tekton) => return Err(Error::Lifecycle("tekton")),
            (Body::Interpolated(body), Lifecycle::Mutable) => body,
        };
        let labels = self.labels();
        let mut object = interpolate(body, &self.context(&labels))?;
        check_identity(&object)?;
        let metadata = section(&mut object, "metadata", "metadata")?;
        self.place(metadata)?;
        let written = metadata.entry("labels").or_insert_with(|| json!({}));
        let written = written.as_object_mut().ok_or(MALFORMED_LABELS)?;
        written.extend(labels);
        metadata.insert(
            "ownerReferences".to_owned(),
            json!([self.owner.reference()]),
        );
        remember(&mut object)?;
        Ok(object)
    }

    /// Puts the object into the namespace of its owner.
    fn place(&self, metadata: &mut Map<String, Value>) -> Result<(), Error> {
        let written = metadata
            .get("namespace")
            .and_then(Value::as_str)
            .unwrap_or_default();
        if !written.is_empty() && written != self.owner.namespace {
            return Err(Error::Namespace);
        }
        metadata.insert("namespace".to_owned(), json!(self.owner.namespace));
        Ok(())
    }

    fn labels(&self) -> Map<String, Value> {
        let kind = self.owner.kind;
        let noun = kind.noun();
        let blueprint = kind.blueprint_noun().replace(' ', "-");
        // With options the reference itself has no name; dashboards know it so.
        let template = match &self.resource.templates {
            Templates::One(name) => name,
            Templates::Options(_) => "",
        };
        [
            (format!("carto.run/{noun}-name"), self.owner.name.as_str()),
            (format!("carto.run/{noun}-namespace"), &self.owner.namespace),
            (format!("carto.run/{blueprint}-name"), &self.blueprint.name),
            (RESOURCE_NAME_LABEL.to_owned(), &self.resource.name),
            (
                "carto.run/template-kind".to_owned(),
                self.template.kind().name(),
            ),
            ("carto.run/cluster-template-name".to_owned(), template),
            ("carto.run/template-lifecycle".to_owned(), "mutable"),
        ]
        .map(|(label, value)| (label, json!(value)))
        .into_iter()
        .collect()
    }

    /// Returns what `$(...)$` can refer to.
    fn context(&self, labels: &Map<String, Value>) -> Value {
        let params = params::merge(
            &self.template.params,
            &self.blueprint.params,
            &self.resource.params,
            &self.owner.params,
        );
        let mut context = Map::new();
        context.insert("workload".to_owned(), self.owner.object.clone());
        context.insert("deliverable".to_owned(), self.owner.object.clone());
        context.insert("params".to_owned(), Value::Object(params));
        context.insert("labels".to_owned(), Value::Object(labels.clone()));
        self.add_inputs(&mut context);
        Value::Object(context)
    }

    fn add_inputs(&self, context: &mut Map<String, Value>) {
        let (mut sources, mut images, mut configs) = (Map::new(), Map::new(), Map::new());
        let mut deployment = Value::Null;
        for (Input { kind, name, .. }, output) in self.inputs {
            match output {
                Output::Source { url, revision } => {
                    let source = json!({"url": url, "revision": revision, "name": name});
                    if *kind == InputKind::Deployment {
                        deployment = source;
                    } else {
                        sources.insert(name.clone(), source);
                    }
                }
                Output::Image(image) => {
                    images.insert(name.clone(), json!({"image": image, "name": name}));
                }
                Output::Config(config) => {
                    configs.insert(name.clone(), json!({"config": config, "name": name}));
                }
            }
        }
        // With a single input of a kind, the template need not know its name.
        context.extend(only(&sources).map(|source| ("source".to_owned(), source.clone())));
        context.extend(only(&images).map(|image| ("image".to_owned(), image["image"].clone())));
        context
            .extend(only(&configs).map(|config| ("config".to_owned(), config["config"].clone())));
        context.insert("sources".to_owned(), Value::Object(sources));
        context.insert("images".to_owned(), Value::Object(images));
        context.insert("configs".to_owned(), Value::Object(configs));
        context.insert("deployment".to_owned(), deployment);
    }
}

/// Tells whether the live object holds what was stamped: the same stamp, and no field changed since.
pub fn is_applied(stamped: &Value, live: &Value) -> bool {
    let remembered = |object: &Value| object["metadata"]["annotations"][APPLIED_ANNOTATION].clone();
    remembered(stamped) == remembered(live) && holds(live, stamped)
}

fn holds(live: &Value, wanted: &Value) -> bool {
    match (live, wanted) {
        (Value::Object(live), Value::Object(wanted)) => wanted
            .iter()
            .all(|(key, wanted)| live.get(key).is_some_and(|live| holds(live, wanted))),
        (Value::Array(live), Value::Array(wanted)) => {
            live.len() == wanted.len()
                && live
                    .iter()
                    .zip(wanted)
                    .all(|(live, wanted)| holds(live, wanted))
        }
        (live, wanted) => live == wanted,
    }
}

const MALFORMED_LABELS: Error = Error::Malformed {
    field: "metadata.labels",
    wanted: "a map",
};

fn only(inputs: &Map<String, Value>) -> Option<&Value> {
    inputs.values().next().filter(|_| inputs.len() == 1)
}

fn check_identity(object: &Value) -> Result<(), Error> {
    let is_text = |pointer: &str| {
        object
            .pointer(pointer)
            .and_then(Value::as_str)
            .is_some_and(|text| !text.is_empty())
    };
    let fields = [
        ("/apiVersion", "apiVersion"),
        ("/kind", "kind"),
        ("/metadata/name", "metadata.name"),
    ];
    match fields.into_iter().find(|(pointer, _)| !is_text(pointer)) {
        Some((_, field)) => Err(Error::Malformed {
            field,
            wanted: "a text",
        }),
        None => Ok(()),
    }
}

fn section<'o>(
    object: &'o mut Value,
    key: &str,
    field: &'static str,
) -> Result<&'o mut Map<String, Value>, Error> {
    let section = object.get_mut(key).and_then(Value::as_object_mut);
    section.ok_or(Error::Malformed {
        field,
        wanted: "a map",
    })
}

fn remember(object: &mut Value) -> Result<(), Error> {
    let digest = output::digest(&yaml::document(object));
    let metadata = section(object, "metadata", "metadata")?;
    let annotations = metadata.entry("annotations").or_insert_with(|| json!({}));
    let annotations = annotations.as_object_mut().ok_or(Error::Malformed {
        field: "metadata.annotations",
        wanted: "a map",
    })?;
    annotations.insert(APPLIED_ANNOTATION.to_owned(), Value::String(digest));
    Ok(())
}

#[cfg(test)]
#[expect(
    clippy::needless_pass_by_value,
    reason = "a literal is given away at the call"
)]
mod tests {
    use super::*;
    use crate::model::{ClusterImageTemplate, ClusterTemplate};
    use crate::owner::OwnerKind;
    use crate::testing::{owner, supply_chain, template};

    struct Case {
        owner: Owner,
        blueprint: Blueprint,
        template: Template,
    }

    fn case(spec: Value) -> Case {
        Case {
            owner: owner(
                OwnerKind::Workload,
                json!({"metadata": {"name": "app"}, "spec": {"params": [{"name": "p", "value": "owner"}]}}),
            ),
            blueprint: supply_chain(
                json!({"metadata": {"name": "chain"}, "spec": {"resources": [{
                    "name": "build",
                    "templateRef": {"kind": "ClusterTemplate", "name": "t"},
                    "sources": [{"name": "code", "resource": "fetch"}, {"name": "tools", "resource": "get"}],
                    "images": [{"name": "base", "resource": "pull"}],
                }]}}),
            ),
            template: template::<ClusterTemplate>(
                "ClusterTemplate",
                json!({"metadata": {"name": "t"}, "spec": spec}),
            ),
        }
    }

    impl Case {
        fn render(&self) -> Result<Value, Error> {
            let resource = &self.blueprint.resources[0];
            let outputs = [
                Output::Source {
                    url: json!("u1"),
                    revision: json!("r1"),
                },
                Output::Source {
                    url: json!("u2"),
                    revision: json!("r2"),
                },
                Output::Image(json!("i1")),
            ];
            let inputs: Vec<(&Input, &Output)> = resource.inputs.iter().zip(&outputs).collect();
            let Self {
                owner,
                blueprint,
                template,
            } = self;
            Stamp {
                owner,
                blueprint,
                resource,
                template,
                inputs: &inputs,
            }
            .render()
        }
    }

    fn stamped(body: Value) -> Result<Value, Error> {
        case(json!({"template": body})).render()
    }

    fn config_map(data: Value) -> Value {
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m", "labels": {"own": "x"}}, "data": data})
    }

    #[test]
    fn templates_see_inputs_params_labels_and_the_owner() {
        let body = config_map(json!({
            "by_name": "$(sources.tools.revision)$",
            "image": "$(image)$",
            "named": "$(images.base.image)$",
            "param": "$(params.p)$",
            "owner": "$(workload.metadata.name)$ = $(deliverable.metadata.name)$",
            "label": "$(labels['carto\\.run/resource-name'])$",
            "deployment": "$(deployment)$",
        }));
        let object = stamped(body).unwrap();
        assert_eq!(
            object["data"],
            json!({
                "by_name": "r2",
                "image": "i1",
                "named": "i1",
                "param": "owner",
                "owner": "app = app",
                "label": "build",
                "deployment": null,
            })
        );
        let ambiguous = stamped(config_map(json!({"a": "$(source.url)$"}))).unwrap_err();
        assert!(
            ambiguous
                .to_string()
                .ends_with("jsonpath returned empty list: source.url")
        );
    }

    #[test]
    fn objects_are_placed_labelled_and_owned() {
        let mut body = config_map(json!({}));
        body["metadata"]["ownerReferences"] = json!([{"name": "somebody"}]);
        body["metadata"]["namespace"] = json!("dev");
        let object = stamped(body).unwrap();
        assert_eq!(object["metadata"]["namespace"], "dev");
        assert_eq!(
            object["metadata"]["ownerReferences"],
            json!([{
                "apiVersion": "carto.run/v1alpha1",
                "kind": "Workload",
                "name": "app",
                "uid": "uid-1",
                "controller": true,
                "blockOwnerDeletion": true,
            }])
        );
        assert_eq!(
            object["metadata"]["labels"],
            json!({
                "own": "x",
                "carto.run/workload-name": "app",
                "carto.run/workload-namespace": "dev",
                "carto.run/supply-chain-name": "chain",
                "carto.run/resource-name": "build",
                "carto.run/template-kind": "ClusterTemplate",
                "carto.run/cluster-template-name": "t",
                "carto.run/template-lifecycle": "mutable",
            })
        );
    }

    #[test]
    fn deliverables_are_labelled_with_their_delivery() {
        let mut case = case(json!({"template": config_map(json!({}))}));
        case.owner.kind = OwnerKind::Deliverable;
        case.blueprint.resources[0].templates = Templates::Options(vec![]);
        let labels = case.render().unwrap()["metadata"]["labels"].clone();
        assert_eq!(labels["carto.run/deliverable-name"], "app");
        assert_eq!(labels["carto.run/delivery-name"], "chain");
        assert_eq!(
            labels["carto.run/cluster-template-name"], "",
            "the reference names none"
        );
    }

    #[test]
    fn what_is_no_object_of_the_owners_namespace_is_refused() {
        let without = |pointer: &str, value: Value| {
            let mut body = config_map(json!({}));
            *body.pointer_mut(pointer).unwrap() = value;
            stamped(body).unwrap_err().to_string()
        };
        let needs = |field: &str, wanted: &str| {
            format!("invalid template: the object needs {wanted} at [{field}]")
        };
        assert_eq!(without("/kind", json!("")), needs("kind", "a text"));
        assert_eq!(
            without("/apiVersion", json!(5)),
            needs("apiVersion", "a text")
        );
        assert_eq!(
            without("/metadata/name", Value::Null),
            needs("metadata.name", "a text")
        );
        assert_eq!(
            without("/metadata/labels", json!("x")),
            needs("metadata.labels", "a map")
        );
        let elsewhere = json!({"name": "m", "namespace": "other"});
        assert_eq!(
            without("/metadata", elsewhere),
            "cannot set namespace in resource template"
        );
    }

    #[test]
    fn templates_of_a_kind_that_is_not_supported_are_refused() {
        let body = config_map(json!({}));
        let refused = |spec| case(spec).render().unwrap_err();
        assert_eq!(refused(json!({"ytt": "x"})), Error::Ytt);
        assert_eq!(refused(json!({})), Error::Undecided);
        assert_eq!(
            refused(json!({"template": body, "ytt": "x"})),
            Error::Undecided
        );
        assert_eq!(
            refused(json!({"template": body, "lifecycle": "tekton"})),
            Error::Lifecycle("tekton")
        );
        assert_eq!(
            refused(json!({"template": body, "lifecycle": "immutable"})),
            Error::Lifecycle("immutable")
        );
    }

    #[test]
    fn an_object_is_applied_once() {
        let object = stamped(config_map(json!({"a": "1"}))).unwrap();
        let mut live = object.clone();
        live["metadata"]["resourceVersion"] = json!("7");
        live["data"]["of-others"] = json!("x");
        assert!(
            is_applied(&object, &live),
            "what others add does not matter"
        );
        let mut changed = live.clone();
        changed["data"]["a"] = json!("2");
        assert!(!is_applied(&object, &changed), "what others change does");
        let fewer = stamped(config_map(json!({}))).unwrap();
        assert!(
            !is_applied(&fewer, &live),
            "a field that is no longer stamped must go"
        );
    }

    #[test]
    fn the_kind_of_a_template_is_that_of_its_output() {
        let image = template::<ClusterImageTemplate>(
            "ClusterImageTemplate",
            json!({"metadata": {"name": "t"}, "spec": {"imagePath": "a", "ytt": ""}}),
        );
        assert_eq!(image.kind().name(), "ClusterImageTemplate");
    }
}
