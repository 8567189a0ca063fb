//! Selection of the blueprint for an owner, and of the template for each of its resources.
//!
//! Both are decided from the owner and the blueprints alone, before anything is stamped.

mod explain;
mod nearest;
mod plan;
mod question;
mod reads;
mod span;
mod step;

use crate::blueprint::Blueprint;
use crate::owner::Owner;
use crate::selector;

pub use crate::graph::Fault;
pub use explain::explain;
pub use nearest::{Nearest, nearest};
pub use plan::Plan;
pub use reads::reads;
pub use step::{Action, NoTemplate, Selected, Skip, Step, Unmet};

/// Says why an owner has no blueprint.
#[derive(Debug, Clone, PartialEq)]
pub enum NoBlueprint {
    /// The owner has no labels at all.
    LabelsMissing,
    /// No blueprint matches; those whose selector could not be evaluated are told apart.
    NotFound {
        /// Blueprints that could not be asked, with the reason.
        broken: Vec<(String, selector::Error)>,
    },
    /// Several match equally well.
    Several,
}

/// Returns the one blueprint that matches best.
///
/// # Errors
///
/// Fails if the owner has no labels, no blueprint matches, or several match equally well.
pub fn choose_blueprint<'b>(
    owner: &Owner,
    blueprints: impl IntoIterator<Item = &'b Blueprint>,
) -> Result<&'b Blueprint, NoBlueprint> {
    if owner.labels.is_empty() {
        return Err(NoBlueprint::LabelsMissing);
    }
    let mut broken = Vec::new();
    let scored = blueprints.into_iter().filter_map(|blueprint| {
        // One broken blueprint must not take the others away from every owner.
        selector::score(&blueprint.selector, owner)
            .unwrap_or_else(|error| {
                broken.push((blueprint.name.clone(), error));
                None
            })
            .map(|score| (score, blueprint))
    });
    match best(scored)[..] {
        [blueprint] => Ok(blueprint),
        [] => Err(NoBlueprint::NotFound { broken }),
        _ => Err(NoBlueprint::Several),
    }
}

/// Returns everything tied at the best score. A selector that asks for nothing is never the best.
fn best<T>(scored: impl IntoIterator<Item = (usize, T)>) -> Vec<T> {
    let mut best_score = 1;
    let mut best = Vec::new();
    for (score, candidate) in scored {
        if score > best_score {
            best_score = score;
            best.clear();
        }
        if score == best_score {
            best.push(candidate);
        }
    }
    best
}

#[cfg(test)]
#[expect(
    clippy::needless_pass_by_value,
    reason = "a literal is given away at the call"
)]
mod tests {
    use pathline_testkit::cases;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;
    use crate::owner::OwnerKind;
    use crate::testing::{owner, supply_chain};

    fn chain(name: &str, selector: Value) -> Blueprint {
        supply_chain(
            json!({"metadata": {"name": name}, "spec": {"selector": selector, "resources": []}}),
        )
    }

    fn labelled(labels: Value) -> Owner {
        owner(
            OwnerKind::Workload,
            json!({"metadata": {"name": "app", "labels": labels}, "spec": {}}),
        )
    }

    #[test]
    fn the_most_specific_blueprint_wins() {
        let chains = [
            chain("a", json!({"type": "web"})),
            chain("b", json!({"type": "web", "tier": "1"})),
        ];
        let choose =
            |labels| choose_blueprint(&labelled(labels), &chains).map(|chain| chain.name.clone());
        assert_eq!(choose(json!({"type": "web"})), Ok("a".to_owned()));
        assert_eq!(
            choose(json!({"type": "web", "tier": "1"})),
            Ok("b".to_owned())
        );
        assert_eq!(
            choose(json!({"tier": "1"})),
            Err(NoBlueprint::NotFound { broken: vec![] })
        );
        assert_eq!(choose(json!({})), Err(NoBlueprint::LabelsMissing));
    }

    #[test]
    fn a_tie_is_refused_and_an_empty_selector_never_wins() {
        let chains = [
            chain("a", json!({"type": "web"})),
            chain("b", json!({"tier": "1"})),
            chain("c", json!({})),
        ];
        let choose =
            |labels| choose_blueprint(&labelled(labels), &chains).map(|chain| chain.name.clone());
        assert_eq!(
            choose(json!({"type": "web", "tier": "1"})),
            Err(NoBlueprint::Several)
        );
        assert_eq!(
            choose(json!({"other": "x"})),
            Err(NoBlueprint::NotFound { broken: vec![] })
        );
    }

    #[test]
    fn a_broken_blueprint_does_not_take_the_others_away() {
        let mut broken = chain("broken", json!({"type": "web"}));
        broken.selector.match_fields = Some(vec![
            serde_json::from_value(json!({"key": "[", "operator": "Exists"})).unwrap(),
        ]);
        let good = chain("good", json!({"type": "web"}));
        let web = labelled(json!({"type": "web"}));
        assert_eq!(choose_blueprint(&web, [&broken, &good]), Ok(&good));
        assert!(matches!(
            choose_blueprint(&web, [&broken]),
            Err(NoBlueprint::NotFound { broken }) if broken[0].0 == "broken"
        ));
    }

    proptest! {
        #![proptest_config(cases(256))]

        #[test]
        fn the_order_of_blueprints_never_matters(
            selectors in proptest::collection::vec(proptest::collection::btree_map("[ab]", "[12]", 0..3), 0..5),
            labels in proptest::collection::btree_map("[ab]", "[12]", 0..3),
        ) {
            let chains: Vec<Blueprint> =
                selectors.iter().enumerate().map(|(index, selector)| chain(&index.to_string(), json!(selector))).collect();
            let owner = labelled(json!(labels));
            let forward = choose_blueprint(&owner, chains.iter()).map(|chain| &chain.name);
            let backward = choose_blueprint(&owner, chains.iter().rev()).map(|chain| &chain.name);
            prop_assert_eq!(forward, backward);
        }
    }
}
