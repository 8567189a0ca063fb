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
