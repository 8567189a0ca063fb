//! The kinds that the workers of the embedded cluster serve.

mod amounts;
mod common;
mod git_commit;
mod git_repository;
mod process;
mod task;
mod volume;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::CustomResourceExt;

pub use amounts::{ByteSize, Span};
pub use common::{SecretReference, Source, Variable};
pub use git_commit::{Author, GitCommit, GitCommitSpec, GitCommitStatus};
pub use git_repository::{
    Artifact, GitRepository, GitRepositoryRef, GitRepositorySpec, GitRepositoryStatus, Unsupported,
};
pub use process::{HttpGet, Process, ProcessSpec, ProcessStatus, Readiness, Running};
pub use task::{Output, Task, TaskSpec, TaskStatus};
pub use volume::{
    ConfigMapVolume, KeyReference, KeyToPath, ProjectedVolume, SecretVolume, VariableSource,
    Volume, VolumeMount, VolumeProjection,
};

/// Returns the definitions of all kinds of the workers.
pub fn crds() -> Vec<CustomResourceDefinition> {
    vec![
        GitRepository::crd(),
        Task::crd(),
        Process::crd(),
        GitCommit::crd(),
    ]
}
