//! ConfigMaps and Secrets: when their content became what it is.
//!
//! Kubernetes does not say when the content of an object changed, only when somebody last wrote
//! fields that they own, and that in whole seconds. So what was seen is remembered from look to look. Of contents nothing is
//! remembered, not even a digest: whoever may read what is remembered could guess a short secret
//! by it.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::carried::Sha;
use super::uses::ConfigKind;
use crate::canonical;

/// How many pods are remembered that were made in the very second of a change, but after it.
const MAX_SETTLED: usize = 512;
/// By how many seconds the clocks of Pathline and of the API server may differ, and one.
const CLOCKS_APART: i64 = 3;
/// The fields with content.
const CONTENT: [&str; 2] = ["data", "binaryData"];
/// How many bytes tell apart who wrote the content and when.
const WRITERS_BYTES: usize = 8;

/// When the content of a ConfigMap or Secret became what it is.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ConfigChange {
    /// No later than in this second, by the clock of the API server.
    pub time: i64,
    /// No later than in this version of the object, where versions are numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<u64>,
    /// Whether Pathline made the change itself, so that it did not happen earlier either.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_own: bool,
    /// Whether the object was created so, and no other one of its name is known before it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_creation: bool,
}

/// What is remembered of a ConfigMap or Secret that a resource stamps.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ConfigRecord {
    /// Its kind.
    pub kind: ConfigKind,
    /// Its name.
    pub name: String,
    /// The version of it that was seen last.
    pub version: String,
    /// When its content became what it is.
    pub change: ConfigChange,
    uid: String,
    /// Tells apart who wrote the content and when.
    writers: String,
    /// The second in which they last wrote anything.
    written: i64,
    /// Whether that second was over when it was last looked at: a later write of the same writers would
    /// have another time.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    is_over: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) is_immutable: bool,
    /// The pods that were made in the very second of the change, but after it. The order of events
    /// shows that, which nobody can ask for later.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub(super) settled: BTreeSet<u64>,
}

/// A ConfigMap or Secret as one look at its resource found or left it.
#[derive(Clone, Debug)]
pub struct ConfigLook {
    now: Config,
    /// As it was before this look wrote it, if it was there and was written.
    before: Option<Config>,
    /// Whether this look created it.
    is_created: bool,
    /// The version since which the content is known not to have changed, up to what this look found.
    steady_since: Option<u64>,
}

/// A ConfigMap or Secret at one moment.
#[derive(Clone, Debug)]
struct Config {
    kind: ConfigKind,
    name: String,
    uid: String,
    version: String,
    is_immutable: bool,
    /// When it was created.
    created: Option<i64>,
    /// When those who own content last wrote.
    time: Option<i64>,
    writers: String,
    /// Whether nobody but Pathline owns content.
    is_ours: bool,
    digests: Digests,
}

/// The digests of a content; they are compared, and never kept.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Digests {
    /// Of all of it, as canonical JSON.
    pub(super) whole: Sha,
    /// Of each value, by its key.
    pub(super) values: BTreeMap<String, Sha>,
}

impl ConfigLook {
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

    /// Adds since which version the content is known not to have changed, up to what this look found:
    /// whoever has watched the object without a gap knows.
    #[must_use]
    pub fn steady_since(self, version: Option<u64>) -> Self {
        Self {
            steady_since: version,
            ..self
        }
    }

    pub(super) fn digests(&self) -> &Digests {
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
pub(super) fn seconds(time: &Value) -> Option<i64> {
    let time: Timestamp = time.as_str()?.parse().ok()?;
    Some(time.as_second())
}

impl Digests {
    /// Digests what containers read: the values of a Secret are decoded, as they are for them.
    fn of(kind: ConfigKind, object: &Value) -> Self {
        let fields = |name: &str| object[name].as_object().cloned().unwrap_or_default();
        let (data, binary) = (fields("data"), fields("binaryData"));
        let plain = kind == ConfigKind::ConfigMap;
        let of_data = data.iter().map(|(key, value)| (key, value, plain));
        let of_binary = binary.iter().map(|(key, value)| (key, value, false));
        let values = of_data.chain(of_binary).map(|(key, value, plain)| {
            let text = value.as_str().unwrap_or_default();
            let bytes = if plain { None } else { decoded(text) };
            let bytes = bytes.unwrap_or_else(|| text.as_bytes().to_vec());
            (key.clone(), Sha256::digest(bytes).into())
        });
        let values = values.collect();
        let whole = if binary.is_empty() {
            json!(data)
        } else {
            json!({"binaryData": binary, "data": data})
        };
        Self {
            whole: Sha256::digest(canonical::json(&whole)).into(),
            values,
        }
    }
}

/// Decodes base64 as Kubernetes writes it; `None` if it is something else.
fn decoded(text: &str) -> Option<Vec<u8>> {
    let text = text.trim_end_matches('=');
    let mut bytes = Vec::with_capacity(text.len() * 3 / 4);
    let (mut bits, mut held) = (0_u32, 0_u8);
    for character in text.bytes() {
        let value = match character {
            b'A'..=b'Z' => character - b'A',
            b'a'..=b'z' => character - b'a' + 26,
            b'0'..=b'9' => character - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        bits = bits << 6 | u32::from(value);
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held & 0xff) as u8);
        }
    }
    Some(bytes)
}

