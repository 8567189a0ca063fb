//! The values that a template reads, and no others: what an object was made from.

use std::collections::BTreeSet;

use pathline_jsonpath::{FieldPath, Segment};

use crate::blueprint::{Blueprint, Input, InputKind, Resource};
use crate::owner::Owner;
use crate::params;
use crate::template::{Body, Template};

/// The values that rendering a template reads.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reads {
    /// Parameters, by name.
    pub params: BTreeSet<String>,
    /// Fields of the owner. A read of a field is one of all that is below it.
    pub fields: BTreeSet<FieldPath>,
    /// Inputs, by the resource that produces them.
    pub inputs: BTreeSet<String>,
    /// Whether these are values that were offered: what is read of them cannot be seen.
    pub offered: bool,
}

/// The context that there is to read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Offer<'a> {
    pub(crate) owner: &'a Owner,
    pub(crate) blueprint: &'a Blueprint,
    pub(crate) resource: &'a Resource,
    pub(crate) template: &'a Template,
    pub(crate) inputs: &'a [&'a Input],
}

impl Offer<'_> {
    fn params(&self) -> impl Iterator<Item = String> {
        let (template, blueprint) = (&self.template.params, &self.blueprint.params);
        let params = params::merge(
            template,
            blueprint,
            &self.resource.params,
            &self.owner.params,
        );
        params.into_iter().map(|(name, _)| name)
    }
}

/// Returns what rendering a template will read once its inputs are there.
///
/// Which values are read depends on no value, so it is known before there are any.
pub fn expected(
    owner: &Owner,
    blueprint: &Blueprint,
    resource: &Resource,
    template: &Template,
    inputs: &[&Input],
) -> Reads {
    Reads::of(Offer {
        owner,
        blueprint,
        resource,
        template,
        inputs,
    })
}

impl Reads {
    /// Returns what rendering the template reads of what it is offered.
    pub(crate) fn of(offer: Offer<'_>) -> Self {
        match offer.template.body {
            Body::Interpolated(_) => Self::at(&offer.template.places, offer),
            Body::Ytt(_) => Self::offered(offer),
            Body::Undecided => Self::default(),
        }
    }

    /// Returns what is read at these places of the context of a template.
    pub(crate) fn at<'p>(
        places: impl IntoIterator<Item = &'p FieldPath>,
        offer: Offer<'_>,
    ) -> Self {
        let mut reads = Self::default();
        for place in places {
            reads.look(place.segments(), offer);
        }
        reads
    }

    /// Returns all that is offered to a program that does not tell what it reads.
    ///
    /// The list of the owner's params is left out: each of them is offered by its name.
    fn offered(offer: Offer<'_>) -> Self {
        let mut reads = Self::at([&FieldPath::default()], offer);
        let spec = FieldPath::default().field("spec");
        reads.fields.remove(&spec);
        let members = offer.owner.object["spec"].as_object();
        let names = members.into_iter().flat_map(serde_json::Map::keys);
        let names = names.filter(|name| *name != "params");
        reads.fields.extend(names.map(|name| spec.field(name)));
        Self {
            offered: true,
            ..reads
        }
    }

    /// Tells whether nothing is read.
    pub fn is_empty(&self) -> bool {
        self.params.is_empty() && self.fields.is_empty() && self.inputs.is_empty()
    }

    /// Tells whether a field of the owner, or something that it is part of, is read.
    pub fn covers(&self, field: &FieldPath) -> bool {
        let mut above = std::iter::successors(Some(field.clone()), FieldPath::above);
        above.any(|above| self.fields.contains(&above))
    }

    /// Adds what another one read.
    pub fn extend(&mut self, other: Self) {
        self.params.extend(other.params);
        self.inputs.extend(other.inputs);
        self.offered |= other.offered;
        for field in other.fields {
            self.add_field(field);
        }
    }

    fn look(&mut self, place: &[Segment], offer: Offer<'_>) {
        let [Segment::Field(root), below @ ..] = place else {
            let roots = [
                "params",
                "workload",
                "sources",
                "images",
                "deployment",
                "configs",
            ];
            for root in roots {
                self.look(&[Segment::Field(root.to_owned())], offer);
            }
            return;
        };
        match root.as_str() {
            "params" => self.look_at_params(below, offer),
            "workload" | "deliverable" => self.look_at_owner(below),
            "sources" | "images" | "configs" => self.look_at_inputs(root, below, offer),
            "source" if is_name(below) => {}
            "source" => self.add_inputs("sources", None, offer),
            "image" => self.add_inputs("images", None, offer),
            "config" => self.add_inputs("configs", None, offer),
            "deployment" if is_name(below) => {}
            "deployment" => self.add_inputs(root, None, offer),
            _ => {}
        }
    }

    fn look_at_params(&mut self, below: &[Segment], offer: Offer<'_>) {
        match below {
            [Segment::Field(name), ..] => drop(self.params.insert(name.clone())),
            _ => self.params.extend(offer.params()),
        }
    }

    fn look_at_inputs(&mut self, list: &str, below: &[Segment], offer: Offer<'_>) {
        match below {
            [Segment::Field(_), field @ ..] if is_name(field) => {}
            [Segment::Field(name), ..] => self.add_inputs(list, Some(name), offer),
            _ => self.add_inputs(list, None, offer),
        }
    }

    fn add_inputs(&mut self, list: &str, name: Option<&str>, offer: Offer<'_>) {
        let read = offer.inputs.iter().filter(|input| {
            list_of(offer.blueprint, input) == list && name.is_none_or(|name| input.name == name)
        });
        self.inputs.extend(read.map(|input| input.producer.clone()));
    }

    pub(crate) fn look_at_owner(&mut self, below: &[Segment]) {
        let metadata = FieldPath::default().field("metadata");
        let named = |depth: usize| match below.get(depth) {
            Some(Segment::Field(name)) => Some(name.as_str()),
            _ => None,
        };
        match (named(0), named(1)) {
            (None, _) => {
                self.add_field(FieldPath::default().field("spec"));
                self.look_at_owner(metadata.segments());
            }
            (Some("metadata"), None) => {
                self.add_field(metadata.field("annotations"));
                self.add_field(metadata.field("labels"));
            }
            (Some("metadata"), Some(field)) if !is_content(field) => {}
            (Some("apiVersion" | "kind" | "status"), _) => {}
            _ => {
                // A list is one value: its items have no names.
                let names = below
                    .iter()
                    .take_while(|step| matches!(step, Segment::Field(_)));
                self.add_field(names.cloned().collect());
            }
        }
    }

    /// Takes away what another one reads too, and fields that share something with what it reads.
    pub(crate) fn remove(&mut self, other: &Self) {
        self.params.retain(|param| !other.params.contains(param));
        self.inputs.retain(|input| !other.inputs.contains(input));
        self.fields.retain(|field| {
            let mut others = other.fields.iter();
            !others.any(|other| other.starts_with(field) || field.starts_with(other))
        });
    }

    /// Adds a field, unless something is read that it is part of.
    pub(crate) fn add_field(&mut self, field: FieldPath) {
        if self.covers(&field) {
            return;
        }
        // In a sorted set, what is below a field follows it.
        let below = self.fields.range(&field..);
        let below = below.take_while(|read| read.starts_with(&field));
        for read in below.cloned().collect::<Vec<_>>() {
            self.fields.remove(&read);
        }
        self.fields.insert(field);
    }
}

