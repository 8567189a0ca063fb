//! Kinds of the Kubernetes API that the rules know by name, and those of them whose
//! `status.observedGeneration` can be believed without a declaration.

/// A kind of the Kubernetes API, by its group; its versions are one kind.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct GroupKind<'a> {
    /// The API group; empty for the core group.
    pub group: &'a str,
    /// The kind.
    pub kind: &'a str,
}

impl<'a> GroupKind<'a> {
    /// Names a kind.
    pub const fn new(group: &'a str, kind: &'a str) -> Self {
        Self { group, kind }
    }
}

const SOURCE: &str = "source.toolkit.fluxcd.io";
pub(crate) const KUSTOMIZATION: GroupKind<'_> =
    GroupKind::new("kustomize.toolkit.fluxcd.io", "Kustomization");
pub(crate) const HELM_RELEASE: GroupKind<'_> =
    GroupKind::new("helm.toolkit.fluxcd.io", "HelmRelease");
pub(crate) const DEPLOYMENT: GroupKind<'_> = GroupKind::new("apps", "Deployment");
pub(crate) const STATEFUL_SET: GroupKind<'_> = GroupKind::new("apps", "StatefulSet");
pub(crate) const DAEMON_SET: GroupKind<'_> = GroupKind::new("apps", "DaemonSet");
pub(crate) const JOB: GroupKind<'_> = GroupKind::new("batch", "Job");
pub(crate) const KNATIVE_SERVICE: GroupKind<'_> = GroupKind::new("serving.knative.dev", "Service");
pub(crate) const PROCESS: GroupKind<'_> = GroupKind::new("pathline.dev", "Process");
pub(crate) const GIT_COMMIT: GroupKind<'_> = GroupKind::new("pathline.dev", "GitCommit");
pub(crate) const TASK: GroupKind<'_> = GroupKind::new("pathline.dev", "Task");

/// Tells whether objects of a kind end by themselves: they have done what they should, and say nothing of what runs
/// from then on.
pub fn ends_by_itself(kind: GroupKind<'_>) -> bool {
    [JOB, TASK].contains(&kind)
}

/// A kind that reports its observed generation together with, or after, what it made of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownKind {
    /// The kind.
    pub kind: GroupKind<'static>,
    /// The reason for which its observed generation can be believed once health is True.
    pub reason: &'static str,
}

const fn known(kind: GroupKind<'static>, reason: &'static str) -> KnownKind {
    KnownKind { kind, reason }
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
    known(GroupKind::new(SOURCE, "GitRepository"), FLUX),
    known(GroupKind::new(SOURCE, "OCIRepository"), FLUX),
    known(GroupKind::new(SOURCE, "Bucket"), FLUX),
    known(GroupKind::new(SOURCE, "HelmChart"), FLUX),
    known(GroupKind::new(SOURCE, "HelmRepository"), FLUX),
    known(KUSTOMIZATION, FLUX_APPLY),
    known(HELM_RELEASE, FLUX_APPLY),
    known(TASK, PATHLINE),
    known(PROCESS, PATHLINE),
    known(GIT_COMMIT, PATHLINE),
];

/// Returns why the observed generation of a kind can be believed, if it can.
pub fn known_kind(kind: GroupKind<'_>) -> Option<&'static KnownKind> {
    KNOWN_KINDS.iter().find(|known| known.kind == kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_known_kind_is_there_once_with_a_reason() {
        for known in KNOWN_KINDS {
            assert_eq!(known_kind(known.kind), Some(known));
            assert!(known.reason.len() > 40, "{}", known.kind.kind);
        }
    }

    #[test]
    fn kinds_that_observe_first_and_build_later_are_not_believed() {
        assert_eq!(known_kind(GroupKind::new("kpack.io", "Image")), None);
        assert_eq!(
            known_kind(GroupKind::new("serving.knative.dev", "Service")),
            None
        );
        assert_eq!(known_kind(GroupKind::new("apps", "Deployment")), None);
        assert_eq!(known_kind(GroupKind::new("", "ConfigMap")), None);
    }
}
