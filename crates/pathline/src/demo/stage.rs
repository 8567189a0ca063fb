//! The stations of a commit on its way.

use serde::Serialize;

/// A station; the order is the order of the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Stage {
    Fetched,
    Tested,
    Built,
    Written,
    Delivered,
    Running,
}

impl Stage {
    pub(super) const ALL: [Self; 6] = [
        Self::Fetched,
        Self::Tested,
        Self::Built,
        Self::Written,
        Self::Delivered,
        Self::Running,
    ];

    /// Returns the word for a commit that has come this far.
    pub(super) fn done(self) -> &'static str {
        match self {
            Self::Fetched => "fetched",
            Self::Tested => "tested",
            Self::Built => "built",
            Self::Written => "written",
            Self::Delivered => "delivered",
            Self::Running => "running",
        }
    }

    /// Returns the words for a commit that is about to come this far.
    pub(super) fn doing(self) -> &'static str {
        match self {
            Self::Fetched => "waiting to be fetched",
            Self::Tested => "being tested",
            Self::Built => "being built",
            Self::Written => "being written to the manifest repository",
            Self::Delivered => "waiting to be delivered",
            Self::Running => "being started",
        }
    }

    /// Returns the resource of `examples/hello` that brings a commit here.
    pub(super) fn resource(self) -> &'static str {
        match self {
            Self::Fetched => "source",
            Self::Tested => "test",
            Self::Built => "build",
            Self::Written => "manifest",
            Self::Delivered => "manifests",
            Self::Running => "run",
        }
    }

    /// Returns the kind of that resource.
    pub(super) fn kind(self) -> &'static str {
        match self {
            Self::Fetched | Self::Delivered => "GitRepository",
            Self::Tested | Self::Built => "Task",
            Self::Written => "GitCommit",
            Self::Running => "Process",
        }
    }

    /// Returns the kind of the owner whose path has this station.
    pub(super) fn owner(self) -> &'static str {
        match self {
            Self::Fetched | Self::Tested | Self::Built | Self::Written => "Workload",
            Self::Delivered | Self::Running => "Deliverable",
        }
    }
}
