//! The five kinds of templates as one thing.

use std::collections::BTreeSet;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use pathline_jsonpath::FieldPath;
use pathline_kinds::carto::{
    ArtifactTracing, ClusterConfigTemplate, ClusterDeploymentTemplate, ClusterImageTemplate,
    ClusterSourceTemplate, ClusterTemplate, HealthRule, Lifecycle, ObservedCompletion,
    ObservedMatch, RetentionPolicy, TemplateParam, TemplateSpec,
};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::evaluate;
use crate::interpolate;
use crate::runs;

/// The kinds of templates, by what they give.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TemplateKind {
    /// ClusterSourceTemplate: gives a url and a revision.
    Source,
    /// ClusterImageTemplate: gives an image.
    Image,
    /// ClusterConfigTemplate: gives a configuration.
    Config,
    /// ClusterDeploymentTemplate: gives on what it has deployed.
    Deployment,
    /// ClusterTemplate: gives nothing.
    Plain,
}

impl TemplateKind {
    /// Every kind.
    pub const ALL: [Self; 5] = [
        Self::Source,
        Self::Image,
        Self::Config,
        Self::Deployment,
        Self::Plain,
    ];

    /// Returns the kind as the API spells it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Source => "ClusterSourceTemplate",
            Self::Image => "ClusterImageTemplate",
            Self::Config => "ClusterConfigTemplate",
            Self::Deployment => "ClusterDeploymentTemplate",
            Self::Plain => "ClusterTemplate",
        }
    }
}

/// One template, of any kind.
#[derive(Debug, Clone, PartialEq)]
pub struct Template {
    /// Its name.
    pub name: String,
    /// Its generation, if it is stored in a cluster.
    pub generation: Option<i64>,
    /// The body that is stamped.
    pub body: Body,
    /// The paths at which the body reads values, known once and for all; of no use for ytt.
    pub(crate) places: BTreeSet<FieldPath>,
    /// Parameters with their defaults.
    pub params: Vec<TemplateParam>,
    /// The rule by which the stamped object is healthy, if there is one.
    pub health_rule: Option<HealthRule>,
    /// The lifecycle: whether the stamped object is changed or replaced by a new one.
    pub lifecycle: Lifecycle,
    /// The number of finished runs that are kept, if each change makes a new one.
    pub retention: RetentionPolicy,
    /// The rules that tell which inputs an output was made from.
    pub tracing: ArtifactTracing,
    /// The paths that are read from the stamped object; the kind of the template is the kind of
    /// this.
    pub output: OutputRule,
}

/// The body of a template, which is stamped.
#[derive(Debug, Clone, PartialEq)]
pub enum Body {
    /// An object with `$(...)$` in it.
    Interpolated(Value),
    /// The text of a ytt template.
    Ytt(String),
    /// Neither or both, which a server with admission would have refused.
    Undecided,
}

/// The paths that are read from the stamped object.
#[derive(Debug, Clone, PartialEq)]
pub enum OutputRule {
    /// A url and a revision, at these paths.
    Source {
        /// The path of the url.
        url: String,
        /// The path of the revision.
        revision: String,
    },
    /// An image, at this path.
    Image(String),
    /// A configuration, at this path.
    Config(String),
    /// The deployment that was taken in, once these pairs of paths are equal.
    Matches(Vec<ObservedMatch>),
    /// The deployment that was taken in, once the object says it is complete.
    Completion(ObservedCompletion),
    /// Nothing.
    Nothing,
}

impl Template {
    /// Reads a template of a kind from its object.
    ///
    /// # Errors
    /// Fails if the object is no template of this kind.
    pub fn read(kind: TemplateKind, object: Value) -> Result<Self, serde_json::Error> {
        fn read<T: DeserializeOwned + Into<Template>>(
            object: Value,
        ) -> Result<Template, serde_json::Error> {
            serde_json::from_value::<T>(object).map(Into::into)
        }
        match kind {
            TemplateKind::Source => read::<ClusterSourceTemplate>(object),
            TemplateKind::Image => read::<ClusterImageTemplate>(object),
            TemplateKind::Config => read::<ClusterConfigTemplate>(object),
            TemplateKind::Deployment => read::<ClusterDeploymentTemplate>(object),
            TemplateKind::Plain => read::<ClusterTemplate>(object),
        }
    }

