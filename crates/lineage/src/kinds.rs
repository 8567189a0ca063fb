//! Kinds whose `status.observedGeneration` can be believed without a declaration.

/// A kind that reports its observed generation together with, or after, what it made of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownKind {
    /// The API group; empty for the core group.
    pub group: &'static str,
    /// The kind.
    pub kind: &'static str,
    /// Why its observed generation can be believed once health is True.
    pub reason: &'static str,
}

const fn known(group: &'static str, kind: &'static str, reason: &'static str) -> KnownKind {
    KnownKind {
        group,
        kind,
        reason,
    }
}

const FLUX: &str = "source-controller stores the artifact first and then patches artifact, Ready and \
    observedGeneration at once, at the end of a successful reconciliation";
const FLUX_APPLY: &str = "the controller sets observedGeneration at the end of a reconciliation, in the patch that \
    also sets Ready and the revision it applied";
const PATHLINE: &str = "Pathline's own worker reports that the work has begun (health not True) or has ended, each \
    with its generation, its condition and its outputs in one status update";

/// The table. What is not here is believed only by its condition, or when a template declares it.
///
/// A kind belongs here if one snapshot that shows the new generation as observed, and health True,
/// can't still show the output of the generation before. kpack's `Image` and Knative's `Service`
/// observe a generation first and build afterwards; a `Deployment` is Available by its old pods
/// while it rolls out the new ones. They are left out.
pub const KNOWN_KINDS: &[KnownKind] = &[
    known("source.toolkit.fluxcd.io", "GitRepository", FLUX),
    known("source.toolkit.fluxcd.io", "OCIRepository", FLUX),
    known("source.toolkit.fluxcd.io", "Bucket", FLUX),
    known("source.toolkit.fluxcd.io", "HelmChart", FLUX),
    known("source.toolkit.fluxcd.io", "HelmRepository", FLUX),
    known("kustomize.toolkit.fluxcd.io", "Kustomization", FLUX_APPLY),
    known("helm.toolkit.fluxcd.io", "HelmRelease", FLUX_APPLY),
    known("pathline.dev", "Task", PATHLINE),
    known("pathline.dev", "Process", PATHLINE),
    known("pathline.dev", "GitCommit", PATHLINE),
];

/// Returns why the observed generation of a kind can be believed, if it can.
pub fn known_kind(group: &str, kind: &str) -> Option<&'static KnownKind> {
    KNOWN_KINDS
        .iter()
        .find(|known| known.group == group && known.kind == kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_known_kind_is_there_once_with_a_reason() {
        for known in KNOWN_KINDS {
            assert_eq!(known_kind(known.group, known.kind), Some(known));
            assert!(known.reason.len() > 40, "{}", known.kind);
        }
    }

    #[test]
    fn kinds_that_observe_first_and_build_later_are_not_believed() {
        assert_eq!(known_kind("kpack.io", "Image"), None);
        assert_eq!(known_kind("serving.knative.dev", "Service"), None);
        assert_eq!(known_kind("apps", "Deployment"), None);
        assert_eq!(known_kind("", "ConfigMap"), None);
    }
}
