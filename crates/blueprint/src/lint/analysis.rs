//! Findings about a blueprint as a whole: what nobody reaches, what nobody takes in.

use std::collections::HashSet;

use pathline_jsonpath::FieldPath;
use pathline_kinds::field_path;

use super::{Finding, Severity};
use crate::blueprint::{Blueprint, Resource};
use crate::reach::{self, Analysis, Budget, OrderDecides, Verdict, Why};
use crate::template::TemplateKind;

/// The largest number of places that a finding lists.
const PLACES_MAX: usize = 5;

/// Returns what was found in a blueprint that can be realized.
pub(super) fn findings(blueprint: &Blueprint, budget: Budget) -> Vec<Finding> {
    let mut findings = never_consumed(blueprint);
    if let Ok(analysis) = reach::analyse(blueprint, budget) {
        findings.extend(unreachable(blueprint, &analysis));
        let decided = analysis.order_decides.iter();
        findings.extend(decided.map(|decided| order_decides(blueprint, decided)));
        findings.extend(not_analysed(blueprint, &analysis));
    }
    findings
}

fn never_consumed(blueprint: &Blueprint) -> Vec<Finding> {
    let resources = || blueprint.resources.iter();
    let taken: HashSet<&str> = resources()
        .flat_map(Resource::all_inputs)
        .map(|input| input.producer.as_str())
        .collect();
    let gives = |resource: &Resource| match resource.template_kind {
        TemplateKind::Source => Some("source"),
        TemplateKind::Image => Some("image"),
        TemplateKind::Config => Some("configuration"),
        TemplateKind::Deployment | TemplateKind::Plain => None,
    };
    let unused = resources().enumerate().filter_map(|(index, resource)| {
        let what = gives(resource).filter(|_| !taken.contains(resource.name.as_str()))?;
        let name = &resource.name;
        let message = format!("no resource takes in the {what} that `{name}` gives");
        Some(about_resource(blueprint, "never-consumed", index, message))
    });
    unused.collect()
}

fn unreachable(blueprint: &Blueprint, analysis: &Analysis) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (index, reach) in analysis.resources.iter().enumerate() {
        let name = &blueprint.resources[index].name;
        if let Verdict::Unreachable(why) = &reach.resource {
            let message = format!(
                "no {} ever selects `{name}`: {}",
                noun(blueprint),
                reason(why)
            );
            findings.push(about_resource(
                blueprint,
                "unreachable-resource",
                index,
                message,
            ));
            continue;
        }
        for (option, verdict) in reach.options.iter().enumerate() {
            if let Verdict::Unreachable(why) = verdict {
                let message = format!(
                    "no {} ever selects option {option} of `{name}`: {}",
                    noun(blueprint),
                    reason(why)
                );
                let code = "unreachable-option";
                findings.push(about_option(blueprint, code, index, option, message));
            }
        }
    }
    findings
}

fn reason(why: &Why) -> String {
    if why.free_keys.is_empty() {
        return why.message.clone();
    }
    format!(
        "{} (if {} may be anything, whatever other fields say)",
        why.message,
        quoted(&why.free_keys)
    )
}

fn order_decides(blueprint: &Blueprint, decided: &OrderDecides) -> Finding {
    let name = &blueprint.resources[decided.resource].name;
    let (first, noun) = (decided.first, noun(blueprint));
    let others = decided.best.iter().filter(|option| **option != first);
    let others: Vec<String> = others.map(ToString::to_string).collect();
    let amount = if decided.best.contains(&first) {
        "as much"
    } else {
        "more"
    };
    let others = match others.len() {
        1 => format!("option {} asks for {amount}", others[0]),
        _ => format!("options {} ask for {amount}", others.join(" and ")),
    };
    let message = format!(
        "option {first} of `{name}` is chosen because it comes first, though {others}, for this {noun}: {}",
        decided.workload
    );
    about_option(blueprint, "order-decides", decided.resource, first, message)
}

fn not_analysed(blueprint: &Blueprint, analysis: &Analysis) -> Option<Finding> {
    let mut places = Vec::new();
    for (resource, reach) in blueprint.resources.iter().zip(&analysis.resources) {
        let name = &resource.name;
        if reach.resource == Verdict::Unknown {
            places.push(format!("`{name}`"));
            continue;
        }
        let options = reach.options.iter().enumerate();
        let unknown = options.filter(|(_, verdict)| **verdict == Verdict::Unknown);
        places.extend(unknown.map(|(option, _)| format!("option {option} of `{name}`")));
    }
    let of_order = analysis.order_unknown.iter();
    places.extend(of_order.map(|index| {
        format!(
            "the order of options of `{}`",
            blueprint.resources[*index].name
        )
    }));
    if places.is_empty() {
        return None;
    }
    let more = places.len().saturating_sub(PLACES_MAX);
    places.truncate(PLACES_MAX);
    if more > 0 {
        places.push(format!("{more} more"));
    }
    Some(Finding {
        severity: Severity::Warning,
        code: "not-analysed",
        resource: None,
        option: None,
        message: format!(
            "the effort of the analysis ran out; nothing is known about {}",
            places.join(", ")
        ),
        path: FieldPath::default().field("metadata").field("name"),
        is_about_key: false,
    })
}

fn noun(blueprint: &Blueprint) -> &'static str {
    blueprint.owner_kind.noun()
}

fn quoted(keys: &[String]) -> String {
    let keys: Vec<String> = keys.iter().map(|key| format!("`{key}`")).collect();
    keys.join(", ")
}

fn about_resource(
    blueprint: &Blueprint,
    code: &'static str,
    resource: usize,
    message: String,
) -> Finding {
    Finding {
        severity: Severity::Warning,
        code,
        resource: Some(blueprint.resources[resource].name.clone()),
        option: None,
        message,
        path: field_path::resource(resource).field("name"),
        is_about_key: false,
    }
}

fn about_option(
    blueprint: &Blueprint,
    code: &'static str,
    resource: usize,
    option: usize,
    message: String,
) -> Finding {
    let declared = &blueprint.resources[resource].options()[option];
    let field = if declared.name.is_some() {
        "name"
    } else {
        "passThrough"
    };
    Finding {
        option: Some(option),
        path: field_path::option(&field_path::resource(resource), option).field(field),
        ..about_resource(blueprint, code, resource, message)
    }
}
