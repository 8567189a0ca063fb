//! Brings the keys of the first dialect to those of the second.

use serde_json::{Map, Value};

use super::Dialect;
use crate::name::TrackerName;
use crate::vetos::Vetos;

/// The keys of the first dialect that are at another place in the second.
const MOVED: [(&str, &str); 8] = [
    ("/environment", "/environment/variable"),
    ("/config", "/environment/file/config"),
    ("/secrets", "/environment/file/secret"),
    ("/resources", "/resource"),
    ("/containerRepository", "/repository/image/domain"),
    ("/containerOwner", "/repository/image/owner"),
    ("/authRepository", "/repository/image/auth"),
    ("/imageTag", "/version"),
];

/// The vetos of the first dialect that name an image.
const MOVED_VETOS: [(&str, &str); 4] = [
    ("/vetos/containerRepository", "/repository/image/domain"),
    ("/vetos/containerOwner", "/repository/image/owner"),
    ("/vetos/name", "/repository/image/name"),
    ("/vetos/containerName", "/repository/image/name"),
];

/// Returns the ways in which the keys that lead to a setting may be spelt in a file.
pub(super) fn spelt(steps: &[String], dialect: Dialect) -> Vec<Vec<String>> {
    let mut all = vec![steps.to_vec()];
    if dialect == Dialect::First {
        for (from, to) in MOVED.into_iter().chain(MOVED_VETOS) {
            let to: Vec<&str> = to.split('/').skip(1).collect();
            if steps.len() >= to.len() && steps.iter().zip(&to).all(|(step, to)| step == to) {
                let from = from.split('/').skip(1).map(str::to_owned);
                all.push(from.chain(steps[to.len()..].iter().cloned()).collect());
            }
        }
    }
    all
}

/// Returns settings with the keys of the second dialect. What is overridden for an environment is normalized too.
pub(super) fn normalized(mut settings: Value, dialect: Dialect) -> Value {
    if dialect == Dialect::First {
        let mut moved = Vec::new();
        for (from, to) in MOVED.into_iter().chain(MOVED_VETOS) {
            moved.extend(take(&mut settings, from).map(|value| (to, value)));
        }
        for (to, value) in moved {
            put(&mut settings, to, value);
        }
        official_image(&mut settings);
    }
    for key in ["domain", "owner", "name", "auth"] {
        // Seen in the wild: the image's keys without `image` around them.
        if let Some(value) = take(&mut settings, &format!("/repository/{key}")) {
            let path = format!("/repository/image/{key}");
            if settings.pointer(&path).is_none() {
                put(&mut settings, &path, value);
            }
        }
    }
    for bound in ["min", "max"] {
        if let Some(cpu) = settings.pointer_mut(&format!("/resource/{bound}/cpu")) {
            thousandths(cpu);
        }
    }
    if let Some(Value::Object(overrides)) = settings.get_mut("in") {
        for value in overrides.values_mut() {
            *value = normalized(value.take(), dialect);
        }
    }
    settings
}

/// Reads the vetos; those of the group hold for all of its applications.
pub(super) fn vetos(group: &Value, own: &Value, name: &TrackerName) -> Vetos {
    let names = |value: Option<&Value>| {
        let names = value.and_then(Value::as_array).into_iter().flatten();
        names
            .filter_map(Value::as_str)
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let own = own.get("vetos");
    let group_vetos = group.get("vetos");
    let truth = |key: &str| {
        let of = |vetos: Option<&Value>| vetos.and_then(|it| it.get(key)).and_then(Value::as_bool);
        of(own).or_else(|| of(group_vetos))
    };
    let omitted = names(group.get("omitFromDeploy"));
    let is_omitted = omitted
        .iter()
        .any(|it| it == name.name() || it == name.as_str());
    let mut omit_from_namespaces = names(group.get("omitFromNamespaces"));
    omit_from_namespaces.extend(names(
        group_vetos.and_then(|it| it.get("omitFromNamespaces")),
    ));
    omit_from_namespaces.extend(names(own.and_then(|it| it.get("omitFromNamespaces"))));
    Vetos {
        auto_deploy: truth("autoDeploy").unwrap_or(true),
        omit_from_deploy: is_omitted || truth("omitFromDeploy").unwrap_or_default(),
        omit_from_namespaces,
    }
}

/// An official image is named by its veto; in the second dialect that is a truth beside the name.
fn official_image(settings: &mut Value) {
    match take(settings, "/vetos/officialImage") {
        Some(Value::String(name)) => {
            put(settings, "/repository/image/name", Value::String(name));
            put(
                settings,
                "/repository/image/officialImage",
                Value::Bool(true),
            );
        }
        Some(value) => put(settings, "/repository/image/officialImage", value),
        None => {}
    }
}

/// Turns `250m` into 250: the second dialect counts thousandths of a core.
fn thousandths(cpu: &mut Value) {
    let text = cpu.as_str().and_then(|text| text.strip_suffix('m'));
    if let Some(number) = text.and_then(|text| text.parse::<u64>().ok()) {
        *cpu = Value::from(number);
    }
}

/// Takes a value out of its place.
fn take(settings: &mut Value, path: &str) -> Option<Value> {
    let (parent, key) = path.rsplit_once('/')?;
    settings.pointer_mut(parent)?.as_object_mut()?.remove(key)
}

/// Puts a value to a place, and makes the maps that it is in.
fn put(settings: &mut Value, path: &str, value: Value) {
    let mut place = settings;
    for key in path.split('/').skip(1) {
        if !place.is_object() {
            *place = Value::Object(Map::new());
        }
        let Value::Object(fields) = place else {
            return;
        };
        place = fields.entry(key).or_insert(Value::Null);
    }
    *place = value;
}
