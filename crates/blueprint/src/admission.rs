//! May this object be stored? The rules of Cartographer's webhooks, in its order and its words.
//!
//! One function answers for the embedded API server, for the webhook on real clusters and for the
//! linter. Admission shows the first refusal, as Cartographer does; the linter shows them all.
//! A CRD's schema is checked before ([`misfits`]): what it refuses (a missing name, an unknown kind of
//! template) is not repeated by [`admit`], except that what cannot be read at all is [`Rule::Malformed`].

mod blueprint;
mod node;
mod selector;
mod template;
mod tracing;

use pathline_jsonpath::FieldPath;
use pathline_kinds::carto::API_VERSION;
use serde_json::Value;

pub use crate::shape::{Misfit, MisfitKind, misfits};
use crate::template::TemplateKind;
use node::Node;

/// One thing that is wrong with an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The rule that is broken.
    pub rule: Rule,
    /// The severity: whether the object may be stored all the same.
    pub severity: Severity,
    /// The message of admission, word by word.
    pub message: String,
    /// The value that breaks the rule.
    pub path: FieldPath,
}

/// The consequence of a broken rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The object may be stored; whoever writes it is told.
    Warning,
    /// The object may not be stored.
    Error,
}

/// The rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Rule {
    /// The object cannot be read as what its kind says.
    Malformed,
    /// A blueprint says which owners it is for.
    NoBlueprintSelector,
    /// A param of a blueprint has one of `value` and `default`.
    Param,
    /// Labels, operators, values and keys of selectors are such as can be evaluated.
    BrokenSelector,
    /// Resources have different names.
    DuplicateResource,
    /// Options of a resource stamp different templates.
    DuplicateTemplate,
    /// A resource has one template, or at least two options.
    TemplateRef,
    /// At most one option hands an input on.
    PassThroughCount,
    /// An option stamps a template or hands an input on.
    OptionTarget,
    /// Selectors of options and resources ask for something.
    EmptySelector,
    /// Options of a resource have different selectors.
    DuplicateSelector,
    /// An input that is handed on is one of the resource or the option, of the kind the resource
    /// gives.
    UnknownPassThrough,
    /// Only resources that give something can hand something on.
    PassThroughKind,
    /// A deployment template takes in one deployment and no configuration; no other takes a deployment.
    DeploymentInput,
    /// Inputs come from resources of the blueprint.
    UnknownResource,
    /// Inputs come from resources that give what they are taken for.
    KindMismatch,
    /// A template knows one input by one name.
    DuplicateInput,
    /// No resource waits for itself.
    Cycle,
    /// A template has one of `template` and `ytt`.
    TemplateBody,
    /// The object that a template stamps has a kind.
    TemplateObject,
    /// The object that a template stamps has no namespace of its own.
    TemplateNamespace,
    /// A health rule is one of three, and complete.
    HealthRule,
    /// Only objects that are never changed have a retention policy.
    Retention,
    /// A deployment template says in one of two ways when it has deployed.
    Observed,
    /// The rules of tracing can be evaluated, and prove something.
    Tracing,
    /// The object that a Runnable makes has a spec.
    RunTemplateSpec,
}

impl Rule {
    /// Returns the name of the rule, by which programs know it.
    pub fn code(self) -> &'static str {
        match self {
            Self::Malformed => "malformed",
            Self::NoBlueprintSelector => "no-blueprint-selector",
            Self::Param => "param",
            Self::BrokenSelector => "broken-selector",
            Self::DuplicateResource => "duplicate-resource",
            Self::DuplicateTemplate => "duplicate-template",
            Self::TemplateRef => "template-ref",
            Self::PassThroughCount => "pass-through-count",
            Self::OptionTarget => "option-target",
            Self::EmptySelector => "empty-selector",
            Self::DuplicateSelector => "duplicate-selector",
            Self::UnknownPassThrough => "unknown-pass-through",
            Self::PassThroughKind => "pass-through-kind",
            Self::DeploymentInput => "deployment-input",
            Self::UnknownResource => "unknown-resource",
            Self::KindMismatch => "kind-mismatch",
            Self::DuplicateInput => "duplicate-input",
            Self::Cycle => "cycle",
            Self::TemplateBody => "template-body",
            Self::TemplateObject => "template-object",
            Self::TemplateNamespace => "template-namespace",
            Self::HealthRule => "health-rule",
            Self::Retention => "retention-policy",
            Self::Observed => "observed",
            Self::Tracing => "artifact-tracing",
            Self::RunTemplateSpec => "run-template-spec",
        }
    }
}

/// Returns everything that is wrong with an object, in the order in which the rules are asked.
///
/// Kinds without rules are never refused.
///
/// ```
/// use pathline_blueprint::admission;
///
/// let template = serde_json::json!({"kind": "ClusterTemplate", "metadata": {"name": "t"}, "spec": {}});
/// let refusals = admission::admit(&template);
/// let first = admission::first(&refusals).expect("there is nothing to stamp");
/// assert_eq!(first.message, "invalid template: must specify one of template or ytt, found neither");
/// ```
pub fn admit(object: &Value) -> Vec<Refusal> {
    let root = Node::root(object);
    let kind = match root.text("apiVersion") {
        Some(API_VERSION) | None => root.text("kind").unwrap_or_default(),
        Some(_) => return Vec::new(),
    };
    match kind {
        "ClusterSupplyChain" | "ClusterDelivery" => blueprint::blueprint(object),
        "ClusterRunTemplate" => template::run_template(&root),
        _ => match TemplateKind::ALL
            .into_iter()
            .find(|known| known.name() == kind)
        {
            Some(kind) => template::template(kind, &root),
            None => Vec::new(),
        },
    }
}

/// Returns the refusal that admission answers with, if the object may not be stored.
pub fn first(refusals: &[Refusal]) -> Option<&Refusal> {
    refusals
        .iter()
        .find(|refusal| refusal.severity == Severity::Error)
}
