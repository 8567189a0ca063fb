//! The words for an object that was not applied, with the exit code and what to try next.

use kube::ResourceExt;
use kube::error::DiscoveryError;

use super::objects::Manifest;
use crate::terminal::report::{CommandError, Exit};

/// The way to say that an object was not applied.
pub(super) struct Refusal {
    /// The next thing to try if the cluster does not answer.
    unreachable: String,
}

impl Refusal {
    pub(super) fn new(start: Option<String>) -> Self {
        let check = || "is the cluster running? check --kubeconfig".to_owned();
        let unreachable = start.unwrap_or_else(check);
        Self { unreachable }
    }

    /// Returns the error that the cluster `does` this instead of applying the object.
    pub(super) fn of(&self, manifest: &Manifest, does: &str, error: kube::Error) -> CommandError {
        let Manifest {
            place,
            types,
            object,
        } = manifest;
        let name = format!("{}/{}", types.kind, object.name_any());
        match error {
            kube::Error::Api(status) => {
                let code = status.code;
                let cause = anyhow::Error::msg(status.message);
                let message = format!("{place}: the cluster {does} {name}");
                let failure = CommandError::from(cause.context(message)).with_code(code_of(code));
                match hint_of(code) {
                    Some(hint) => failure.with_hint(hint),
                    None => failure,
                }
            }
            // Of a group that the cluster has, so the version is right, too.
            kube::Error::Discovery(DiscoveryError::MissingKind(_)) => CommandError::new(format!(
                "{place}: the cluster has no kind {} in {}, of which {name} is to be",
                types.kind, types.api_version
            ))
            .with_code("not-found")
            .with_hint("check the spelling of the kind; `pathline crds` prints those of Pathline"),
            other => {
                let message = format!("{place}: the cluster can't be asked for {name}");
                CommandError::from(anyhow::Error::from(other).context(message))
                    .with_exit(Exit::Unknown)
                    .with_hint(&self.unreachable)
            }
        }
    }
}

fn hint_of(status: u16) -> Option<&'static str> {
    match status {
        409 => Some("somebody else has set these fields; `--force-conflicts` takes them over"),
        404 => Some("`pathline crds` prints the kinds of Pathline; is this the right cluster?"),
        _ => None,
    }
}

/// Returns REST's word for a status that the cluster answers with.
fn code_of(status: u16) -> &'static str {
    match status {
        400 | 422 => "bad-request",
        401 => "token-unknown",
        403 => "forbidden",
        404 => "not-found",
        409 => "conflict",
        429 => "too-many",
        500.. => "unavailable",
        _ => "failed",
    }
}