    /// Returns the kind of the template.
    pub fn kind(&self) -> TemplateKind {
        match self.output {
            OutputRule::Source { .. } => TemplateKind::Source,
            OutputRule::Image(_) => TemplateKind::Image,
            OutputRule::Config(_) => TemplateKind::Config,
            OutputRule::Matches(_) | OutputRule::Completion(_) => TemplateKind::Deployment,
            OutputRule::Nothing => TemplateKind::Plain,
        }
    }

    /// Returns the generation that a stamped object says was observed, at its declared or usual place.
    pub fn observed_generation(&self, object: &Value) -> Option<i64> {
        match &self.tracing.observed_generation_path {
            Some(path) => evaluate::value(path, object).ok()?.as_i64(),
            None => object.pointer("/status/observedGeneration")?.as_i64(),
        }
    }

    /// Tells whether it vouches for the observed generation: once that is the object's generation, the
    /// outputs are of that generation.
    pub fn declares_observed_generation(&self) -> bool {
        self.tracing.observed_generation_path.is_some()
            || matches!(self.output, OutputRule::Completion(_))
    }

    fn new(metadata: ObjectMeta, spec: TemplateSpec, output: OutputRule) -> Self {
        let body = match (spec.template, spec.ytt) {
            (Some(template), None) => Body::Interpolated(template),
            (None, Some(ytt)) => Body::Ytt(ytt),
            (None, None) | (Some(_), Some(_)) => Body::Undecided,
        };
        Self {
            name: metadata.name.unwrap_or_default(),
            generation: metadata.generation,
            places: match &body {
                // With a tag that is no path it is never rendered.
                Body::Interpolated(body) => interpolate::places(body).unwrap_or_default(),
                Body::Ytt(_) | Body::Undecided => BTreeSet::new(),
            },
            body,
            params: spec.params.unwrap_or_default(),
            health_rule: spec
                .health_rule
                .or_else(|| runs::default_rule(spec.lifecycle)),
            lifecycle: spec.lifecycle,
            retention: spec.retention_policy.unwrap_or_default(),
            tracing: spec.artifact_tracing.unwrap_or_default(),
            output,
        }
    }
}

impl From<ClusterSourceTemplate> for Template {
    fn from(template: ClusterSourceTemplate) -> Self {
        let spec = template.spec;
        let output = OutputRule::Source {
            url: spec.url_path,
            revision: spec.revision_path,
        };
        Self::new(template.metadata, spec.template, output)
    }
}

impl From<ClusterImageTemplate> for Template {
    fn from(template: ClusterImageTemplate) -> Self {
        let output = OutputRule::Image(template.spec.image_path);
        Self::new(template.metadata, template.spec.template, output)
    }
}

impl From<ClusterConfigTemplate> for Template {
    fn from(template: ClusterConfigTemplate) -> Self {
        let output = OutputRule::Config(template.spec.config_path);
        Self::new(template.metadata, template.spec.template, output)
    }
}

impl From<ClusterDeploymentTemplate> for Template {
    fn from(template: ClusterDeploymentTemplate) -> Self {
        let spec = template.spec;
        let output = match spec.observed_completion {
            Some(completion) => OutputRule::Completion(completion),
            None => OutputRule::Matches(spec.observed_matches.unwrap_or_default()),
        };
        Self::new(template.metadata, spec.template, output)
    }
}

impl From<ClusterTemplate> for Template {
    fn from(template: ClusterTemplate) -> Self {
        Self::new(
            template.metadata,
            template.spec.template,
            OutputRule::Nothing,
        )
    }
}
