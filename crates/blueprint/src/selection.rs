//! Which blueprint is for an owner, and which template for each of its resources?
//!
//! Both are decided from the owner and the blueprints alone, before anything is stamped.

use crate::blueprint::{Blueprint, Input, Resource, Templates};
use crate::model::TemplateOption;
use crate::owner::Owner;
use crate::selector;

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

/// What is decided for one resource of a blueprint.
#[derive(Debug, Clone, PartialEq)]
pub enum Step<'b> {
    /// The resource is stamped, or hands an input on.
    Selected(Selected<'b>),
    /// No choice can be made.
    Failed(NoTemplate),
}

/// How a resource is realized.
#[derive(Debug, Clone, PartialEq)]
pub struct Selected<'b> {
    /// The option that was chosen, if there were several.
    pub option: Option<usize>,
    /// What to do.
    pub action: Action<'b>,
    /// What the resource takes in.
    pub inputs: Vec<&'b Input>,
}

/// What to do for a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action<'b> {
    /// Stamp the template of this name.
    Stamp(&'b str),
    /// Hand on the input of this name.
    PassThrough(&'b str),
}

/// Says why no template could be chosen for a resource.
#[derive(Debug, Clone, PartialEq)]
pub enum NoTemplate {
    /// No option, or several, match best.
    Matches(Vec<String>),
    /// The selector of an option cannot be evaluated.
    Selector {
        /// The option, by the name of its template.
        option: String,
        /// What is wrong with its selector.
        reason: selector::Error,
    },
}

/// Returns the one blueprint that matches best.
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

/// Decides, for every resource in declared order, how it is realized for this owner.
pub fn choose_path<'b>(owner: &Owner, blueprint: &'b Blueprint) -> Vec<Step<'b>> {
    blueprint
        .resources
        .iter()
        .map(|resource| choose_step(owner, resource))
        .collect()
}

fn choose_step<'b>(owner: &Owner, resource: &'b Resource) -> Step<'b> {
    let chosen = match &resource.templates {
        Templates::One(name) => Ok((None, Action::Stamp(name))),
        Templates::Options(options) => {
            best_option(owner, options).map(|(index, option)| (Some(index), action(option)))
        }
    };
    match chosen {
        Ok((option, action)) => Step::Selected(Selected {
            option,
            action,
            inputs: resource.inputs.iter().collect(),
        }),
        Err(reason) => Step::Failed(reason),
    }
}

fn best_option<'b>(
    owner: &Owner,
    options: &'b [TemplateOption],
) -> Result<(usize, &'b TemplateOption), NoTemplate> {
    let score = |option: &TemplateOption| {
        selector::score(&option.selector, owner).map_err(|reason| NoTemplate::Selector {
            option: option_name(option),
            reason,
        })
    };
    let mut scored = Vec::new();
    for (index, option) in options.iter().enumerate() {
        scored.extend(score(option)?.map(|score| (score, (index, option))));
    }
    match best(scored)[..] {
        [(index, option)] => Ok((index, option)),
        ref tied => Err(NoTemplate::Matches(
            tied.iter().map(|(_, option)| option_name(option)).collect(),
        )),
    }
}

fn action(option: &TemplateOption) -> Action<'_> {
    match (&option.name, &option.pass_through) {
        (Some(name), _) => Action::Stamp(name),
        (None, Some(input)) => Action::PassThrough(input),
        (None, None) => Action::Stamp(""),
    }
}

fn option_name(option: &TemplateOption) -> String {
    option
        .name
        .clone()
        .or_else(|| option.pass_through.clone())
        .unwrap_or_default()
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

    fn with_options(options: Value) -> Blueprint {
        supply_chain(
            json!({"metadata": {"name": "chain"}, "spec": {"resources": [{
                "name": "build",
                "templateRef": {"kind": "ClusterImageTemplate", "options": options},
                "sources": [{"name": "in", "resource": "fetch"}],
            }]}}),
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

    #[test]
    fn the_most_specific_option_wins_and_may_pass_an_input_through() {
        let blueprint = with_options(json!([
            {"name": "fast", "selector": {"matchLabels": {"speed": "fast"}}},
            {"passThrough": "in", "selector": {"matchLabels": {"speed": "fast", "skip": "yes"}}},
        ]));
        let step = |labels| choose_path(&labelled(labels), &blueprint).remove(0);
        let inputs: Vec<&Input> = blueprint.resources[0].inputs.iter().collect();
        assert_eq!(
            step(json!({"speed": "fast"})),
            Step::Selected(Selected {
                option: Some(0),
                action: Action::Stamp("fast"),
                inputs: inputs.clone()
            })
        );
        assert_eq!(
            step(json!({"speed": "fast", "skip": "yes"})),
            Step::Selected(Selected {
                option: Some(1),
                action: Action::PassThrough("in"),
                inputs
            })
        );
        assert_eq!(
            step(json!({"x": "y"})),
            Step::Failed(NoTemplate::Matches(vec![]))
        );
    }

    #[test]
    fn tied_options_are_named() {
        let blueprint = with_options(json!([
            {"name": "a", "selector": {"matchLabels": {"x": "1"}}},
            {"name": "b", "selector": {"matchLabels": {"y": "1"}}},
        ]));
        let path = choose_path(&labelled(json!({"x": "1", "y": "1"})), &blueprint);
        assert_eq!(
            path,
            [Step::Failed(NoTemplate::Matches(vec![
                "a".to_owned(),
                "b".to_owned()
            ]))]
        );
    }

    proptest! {
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
