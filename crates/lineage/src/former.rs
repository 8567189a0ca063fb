//! Values that inputs of the owner had before.
//!
//! They tell what was there and has been replaced from what is still to come. Only the last few are
//! remembered: a value that was replaced long ago looks as if it were still to come, and is waited for.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::artifact::Artifact;

/// The most values that are remembered of each input.
const MAX_VALUES: usize = 8;

/// The values that inputs of the owner had before, by the names of the inputs, oldest first.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(transparent)]
pub(crate) struct Former(BTreeMap<String, Vec<Artifact>>);

impl Former {
    /// Takes note that the inputs of the owner change from `before` to `now`.
    pub(crate) fn replace(
        &mut self,
        before: &BTreeMap<String, Artifact>,
        now: &BTreeMap<String, Artifact>,
    ) {
        for (name, value) in before {
            if now.get(name) != Some(value) {
                self.add(name, value);
            }
        }
        for (name, value) in now {
            if let Some(values) = self.0.get_mut(name) {
                values.retain(|former| former != value);
            }
        }
        self.0.retain(|_, values| !values.is_empty());
    }

    /// Tells whether an input had a value before, and has it no more.
    pub(crate) fn has(&self, name: &str, wanted: impl Fn(&Artifact) -> bool) -> bool {
        self.0.get(name).is_some_and(|it| it.iter().any(wanted))
    }

    fn add(&mut self, name: &str, value: &Artifact) {
        let values = self.0.entry(name.to_owned()).or_default();
        values.retain(|former| former != value);
        values.push(value.brief());
        if values.len() > MAX_VALUES {
            values.remove(0);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn owned(value: &str) -> BTreeMap<String, Artifact> {
        BTreeMap::from([("param:a".to_owned(), Artifact::param("a", &json!(value)))])
    }

    fn had(former: &Former, value: &str) -> bool {
        former.has("param:a", |it| *it == owned(value)["param:a"])
    }

    #[test]
    fn value_is_former_from_when_it_is_replaced_until_it_comes_back() {
        let mut former = Former::default();
        former.replace(&owned("1"), &owned("2"));
        assert!(had(&former, "1") && !had(&former, "2") && !had(&former, "3"));
        former.replace(&owned("2"), &owned("1"));
        assert!(!had(&former, "1") && had(&former, "2"));
        former.replace(&owned("1"), &BTreeMap::new());
        assert!(had(&former, "1"));
    }

    #[test]
    fn only_the_last_values_are_remembered_and_briefly() {
        let mut former = Former::default();
        let value = |index: usize| format!("{index}{}", "x".repeat(500));
        for index in 0..20 {
            former.replace(&owned(&value(index)), &owned(&value(index + 1)));
        }
        assert!(had(&former, &value(19)) && had(&former, &value(12)));
        assert!(!had(&former, &value(11)));
        let text = serde_json::to_string(&former).unwrap();
        assert!(text.len() < 2_000, "{} bytes", text.len());
        assert_eq!(serde_json::from_str::<Former>(&text).unwrap(), former);
    }
}