/// The reason for which a content is taken for new.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Cause {
    /// Pathline has just created the object.
    Creation,
    /// Pathline has just written another content.
    Write,
    /// Nobody saw what happened since the last look.
    Unseen,
}

impl ConfigRecord {
    /// Returns what is known after one more look; `now` is the second in which it is made.
    ///
    /// The content is as it was if nothing shows that it may have changed in between: it is the same
    /// version, or it was watched all the time, or those who own content have not written since, or this
    /// look wrote it itself and left the content as it found it. Times tell that nobody has written only
    /// if the second of the last write is over, or if Pathline alone writes: what it writes it remembers.
    /// In all other cases it may have changed,
    /// last in the version that is there now; that it is equal to what was there before says nothing of
    /// the time between.
    #[must_use]
    pub fn after(known: Option<&Self>, look: &ConfigLook, now: i64) -> Self {
        let found = look.before.as_ref().unwrap_or(&look.now);
        let same = known.filter(|it| it.uid == found.uid);
        let unchanged = same.filter(|it| it.is_still(found, look.steady_since));
        let known = match unchanged {
            Some(unchanged) => unchanged.clone(),
            None if look.is_created => Self::changed(known, found, Cause::Creation, now),
            None => Self::changed(known, found, Cause::Unseen, now),
        };
        let has_written = look.before.is_some();
        let is_changed =
            has_written && (found.uid != look.now.uid || found.digests != look.now.digests);
        let known = if is_changed {
            Self::changed(Some(&known), &look.now, Cause::Write, now)
        } else {
            known
        };
        known.seen_as(&look.now, now)
    }

    /// Tells whether an object has the content that this is about.
    fn is_still(&self, config: &Config, steady_since: Option<u64>) -> bool {
        let version: Option<u64> = self.version.parse().ok();
        let was_watched = steady_since.is_some() && steady_since <= version;
        let is_unwritten = self.is_unwritten(config) && (self.is_over || config.is_ours);
        self.version == config.version || was_watched || is_unwritten
    }

    /// Tells whether those who own content have not written since, but for the same second.
    fn is_unwritten(&self, config: &Config) -> bool {
        !config.writers.is_empty() && self.writers == config.writers
    }

    /// Returns what is known of an object whose content is new, or may be.
    fn changed(known: Option<&Self>, config: &Config, cause: Cause, now: i64) -> Self {
        let is_own = cause != Cause::Unseen;
        let same = known.filter(|it| it.uid == config.uid);
        // Who takes a key away owns nothing by that, so that no time tells of it.
        let is_told = |time: &i64| {
            let is_told = |it: &Self| *time > it.written || it.is_unwritten(config);
            is_own || same.is_none_or(is_told)
        };
        let is_first = known.is_none_or(|it| it.name != config.name);
        Self {
            change: ConfigChange {
                time: config.time.filter(is_told).unwrap_or(now),
                version: config.version.parse().ok(),
                is_own,
                is_creation: cause == Cause::Creation && is_first,
            },
            ..Self::default()
        }
    }

    /// Returns it with what an object says whose content is the same.
    fn seen_as(self, config: &Config, now: i64) -> Self {
        let was_over = self.is_over && self.is_unwritten(config);
        let written = config.time.unwrap_or(now);
        Self {
            kind: config.kind,
            name: config.name.clone(),
            version: config.version.clone(),
            uid: config.uid.clone(),
            writers: config.writers.clone(),
            is_over: was_over || now >= written + CLOCKS_APART,
            written,
            is_immutable: config.is_immutable,
            ..self
        }
    }

