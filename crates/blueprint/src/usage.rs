//! The blueprint and the templates that an owner uses, with their generations.

use std::collections::BTreeMap;

use crate::blueprint::Blueprint;
use crate::owner::{Owner, OwnerKind};
use crate::selection::{Action, Plan, Step};
use crate::template::TemplateKind;

/// Generations by `Kind/name`; 0 for what is named and not there.
pub type Generations = BTreeMap<String, i64>;

/// Returns the name of a blueprint among [`Generations`].
pub fn blueprint_key(kind: OwnerKind, name: &str) -> String {
    format!("{}/{name}", kind.blueprint_kind())
}

/// Returns the name of a template among [`Generations`].
pub fn template_key(kind: TemplateKind, name: &str) -> String {
    format!("{}/{name}", kind.name())
}

/// Returns what an owner uses of the blueprint that was chosen for it: the blueprint, and the templates
/// that are stamped. If the blueprint can't be followed, or a template is not there, that is all
/// templates it names. `template` returns the generation of one that is there.
pub fn of_owner(
    owner: &Owner,
    blueprint: &Blueprint,
    plan: Option<&Plan>,
    generation: Option<i64>,
    template: impl Fn(TemplateKind, &str) -> Option<i64>,
) -> Generations {
    let named = || blueprint.templates();
    let is_whole = named().all(|(it, name)| template(it.template_kind, name).is_some());
    let stamped = plan.filter(|_| is_whole).map(|plan| {
        let steps = plan.choose(owner);
        stamped(blueprint, &steps)
    });
    let used = stamped.unwrap_or_else(|| {
        let named = named().map(|(it, name)| (it.template_kind, name.to_owned()));
        named.collect()
    });
    let templates = used.into_iter().map(|(kind, name)| {
        let generation = template(kind, &name).unwrap_or_default();
        (template_key(kind, &name), generation)
    });
    let key = blueprint_key(owner.kind, &blueprint.name);
    let generation = generation.unwrap_or_default();
    templates.chain([(key, generation)]).collect()
}

/// Returns the templates that are stamped where these steps were chosen.
pub fn stamped(blueprint: &Blueprint, steps: &[Step]) -> Vec<(TemplateKind, String)> {
    let template = |(index, step): (usize, &Step)| {
        let Step::Selected { option } = step else {
            return None;
        };
        match blueprint.selected(index, *option).action {
            Action::Stamp(name) => {
                let kind = blueprint.resources[index].template_kind;
                Some((kind, name.to_owned()))
            }
            Action::PassThrough(_) => None,
        }
    };
    steps.iter().enumerate().filter_map(template).collect()
}

#[cfg(test)]
mod tests {
    use pathline_kinds::carto::ClusterSupplyChain;
    use serde_json::json;

    use super::*;

    fn mk_blueprint() -> Blueprint {
        let option = |name: &str, value: &str| {
            let field = json!({"key": "spec.kind", "operator": "In", "values": [value]});
            json!({"name": name, "selector": {"matchFields": [field]}})
        };
        let template =
            json!({"kind": "ClusterTemplate", "options": [option("one", "a"), option("two", "b")]});
        let chain = json!({
            "metadata": {"name": "web"},
            "spec": {"selector": {"path": "web"}, "resources": [{"name": "run", "templateRef": template}]},
        });
        let chain: ClusterSupplyChain = serde_json::from_value(chain).expect("a supply chain");
        chain.into()
    }

    fn used(there: &[&str]) -> Vec<(String, i64)> {
        let owner =
            json!({"metadata": {"name": "a", "labels": {"path": "web"}}, "spec": {"kind": "a"}});
        let owner = Owner::read(OwnerKind::Workload, owner).expect("an owner");
        let blueprint = mk_blueprint();
        let plan = Plan::new(&blueprint).ok();
        let template = |_, name: &str| there.contains(&name).then_some(7);
        let used = of_owner(&owner, &blueprint, plan.as_ref(), Some(3), template);
        used.into_iter().collect()
    }

    #[test]
    fn owner_uses_what_is_stamped_for_it_or_all_that_is_named_while_something_is_missing() {
        let pair = |key: &str, generation| (key.to_owned(), generation);
        let chain = pair("ClusterSupplyChain/web", 3);
        let one = pair("ClusterTemplate/one", 7);
        assert_eq!(used(&["one", "two"]), [chain.clone(), one.clone()]);
        assert_eq!(used(&["one"]), [chain, one, pair("ClusterTemplate/two", 0)]);
    }
}
