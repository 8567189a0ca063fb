//! From what is written to what the rules work on.

use std::collections::HashMap;

use pathline_kinds::carto::{
    self, BlueprintResource, BlueprintSpec, ClusterDelivery, ClusterSupplyChain, ResourceReference,
    TemplateRefKind,
};
use serde_json::Value;

use super::{Blueprint, Input, InputKind, Resource, TemplateOption, Templates};
use crate::owner::OwnerKind;
use crate::template::TemplateKind;

/// Says why an object is no blueprint.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// It is of another kind.
    #[error("a `{0}` is not a blueprint; give a ClusterSupplyChain or a ClusterDelivery")]
    OtherKind(String),
    /// It is not shaped as its kind is.
    #[error("the {kind} cannot be read")]
    Shape {
        /// The kind it says it is.
        kind: &'static str,
        /// The fault in it.
        #[source]
        source: serde_json::Error,
    },
}

impl Blueprint {
    /// Reads a supply chain or a delivery from its JSON, loosely (see [`pathline_kinds::lenient`]).
    ///
    /// # Errors
    ///
    /// Fails if the object is of another kind, or does not have the types of its kind.
    pub fn read(object: Value) -> Result<Self, ReadError> {
        let kind = object["kind"].as_str().unwrap_or_default();
        let kind = OwnerKind::ALL
            .into_iter()
            .find(|known| known.blueprint_kind() == kind)
            .ok_or_else(|| ReadError::OtherKind(kind.to_owned()))?;
        let read = match kind {
            OwnerKind::Workload => {
                serde_json::from_value::<ClusterSupplyChain>(object).map(Self::from)
            }
            OwnerKind::Deliverable => {
                serde_json::from_value::<ClusterDelivery>(object).map(Self::from)
            }
        };
        read.map_err(|source| ReadError::Shape {
            kind: kind.blueprint_noun(),
            source,
        })
    }

    fn new(owner_kind: OwnerKind, name: Option<String>, spec: BlueprintSpec) -> Self {
        let resources = spec.resources.into_iter();
        let mut blueprint = Self {
            owner_kind,
            name: name.unwrap_or_default(),
            selector: spec.selector.into(),
            params: spec.params.unwrap_or_default(),
            service_account: spec.service_account_ref,
            resources: resources
                .map(|written| resource(owner_kind, written))
                .collect(),
        };
        if blueprint.is_multi_path() {
            blueprint.offer_as_made();
        }
        blueprint
    }

    /// Offers every input under the kind its producer makes. A deployment has no name under which it
    /// could be offered as anything else.
    fn offer_as_made(&mut self) {
        let made: HashMap<String, InputKind> = self
            .resources
            .iter()
            .filter_map(|resource| {
                let kind = InputKind::made_by(resource.template_kind)?;
                Some((resource.name.clone(), kind))
            })
            .collect();
        for resource in &mut self.resources {
            let of_options = match &mut resource.templates {
                Templates::One(_) => &mut [][..],
                Templates::Options(options) => options,
            };
            let of_options = of_options.iter_mut().flat_map(|option| &mut option.inputs);
            for input in resource.inputs.iter_mut().chain(of_options) {
                if input.declared != InputKind::Deployment
                    && let Some(kind) = made.get(&input.producer)
                {
                    input.kind = *kind;
                }
            }
        }
    }
}

impl From<ClusterSupplyChain> for Blueprint {
    fn from(chain: ClusterSupplyChain) -> Self {
        Self::new(
            OwnerKind::Workload,
            chain.metadata.name,
            chain.spec.blueprint,
        )
    }
}

impl From<ClusterDelivery> for Blueprint {
    fn from(delivery: ClusterDelivery) -> Self {
        Self::new(
            OwnerKind::Deliverable,
            delivery.metadata.name,
            delivery.spec.blueprint,
        )
    }
}

impl From<TemplateRefKind> for TemplateKind {
    fn from(kind: TemplateRefKind) -> Self {
        match kind {
            TemplateRefKind::ClusterSourceTemplate => Self::Source,
            TemplateRefKind::ClusterImageTemplate => Self::Image,
            TemplateRefKind::ClusterDeploymentTemplate => Self::Deployment,
            TemplateRefKind::ClusterTemplate => Self::Plain,
            TemplateRefKind::ClusterConfigTemplate => Self::Config,
        }
    }
}

fn resource(owner_kind: OwnerKind, written: BlueprintResource) -> Resource {
    let deployment = written.deployment.map(|deployment| {
        vec![ResourceReference {
            name: String::new(),
            resource: deployment.resource,
        }]
    });
    let template = written.template_ref;
    Resource {
        name: written.name,
        template_kind: template.kind.into(),
        selector: written.selector,
        templates: match template.name {
            Some(name) => Templates::One(name),
            None => Templates::Options(
                template
                    .options
                    .into_iter()
                    .flatten()
                    .map(|written| option(owner_kind, written))
                    .collect(),
            ),
        },
        params: written.params.unwrap_or_default(),
        inputs: inputs(
            owner_kind,
            [
                (InputKind::Source, written.sources),
                (InputKind::Image, written.images),
                (InputKind::Deployment, deployment),
                (InputKind::Config, written.configs),
            ],
        ),
    }
}

fn option(owner_kind: OwnerKind, written: carto::TemplateOption) -> TemplateOption {
    TemplateOption {
        name: written.name,
        pass_through: written.pass_through,
        selector: written.selector,
        inputs: inputs(
            owner_kind,
            [
                (InputKind::Source, written.sources),
                (InputKind::Image, written.images),
                (InputKind::Config, written.configs),
            ],
        ),
    }
}

/// Returns the inputs a blueprint of the kind may have; the others are unknown fields there, which an
/// API server drops as well.
fn inputs<const N: usize>(
    owner_kind: OwnerKind,
    declared: [(InputKind, Option<Vec<ResourceReference>>); N],
) -> Vec<Input> {
    let foreign = match owner_kind {
        OwnerKind::Workload => InputKind::Deployment,
        OwnerKind::Deliverable => InputKind::Image,
    };
    declared
        .into_iter()
        .filter(|(kind, _)| *kind != foreign)
        .flat_map(|(kind, references)| references.into_iter().flatten().map(move |one| (kind, one)))
        .map(|(kind, ResourceReference { name, resource })| Input {
            kind,
            declared: kind,
            name,
            producer: resource,
        })
        .collect()
}
