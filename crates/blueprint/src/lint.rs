//! Findings that the author of a blueprint or a template should know before anyone uses it.
//!
//! Errors are what a cluster refuses, or what can be realized for no owner. Warnings are what can never
//! happen ([`crate::reach`]), spellings that are read as what they mean ([`pathline_kinds::lenient`]), and rules that
//! multi-path blueprints may break ([`crate::admission`]).

mod analysis;
mod catalogue;
mod sarif;
mod subject;
mod together;

use std::collections::HashSet;

use pathline_jsonpath::FieldPath;
use pathline_kinds::field_path;
use pathline_kinds::lenient;
use serde_json::Value;

use crate::admission::{self, Rule};
use crate::blueprint::Blueprint;
use crate::graph::Fault;
use crate::interpolate;
use crate::owner::OwnerKind;
use crate::reach::Budget;
use crate::selection::Plan;
use crate::shape::{self, Misfit, MisfitKind};
use crate::template::TemplateKind;

pub use crate::admission::Severity;
pub use catalogue::{CATALOGUE, CodeInfo};
pub use sarif::{LocatedFinding, sarif};
pub use together::lint_together;

/// One thing that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The severity: whether a cluster refuses it.
    pub severity: Severity,
    /// The code of the finding, a word that does not change; see [`CATALOGUE`].
    pub code: &'static str,
    /// The resource it is about.
    pub resource: Option<String>,
    /// The option it is about, by its index.
    pub option: Option<usize>,
    /// The finding, for people.
    pub message: String,
    /// The path in the object.
    pub path: FieldPath,
    /// Whether the key at this path is meant, not its value.
    pub is_about_key: bool,
}

/// Returns what was found in an object, or nothing if its kind is none that is checked.
pub fn lint(object: &Value, budget: Budget) -> Option<Vec<Finding>> {
    let version = object.get("apiVersion");
    let kind = object.get("kind")?.as_str()?;
    if version.is_some_and(|version| version != pathline_kinds::carto::API_VERSION) {
        return None;
    }
    let is_blueprint = OwnerKind::ALL
        .iter()
        .any(|known| known.blueprint_kind() == kind);
    let is_template =
        kind == "ClusterRunTemplate" || TemplateKind::ALL.iter().any(|known| known.name() == kind);
    if is_blueprint {
        Some(lint_blueprint(object, budget))
    } else {
        is_template.then(|| {
            let stored = lint_stored(object).into_iter();
            stored.chain(broken_tag(object)).collect()
        })
    }
}

/// Finds a tag of a template that is no path, so that it can be stamped for no owner.
fn broken_tag(object: &Value) -> Option<Finding> {
    let template = object.pointer("/spec/template")?;
    let why = interpolate::places(template).err()?;
    let path = FieldPath::default().field("spec").field("template");
    Some(Finding {
        severity: Severity::Error,
        ..warning(object, "tag", why.to_string(), path)
    })
}

fn lint_blueprint(written: &Value, budget: Budget) -> Vec<Finding> {
    let mut object = written.clone();
    let loosenesses = lenient::correct_blueprint(&mut object);
    let mut findings: Vec<Finding> = loosenesses
        .into_iter()
        .map(|loose| {
            let about_key = matches!(
                loose.kind,
                lenient::LoosenessKind::SingleField | lenient::LoosenessKind::Operation
            );
            Finding {
                is_about_key: about_key,
                ..warning(written, loose.kind.code(), loose.kind.message(), loose.path)
            }
        })
        .collect();
    findings.extend(lint_stored(written));
    if let Ok(blueprint) = Blueprint::read(object) {
        match Plan::new(&blueprint) {
            Ok(_) => findings.extend(analysis::findings(&blueprint, budget)),
            Err(fault) if !findings.iter().any(Finding::is_error) => {
                findings.push(fault_finding(&blueprint, &fault));
            }
            Err(_) => {}
        }
    }
    findings
}

/// Asks what a cluster asks before it stores an object: its schema, then the rules of admission.
fn lint_stored(object: &Value) -> Vec<Finding> {
    let misfits = shape::misfits(object).unwrap_or_default();
    let has_misfit = misfits.iter().any(|misfit| !misfit.is_unknown_field());
    let mut refusals = admission::admit(object);
    // What the schema says about a place is better than that it cannot be read.
    refusals.retain(|refusal| refusal.rule != Rule::Malformed || !has_misfit);
    let said_by_rules: HashSet<&FieldPath> = refusals.iter().map(|refusal| &refusal.path).collect();
    let is_said = |misfit: &&Misfit| {
        let is_short = matches!(misfit.kind, MisfitKind::TooShort(_));
        said_by_rules.contains(&misfit.path)
            || (is_short && said_by_rules.contains(&misfit.path.parent()))
    };
    let of_schema = misfits
        .iter()
        .filter(|misfit| !is_said(misfit))
        .map(|misfit| {
            let (message, path) = (misfit.to_string(), misfit.path.clone());
            if misfit.is_unknown_field() {
                Finding {
                    is_about_key: true,
                    ..warning(object, "unknown-field", message, path)
                }
            } else {
                Finding {
                    severity: Severity::Error,
                    ..warning(object, "schema", message, path)
                }
            }
        });
    let of_rules = refusals.iter().map(|refusal| {
        let message = without_prefix(&refusal.message).to_owned();
        Finding {
            severity: severity(refusal.rule, refusal.severity),
            ..warning(object, refusal.rule.code(), message, refusal.path.clone())
        }
    });
    of_schema.chain(of_rules).collect()
}

