//! Environments in files (`*.namespace.yaml`): ours, as a cluster takes them, and Fathomable's, as templates by name.

mod fathomable;

use serde_json::{Map, Value, json};

use super::section::{Section, shortened};
use super::{EnvironmentObject, Environments, Problem, Refused, TYPES, read};

/// The group and version of the kind.
const API_VERSION: &str = "pathline.dev/v1alpha1";

/// The kind.
const KIND: &str = "Environment";

/// An Environment to be made.
#[derive(Clone, Debug, PartialEq)]
pub struct NewEnvironment {
    /// The name.
    pub name: String,
    /// The namespace that it deploys into.
    pub namespace: String,
    /// The object.
    pub object: Value,
}

/// The Environments of a file, and what of it means nothing here.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FileEnvironments {
    /// The Environments, in the order of the file.
    pub environments: Vec<NewEnvironment>,
    /// The keys that are left aside.
    pub warnings: Vec<String>,
}

/// Returns the environments that are made unless somebody has others: dev, ha, preprod and prod, each of which takes
/// releases each minute.
pub fn usual() -> Vec<NewEnvironment> {
    let usual = TYPES.iter().map(|(name, _)| NewEnvironment {
        name: (*name).to_owned(),
        namespace: (*name).to_owned(),
        object: object(name, &json!({"type": name, "releaseFrequency": {}})),
    });
    usual.collect()
}

/// Reads the documents of a file: Environments as a cluster has them, or Fathomable's templates by name.
///
/// # Errors
/// If something is wrong: all problems, each with its path in the document.
pub fn read_file(documents: &[Value]) -> Result<FileEnvironments, Vec<Problem>> {
    let mut file = FileEnvironments::default();
    let mut problems = Vec::new();
    for document in documents.iter().filter(|it| !it.is_null()) {
        match document {
            Value::Object(fields) if is_object(fields) => {
                file.environments.extend(ours(document, &mut problems));
            }
            Value::Object(fields) => fathomable::read(fields, &mut file, &mut problems),
            _ => {
                let message = format!("an {KIND} is expected, or a mapping of names to templates");
                problems.push(Problem::new("the document", message));
            }
        }
    }
    match problems.is_empty() {
        true => Ok(file),
        false => Err(problems),
    }
}

/// Checks that Environments can be there beside each other.
///
/// # Errors
/// If two of them have one name, or want one namespace.
pub fn check_together(environments: &[NewEnvironment]) -> Result<(), Vec<Problem>> {
    let mut problems = Vec::new();
    let objects = environments.iter().map(|it| EnvironmentObject {
        name: it.name.clone(),
        created: None,
        spec: it.object["spec"].clone(),
        is_terminating: false,
    });
    let objects: Vec<_> = objects.collect();
    for (index, object) in objects.iter().enumerate() {
        if objects[..index].iter().any(|it| it.name == object.name) {
            problems.push(Problem::new(
                &object.name,
                "there is another one of this name",
            ));
        }
    }
    let together = Environments::of(&objects);
    let taken = together
        .refused()
        .filter(|(_, it)| matches!(it, Refused::NamespaceTaken { .. }));
    problems.extend(taken.map(|(name, refused)| Problem::new(name, refused.to_string())));
    match problems.is_empty() {
        true => Ok(()),
        false => Err(problems),
    }
}

fn is_object(fields: &Map<String, Value>) -> bool {
    fields.contains_key("apiVersion") || fields.contains_key("kind")
}

/// Takes an Environment as it is.
fn ours(document: &Value, problems: &mut Vec<Problem>) -> Option<NewEnvironment> {
    let before = problems.len();
    for (key, expected) in [("apiVersion", API_VERSION), ("kind", KIND)] {
        if document.get(key).and_then(Value::as_str) != Some(expected) {
            problems.push(Problem::new(key, format!("`{expected}` is expected")));
        }
    }
    let metadata = document.get("metadata").unwrap_or(&Value::Null);
    let name = metadata.get("name").and_then(Value::as_str);
    if let Some(fields) = document.as_object() {
        let known = ["apiVersion", "kind", "metadata", "spec", "status"];
        let unknown = fields.keys().filter(|it| !known.contains(&it.as_str()));
        problems.extend(
            unknown.map(|it| Problem::new(shortened(it), crate::misspelt::unknown(it, &known))),
        );
    }
    let Some(name) = name else {
        problems.push(Problem::new("metadata.name", "a name is expected"));
        return None;
    };
    let spec = document.get("spec").unwrap_or(&Value::Null);
    let mut object = object(name, spec);
    for key in ["labels", "annotations"] {
        if let Some(value) = metadata.get(key) {
            object["metadata"][key] = value.clone();
        }
    }
    let made = checked(name, object, problems);
    made.filter(|_| problems.len() == before)
}

/// Checks an object; its problems have its name before them.
fn checked(name: &str, object: Value, problems: &mut Vec<Problem>) -> Option<NewEnvironment> {
    let wrong = pathline_kinds::names::dns_subdomain(name);
    if let Some(wrong) = wrong.first() {
        let message = format!(
            "`{}` is no name of an Environment: {wrong}",
            shortened(name)
        );
        problems.push(Problem::new("metadata.name", message));
        return None;
    }
    match read(name, &object["spec"]) {
        Ok(read) => Some(NewEnvironment {
            name: name.to_owned(),
            namespace: read.namespace,
            object,
        }),
        Err(wrong) => {
            let named = |it: Problem| Problem::new(format!("{name}: {}", it.field), it.message);
            problems.extend(wrong.into_iter().map(named));
            None
        }
    }
}

fn object(name: &str, spec: &Value) -> Value {
    json!({"apiVersion": API_VERSION, "kind": KIND, "metadata": {"name": name}, "spec": spec})
}
