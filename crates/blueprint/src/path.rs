//! The path of an owner, as its status tells it, and as a report with the reasons.

mod resources;

use pathline_kinds::carto::{PathEntry, PathState};

use crate::blueprint::Blueprint;
use crate::retirement::Retirement;
use crate::selection::{Step, explain};

pub use resources::{ResourceReport, State, resource, resources};

/// Reports what was decided for each resource, and what is still there of an earlier path.
///
/// Resources are listed as they are declared; then comes what is no longer declared. A resource that
/// is selected and replaces what it stamped before is listed twice.
pub fn report(blueprint: &Blueprint, steps: &[Step], retiring: &[Retirement]) -> Vec<PathEntry> {
    let leaving = |name: &str| retiring.iter().find(|leaving| leaving.resource == name);
    let mut entries = Vec::with_capacity(steps.len());
    for (index, step) in steps.iter().enumerate() {
        let name = &blueprint.resources[index].name;
        let retirement = leaving(name).map(retired);
        if step.is_selected() || retirement.is_none() {
            entries.push(PathEntry {
                resource: name.clone(),
                state: state(step),
                option: option(step),
                reason: explain(blueprint, index, steps),
                consumers: Vec::new(),
            });
        }
        entries.extend(retirement);
    }
    let is_undeclared = |leaving: &&Retirement| blueprint.resource(&leaving.resource).is_none();
    entries.extend(retiring.iter().filter(is_undeclared).map(retired));
    entries
}

/// Says how a path differs from the one before, if there was one and it does.
pub fn change(before: &[PathEntry], after: &[PathEntry]) -> Option<String> {
    if before.is_empty() {
        return None;
    }
    let (old, new) = (choices(before), choices(after));
    let mut changes = Vec::new();
    for &(name, option) in &new {
        match old.iter().find(|(known, _)| *known == name) {
            None => changes.push(format!("[{name}] joins")),
            Some((_, was)) if *was != option => {
                changes.push(format!("[{name}] takes {}", spell(option)))
            }
            Some(_) => {}
        }
    }
    let leaves = |(name, _): &&(&str, _)| !new.iter().any(|(known, _)| known == name);
    changes.extend(
        old.iter()
            .filter(leaves)
            .map(|(name, _)| format!("[{name}] leaves")),
    );
    (!changes.is_empty()).then(|| format!("the path changed: {}", changes.join(", ")))
}

fn choices(path: &[PathEntry]) -> Vec<(&str, Option<i64>)> {
    let selected = path
        .iter()
        .filter(|entry| entry.state == PathState::Selected);
    selected
        .map(|entry| (entry.resource.as_str(), entry.option))
        .collect()
}

fn spell(option: Option<i64>) -> String {
    option.map_or_else(
        || "its one template".to_owned(),
        |option| format!("option {option}"),
    )
}

fn retired(retirement: &Retirement) -> PathEntry {
    PathEntry {
        resource: retirement.resource.clone(),
        state: PathState::Retiring,
        option: None,
        reason: retirement.reason(),
        consumers: retirement.consumers.clone(),
    }
}

fn state(step: &Step) -> PathState {
    match step {
        Step::Selected { .. } => PathState::Selected,
        Step::Skipped(_) => PathState::Skipped,
        Step::Failed(_) => PathState::Failed,
    }
}

fn option(step: &Step) -> Option<i64> {
    match step {
        Step::Selected { option } => option.and_then(|option| i64::try_from(option).ok()),
        Step::Skipped(_) | Step::Failed(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(resource: &str, state: PathState, option: Option<i64>) -> PathEntry {
        PathEntry {
            resource: resource.to_owned(),
            state,
            option,
            reason: String::new(),
            consumers: Vec::new(),
        }
    }

    #[test]
    fn a_change_names_what_joins_leaves_and_chooses_anew() {
        let before = [
            entry("build", PathState::Selected, Some(1)),
            entry("image", PathState::Selected, None),
            entry("test", PathState::Skipped, None),
        ];
        let after = [
            entry("build", PathState::Selected, Some(0)),
            entry("image", PathState::Retiring, None),
            entry("test", PathState::Selected, None),
        ];
        assert_eq!(
            change(&before, &after).as_deref(),
            Some("the path changed: [build] takes option 0, [test] joins, [image] leaves")
        );
        assert_eq!(change(&before, &before), None);
        assert_eq!(change(&[], &after), None, "the first path is no change");
    }
}