    /// Remembers pods that were made in the very second of the change, but after it.
    pub fn settle(&mut self, pods: &BTreeSet<u64>) {
        let room = MAX_SETTLED.saturating_sub(self.settled.len());
        let new: Vec<u64> = pods.difference(&self.settled).copied().collect();
        self.settled.extend(new.into_iter().take(room));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A ConfigMap that managers wrote in these seconds.
    fn config(version: u64, value: &str, written: &[(&str, &str, i64)]) -> Value {
        let entries = written.iter().map(|(manager, fields, second)| {
            let time = Timestamp::from_second(*second).unwrap().to_string();
            let fields: Value = serde_json::from_str(fields).unwrap();
            json!({"manager": manager, "operation": "Apply", "time": time, "fieldsV1": fields})
        });
        let entries: Vec<_> = entries.collect();
        json!({
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {
                "name": "c", "uid": "1", "resourceVersion": version.to_string(),
                "creationTimestamp": Timestamp::from_second(20).unwrap().to_string(),
                "managedFields": entries,
            },
            "data": {"debug": value},
        })
    }

    const DATA: &str = r#"{"f:data": {"f:debug": {}}}"#;
    const LABEL: &str = r#"{"f:metadata": {"f:labels": {"f:x": {}}}}"#;
    const NOW: i64 = 1_000;

    fn looked(known: Option<&ConfigRecord>, object: &Value) -> ConfigRecord {
        let look = ConfigLook::read(ConfigKind::ConfigMap, object, None, false, "pathline");
        ConfigRecord::after(known, &look, NOW)
    }

    fn wrote(known: Option<&ConfigRecord>, before: Option<&Value>, object: &Value) -> ConfigRecord {
        let look = ConfigLook::read(
            ConfigKind::ConfigMap,
            object,
            before,
            before.is_none(),
            "pathline",
        );
        ConfigRecord::after(known, &look, NOW)
    }

    #[test]
    fn point_17_content_changes_when_somebody_writes_it() {
        let first = config(5, "on", &[("pathline", DATA, 20)]);
        let created = wrote(None, None, &first);
        let creation = ConfigChange {
            time: 20,
            version: Some(5),
            is_own: true,
            is_creation: true,
        };
        assert_eq!(created.change, creation);
        assert_eq!(looked(Some(&created), &first), created);

        let second = config(8, "off", &[("pathline", DATA, 30)]);
        let changed = wrote(Some(&created), Some(&first), &second);
        let change = ConfigChange {
            time: 30,
            version: Some(8),
            is_own: true,
            is_creation: false,
        };
        assert_eq!(changed.change, change);
        // Another one writes the same value once more: it may have been another one meanwhile.
        let third = config(9, "off", &[("pathline", DATA, 30), ("edit", DATA, 40)]);
        let edited = looked(Some(&changed), &third).change;
        assert_eq!(
            (edited.time, edited.version, edited.is_own),
            (40, Some(9), false)
        );
    }

    #[test]
    fn point_17_labels_do_not_count() {
        let first = config(5, "on", &[("pathline", DATA, 20)]);
        let created = wrote(None, None, &first);
        let labelled = config(6, "on", &[("pathline", DATA, 20), ("kubectl", LABEL, 60)]);
        let known = looked(Some(&created), &labelled);
        assert_eq!(known.change, created.change);
        // Our own write of an annotation renews the time of all that we own.
        let annotated = config(7, "on", &[("pathline", DATA, 70), ("kubectl", LABEL, 60)]);
        let known = wrote(Some(&known), Some(&labelled), &annotated);
        assert_eq!(known.change, created.change);
        assert_eq!(looked(Some(&known), &annotated), known);
    }

    #[test]
    fn point_17_a_value_that_came_back_may_have_been_another_one() {
        let first = config(5, "on", &[("pathline", DATA, 20)]);
        let created = wrote(None, None, &first);
        let back = config(9, "on", &[("pathline", DATA, 50)]);
        let known = looked(Some(&created), &back);
        assert_eq!((known.change.time, known.change.version), (50, Some(9)));
        // What we write over what somebody else wrote is a change of ours.
        let theirs = config(10, "off", &[("edit", DATA, 60)]);
        let ours = config(11, "on", &[("pathline", DATA, 61)]);
        let known = wrote(Some(&known), Some(&theirs), &ours);
        assert_eq!((known.change.time, known.change.version), (61, Some(11)));
    }

    #[test]
    fn point_17_a_change_that_no_time_tells_of_is_as_late_as_the_look() {
        let first = config(5, "on", &[("pathline", DATA, 20)]);
        let created = wrote(None, None, &first);
        let less = config(6, "on", &[("pathline", r#"{"f:data": {}}"#, 20)]);
        assert_eq!(looked(Some(&created), &less).change.time, NOW);
        let mut unmanaged = config(7, "on", &[]);
        unmanaged["metadata"]["creationTimestamp"] = json!(null);
        assert_eq!(looked(None, &unmanaged).change.time, NOW);
    }

    #[test]
    fn point_17_another_object_of_the_same_name_is_no_first_one() {
        let first = config(5, "on", &[("pathline", DATA, 20)]);
        let created = wrote(None, None, &first);
        let mut again = config(9, "on", &[("pathline", DATA, 30)]);
        again["metadata"]["uid"] = json!("2");
        again["metadata"]["creationTimestamp"] =
            again["metadata"]["managedFields"][0]["time"].clone();
        let change = wrote(Some(&created), None, &again).change;
        assert!(!change.is_creation && change.is_own, "{change:?}");
        again["metadata"]["name"] = json!("d");
        assert!(wrote(Some(&created), None, &again).change.is_creation);
    }

    #[test]
    fn point_17_within_one_second_times_tell_nothing() {
        let first = config(5, "on", &[("edit", DATA, 20)]);
        let soon = |object: &Value, known: Option<&ConfigRecord>, steady: Option<u64>| {
            let look = ConfigLook::read(ConfigKind::ConfigMap, object, None, false, "pathline");
            ConfigRecord::after(known, &look.steady_since(steady), 21)
        };
        let known = soon(&first, None, None);
        let later = config(9, "on", &[("edit", DATA, 20), ("kubectl", LABEL, 20)]);
        let unwatched = soon(&later, Some(&known), Some(9)).change;
        assert_eq!((unwatched.time, unwatched.version), (20, Some(9)));
        let watched = soon(&later, Some(&known), Some(5)).change;
        assert_eq!((watched.time, watched.version), (20, Some(5)));
        let ours = soon(&config(5, "on", &[("pathline", DATA, 20)]), None, None);
        let later_ours = config(9, "on", &[("pathline", DATA, 20), ("kubectl", LABEL, 20)]);
        assert_eq!(soon(&later_ours, Some(&ours), None).change, ours.change);
        let over = looked(Some(&known), &first);
        assert_eq!(soon(&later, Some(&over), None).change, known.change);
        // It is the second of the last write that must be over, not that of the change.
        let labelled = config(6, "on", &[("edit", DATA, 900)]);
        let recent = soon(&labelled, Some(&over), Some(5));
        let again = config(9, "on", &[("edit", DATA, 900)]);
        assert_eq!(recent.change, known.change);
        assert_eq!(soon(&again, Some(&recent), None).change.time, 900);
    }

    #[test]
    fn point_17_an_object_that_was_there_unknown_is_not_created() {
        let adopted = config(5, "on", &[("pathline", DATA, 40)]);
        let change = wrote(None, None, &adopted).change;
        assert!(!change.is_creation && !change.is_own, "{change:?}");
    }

    #[test]
    fn point_17_nothing_of_a_content_is_remembered() {
        let known = looked(None, &config(5, "one", &[("pathline", DATA, 20)]));
        let other = looked(None, &config(5, "two", &[("pathline", DATA, 20)]));
        assert_eq!(known, other);
        let text = serde_json::to_string(&known).unwrap();
        assert_eq!(serde_json::from_str::<ConfigRecord>(&text).unwrap(), known);
        assert_eq!(
            serde_json::from_str::<ConfigRecord>("{}").unwrap(),
            ConfigRecord::default()
        );
    }

    #[test]
    fn point_17_the_values_of_secrets_are_digested_as_containers_read_them() {
        for (text, wanted) in [
            ("c2VjcmV0", Some("secret")),
            ("c2VjcmV0cw==", Some("secrets")),
            ("YQ==", Some("a")),
            ("", Some("")),
            ("no base64!", None),
        ] {
            let decoded = decoded(text);
            assert_eq!(decoded.as_deref(), wanted.map(str::as_bytes), "{text}");
        }
    }

    #[test]
    fn point_17_only_so_many_pods_are_remembered() {
        let mut known = ConfigRecord::default();
        known.settle(&(0..10_000).collect());
        assert_eq!(known.settled.len(), MAX_SETTLED);
        known.settle(&(0..10).collect());
        assert_eq!(known.settled.len(), MAX_SETTLED);
    }
}