/// Tells whether a field of the metadata is something that a person says about the owner.
///
/// The others tell which owner it is, and are the same as long as it is that one, or they change with
/// every write: an owner whose status lists them as inputs would never come to rest.
fn is_content(field: &str) -> bool {
    !matches!(
        field,
        "name"
            | "generateName"
            | "namespace"
            | "uid"
            | "creationTimestamp"
            | "selfLink"
            | "resourceVersion"
            | "managedFields"
    )
}

/// Returns the list of the context in which an input is: it is that of what its producer makes.
fn list_of(blueprint: &Blueprint, input: &Input) -> &'static str {
    let mut producers = blueprint.resources.iter();
    let producer = producers.find(|resource| resource.name == input.producer);
    let made = producer.and_then(|producer| InputKind::made_by(producer.template_kind));
    match (input.kind, made) {
        (InputKind::Deployment, None | Some(InputKind::Source)) => "deployment",
        (_, Some(made)) => made.field(),
        (kind, None) => kind.field(),
    }
}

/// Tells whether the name of an input is looked at, which the blueprint gave it.
fn is_name(below: &[Segment]) -> bool {
    matches!(below, [Segment::Field(field), ..] if field == "name")
}

#[cfg(test)]
mod tests {
    use pathline_kinds::carto::ClusterTemplate;
    use serde_json::{Value, json};

    use super::*;
    use crate::output::Output;
    use crate::owner::OwnerKind;
    use crate::stamp::Stamp;
    use crate::testing::{owner, supply_chain, template};

