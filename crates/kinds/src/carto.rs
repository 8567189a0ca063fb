//! The kinds of `carto.run/v1alpha1`, as they are written in YAML and stored in a cluster.
//!
//! These types carry fields and schemas, no rules; the crate of blueprints turns them into what the
//! rules work on.

mod blueprint;
mod blueprint_kinds;
mod condition;
mod lineage;
mod owner;
mod owner_status;
mod path;
mod runnable;
mod selector;
mod status;
mod template;
mod tracing;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::CustomResourceExt;

use crate::schema;

pub use blueprint::{
    BlueprintParam, BlueprintResource, BlueprintSpec, DeploymentReference, ResourceReference,
    ServiceAccountRef, TemplateOption, TemplateRef, TemplateRefKind,
};
pub use blueprint_kinds::{
    ClusterDelivery, ClusterDeliverySpec, ClusterSupplyChain, ClusterSupplyChainSpec,
};
pub use condition::{Condition, ConditionStatus};
pub use lineage::{InputStatus, Live, MadeOf};
pub use owner::{
    Deliverable, DeliverableSpec, GitRef, GitSource, OwnerParam, ServiceClaim,
    ServiceClaimReference, Source, Workload, WorkloadBuild, WorkloadSpec,
};
pub use owner_status::OwnerStatus;
pub use path::{PathEntry, PathState};
pub use runnable::{
    ClusterRunTemplate, ClusterRunTemplateSpec, RunTemplateRef, Runnable, RunnableSelector,
    RunnableSpec, RunnableStatus, SelectedResource,
};
pub use selector::{
    FieldSelectorRequirement, LabelSelectorRequirement, LegacySelector, Operator, Selector,
};
pub use status::{
    BlueprintStatus, ObjectReference, OutputStatus, ProducerReference, ResourceStatus,
    StampedReference,
};
pub use template::{
    ClusterConfigTemplate, ClusterConfigTemplateSpec, ClusterDeploymentTemplate,
    ClusterDeploymentTemplateSpec, ClusterImageTemplate, ClusterImageTemplateSpec,
    ClusterSourceTemplate, ClusterSourceTemplateSpec, ClusterTemplate, ClusterTemplateSpec,
    CompletionCondition, ConditionRequirement, HealthFieldRequirement, HealthMatchRule, HealthRule,
    Lifecycle, MultiMatchRule, ObservedCompletion, ObservedMatch, RetentionPolicy, TemplateParam,
    TemplateSpec,
};
pub use tracing::{ArtifactTracing, CorrelationRule, LiveSelector};

/// The API group of supply chains.
pub const GROUP: &str = "carto.run";

/// The version of the API group, with it.
pub const API_VERSION: &str = "carto.run/v1alpha1";

/// Returns the definitions of all kinds, owners first, then blueprints, templates and runs.
pub fn crds() -> Vec<CustomResourceDefinition> {
    let mut crds = [
        Workload::crd(),
        Deliverable::crd(),
        schema::without(
            ClusterSupplyChain::crd(),
            "deployment",
            "ClusterDeploymentTemplate",
        ),
        schema::without(ClusterDelivery::crd(), "images", "ClusterImageTemplate"),
        ClusterSourceTemplate::crd(),
        ClusterImageTemplate::crd(),
        ClusterConfigTemplate::crd(),
        ClusterDeploymentTemplate::crd(),
        ClusterTemplate::crd(),
        Runnable::crd(),
        ClusterRunTemplate::crd(),
    ]
    .map(schema::as_upstream);
    let [workload, deliverable, ..] = &mut crds;
    schema::allow_null_params(workload);
    schema::allow_null_params(deliverable);
    schema::adapt_owner_status(workload, "deliveryRef", "workload", "supply chain");
    schema::adapt_owner_status(deliverable, "supplyChainRef", "deliverable", "delivery");
    crds.into()
}
