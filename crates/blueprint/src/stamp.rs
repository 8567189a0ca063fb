//! From a template to the object that is written to the cluster.

mod context;
mod placement;
mod rendered;

use serde_json::{Map, Value, json};

use crate::blueprint::{Blueprint, Input, Resource, Templates};
pub use crate::interpolate::Error as InterpolateError;
use crate::interpolate::interpolate;
use crate::output::Output;
use crate::owner::Owner;
use crate::template::{Body, Template};
use crate::template_reads::{Offer, Reads};

pub(crate) use placement::Placement;
pub use rendered::Rendered;

/// The annotation that remembers what was applied, so that nothing is applied twice.
pub const APPLIED_ANNOTATION: &str = "pathline.dev/applied";

/// The annotation that names the inputs an object was made from.
pub const INPUTS_ANNOTATION: &str = "pathline.dev/inputs";

/// The label by which stamped objects are found.
pub const RESOURCE_NAME_LABEL: &str = "carto.run/resource-name";

/// The annotation that names the template of an object, as `KIND/NAME`.
pub const TEMPLATE_ANNOTATION: &str = "pathline.dev/template";

/// The label that tells runs from objects that are changed.
pub const LIFECYCLE_LABEL: &str = "carto.run/template-lifecycle";

/// Says why a template could not be stamped.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Error {
    /// The template has neither a body nor ytt, or both.
    #[error("invalid template: must specify one of template or ytt")]
    Undecided,
    /// The ytt program could not make an object of the template; this is what it said.
    #[error("unable to apply ytt template: {0}")]
    Ytt(String),
    /// A `$(...)$` could not be filled in.
    #[error(transparent)]
    Interpolate(#[from] InterpolateError),
    /// A field that every object needs is missing or of the wrong type.
    #[error("invalid template: the object needs {wanted} at [{field}]")]
    Malformed {
        /// The field.
        field: &'static str,
        /// The type that should be there.
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
    /// The inputs of the resource; every declared one is there.
    pub inputs: &'a [(&'a Input, &'a Output)],
}

impl Stamp<'_> {
    /// Renders a template that is not written in ytt: filled in, placed, labelled, owned, remembered.
    ///
    /// # Errors
    ///
    /// Fails if the template is written in ytt, cannot be filled in, or makes no object that can be written.
    pub fn render(&self) -> Result<Rendered, Error> {
        let body = match &self.template.body {
            Body::Interpolated(body) => body,
            Body::Ytt(_) => return Err(Error::Ytt("it needs the program ytt".to_owned())),
            Body::Undecided => return Err(Error::Undecided),
        };
        let object = interpolate(body, &self.typed_context())?;
        self.finish(object, self.offering(Reads::of))
    }

    /// Makes an object of its owner from what ytt rendered: placed, labelled, owned, remembered.
    ///
    /// ytt does not tell what it reads, so all that it was offered counts.
    ///
    /// # Errors
    ///
    /// Fails if the object cannot be written: it lacks a field, or names another namespace.
    pub fn render_from(&self, object: Value) -> Result<Rendered, Error> {
        self.finish(object, self.offering(Reads::of))
    }

    fn finish(&self, object: Value, reads: Reads) -> Result<Rendered, Error> {
        let placement = Placement {
            namespace: &self.owner.namespace,
            labels: self.labels(),
            template: format!("{}/{}", self.template.kind().name(), self.template.name),
            owner: self.owner.reference(),
            lifecycle: self.template.lifecycle,
        };
        let object = placement.finish(object)?;
        Ok(Rendered { object, reads })
    }

    pub(crate) fn offering<T>(&self, read: impl FnOnce(Offer<'_>) -> T) -> T {
        let inputs: Vec<&Input> = self.inputs.iter().map(|(input, _)| *input).collect();
        read(Offer {
            owner: self.owner,
            blueprint: self.blueprint,
            resource: self.resource,
            template: self.template,
            inputs: &inputs,
        })
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
            (LIFECYCLE_LABEL.to_owned(), self.template.lifecycle.name()),
        ]
        .map(|(label, value)| (label, json!(value)))
        .into_iter()
        .collect()
    }
}

/// Tells whether the live object holds what was stamped: the same stamp, and no field changed since.
pub fn is_applied(stamped: &Value, live: &Value) -> bool {
    let remembered = |object: &Value| object["metadata"]["annotations"][APPLIED_ANNOTATION].clone();
    remembered(stamped) == remembered(live) && holds(live, stamped)
}

/// Tells whether the live object names the same inputs as what was stamped.
pub fn names_same_inputs(stamped: &Value, live: &Value) -> bool {
    let named = |object: &Value| object["metadata"]["annotations"][INPUTS_ANNOTATION].clone();
    named(stamped) == named(live)
}

