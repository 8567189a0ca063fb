//! The keys that mean something, and warnings about all others: they are kept, and may be misspelt.

use serde_json::Value;

use self::Below::{Anything, Each, Items, Keys};
use crate::misspelt;
use crate::name::TrackerName;

/// The most warnings about one application.
const MAX_WARNINGS: usize = 20;

/// The values that a known key may have, as far as there are keys in them.
enum Below {
    /// No keys that anybody here knows.
    Anything,
    /// These keys.
    Keys(&'static [(&'static str, Self)]),
    /// Names that are free to choose.
    Each(&'static Self),
    /// A list.
    Items(&'static Self),
}

const FILES: Below = Each(&Keys(&[
    ("inheritGroup", Anything),
    ("mountPath", Anything),
    (
        "data",
        Items(&Keys(&[("name", Anything), ("value", Anything)])),
    ),
]));

const ENVIRONMENT: Below = Keys(&[
    ("variable", Anything),
    ("file", Keys(&[("config", FILES), ("secret", FILES)])),
]);

const AMOUNTS: Below = Keys(&[("cpu", Anything), ("memory", Anything)]);

const RESOURCE: Below = Keys(&[("min", AMOUNTS), ("max", AMOUNTS)]);

const REPOSITORY: Below = Keys(&[(
    "image",
    Keys(&[
        ("domain", Anything),
        ("owner", Anything),
        ("name", Anything),
        ("officialImage", Anything),
        ("auth", Anything),
    ]),
)]);

const VETOS: Below = Keys(&[
    ("autoDeploy", Anything),
    ("omitFromDeploy", Anything),
    ("omitFromNamespaces", Anything),
]);

const GROUP: Below = Keys(&[
    ("component", Anything),
    ("environment", ENVIRONMENT),
    ("omitFromDeploy", Anything),
    ("omitFromNamespaces", Anything),
    ("repository", REPOSITORY),
    ("resource", RESOURCE),
    ("vetos", VETOS),
]);

/// The settings of an environment. Everybody who may read the environment can read them, so there are no files of secrets.
const TEMPLATE: Below = Keys(&[
    (
        "environment",
        Keys(&[("variable", Anything), ("file", Keys(&[("config", FILES)]))]),
    ),
    ("resource", RESOURCE),
]);

const APPLICATION: Below = Keys(&[
    ("component", Anything),
    ("environment", ENVIRONMENT),
    (
        "in",
        Each(&Keys(&[
            ("environment", ENVIRONMENT),
            ("resource", RESOURCE),
        ])),
    ),
    ("repository", REPOSITORY),
    ("resource", RESOURCE),
    ("version", Anything),
    ("vetos", VETOS),
]);

/// A key that means nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// The path of the key in the file, such as `shop.web.environmnet`; in a file of the first dialect, where the second one
    /// has it.
    pub path: String,
    /// The warning, without the value.
    pub message: String,
}

/// Warns about keys of a document of an application and its group, as [`Application::split`](super::Application::split)
/// returns it, that mean nothing.
pub fn warnings(name: &TrackerName, document: &Value) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let group = format!("{}.group", name.group());
    for (key, path, known) in [
        ("group", group.as_str(), &GROUP),
        ("application", name.as_str(), &APPLICATION),
    ] {
        if let Some(settings) = document.get(key) {
            look(settings, path, known, &mut warnings);
        }
    }
    warnings.truncate(MAX_WARNINGS);
    warnings
}

/// Warns about keys of a template that mean nothing there; paths begin with `root`.
pub(super) fn warnings_of_template(template: &Value, root: &str) -> Vec<Warning> {
    let mut warnings = Vec::new();
    look(template, root, &TEMPLATE, &mut warnings);
    warnings.truncate(MAX_WARNINGS);
    warnings
}

/// Tells whether a key of settings means something.
pub(super) fn is_setting(key: &str) -> bool {
    [&GROUP, &APPLICATION]
        .into_iter()
        .any(|it| matches!(it, Keys(keys) if keys.iter().any(|(known, _)| *known == key)))
}

// Recursion ends: what is known has an end.
fn look(value: &Value, path: &str, known: &Below, warnings: &mut Vec<Warning>) {
    match (known, value) {
        (Keys(keys), Value::Object(fields)) => {
            for (key, value) in fields {
                let path = format!("{path}.{key}");
                match keys.iter().find(|(it, _)| it == key) {
                    Some((_, below)) => look(value, &path, below, warnings),
                    None => warnings.push(unknown(path, key, keys)),
                }
            }
        }
        (Each(below), Value::Object(fields)) => {
            for (key, value) in fields {
                look(value, &format!("{path}.{key}"), below, warnings);
            }
        }
        (Items(below), Value::Array(items)) => {
            for (index, item) in items.iter().enumerate() {
                look(item, &format!("{path}[{index}]"), below, warnings);
            }
        }
        _ => {}
    }
}

fn unknown(path: String, key: &str, keys: &[(&str, Below)]) -> Warning {
    let known: Vec<_> = keys.iter().map(|(it, _)| *it).collect();
    let message = misspelt::unknown(key, &known);
    Warning { path, message }
}
