//! Objects that nothing stamps any more, until they and what runs below them are gone.
//!
//! An object is deleted first, and its pods run on for as long as their grace period lasts. By then
//! nothing in the cluster says any more that they belonged to the owner; so what controlled them is
//! remembered from the time when the object was there.

use std::collections::{BTreeMap, BTreeSet};

use pathline_lineage::Retiring;
use pathline_lineage::rollout::Below;

/// An object that may still be retiring.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// The object, as it was known last.
    pub retiring: Retiring,
    /// Whether it is still there.
    pub is_left: bool,
}

/// Returns the objects that may still be retiring, by uid: `left` are those that are still there, `has_run` all
/// that ran something before; `stamped` are the uids of what is stamped now.
pub fn candidates(
    left: Vec<Retiring>,
    has_run: Vec<Retiring>,
    stamped: &BTreeSet<String>,
) -> Vec<Candidate> {
    let mut all: BTreeMap<String, Candidate> = BTreeMap::new();
    for it in has_run.into_iter().filter(|it| !stamped.contains(&it.uid)) {
        let known = all.entry(it.uid.clone()).or_insert_with(|| Candidate {
            retiring: it.clone(),
            is_left: false,
        });
        known.retiring.controllers.extend(it.controllers);
    }
    for it in left {
        let known = all.entry(it.uid.clone()).or_insert_with(|| Candidate {
            retiring: it,
            is_left: true,
        });
        known.is_left = true;
        known.retiring.pods = None;
    }
    all.into_values().collect()
}

impl Candidate {
    /// Judges it on what is known of its namespace, of which `is_known` tells whether it is all; `None` once it and
    /// all below it are gone.
    pub fn judge(self, is_known: bool, below: Option<&Below>) -> Option<Retiring> {
        let mut it = self.retiring;
        if self.is_left {
            let below = below.map(|below| below.controllers_below(&it.uid));
            it.controllers.extend(below.unwrap_or_default());
            return Some(it);
        }
        if it.controllers.is_empty() {
            return None;
        }
        if !is_known {
            // Nobody knows yet whether something is left; the owner is woken when that is known.
            it.pods = Some(it.pods.unwrap_or(1));
            return Some(it);
        }
        let pods = below.map_or(0, |below| count(below, &it));
        it.pods = Some(pods);
        (pods > 0).then_some(it)
    }
}

fn count(below: &Below, it: &Retiring) -> usize {
    let mut controllers = it.controllers.clone();
    controllers.insert(it.uid.clone());
    controllers.extend(below.controllers_below(&it.uid));
    below.count_pods(&controllers)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn retiring(uid: &str, controllers: &[&str], pods: Option<usize>) -> Retiring {
        Retiring {
            uid: uid.to_owned(),
            controllers: controllers.iter().map(|it| (*it).to_owned()).collect(),
            pods,
            ..Retiring::default()
        }
    }

    #[test]
    fn object_that_ran_and_is_not_stamped_may_be_retiring() {
        let ran = vec![
            retiring("1", &["a"], Some(2)),
            retiring("1", &["b"], None),
            retiring("2", &["c"], None),
            retiring("3", &["d"], Some(1)),
        ];
        let left = vec![retiring("3", &[], None), retiring("4", &[], None)];
        let candidate = |retiring, is_left| Candidate { retiring, is_left };
        assert_eq!(
            candidates(left, ran, &BTreeSet::from(["2".to_owned()])),
            [
                candidate(retiring("1", &["a", "b"], Some(2)), false),
                candidate(retiring("3", &["d"], None), true),
                candidate(retiring("4", &[], None), true),
            ]
        );
    }

    #[test]
    fn object_has_retired_when_all_that_it_controlled_is_known_to_be_gone() {
        let judge = |it: Retiring, is_left, is_known| {
            let retiring = Candidate {
                retiring: it,
                is_left,
            };
            retiring.judge(is_known, Some(&Below::default()))
        };
        let it = || retiring("1", &["a"], None);
        assert_eq!(judge(it(), true, true), Some(it()));
        assert_eq!(judge(it(), false, true), None);
        assert_eq!(
            judge(it(), false, false),
            Some(retiring("1", &["a"], Some(1)))
        );
        assert_eq!(judge(retiring("1", &[], None), false, false), None);
    }
}
