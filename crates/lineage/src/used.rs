//! The blueprint and the templates that an owner was looked at with.

use std::collections::BTreeMap;

use crate::clauses::Clause;
use crate::owner_lineage::OwnerLineage;

/// Blueprints and templates as `Kind/name`, with their generations.
pub type Used = BTreeMap<String, i64>;

impl OwnerLineage {
    /// Returns the templates that the blueprint names and that are not there, as `Kind/name`.
    pub fn lost_templates(&self) -> impl Iterator<Item = &str> {
        let lost = self.used.iter().filter(|(_, generation)| **generation == 0);
        lost.map(|(name, _)| name.as_str())
    }

    /// Says why the owner was not looked at with a generation of a blueprint or template yet, if it was not.
    ///
    /// `expected` is what a look of now would use. An owner that should use it has to use that generation; one that
    /// should not must not use it any more.
    ///
    /// ```
    /// use pathline_lineage::OwnerLineage;
    /// use pathline_lineage::used::Used;
    ///
    /// let used = |generation| Used::from([("ClusterTemplate/run".to_owned(), generation)]);
    /// let lineage = |used| OwnerLineage { used, ..OwnerLineage::default() };
    /// let why = lineage(used(1)).unobserved("ClusterTemplate/run", 2, &used(2));
    /// assert_eq!(why.unwrap(), "generation 2 of ClusterTemplate/run has not been observed yet, only 1");
    /// assert_eq!(lineage(used(2)).unobserved("ClusterTemplate/run", 2, &used(3)), None);
    /// assert_eq!(lineage(Used::new()).unobserved("ClusterTemplate/run", 2, &Used::new()), None);
    /// ```
    pub fn unobserved(&self, key: &str, generation: i64, expected: &Used) -> Option<String> {
        if self.state.clauses().is_dropped(Clause::Named) {
            return None;
        }
        match (expected.contains_key(key), self.used.get(key)) {
            (true, Some(used)) if *used >= generation => None,
            (true, Some(used)) => Some(format!(
                "generation {generation} of {key} has not been observed yet, only {used}"
            )),
            (true, None) => Some(format!("{key} has not been observed yet")),
            (false, Some(_)) => Some(format!("{key} is still used, but not for long")),
            (false, None) => None,
        }
    }
}
