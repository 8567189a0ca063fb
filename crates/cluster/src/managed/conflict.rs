//! Conflicts between appliers.

use std::collections::BTreeMap;

use crate::fields::Path;

/// One field that another manager owns with another value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Conflict {
    /// The manager, as messages show it: `"kubectl" using apps/v1`.
    pub(crate) manager: String,
    /// The field, which prints as `.spec.replicas`.
    pub(crate) path: Path,
}

impl Conflict {
    /// Returns the text of the cause that a `Status` carries for this conflict.
    pub(crate) fn message(&self) -> String {
        format!("conflict with {}", self.manager)
    }
}

/// Words conflicts as the API server does, grouped by manager.
pub(super) fn message(conflicts: &[Conflict]) -> String {
    if let [conflict] = conflicts {
        return format!(
            "Apply failed with 1 conflict: {}: {}",
            conflict.message(),
            conflict.path
        );
    }
    let mut by_manager: BTreeMap<&str, Vec<&Path>> = BTreeMap::new();
    for conflict in conflicts {
        by_manager
            .entry(&conflict.manager)
            .or_default()
            .push(&conflict.path);
    }
    let mut lines = Vec::new();
    for (manager, paths) in by_manager {
        lines.push(format!("conflicts with {manager}:"));
        lines.extend(paths.iter().map(|path| format!("- {path}")));
    }
    format!(
        "Apply failed with {} conflicts: {}",
        conflicts.len(),
        lines.join("\n")
    )
}