/// Returns what was stamped as the cluster wrote it: the same fields with the values that it made of
/// them. What it dropped is left out.
///
/// A cluster may write a quantity or a null its own way; comparing with what was stamped would then
/// find a difference for ever.
pub fn as_written(stamped: &Value, written: &Value) -> Value {
    match (stamped, written) {
        (Value::Object(stamped), Value::Object(written)) => {
            let kept = stamped.iter().filter_map(|(key, stamped)| {
                let written = written.get(key)?;
                Some((key.clone(), as_written(stamped, written)))
            });
            Value::Object(kept.collect())
        }
        (Value::Array(stamped), Value::Array(written)) if stamped.len() == written.len() => {
            let pairs = stamped.iter().zip(written);
            pairs
                .map(|(stamped, written)| as_written(stamped, written))
                .collect()
        }
        (_, written) => written.clone(),
    }
}

/// Tells whether a live object has all that is wanted; what it has beside does not matter.
pub fn holds(live: &Value, wanted: &Value) -> bool {
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

#[cfg(test)]
#[expect(
    clippy::needless_pass_by_value,
    reason = "a literal is given away at the call"
)]
mod tests {
    use pathline_jsonpath::FieldPath;
    use pathline_kinds::carto::{ClusterImageTemplate, ClusterTemplate};

    use super::*;
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
            self.rendered().map(|rendered| rendered.object)
        }

        fn rendered(&self) -> Result<Rendered, Error> {
            self.stamped(|stamp| stamp.render())
        }

        fn stamped<T>(&self, work: impl FnOnce(&Stamp<'_>) -> T) -> T {
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
            work(&Stamp {
                owner,
                blueprint,
                resource,
                template,
                inputs: &inputs,
            })
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
    fn templates_that_do_not_say_how_are_refused() {
        let body = config_map(json!({}));
        let refused = |spec| case(spec).render().unwrap_err();
        assert_eq!(refused(json!({})), Error::Undecided);
        assert_eq!(
            refused(json!({"template": body, "ytt": "x"})),
            Error::Undecided
        );
        assert!(matches!(refused(json!({"ytt": "x"})), Error::Ytt(_)));
    }

    #[test]
    fn a_run_is_named_after_what_it_was_made_from() {
        let run = |value: &str, lifecycle: &str, metadata: Value| {
            let mut body = config_map(json!({"value": value}));
            body["metadata"] = metadata;
            case(json!({"template": body, "lifecycle": lifecycle})).render()
        };
        let generated = || json!({"generateName": "build-"});
        let first = run("1", "immutable", generated()).unwrap();
        let name = |object: &Value| object["metadata"]["name"].as_str().unwrap().to_owned();
        assert!(name(&first).starts_with("build-") && name(&first).len() > "build-".len());
        assert_eq!(first["metadata"]["labels"][LIFECYCLE_LABEL], "immutable");
        assert_eq!(first, run("1", "immutable", generated()).unwrap());
        let changed = run("2", "immutable", generated()).unwrap();
        assert_ne!(name(&first), name(&changed));
        let named = run("1", "tekton", json!({"name": "build"})).unwrap();
        assert!(name(&named).starts_with("build-"), "a name is a prefix");
        assert_eq!(
            run("1", "tekton", json!({})).unwrap_err().to_string(),
            "invalid template: the object needs a text at [metadata.generateName]"
        );
    }

    #[test]
    fn what_ytt_was_offered_counts() {
        let case = case(json!({"ytt": "x"}));
        let rendered = case.stamped(|stamp| stamp.render_from(config_map(json!({}))));
        let reads = rendered.unwrap().reads;
        assert!(reads.offered);
        assert_eq!(reads.params, ["p".to_owned()].into());
        assert_eq!(
            reads.inputs,
            ["fetch", "get", "pull"].map(str::to_owned).into()
        );
        let metadata = FieldPath::default().field("metadata");
        let settable = [metadata.field("annotations"), metadata.field("labels")];
        assert_eq!(reads.fields, settable.into(), "params are offered by name");
    }

    #[test]
    fn other_inputs_of_the_same_object_are_written_to_it_but_make_no_other_run() {
        let named = |lifecycle: &str, inputs_id: &str| {
            let spec = json!({"template": config_map(json!({})), "lifecycle": lifecycle});
            let mut rendered = case(spec).rendered().unwrap();
            let digest = rendered.digest().to_owned();
            rendered.name_inputs(inputs_id);
            assert_eq!(rendered.digest(), digest);
            rendered.object
        };
        let (first, second) = (named("mutable", "1"), named("mutable", "2"));
        assert!(is_applied(&first, &first) && !is_applied(&second, &first));
        assert!(names_same_inputs(&first, &first) && !names_same_inputs(&second, &first));
        let (first, second) = (named("immutable", "1"), named("immutable", "2"));
        assert_eq!(first["metadata"]["name"], second["metadata"]["name"]);
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

    #[test]
    fn what_the_cluster_writes_its_own_way_is_no_difference() {
        let stamped = json!({"a": {"cpu": "1000m", "none": null}, "list": [{"x": 1.0}]});
        let written = json!({"a": {"cpu": "1", "more": 1}, "list": [{"x": 1, "y": 2}], "b": 5});
        let normal = as_written(&stamped, &written);
        assert_eq!(normal, json!({"a": {"cpu": "1"}, "list": [{"x": 1}]}));
        assert!(holds(&written, &normal) && !holds(&written, &stamped));
    }
}