/// Admission stores what Cartographer stored. An author is told more, and needs no cluster.
fn severity(rule: Rule, of_admission: Severity) -> Severity {
    match rule {
        Rule::UnknownResource | Rule::DuplicateInput | Rule::Cycle => Severity::Error,
        Rule::NoBlueprintSelector => Severity::Warning,
        _ => of_admission,
    }
}

/// Returns what is wrong without the words with which admission names the object.
fn without_prefix(message: &str) -> &str {
    let named = message.strip_prefix("error validating cluster");
    named
        .and_then(|named| named.split_once("]: "))
        .map_or(message, |(_, what)| what)
}

fn fault_finding(blueprint: &Blueprint, fault: &Fault) -> Finding {
    let (code, name) = match fault {
        Fault::DuplicateName(name) => ("duplicate-resource", Some(name)),
        Fault::UnknownProducer { resource, .. } => ("unknown-resource", Some(resource)),
        Fault::WrongProducer { producer, .. } => ("kind-mismatch", Some(producer)),
        Fault::Conflict { resource, .. } => ("duplicate-input", Some(resource)),
        Fault::Cycle(names) => ("cycle", names.first()),
    };
    let mut resources = blueprint.resources.iter();
    let index = resources.position(|resource| Some(&resource.name) == name);
    Finding {
        severity: Severity::Error,
        code,
        resource: name.cloned(),
        option: None,
        message: fault.to_string(),
        path: index.map_or_else(FieldPath::default, |index| {
            field_path::resource(index).field("name")
        }),
        is_about_key: false,
    }
}

/// Makes a warning about a place of an object.
fn warning(object: &Value, code: &'static str, message: String, path: FieldPath) -> Finding {
    let (resource, option) = subject::of(object, &path);
    Finding {
        severity: Severity::Warning,
        code,
        resource,
        option,
        message,
        path,
        is_about_key: false,
    }
}

impl Finding {
    /// Returns whether a cluster refuses it, or no owner can use it.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

#[cfg(test)]
#[expect(
    clippy::needless_pass_by_value,
    reason = "a literal is given away at the call"
)]
mod tests {
    use serde_json::json;

    use super::*;

    fn found(object: Value) -> Vec<(Severity, &'static str, String)> {
        let findings = lint(&object, Budget::default()).expect("a kind that is checked");
        let findings = findings.into_iter();
        findings
            .map(|found| (found.severity, found.code, found.path.to_string()))
            .collect()
    }

    fn blueprint(kind: &str, resources: Value) -> Value {
        json!({
            "apiVersion": "carto.run/v1alpha1", "kind": kind, "metadata": {"name": "b"},
            "spec": {"selector": {"type": "web"}, "resources": resources},
        })
    }

    #[test]
    fn what_cannot_be_read_is_said_once_and_by_its_place() {
        let resources =
            json!([{"name": "a", "templateRef": {"kind": "ClusterTemplate", "name": 1}}]);
        let place = "spec.resources[0].templateRef.name".to_owned();
        assert_eq!(
            found(blueprint("ClusterSupplyChain", resources)),
            [(Severity::Error, "schema", place)]
        );
    }

    #[test]
    fn template_with_a_tag_that_is_no_path_can_be_stamped_for_no_owner() {
        let template = |command: &str| {
            json!({
                "apiVersion": "carto.run/v1alpha1", "kind": "ClusterTemplate", "metadata": {"name": "t"},
                "spec": {"template": {
                    "apiVersion": "pathline.dev/v1alpha1", "kind": "Task", "metadata": {"name": "t"},
                    "spec": {"command": ["sh", "-c", command]},
                }},
            })
        };
        let broken = "cat $(find . -name a) && serve $(params.port)$";
        let finding = (Severity::Error, "tag", "spec.template".to_owned());
        assert_eq!(found(template(broken)), [finding]);
        assert_eq!(found(template("serve $(params.port)$")), []);
    }

    #[test]
    fn a_rule_is_not_repeated_by_the_schema() {
        let options = json!([{"name": "x", "selector": {"matchLabels": {"a": "b"}}}]);
        let resources =
            json!([{"name": "a", "templateRef": {"kind": "ClusterTemplate", "options": options}}]);
        let place = "spec.resources[0].templateRef".to_owned();
        assert_eq!(
            found(blueprint("ClusterSupplyChain", resources)),
            [(Severity::Error, "template-ref", place)]
        );
    }

    #[test]
    fn what_leads_nowhere_is_an_error_though_cartographer_stored_it() {
        let resources = json!([
            {"name": "a", "templateRef": {"kind": "ClusterConfigTemplate", "name": "t"}},
            {"name": "b", "templateRef": {"kind": "ClusterTemplate", "name": "t"},
             "sources": [{"name": "in", "resource": "a"}]},
        ]);
        let findings = found(blueprint("ClusterDelivery", resources));
        assert!(findings.contains(&(
            Severity::Error,
            "kind-mismatch",
            "spec.resources[0].name".to_owned()
        )));
    }

    #[test]
    fn other_kinds_and_groups_are_left_alone() {
        let other_group = json!({"apiVersion": "v1", "kind": "ClusterTemplate"});
        for object in [
            json!({"kind": "Workload"}),
            other_group,
            json!([]),
            json!({}),
        ] {
            assert_eq!(lint(&object, Budget::default()), None);
        }
    }

    #[test]
    fn every_code_is_explained_once() {
        let codes: HashSet<&str> = CATALOGUE.iter().map(|info| info.code).collect();
        assert_eq!(codes.len(), CATALOGUE.len());
    }
}
