//! Volumes: the same as `configMaps` says, in the shape of a pod spec. Templates without loops take them as they are.

use serde_json::{Value, json};

/// The volumes of a pod, and where its container finds them.
#[derive(Default)]
pub(super) struct Volumes {
    pub(super) volumes: Vec<Value>,
    pub(super) mounts: Vec<Value>,
}

impl Volumes {
    /// Makes a volume for each directory: a pod mounts no two at the same path.
    pub(super) fn of(mounted: &[Value]) -> Self {
        let mut directories: Vec<(&str, Vec<&Value>)> = Vec::new();
        for one in mounted {
            let path = one["mountPath"].as_str().unwrap_or_default();
            let known = directories.iter_mut().find(|(known, _)| *known == path);
            match known {
                Some((_, there)) => there.push(one),
                None => directories.push((path, vec![one])),
            }
        }
        let mut made = Self::default();
        for (number, (path, there)) in directories.into_iter().enumerate() {
            let name = format!("files-{number}");
            let mount = json!({"name": name, "mountPath": path, "readOnly": true});
            made.mounts.push(mount);
            made.volumes.push(match &there[..] {
                [one] => alone(&name, one),
                several => {
                    let sources: Vec<_> = several.iter().copied().map(source).collect();
                    json!({"name": name, "projected": {"sources": sources}})
                }
            });
        }
        made
    }
}

fn alone(name: &str, one: &Value) -> Value {
    let (object, items) = (&one["name"], &one["items"]);
    match is_secret(one) {
        true => json!({"name": name, "secret": {"secretName": object, "items": items}}),
        false => json!({"name": name, "configMap": {"name": object, "items": items}}),
    }
}

/// Returns a source of a projected volume, which names Secrets in another way.
fn source(one: &Value) -> Value {
    let source = json!({"name": one["name"], "items": one["items"]});
    match is_secret(one) {
        true => json!({ "secret": source }),
        false => json!({ "configMap": source }),
    }
}

fn is_secret(one: &Value) -> bool {
    one["secret"] == true
}
