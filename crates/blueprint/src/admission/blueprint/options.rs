//! The rules of `templateRef`: one template, or options that can be told apart.

use std::collections::{HashMap, HashSet};

use super::name;
use crate::admission::node::Node;
use crate::admission::selector::Spelling;
use crate::admission::{Refusal, Rule};
use crate::owner::OwnerKind;

/// Refuses options that stamp one template. Cartographer takes what an option without a template
/// stamps for a template without a name.
pub(super) fn duplicate_templates(resource: &Node<'_>) -> Vec<Refusal> {
    let options = resource.nearest("templateRef").items("options");
    let mut seen = HashSet::new();
    let again = options.iter().filter(|option| !seen.insert(name(option)));
    again
        .map(|option| {
            let message = format!(
                "duplicate template name [{}] found in options for resource [{}]",
                name(option),
                name(resource)
            );
            option
                .nearest("name")
                .refuse(Rule::DuplicateTemplate, message)
        })
        .collect()
}

/// Returns what is wrong with the selector of a resource, its template and its options.
pub(super) fn template_ref(resource: &Node<'_>, owner: OwnerKind) -> Vec<Refusal> {
    let mut refusals = Vec::new();
    if let Some(selector) = resource.get("selector") {
        let label = format!("error validating resource [{}] selector", name(resource));
        refusals.extend(prefixed(&label, selector_wrong(&selector, owner)));
    }
    let label = format!("error validating resource [{}]", name(resource));
    let template = resource.nearest("templateRef");
    let wrong = template_wrong(&template);
    let options = options_wrong(&template.items("options"), owner);
    refusals.extend(prefixed(&label, wrong.into_iter().chain(options)));
    refusals
}

fn template_wrong(template: &Node<'_>) -> Option<Refusal> {
    let options = template.items("options").len();
    let message = match (template.text("name"), options) {
        (Some(_), 0) | (None, 2..) => return None,
        (None, 1) => "templateRef.Options must have more than one option",
        (Some(_), _) => {
            "exactly one of templateRef.Name or templateRef.Options must be specified, found both"
        }
        (None, 0) => {
            "exactly one of templateRef.Name or templateRef.Options must be specified, found neither"
        }
    };
    Some(template.refuse(Rule::TemplateRef, message))
}

fn options_wrong(options: &[Node<'_>], owner: OwnerKind) -> Vec<Refusal> {
    let mut refusals: Vec<Refusal> = too_many_pass_throughs(options).into_iter().collect();
    for option in options {
        refusals.extend(target_wrong(option));
        let label = format!("error validating option [{}] selector", label(option));
        let wrong = match option.get("selector") {
            Some(selector) => selector_wrong(&selector, owner),
            None => vec![asks_nothing(option)],
        };
        refusals.extend(prefixed(&label, wrong));
    }
    refusals.extend(duplicate_selectors(options));
    refusals
}

fn too_many_pass_throughs(options: &[Node<'_>]) -> Option<Refusal> {
    let is_pass_through = |option: &&Node<'_>| option.text("passThrough").is_some();
    let found = options.iter().filter(is_pass_through).count();
    let second = options.iter().filter(is_pass_through).nth(1)?;
    let message = format!("cannot have more than one pass through option, found {found}");
    Some(
        second
            .nearest("passThrough")
            .refuse(Rule::PassThroughCount, message),
    )
}

fn target_wrong(option: &Node<'_>) -> Option<Refusal> {
    let found = match (option.text("name"), option.text("passThrough")) {
        (Some(_), None) | (None, Some(_)) => return None,
        (Some(_), Some(_)) => "both",
        (None, None) => "neither",
    };
    let message = format!(
        "exactly one of option.Name or option.PassThrough must be specified, found {found}"
    );
    Some(option.refuse(Rule::OptionTarget, message))
}

fn selector_wrong(selector: &Node<'_>, owner: OwnerKind) -> Vec<Refusal> {
    if Spelling::OPTION.is_empty(selector) {
        return vec![asks_nothing(selector)];
    }
    Spelling::OPTION.check(selector, owner)
}

fn asks_nothing(node: &Node<'_>) -> Refusal {
    let message = "at least one of matchLabels, matchExpressions or MatchFields must be specified";
    node.refuse(Rule::EmptySelector, message)
}

/// Refuses options with equal selectors, in the order of the first of each pair.
fn duplicate_selectors(options: &[Node<'_>]) -> Vec<Refusal> {
    let mut first_with: HashMap<String, usize> = HashMap::new();
    let mut pairs = Vec::new();
    for (index, option) in options.iter().enumerate() {
        let Some(selector) = option.get("selector") else {
            continue;
        };
        match first_with.entry(selector.value.to_string()) {
            std::collections::hash_map::Entry::Occupied(first) => pairs.push((*first.get(), index)),
            std::collections::hash_map::Entry::Vacant(place) => {
                place.insert(index);
            }
        }
    }
    pairs.sort_unstable();
    let pairs = pairs.into_iter();
    pairs
        .map(|(first, second)| {
            let message = format!(
                "duplicate selector found in options [{}, {}]",
                label(&options[first]),
                label(&options[second])
            );
            options[second]
                .nearest("selector")
                .refuse(Rule::DuplicateSelector, message)
        })
        .collect()
}

/// Returns what messages call an option.
pub(super) fn label<'v>(option: &Node<'v>) -> &'v str {
    option.text("name").unwrap_or("passThrough")
}

fn prefixed(
    prefix: &str,
    refusals: impl IntoIterator<Item = Refusal>,
) -> impl Iterator<Item = Refusal> {
    refusals.into_iter().map(move |refusal| Refusal {
        message: format!("{prefix}: {}", refusal.message),
        ..refusal
    })
}
