//! The objects of a resource that stay when it is written.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use pathline_blueprint::stamp::{LIFECYCLE_LABEL, TEMPLATE_ANNOTATION};
use pathline_kinds::carto::StampedReference;

/// The objects that are retained of those that a resource stamped so far.
#[derive(Debug, Clone, PartialEq)]
pub enum Retain {
    /// None: the resource stamps nothing.
    Nothing,
    /// This one: it takes the place of all others.
    One(StampedReference),
    /// All runs of this template, given as `Kind/name`; how many are kept is another matter.
    Runs(String),
    /// All: the resource was not written this time, so nothing is said about them.
    Everything,
}

impl Retain {
    /// Tells whether an object of an API resource, given as `plural.group`, stays.
    pub fn retains(&self, api_resource: &str, object: &ObjectMeta) -> bool {
        match self {
            Self::Nothing => false,
            Self::Everything => true,
            Self::Runs(template) => is_run_of(template, object),
            // One object may be watched in several versions.
            Self::One(reference) => {
                reference.resource.as_deref() == Some(api_resource)
                    && reference.namespace == object.namespace
                    && reference.name == object.name
            }
        }
    }
}

/// Tells whether an object is a run of a template, given as `Kind/name`.
pub fn is_run_of(template: &str, object: &ObjectMeta) -> bool {
    let label = object.labels.as_ref();
    let label = label.and_then(|it| it.get(LIFECYCLE_LABEL));
    let annotation = object.annotations.as_ref();
    let annotation = annotation.and_then(|it| it.get(TEMPLATE_ANNOTATION));
    label.map(String::as_str) != Some("mutable") && annotation.map(String::as_str) == Some(template)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(name: &str, lifecycle: &str, template: &str) -> ObjectMeta {
        let entry = |key: &str, value: &str| [(key.to_owned(), value.to_owned())].into();
        ObjectMeta {
            namespace: Some("dev".to_owned()),
            name: Some(name.to_owned()),
            labels: Some(entry(LIFECYCLE_LABEL, lifecycle)),
            annotations: Some(entry(TEMPLATE_ANNOTATION, template)),
            ..ObjectMeta::default()
        }
    }

    #[test]
    fn object_that_takes_the_place_of_all_others_is_known_by_resource_and_name() {
        let one = Retain::One(StampedReference {
            namespace: Some("dev".to_owned()),
            name: Some("app".to_owned()),
            resource: Some("deployments.apps".to_owned()),
            ..StampedReference::default()
        });
        let app = object("app", "mutable", "ClusterTemplate/app");
        assert!(one.retains("deployments.apps", &app));
        assert!(!one.retains("services", &app));
        let other = object("other", "mutable", "ClusterTemplate/app");
        assert!(!one.retains("deployments.apps", &other));
        assert!(Retain::Everything.retains("services", &other));
        assert!(!Retain::Nothing.retains("services", &app));
    }

    #[test]
    fn runs_of_a_template_stay_and_what_it_stamped_in_place_does_not() {
        let runs = Retain::Runs("ClusterImageTemplate/build".to_owned());
        let retains =
            |lifecycle, template| runs.retains("jobs.batch", &object("a", lifecycle, template));
        assert!(retains("immutable", "ClusterImageTemplate/build"));
        assert!(!retains("immutable", "ClusterImageTemplate/other"));
        assert!(!retains("mutable", "ClusterImageTemplate/build"));
    }
}
