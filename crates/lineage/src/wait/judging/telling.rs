//! Where things are, in words.

use super::Judging;
use crate::arrival::Missing;
use crate::origin::Origin;
use crate::rollout::Stage;
use crate::wait::asked::Value;

/// Returns what people call an origin.
pub(super) fn name(origin: &Origin) -> String {
    match origin {
        Origin::Owner(name) => name.clone(),
        Origin::Resource(name) => format!("output of `{name}`"),
    }
}

/// Says what a last mile still lacks.
pub(super) fn stage(target: &str, stage: Option<&Stage>) -> Option<String> {
    match stage {
        None => Some(format!("`{target}`: nobody has looked at what runs yet")),
        Some(Stage::Progressing { why }) => Some(format!("`{target}` rolls out: {why}")),
        Some(Stage::Failed { reason }) => Some(format!("`{target}` does not run: {reason}")),
        Some(Stage::None | Stage::Unfollowed { .. } | Stage::Done) => None,
    }
}

/// Says what should follow what a target made.
pub(super) fn unfollowed(target: &str, stage: Option<&Stage>) -> Option<String> {
    match stage {
        Some(Stage::Unfollowed { why }) => Some(format!("`{target}`: {why}")),
        _ => None,
    }
}

impl Judging<'_> {
    /// Says what is missing.
    pub(super) fn tell(self, value: &Value, missing: &Missing) -> String {
        let said = match missing {
            Missing::Unused => "nothing on the path reads it".to_owned(),
            Missing::NotOnPath => "it is not on the path".to_owned(),
            Missing::Superseded => format!("nothing has brought {} yet", value.wanted),
            Missing::Nothing { resource } => format!("`{resource}` has made nothing yet"),
            Missing::NotRead { resource, input } => {
                format!("what `{resource}` makes was made without {}", name(input))
            }
            Missing::Assumed { resource, input } => {
                format!("nothing proves that `{resource}` used {}", name(input))
            }
            Missing::Other {
                resource,
                input,
                shown,
            } => {
                format!("`{resource}` still has `{shown}` as {}", name(input))
            }
            Missing::Pending { resource, input } => {
                format!(
                    "`{resource}` has been given {} and is not done",
                    name(input)
                )
            }
            Missing::Forgotten { resource } => {
                format!("how the output of `{resource}` came to be is forgotten")
            }
            Missing::Mixed { resource, upstream } => {
                format!("`{resource}` is made from two values of {}", name(upstream))
            }
        };
        match self.problem_of(missing) {
            Some(problem) => format!("{said} ({problem})"),
            None => said,
        }
    }

    /// Returns what keeps the resource that something is missing of.
    fn problem_of(&self, missing: &Missing) -> Option<&str> {
        let resource = match missing {
            Missing::Nothing { resource }
            | Missing::NotRead { resource, .. }
            | Missing::Assumed { resource, .. }
            | Missing::Other { resource, .. }
            | Missing::Pending { resource, .. }
            | Missing::Forgotten { resource }
            | Missing::Mixed { resource, .. } => resource,
            Missing::Unused | Missing::NotOnPath | Missing::Superseded => return None,
        };
        self.track.failures.get(resource).map(String::as_str)
    }
}
