//! ClusterSupplyChain and ClusterDelivery as one thing: resources, and what flows between them.

mod read;

use pathline_kinds::carto::{BlueprintParam, Selector, ServiceAccountRef};

use crate::owner::OwnerKind;
use crate::template::TemplateKind;

pub use read::ReadError;

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
    /// The owners it is for, if it says; one that asks for nothing is for all as well.
    pub selector: Option<Selector>,
    /// Its one template, or those to choose from.
    pub templates: Templates,
    /// Parameters for this resource.
    pub params: Vec<BlueprintParam>,
    /// The inputs that it takes whichever option is chosen: sources, images, the deployment,
    /// configs.
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

/// One of several templates of a resource.
#[derive(Debug, Clone, PartialEq)]
pub struct TemplateOption {
    /// The template to stamp, unless an input is handed on.
    pub name: Option<String>,
    /// The input to hand on instead of stamping.
    pub pass_through: Option<String>,
    /// The owners it is for, if it says. One that asks for nothing is not the same as none.
    pub selector: Option<Selector>,
    /// The inputs that it takes beside those of its resource.
    pub inputs: Vec<Input>,
}

/// An input that one resource takes from another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Input {
    /// The kind as which it is offered to the template. In a multi-path blueprint this is what its
    /// producer makes.
    pub kind: InputKind,
    /// The kind as which it is declared.
    pub declared: InputKind,
    /// The name under which the template knows it; empty for the deployment.
    pub name: String,
    /// The resource that produces it.
    pub producer: String,
}

/// The kind as which an input is taken. Status lists inputs in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
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

    /// Returns what templates of a kind make for others. A deployment gives on the source it deployed.
    pub fn made_by(kind: TemplateKind) -> Option<Self> {
        match kind {
            TemplateKind::Source | TemplateKind::Deployment => Some(Self::Source),
            TemplateKind::Image => Some(Self::Image),
            TemplateKind::Config => Some(Self::Config),
            TemplateKind::Plain => None,
        }
    }
}

impl Blueprint {
    /// Returns what conditions call it, as Cartographer does: `supply chain [NAME]` or `delivery [NAME]`.
    pub fn title(&self) -> String {
        format!("{} [{}]", self.owner_kind.blueprint_noun(), self.name)
    }

    /// Returns whether it has more than one path: then resources may be skipped, and options are a
    /// priority list instead of a contest.
    pub fn is_multi_path(&self) -> bool {
        self.resources.iter().any(|resource| {
            resource.selector.is_some()
                || resource
                    .options()
                    .iter()
                    .any(|option| option.selector.is_none() || !option.inputs.is_empty())
        })
    }

    /// Returns the resource of this name.
    pub fn resource(&self, name: &str) -> Option<&Resource> {
        self.resources.iter().find(|resource| resource.name == name)
    }

    /// Returns every template the blueprint may stamp, with the resource that names it.
    pub fn templates(&self) -> impl Iterator<Item = (&Resource, &str)> {
        self.resources.iter().flat_map(|resource| {
            let one = match &resource.templates {
                Templates::One(name) => Some(name.as_str()),
                Templates::Options(_) => None,
            };
            let several = resource.options().iter();
            let several = several.filter_map(|option| option.name.as_deref());
            one.into_iter()
                .chain(several)
                .map(move |name| (resource, name))
        })
    }
}

impl Resource {
    /// Returns the options to choose from; none if there is but one template.
    pub fn options(&self) -> &[TemplateOption] {
        match &self.templates {
            Templates::One(_) => &[],
            Templates::Options(options) => options,
        }
    }

    /// Returns its inputs, and then those of each of its options.
    pub fn all_inputs(&self) -> impl Iterator<Item = &Input> {
        let of_options = self.options().iter().flat_map(|option| &option.inputs);
        self.inputs.iter().chain(of_options)
    }
}

impl TemplateOption {
    /// Returns the name by which messages call it: its template, or the input it hands on.
    pub fn label(&self) -> &str {
        let label = self.name.as_deref().or(self.pass_through.as_deref());
        label.unwrap_or_default()
    }
}
