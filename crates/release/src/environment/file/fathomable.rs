//! Fathomable's templates: a mapping of names to what holds in namespaces that begin with them.
//!
//! Two spellings are known, as with application files: `type`, `environmental` and `resources.container`, and later
//! `operatingEnvironment`, `environment` and `resource`.

use serde_json::{Map, Value, json};

use super::{FileEnvironments, Problem, Section, checked, object};
use crate::vetos::canonical_type;

/// The keys of a template.
const KEYS: [&str; 9] = [
    "deployments",
    "environment",
    "environmental",
    "ingress",
    "omitFromDeploy",
    "operatingEnvironment",
    "resource",
    "resources",
    "type",
];

/// The key of applications that are deployed everywhere.
const MANDATORY: &str = "mandatory";

/// The words for types, and the type that each set of them means.
const TYPES: [(&[&str], &str); 5] = [
    (&["DEVLIKE"], "dev"),
    (&["HALIKE"], "ha"),
    (&["HADEV"], "ha"),
    (&["PRODLIKE"], "prod"),
    (&["HALIKE", "PRODLIKE"], "preprod"),
];

/// The places of settings in a spec, and where a template has them.
const PLACES: [(&str, &str); 4] = [
    ("spec.releaseFrequency", "deployments.releaseFrequency"),
    ("spec.template.environment.variable", "environmental"),
    (
        "spec.template.resource.min",
        "resources.container.defaultmin",
    ),
    (
        "spec.template.resource.max",
        "resources.container.defaultmax",
    ),
];

/// Reads all templates of a document.
pub(super) fn read(
    templates: &Map<String, Value>,
    file: &mut FileEnvironments,
    problems: &mut Vec<Problem>,
) {
    for (name, template) in templates {
        if name == MANDATORY {
            let message = "applications for all environments are not supported; add a tracker for each of them";
            problems.push(Problem::new(MANDATORY, message));
            continue;
        }
        let none = Value::Object(Map::new());
        let template = if template.is_null() { &none } else { template };
        let before = problems.len();
        let Some(template) = Section::of(name, template, problems) else {
            continue;
        };
        let spec = spec(name, &template, file, problems);
        if problems.len() > before {
            continue;
        }
        // `preprod` was called `perf`.
        let environment = checked(
            canonical_type(name),
            object(canonical_type(name), &spec),
            problems,
        );
        file.environments.extend(environment);
        let is_old = template.get("environmental").is_some() || template.get("resources").is_some();
        for problem in &mut problems[before..] {
            problem.field = as_written(&problem.field, is_old);
        }
    }
}

fn spec(
    name: &str,
    template: &Section<'_>,
    file: &mut FileEnvironments,
    problems: &mut Vec<Problem>,
) -> Value {
    template.refuse_unknown(&KEYS, problems);
    let mut spec = json!({"type": of_type(name, template, problems), "releaseFrequency": {}});
    if let Some(deployments) = template.section("deployments", problems) {
        deployments.refuse_unknown(
            &["enableProfiler", "releaseFrequency", "revisionHistoryLimit"],
            problems,
        );
        if let Some(rule) = deployments.get("releaseFrequency") {
            spec["releaseFrequency"] = rule.clone();
        }
        for key in ["enableProfiler", "revisionHistoryLimit"] {
            file.leave(&deployments, key);
        }
    }
    file.leave(template, "ingress");
    match template.get("omitFromDeploy") {
        // Their own documentation writes nothing as an empty mapping.
        Some(Value::Object(none)) if none.is_empty() => {}
        Some(rules) => spec["omitFromDeploy"] = rules.clone(),
        None => {}
    }
    let settings = settings(template, file, problems);
    if settings.as_object().is_some_and(|it| !it.is_empty()) {
        spec["template"] = settings;
    }
    spec
}

/// Returns the settings of applications.
fn settings(
    template: &Section<'_>,
    file: &mut FileEnvironments,
    problems: &mut Vec<Problem>,
) -> Value {
    let mut settings = json!({});
    for (old, new) in [("environmental", "environment"), ("resources", "resource")] {
        if template.get(old).is_some() && template.get(new).is_some() {
            let message = format!("`{old}` is an older word for `{new}`; write one of the two");
            template.refuse(old, message, problems);
        }
    }
    for key in ["environment", "resource"] {
        if let Some(value) = template.get(key) {
            settings[key] = value.clone();
        }
    }
    if let Some(variables) = template.get("environmental") {
        settings["environment"] = json!({"variable": variables});
    }
    let resources = template.section("resources", problems);
    let container = resources.and_then(|it| {
        it.refuse_unknown(&["container"], problems);
        it.section("container", problems)
    });
    if let Some(container) = container {
        container.refuse_unknown(&["defaultmax", "defaultmin", "max", "min"], problems);
        for (key, bound) in [("defaultmax", "max"), ("defaultmin", "min")] {
            if let Some(amounts) = container.get(key) {
                settings["resource"][bound] = amounts.clone();
            }
        }
        for key in ["max", "min"] {
            file.leave(&container, key);
        }
    }
    settings
}

/// Returns the type of a template: what it says, or what its name says.
fn of_type(name: &str, template: &Section<'_>, problems: &mut Vec<Problem>) -> String {
    let key = match template.get("operatingEnvironment") {
        Some(_) => "operatingEnvironment",
        None => "type",
    };
    let given = match template.get(key) {
        Some(Value::String(word)) => vec![word.as_str()],
        Some(Value::Array(words)) => words.iter().map(|it| it.as_str().unwrap_or("?")).collect(),
        None => Vec::new(),
        Some(_) => vec!["?"],
    };
    let mut words = given.clone();
    words.sort_unstable();
    words.dedup();
    let by_words = TYPES.iter().find(|(known, _)| *known == words);
    let is_known = |it: &str| super::TYPES.iter().any(|(known, _)| *known == it);
    let of_type = match (by_words, &words[..]) {
        (Some((_, of_type)), _) => of_type,
        (None, []) => match canonical_type(name) {
            name if is_known(name) => name,
            _ => "dev",
        },
        (None, [word]) if is_known(canonical_type(word)) => canonical_type(word),
        (None, _) => {
            let message = "a list of DEVLIKE, HALIKE and PRODLIKE is expected: none or DEVLIKE for dev, HALIKE \
                           for ha, both HALIKE and PRODLIKE for preprod, PRODLIKE for prod";
            template.refuse(key, message, problems);
            "dev"
        }
    };
    of_type.to_owned()
}

/// Returns the path of a field as a template has it.
fn as_written(field: &str, is_old: bool) -> String {
    let places = PLACES
        .iter()
        .filter(|(spec, _)| is_old || !spec.starts_with("spec.template"));
    let mut written = field.to_owned();
    for (spec, place) in places {
        written = written.replace(spec, place);
    }
    let written = written.replace("spec.template.", "").replace("spec.", "");
    written.replace(": ", ".")
}

impl FileEnvironments {
    /// Takes note of a setting that means nothing here.
    fn leave(&mut self, section: &Section<'_>, key: &str) {
        if section.get(key).is_some() {
            let path = section.path(key);
            self.warnings.push(format!("{path} means nothing here"));
        }
    }
}
