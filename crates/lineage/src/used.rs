//! The blueprint and the templates that an owner was looked at with.

use std::collections::BTreeMap;

/// Blueprints and templates as `Kind/name`, with their generations.
pub type Used = BTreeMap<String, i64>;

/// Says which of those that a look used have a newer generation by now: what that look found is of the
/// past. Those that are not there any more have no generation; their owners are woken.
///
/// ```
/// use pathline_lineage::used::{Used, newer};
///
/// let used = Used::from([("ClusterTemplate/run".to_owned(), 2)]);
/// assert!(newer(&used, &used).is_empty());
/// let now = Used::from([("ClusterTemplate/run".to_owned(), 3)]);
/// assert_eq!(newer(&used, &now), ["generation 3 of ClusterTemplate/run has not been looked at yet"]);
/// ```
pub fn newer(used: &Used, now: &Used) -> Vec<String> {
    let newer = used.iter().filter_map(|(name, used)| {
        let now = now.get(name).filter(|now| *now > used)?;
        Some(format!(
            "generation {now} of {name} has not been looked at yet"
        ))
    });
    newer.collect()
}
