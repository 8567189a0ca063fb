//! Calls to the cluster that end, one way or the other.

use std::time::Duration;

use pathline_workers::explain;

/// No single request takes this long unless the other side hangs.
const TIMEOUT: Duration = Duration::from_secs(30);

/// The beginning of what Kubernetes says of an applied object that does not fit the schema of its kind.
const MISTYPED: &str = "failed to create typed patch object";

/// Says why a call to the cluster failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// The cluster answered with an error, or could not be reached.
    #[error("{}", explain(.0))]
    Kube(kube::Error),
    /// The cluster did not answer.
    #[error("the cluster did not answer within {} s", TIMEOUT.as_secs())]
    TimedOut,
}

impl Error {
    /// Tells whether the object, or its whole kind, does not exist.
    pub(crate) fn is_absence(&self) -> bool {
        match self {
            Self::Kube(kube::Error::Api(status)) => status.is_not_found(),
            Self::Kube(kube::Error::Discovery(_)) => true,
            Self::Kube(_) | Self::TimedOut => false,
        }
    }

    /// Tells whether the object was changed by somebody else since it was read.
    pub(crate) fn is_conflict(&self) -> bool {
        matches!(self, Self::Kube(kube::Error::Api(status)) if status.is_conflict())
    }

    /// Tells whether an apply was meant for an older state of the object.
    pub(crate) fn is_outdated(&self) -> bool {
        self.is_conflict() && self.contested_fields().is_empty()
    }

    /// Tells whether the asker may not do this.
    pub(crate) fn is_forbidden(&self) -> bool {
        matches!(self, Self::Kube(kube::Error::Api(status)) if status.is_forbidden())
    }

    /// Tells whether the object is not one that the cluster can take. What does not fit the schema
    /// of its kind, Kubernetes answers with an internal error, for an apply.
    pub(crate) fn is_invalid(&self) -> bool {
        let Self::Kube(kube::Error::Api(status)) = self else {
            return false;
        };
        let is_mistyped = status.message.starts_with(MISTYPED);
        matches!(status.code, 400 | 422) || (status.code == 500 && is_mistyped)
    }

    /// Tells whether the cluster does not know the asker, or not any more.
    pub(crate) fn is_unauthenticated(&self) -> bool {
        matches!(self, Self::Kube(kube::Error::Api(status)) if status.code == 401)
    }

    /// Returns the fields that another manager has set, if that is why an apply was refused.
    pub(crate) fn contested_fields(&self) -> Vec<String> {
        let Self::Kube(kube::Error::Api(status)) = self else {
            return Vec::new();
        };
        let causes = status.details.iter().flat_map(|details| &details.causes);
        causes
            .filter(|cause| cause.reason == "FieldManagerConflict")
            .map(|cause| format!("{} ({})", cause.field, cause.message))
            .collect()
    }

    /// Returns what to tell people: the server's own words where there are some.
    pub(crate) fn message(&self) -> String {
        match self {
            Self::Kube(kube::Error::Api(status)) => status.message.clone(),
            other => other.to_string(),
        }
    }
}

impl From<kube::Error> for Error {
    fn from(error: kube::Error) -> Self {
        Self::Kube(error)
    }
}

/// Waits for a call, but not forever.
pub(crate) async fn call<T>(request: impl Future<Output = kube::Result<T>>) -> Result<T, Error> {
    match tokio::time::timeout(TIMEOUT, request).await {
        Ok(result) => result.map_err(Error::Kube),
        Err(_) => Err(Error::TimedOut),
    }
}
