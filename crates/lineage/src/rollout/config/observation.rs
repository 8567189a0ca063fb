//! A ConfigMap or Secret, as one reconcile found or left it.

use jiff::Timestamp;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::digests::Digests;
use crate::canonical;
use crate::rollout::uses::ConfigKind;

/// The fields with content.
const CONTENT: [&str; 2] = ["data", "binaryData"];
/// The number of bytes that tell apart who wrote the content and when.
const WRITERS_BYTES: usize = 8;

/// A ConfigMap or Secret as one reconcile found or left it.
#[derive(Clone, Debug)]
pub struct ConfigObservation {
    pub(super) now: Config,
    /// As it was before this reconcile wrote it, if it was there and was written.
    pub(super) before: Option<Config>,
    /// Whether this reconcile created it.
    pub(super) is_created: bool,
    /// The version since which the content is known not to have changed, up to what this reconcile found.
    pub(super) steady_since: Option<u64>,
}

/// A ConfigMap or Secret at one moment.
#[derive(Clone, Debug)]
pub(super) struct Config {
    pub(super) kind: ConfigKind,
    pub(super) name: String,
    pub(super) uid: String,
    pub(super) version: String,
    pub(super) is_immutable: bool,
    /// When it was created.
    pub(super) created: Option<i64>,
    /// When those who own content last wrote.
    pub(super) time: Option<i64>,
    pub(super) writers: String,
    /// Whether nobody but Pathline owns content.
    pub(super) is_ours: bool,
    pub(super) digests: Digests,
}

impl ConfigObservation {
    /// Reads an object that was stamped.
    ///
    /// `before` is the object as it was before it was written, if it was there and was written; `manager`
    /// is the name under which Pathline writes.
    pub fn read(
        kind: ConfigKind,
        object: &Value,
        before: Option<&Value>,
        is_created: bool,
        manager: &str,
    ) -> Self {
        let now = Config::read(kind, object, manager);
        Self {
            before: before.map(|it| Config::read(kind, it, manager)),
            // One that nobody knew of may have been there.
            is_created: is_created && now.created.is_some() && now.created == now.time,
            steady_since: None,
            now,
        }
    }

    /// Adds since which version the content is known not to have changed, up to what this reconcile found:
    /// whoever has watched the object without a gap knows.
    #[must_use]
    pub fn steady_since(self, version: Option<u64>) -> Self {
        Self {
            steady_since: version,
            ..self
        }
    }

    pub(in crate::rollout) fn digests(&self) -> &Digests {
        &self.now.digests
    }
}

impl Config {
    fn read(kind: ConfigKind, object: &Value, manager: &str) -> Self {
        let metadata = &object["metadata"];
        let text = |name: &str| metadata[name].as_str().unwrap_or_default().to_owned();
        let entries = metadata["managedFields"].as_array();
        let entries = entries.into_iter().flatten();
        let entries: Vec<_> = entries.filter(|it| owns_content(&it["fieldsV1"])).collect();
        let times = entries.iter().filter_map(|it| seconds(&it["time"]));
        let created = seconds(&metadata["creationTimestamp"]);
        Self {
            kind,
            name: text("name"),
            uid: text("uid"),
            version: text("resourceVersion"),
            is_immutable: object["immutable"] == true,
            time: times.chain(created).max(),
            created,
            writers: writers(&entries),
            is_ours: entries.iter().all(|it| it["manager"] == manager),
            digests: Digests::of(kind, object),
        }
    }
}

/// Returns the content of an object, as ConfigMaps and Secrets have one.
pub fn content(object: &Value) -> [Option<&Value>; 2] {
    CONTENT.map(|name| object.get(name))
}

/// Tells whether fields that somebody owns, as an object lists them, have content among them.
pub fn owns_content(fields: &Value) -> bool {
    let mut content = CONTENT.iter();
    content.any(|name| fields.get(format!("f:{name}")).is_some())
}

/// Returns what tells apart who wrote the content and when.
fn writers(entries: &[&Value]) -> String {
    if entries.is_empty() {
        return String::new();
    }
    let told = entries.iter().map(|it| {
        let fields = CONTENT.map(|name| it["fieldsV1"][format!("f:{name}")].clone());
        json!([it["manager"], it["operation"], it["time"], fields])
    });
    let told: Vec<_> = told.collect();
    let digest = Sha256::digest(canonical::json(&json!(told)));
    let digest = digest.iter().take(WRITERS_BYTES);
    digest.map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the second that a time of Kubernetes names.
pub(in crate::rollout) fn seconds(time: &Value) -> Option<i64> {
    let time: Timestamp = time.as_str()?.parse().ok()?;
    Some(time.as_second())
}
