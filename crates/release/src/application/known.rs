//! The keys that mean something, and warnings about all others: they are kept, and may be misspelt.

use pathline_document::Position;
use serde_json::Value;

use self::Below::{Anything, Each, Items, Keys};
use super::{GROUP_KEY, OWN_KEY, places};
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
    /// The place of the key in the file; nothing if that was not noted when the file was read.
    pub position: Option<Position>,
    /// The warning, without the value.
    pub message: String,
}

/// A key that means nothing, by the steps that lead to it.
pub(super) struct Unknown {
    /// The keys from the settings on, and the indices of lists as numbers.
    pub(super) steps: Vec<String>,
    path: String,
    message: String,
}

/// Warns about keys of a document of an application and its group, as [`Application::split`](super::Application::split)
/// returns it, that mean nothing.
pub fn warnings(name: &TrackerName, document: &Value) -> Vec<Warning> {
    let of = |key| unknown_keys(name, key, document.get(key)).into_iter();
    let unknown = of(GROUP_KEY).chain(of(OWN_KEY)).take(MAX_WARNINGS);
    let warning = |unknown: Unknown| Warning {
        position: places::noted(document, &unknown.path),
        path: unknown.path,
        message: unknown.message,
    };
    unknown.map(warning).collect()
}

/// Finds the keys of the settings of a group or an application, which are below `key` of a document, that mean nothing.
pub(super) fn unknown_keys(
    name: &TrackerName,
    key: &str,
    settings: Option<&Value>,
) -> Vec<Unknown> {
    let group = format!("{}.group", name.group());
    let (path, known) = match key {
        GROUP_KEY => (group.as_str(), &GROUP),
        _ => (name.as_str(), &APPLICATION),
    };
    let mut search = Search {
        steps: Vec::new(),
        found: Vec::new(),
    };
    if let Some(settings) = settings {
        search.look(settings, path, known);
    }
    search.found.truncate(MAX_WARNINGS);
    search.found
}

/// Warns about keys of a template that mean nothing there; paths begin with `root`.
pub(super) fn warnings_of_template(template: &Value, root: &str) -> Vec<Warning> {
    let mut search = Search {
        steps: Vec::new(),
        found: Vec::new(),
    };
    search.look(template, root, &TEMPLATE);
    let found = search.found.into_iter().take(MAX_WARNINGS);
    let warning = |unknown: Unknown| Warning {
        path: unknown.path,
        position: None,
        message: unknown.message,
    };
    found.map(warning).collect()
}

/// Tells whether a key of settings means something.
pub(super) fn is_setting(key: &str) -> bool {
    [&GROUP, &APPLICATION]
        .into_iter()
        .any(|it| matches!(it, Keys(keys) if keys.iter().any(|(known, _)| *known == key)))
}

/// A search for keys that mean nothing.
struct Search {
    steps: Vec<String>,
    found: Vec<Unknown>,
}

impl Search {
    // Recursion ends: what is known has an end.
    fn look(&mut self, value: &Value, path: &str, known: &Below) {
        match (known, value) {
            (Keys(keys), Value::Object(fields)) => {
                for (key, value) in fields {
                    let path = format!("{path}.{key}");
                    self.steps.push(key.clone());
                    match keys.iter().find(|(it, _)| it == key) {
                        Some((_, below)) => self.look(value, &path, below),
                        None => self.found.push(Unknown {
                            steps: self.steps.clone(),
                            path,
                            message: means_nothing(key, keys),
                        }),
                    }
                    self.steps.pop();
                }
            }
            (Each(below), Value::Object(fields)) => {
                for (key, value) in fields {
                    self.steps.push(key.clone());
                    self.look(value, &format!("{path}.{key}"), below);
                    self.steps.pop();
                }
            }
            (Items(below), Value::Array(items)) => {
                for (index, item) in items.iter().enumerate() {
                    self.steps.push(index.to_string());
                    self.look(item, &format!("{path}[{index}]"), below);
                    self.steps.pop();
                }
            }
            _ => {}
        }
    }
}

impl Unknown {
    pub(super) fn path(&self) -> &str {
        &self.path
    }
}

fn means_nothing(key: &str, keys: &[(&str, Below)]) -> String {
    let known: Vec<_> = keys.iter().map(|(it, _)| *it).collect();
    misspelt::unknown(key, &known)
}
