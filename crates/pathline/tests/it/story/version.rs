//! The versions of the workload of the story.

/// A commit of the source, and whether debug is on.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Version {
    pub(crate) commit: String,
    pub(crate) debug: &'static str,
}

impl Version {
    pub(crate) fn new(commit: &str, debug: &'static str) -> Self {
        Self {
            commit: commit.to_owned(),
            debug,
        }
    }

    /// Returns the workload in this version, with its source at a URL.
    pub(super) fn workload(&self, url: &str) -> String {
        let Self { commit, debug } = self;
        format!(
            "
apiVersion: carto.run/v1alpha1
kind: Workload
metadata: {{name: app, namespace: default, labels: {{story: seed}}}}
spec:
  source: {{git: {{url: '{url}', ref: {{commit: '{commit}'}}}}}}
  params: [{{name: debug, value: '{debug}'}}]
"
        )
    }
}

/// The chain; the templates are those of each cluster.
pub(super) const CHAIN: &str = "
---
apiVersion: carto.run/v1alpha1
kind: ClusterSupplyChain
metadata: {name: story}
spec:
  selector: {story: seed}
  resources:
    - name: source
      templateRef: {kind: ClusterSourceTemplate, name: story-source}
    - name: test
      templateRef: {kind: ClusterSourceTemplate, name: story-test}
      sources: [{name: source, resource: source}]
    - name: build
      templateRef: {kind: ClusterImageTemplate, name: story-build}
      sources: [{name: source, resource: source}]
    - name: settings
      templateRef: {kind: ClusterConfigTemplate, name: story-settings}
    - name: run
      templateRef: {kind: ClusterTemplate, name: story-run}
      sources: [{name: source, resource: test}]
      images: [{name: image, resource: build}]
      configs: [{name: settings, resource: settings}]
";
