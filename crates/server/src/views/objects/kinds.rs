//! Kinds, as people name them.

use kube::Client;
use kube::api::{ApiResource, GroupVersionKind};
use kube::core::GroupVersion;
use kube::discovery::{ApiCapabilities, Scope, oneshot};

use super::controllers::ask;
use crate::error::ApiError;

/// Kinds that need no more than their name: what people call them, and what they are.
const WELL_KNOWN: [(&[&str], &str, &str, &str); 12] = [
    (&["pod", "pods", "po"], "", "v1", "Pod"),
    (
        &["replicaset", "replicasets", "rs"],
        "apps",
        "v1",
        "ReplicaSet",
    ),
    (
        &["deployment", "deployments", "deploy"],
        "apps",
        "v1",
        "Deployment",
    ),
    (
        &["statefulset", "statefulsets", "sts"],
        "apps",
        "v1",
        "StatefulSet",
    ),
    (
        &["daemonset", "daemonsets", "ds"],
        "apps",
        "v1",
        "DaemonSet",
    ),
    (&["job", "jobs"], "batch", "v1", "Job"),
    (&["configmap", "configmaps", "cm"], "", "v1", "ConfigMap"),
    (
        &["process", "processes"],
        "pathline.dev",
        "v1alpha1",
        "Process",
    ),
    (&["task", "tasks"], "pathline.dev", "v1alpha1", "Task"),
    (
        &["gitcommit", "gitcommits"],
        "pathline.dev",
        "v1alpha1",
        "GitCommit",
    ),
    (
        &["gitrepository", "gitrepositories"],
        "source.toolkit.fluxcd.io",
        "v1",
        "GitRepository",
    ),
    (
        &["runnable", "runnables"],
        "carto.run",
        "v1alpha1",
        "Runnable",
    ),
];

/// Finds the kind that somebody names: a well-known word, or `KIND.VERSION.GROUP`.
pub(super) async fn find(client: &Client, word: &str) -> Result<ApiResource, ApiError> {
    let gvk = read(word).ok_or_else(|| unknown(word))?;
    resolve(client, &gvk).await?.ok_or_else(|| unknown(word))
}

/// Asks the cluster how it calls objects of a kind; none if it has no such kind in namespaces.
pub(crate) async fn resolve(
    client: &Client,
    gvk: &GroupVersionKind,
) -> Result<Option<ApiResource>, ApiError> {
    let version = GroupVersion::gv(&gvk.group, &gvk.version);
    let asked = oneshot::pinned_group(client, &version);
    let what = format!("the kinds of {}", gvk.api_version());
    let Some(group) = ask(&what, asked).await? else {
        return Ok(None);
    };
    let is_meant = |(resource, capabilities): &(ApiResource, ApiCapabilities)| {
        let is_named = [&resource.kind, &resource.plural]
            .iter()
            .any(|it| it.eq_ignore_ascii_case(&gvk.kind));
        is_named && capabilities.scope == Scope::Namespaced
    };
    let mut all = group.versioned_resources(&gvk.version).into_iter();
    Ok(all.find(is_meant).map(|(resource, _)| resource))
}

fn read(word: &str) -> Option<GroupVersionKind> {
    let lower = word.to_ascii_lowercase();
    let mut known = WELL_KNOWN.iter();
    if let Some((_, group, version, kind)) = known.find(|it| it.0.contains(&lower.as_str())) {
        return Some(GroupVersionKind::gvk(group, version, kind));
    }
    let (kind, rest) = lower.split_once('.')?;
    let (version, group) = rest.split_once('.')?;
    Some(GroupVersionKind::gvk(group, version, kind))
}

fn unknown(word: &str) -> ApiError {
    let known: Vec<_> = WELL_KNOWN.iter().map(|it| it.0[0]).collect();
    let message = format!("the cluster has no kind `{word}` in namespaces");
    ApiError::not_found(message).with_hint(format!(
        "write {} or, for any other, KIND.VERSION.GROUP",
        known.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn described(word: &str) -> Option<String> {
        let gvk = read(word)?;
        Some(format!("{} {}", gvk.api_version(), gvk.kind))
    }

    #[test]
    fn kinds_are_named_by_a_word_or_in_full() {
        assert_eq!(described("pod").as_deref(), Some("v1 Pod"));
        assert_eq!(
            described("Deployments").as_deref(),
            Some("apps/v1 Deployment")
        );
        assert_eq!(
            described("Service.v1.serving.knative.dev").as_deref(),
            Some("serving.knative.dev/v1 service")
        );
        for wrong in ["", "nothing", "a.b"] {
            assert_eq!(described(wrong), None, "{wrong}");
        }
    }
}
