//! ClusterSupplyChain and ClusterDelivery as one thing: resources, and what flows between them.

use crate::model::{
    BlueprintParam, ClusterDelivery, ClusterSupplyChain, DeliveryResource, DeliveryTemplateKind,
    ResourceReference, Selector, ServiceAccountRef, SupplyChainResource, SupplyChainTemplateKind,
    TemplateOption,
};
use crate::owner::OwnerKind;
use crate::template::TemplateKind;

/// One blueprint, of either kind.
#[derive(Debug, Clone, PartialEq)]
pub struct Blueprint {
    /// The kind of owners it is for.
    pub owner_kind: OwnerKind,
    /// Its name.
    pub name: String,
    /// The owners it is for.
    pub selector: Selector,
    /// Parameters for all resources.
    pub params: Vec<BlueprintParam>,
    /// The service account for owners that name none.
    pub service_account: Option<ServiceAccountRef>,
    /// The resources, in declared order.
    pub resources: Vec<Resource>,
}

/// One resource of a blueprint.
#[derive(Debug, Clone, PartialEq)]
pub struct Resource {
    /// Its name, unique in the blueprint.
    pub name: String,
    /// The kind of its template or templates.
    pub template_kind: TemplateKind,
    /// Its one template, or those to choose from.
    pub templates: Templates,
    /// Parameters for this resource.
    pub params: Vec<BlueprintParam>,
    /// What it takes in: sources, images, the deployment, configs.
    pub inputs: Vec<Input>,
}

/// The template of a resource, or several to choose from.
#[derive(Debug, Clone, PartialEq)]
pub enum Templates {
    /// Always this one.
    One(String),
    /// One of these, by the owner.
    Options(Vec<TemplateOption>),
}

/// What one resource takes in from another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Input {
    /// What it is taken as.
    pub kind: InputKind,
    /// The name under which the template knows it; empty for the deployment.
    pub name: String,
    /// The resource that produces it.
    pub producer: String,
}

/// What an input is taken as. Status lists inputs in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum InputKind {
    /// A url and a revision.
    Source,
    /// An image.
    Image,
    /// The source to deploy.
    Deployment,
    /// A configuration.
    Config,
}

impl InputKind {
    /// Returns the field of a resource in which such inputs are declared.
    pub fn field(self) -> &'static str {
        match self {
            Self::Source => "sources",
            Self::Image => "images",
            Self::Deployment => "deployment",
            Self::Config => "configs",
        }
    }
}

impl Blueprint {
    /// Returns the resource of this name.
    pub fn resource(&self, name: &str) -> Option<&Resource> {
        self.resources.iter().find(|resource| resource.name == name)
    }

    /// Returns every template the blueprint may stamp, with the resource that names it.
    pub fn templates(&self) -> impl Iterator<Item = (&Resource, &str)> {
        self.resources.iter().flat_map(|resource| {
            let names: Vec<&str> = match &resource.templates {
                Templates::One(name) => vec![name],
                Templates::Options(options) => options
                    .iter()
                    .filter_map(|option| option.name.as_deref())
                    .collect(),
            };
            names.into_iter().map(move |name| (resource, name))
        })
    }
}

impl From<ClusterSupplyChain> for Blueprint {
    fn from(chain: ClusterSupplyChain) -> Self {
        Self {
            owner_kind: OwnerKind::Workload,
            name: chain.metadata.name.unwrap_or_default(),
            selector: chain.spec.selector.into(),
            params: chain.spec.params.unwrap_or_default(),
            service_account: chain.spec.service_account_ref,
            resources: chain
                .spec
                .resources
                .into_iter()
                .map(Resource::from)
                .collect(),
        }
    }
}

impl From<ClusterDelivery> for Blueprint {
    fn from(delivery: ClusterDelivery) -> Self {
        Self {
            owner_kind: OwnerKind::Deliverable,
            name: delivery.metadata.name.unwrap_or_default(),
            selector: delivery.spec.selector.into(),
            params: delivery.spec.params.unwrap_or_default(),
            service_account: delivery.spec.service_account_ref,
            resources: delivery
                .spec
                .resources
                .into_iter()
                .map(Resource::from)
                .collect(),
        }
    }
}

impl From<SupplyChainResource> for Resource {
    fn from(resource: SupplyChainResource) -> Self {
        let template = resource.template_ref;
        Self {
            name: resource.name,
            template_kind: match template.kind {
                SupplyChainTemplateKind::ClusterSourceTemplate => TemplateKind::Source,
                SupplyChainTemplateKind::ClusterImageTemplate => TemplateKind::Image,
                SupplyChainTemplateKind::ClusterTemplate => TemplateKind::Plain,
                SupplyChainTemplateKind::ClusterConfigTemplate => TemplateKind::Config,
            },
            templates: templates(template.name, template.options),
            params: resource.params.unwrap_or_default(),
            inputs: [
                inputs(InputKind::Source, resource.sources),
                inputs(InputKind::Image, resource.images),
                inputs(InputKind::Config, resource.configs),
            ]
            .concat(),
        }
    }
}

impl From<DeliveryResource> for Resource {
    fn from(resource: DeliveryResource) -> Self {
        let template = resource.template_ref;
        let deployment = resource.deployment.map(|deployment| ResourceReference {
            name: String::new(),
            resource: deployment.resource,
        });
        Self {
            name: resource.name,
            template_kind: match template.kind {
                DeliveryTemplateKind::ClusterSourceTemplate => TemplateKind::Source,
                DeliveryTemplateKind::ClusterDeploymentTemplate => TemplateKind::Deployment,
                DeliveryTemplateKind::ClusterTemplate => TemplateKind::Plain,
                DeliveryTemplateKind::ClusterConfigTemplate => TemplateKind::Config,
            },
            templates: templates(template.name, template.options),
            params: resource.params.unwrap_or_default(),
            inputs: [
                inputs(InputKind::Source, resource.sources),
                inputs(
                    InputKind::Deployment,
                    deployment.map(|reference| vec![reference]),
                ),
                inputs(InputKind::Config, resource.configs),
            ]
            .concat(),
        }
    }
}

fn templates(name: Option<String>, options: Option<Vec<TemplateOption>>) -> Templates {
    name.map_or_else(
        || Templates::Options(options.unwrap_or_default()),
        Templates::One,
    )
}

fn inputs(kind: InputKind, references: Option<Vec<ResourceReference>>) -> Vec<Input> {
    let references = references.unwrap_or_default().into_iter();
    references
        .map(|ResourceReference { name, resource }| Input {
            kind,
            name,
            producer: resource,
        })
        .collect()
}
