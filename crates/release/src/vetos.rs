//! Vetos: an application's word on where it goes.

use serde::{Deserialize, Serialize};

use crate::name::TrackerName;

/// The environments that an application keeps out of, and whether it goes by itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Vetos {
    /// Whether it is deployed without being promoted by hand.
    pub auto_deploy: bool,
    /// Whether it is deployed nowhere.
    pub omit_from_deploy: bool,
    /// The environments, by name or type, into which it is not deployed.
    pub omit_from_namespaces: Vec<String>,
}

impl Default for Vetos {
    fn default() -> Self {
        Self {
            auto_deploy: true,
            omit_from_deploy: false,
            omit_from_namespaces: Vec::new(),
        }
    }
}

impl Vetos {
    /// Tells whether the application keeps out of an environment, by its name or its type.
    pub fn omits(&self, environment: &str, of_type: Option<&str>) -> bool {
        let is_named = |it: &String| {
            let name = canonical_type(it);
            name == canonical_type(environment)
                || of_type.is_some_and(|it| name == canonical_type(it))
        };
        self.omit_from_deploy || self.omit_from_namespaces.iter().any(is_named)
    }
}

/// Returns the name of a type of environments; `preprod` was called `perf`.
pub(crate) fn canonical_type(name: &str) -> &str {
    if name == "perf" { "preprod" } else { name }
}

/// Tells whether a rule of an environment keeps an application out: `group`, `*.name` or `group.name`.
pub(crate) fn bans(rule: &str, tracker: &TrackerName) -> bool {
    match rule.split_once('.') {
        None => rule == tracker.group(),
        Some(("*", name)) => name == tracker.name(),
        Some((group, name)) => group == tracker.group() && name == tracker.name(),
    }
}