    /// Renders a template whose data are these, and returns what that read; twice, as it is foreseen.
    fn reads(data: &Value) -> Reads {
        let owner = owner(
            OwnerKind::Workload,
            json!({
                "metadata": {"name": "app", "resourceVersion": "5", "labels": {"a.b/c": "x"}},
                "spec": {
                    "params": [{"name": "debug", "value": "on"}, {"name": "size", "value": {"cpu": 1}}],
                    "env": [{"name": "A", "value": "1"}],
                    "source": {"git": {"url": "u", "ref": {"branch": "main"}}},
                },
                "status": {"observedGeneration": 1},
            }),
        );
        let blueprint = supply_chain(
            json!({"metadata": {"name": "chain"}, "spec": {"resources": [{
                "name": "build",
                "templateRef": {"kind": "ClusterTemplate", "name": "t"},
                "sources": [{"name": "code", "resource": "fetch"}, {"name": "tools", "resource": "get"}],
                "images": [{"name": "base", "resource": "pull"}],
                "configs": [{"name": "config", "resource": "configure"}],
            }]}}),
        );
        let template = template::<ClusterTemplate>(
            "ClusterTemplate",
            json!({"metadata": {"name": "t"}, "spec": {"template": {
                "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m"}, "data": data,
            }}}),
        );
        let source = |name: &str| Output::Source {
            url: json!(name),
            revision: json!("1"),
        };
        let outputs = [
            source("code"),
            source("tools"),
            Output::Image(json!("i")),
            Output::Config(json!({"a": 1})),
        ];
        let resource = &blueprint.resources[0];
        let inputs: Vec<(&Input, &Output)> = resource.inputs.iter().zip(&outputs).collect();
        let stamp = Stamp {
            owner: &owner,
            blueprint: &blueprint,
            resource,
            template: &template,
            inputs: &inputs,
        };
        let reads = stamp.render().unwrap().reads;
        let inputs: Vec<&Input> = resource.inputs.iter().collect();
        let expected = expected(&owner, &blueprint, resource, &template, &inputs);
        assert_eq!(reads, expected);
        reads
    }

    fn names(reads: &Reads) -> Vec<String> {
        let params = reads.params.iter().map(|name| format!("param:{name}"));
        let fields = reads.fields.iter().map(|path| format!("field:{path}"));
        let inputs = reads.inputs.iter().cloned();
        params.chain(fields).chain(inputs).collect()
    }

    #[test]
    fn what_a_template_reads_is_what_its_object_is_made_from() {
        const SETTABLE: [&str; 3] = [
            "field:metadata.annotations",
            "field:metadata.labels",
            "field:spec",
        ];
        let rows: &[(&str, &[&str])] = &[
            ("plain", &[]),
            ("$(params.debug)$", &["param:debug"]),
            ("$(params.size.cpu)$", &["param:size"]),
            ("$(params)$", &["param:debug", "param:size"]),
            ("$(sources.code.url)$", &["fetch"]),
            ("$(sources.code.name)$", &[]),
            ("$(sources)$", &["fetch", "get"]),
            ("$(image)$ $(images.base.image)$", &["pull"]),
            ("$(config.a)$", &["configure"]),
            ("$(deployment)$", &[]),
            ("$(labels)$", &[]),
            (
                "$(workload.spec.source.git.url)$",
                &["field:spec.source.git.url"],
            ),
            (
                "$(workload.spec.source.git.ref)$",
                &["field:spec.source.git.ref"],
            ),
            ("$(workload.spec.image)$", &["field:spec.image"]),
            ("$(workload.spec.env[0].value)$", &["field:spec.env"]),
            (
                "$(workload.spec.env[?(@.name=='A')].value)$",
                &["field:spec.env"],
            ),
            (
                "$(workload.spec.source.git.url)$ $(deliverable.spec.source.git)$",
                &["field:spec.source.git"],
            ),
            (
                r"$(workload.metadata.labels['a\.b/c'])$",
                &["field:metadata.labels.a.b/c"],
            ),
            ("$(workload.metadata.name)$", &[]),
            ("$(workload.metadata.resourceVersion)$", &[]),
            ("$(workload.metadata)$", &SETTABLE[..2]),
            ("$(workload)$", &SETTABLE),
            ("$(workload.status.observedGeneration)$", &[]),
        ];
        for (text, expected) in rows {
            assert_eq!(names(&reads(&json!({"k": text}))), *expected, "{text}");
        }
    }

    #[test]
    fn the_largest_field_that_is_read_is_named_once() {
        let path = |text: &str| {
            text.split('.')
                .fold(FieldPath::default(), |path, name| path.field(name))
        };
        let rows: &[(&[&str], &[&str])] = &[
            (&["a.b", "a.c", "a"], &["a"]),
            (&["a", "a.b"], &["a"]),
            (&["a.b", "ab", "a.b.c"], &["a.b", "ab"]),
            (&["a.b.d", "a.b.c", "a.bc", "a.b"], &["a.b", "a.bc"]),
        ];
        for (added, expected) in rows {
            let mut reads = Reads::default();
            for field in *added {
                reads.add_field(path(field));
            }
            let names: Vec<String> = reads.fields.iter().map(FieldPath::to_string).collect();
            assert_eq!(names, *expected);
        }
        let mut reads = Reads::default();
        reads.add_field(path("a.b"));
        assert!(reads.covers(&path("a.b")) && reads.covers(&path("a.b.c")));
        assert!(!reads.covers(&path("a")) && !reads.covers(&path("a.bc")));
    }
}
