//! The changes of releases that a ledger has recorded.

use std::collections::BTreeMap;

use serde_json::Value;

use super::story::ENVIRONMENTS;

/// Asks a ledger for them, the oldest first.
pub(super) const CHANGES: &str =
    "select what from change where topic = 'releases' order by sequence";

/// Asserts that nothing was deployed twice in an environment, nor after a newer release, by one change a line.
pub(super) fn assert_deployed_once_and_in_order(changes: &str) {
    let mut deployed: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for change in changes.lines() {
        let change: Value = serde_json::from_str(change).expect("a change");
        let moved = &change["moved"];
        if moved["to"] == "deployed" {
            let environment = moved["environment"].as_str().expect("a name");
            let number = moved["number"].as_u64().expect("a number");
            let numbers = deployed.entry(environment.to_owned()).or_default();
            numbers.push(number);
        }
    }
    for environment in ENVIRONMENTS {
        let numbers = deployed.get(environment).map_or(&[][..], Vec::as_slice);
        assert!(!numbers.is_empty(), "nothing was deployed in {environment}");
        let is_once = numbers.is_sorted_by(|one, next| one < next);
        assert!(is_once, "{environment}: {numbers:?}");
    }
}
