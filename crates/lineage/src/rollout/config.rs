//! ConfigMaps and Secrets: when their content became what it is.
//!
//! Kubernetes does not say when the content of an object changed, only when somebody last wrote
//! fields that they own, and that in whole seconds. So what was seen is remembered from reconcile to reconcile. Of contents nothing is
//! remembered, not even a digest: whoever may read what is remembered could guess a short secret
//! by it.

mod digests;
mod observation;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

pub(super) use self::digests::Digests;
use self::observation::Config;
pub(super) use self::observation::seconds;
pub use self::observation::{ConfigObservation, content, owns_content};
use super::uses::ConfigKind;

/// The most pods that are remembered which were made in the very second of a change, but after it.
const MAX_SETTLED: usize = 512;
/// By how many seconds the clocks of Pathline and of the API server may differ, and one.
const CLOCKS_APART: i64 = 3;
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

/// The record of a ConfigMap or Secret that a resource stamps.
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
    /// Whether that second was over when it was last observed: a later write of the same writers would
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

/// The reason for which a content is taken for new.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Cause {
    /// Pathline has just created the object.
    Creation,
    /// Pathline has just written another content.
    Write,
    /// Nobody saw what happened since the last reconcile.
    Unseen,
}

impl ConfigRecord {
    /// Returns what is known after one more observation; `now` is the second in which it is made.
    ///
    /// The content is as it was if nothing shows that it may have changed in between: it is the same
    /// version, or it was watched all the time, or those who own content have not written since, or this
    /// reconcile wrote it itself and left the content as it found it. Times tell that nobody has written only
    /// if the second of the last write is over, or if Pathline alone writes: what it writes it remembers.
    /// In all other cases it may have changed,
    /// last in the version that is there now; that it is equal to what was there before says nothing of
    /// the time between.
    #[must_use]
    pub fn after(known: Option<&Self>, observed: &ConfigObservation, now: i64) -> Self {
        let found = observed.before.as_ref().unwrap_or(&observed.now);
        let same = known.filter(|it| it.uid == found.uid);
        let unchanged = same.filter(|it| it.is_still(found, observed.steady_since));
        let known = match unchanged {
            Some(unchanged) => unchanged.clone(),
            None if observed.is_created => Self::changed(known, found, Cause::Creation, now),
            None => Self::changed(known, found, Cause::Unseen, now),
        };
        let has_written = observed.before.is_some();
        let is_changed =
            has_written && (found.uid != observed.now.uid || found.digests != observed.now.digests);
        let known = if is_changed {
            Self::changed(Some(&known), &observed.now, Cause::Write, now)
        } else {
            known
        };
        known.seen_as(&observed.now, now)
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
    use jiff::Timestamp;
    use serde_json::{Value, json};

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

    fn observed(known: Option<&ConfigRecord>, object: &Value) -> ConfigRecord {
        let config =
            ConfigObservation::read(ConfigKind::ConfigMap, object, None, false, "pathline");
        ConfigRecord::after(known, &config, NOW)
    }

    fn wrote(known: Option<&ConfigRecord>, before: Option<&Value>, object: &Value) -> ConfigRecord {
        let config = ConfigObservation::read(
            ConfigKind::ConfigMap,
            object,
            before,
            before.is_none(),
            "pathline",
        );
        ConfigRecord::after(known, &config, NOW)
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
        assert_eq!(observed(Some(&created), &first), created);

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
        let edited = observed(Some(&changed), &third).change;
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
        let known = observed(Some(&created), &labelled);
        assert_eq!(known.change, created.change);
        // Our own write of an annotation renews the time of all that we own.
        let annotated = config(7, "on", &[("pathline", DATA, 70), ("kubectl", LABEL, 60)]);
        let known = wrote(Some(&known), Some(&labelled), &annotated);
        assert_eq!(known.change, created.change);
        assert_eq!(observed(Some(&known), &annotated), known);
    }

    #[test]
    fn point_17_a_value_that_came_back_may_have_been_another_one() {
        let first = config(5, "on", &[("pathline", DATA, 20)]);
        let created = wrote(None, None, &first);
        let back = config(9, "on", &[("pathline", DATA, 50)]);
        let known = observed(Some(&created), &back);
        assert_eq!((known.change.time, known.change.version), (50, Some(9)));
        // What we write over what somebody else wrote is a change of ours.
        let theirs = config(10, "off", &[("edit", DATA, 60)]);
        let ours = config(11, "on", &[("pathline", DATA, 61)]);
        let known = wrote(Some(&known), Some(&theirs), &ours);
        assert_eq!((known.change.time, known.change.version), (61, Some(11)));
    }

    #[test]
    fn point_17_a_change_that_no_time_tells_of_is_as_late_as_the_observation() {
        let first = config(5, "on", &[("pathline", DATA, 20)]);
        let created = wrote(None, None, &first);
        let less = config(6, "on", &[("pathline", r#"{"f:data": {}}"#, 20)]);
        assert_eq!(observed(Some(&created), &less).change.time, NOW);
        let mut unmanaged = config(7, "on", &[]);
        unmanaged["metadata"]["creationTimestamp"] = json!(null);
        assert_eq!(observed(None, &unmanaged).change.time, NOW);
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
            let config =
                ConfigObservation::read(ConfigKind::ConfigMap, object, None, false, "pathline");
            ConfigRecord::after(known, &config.steady_since(steady), 21)
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
        let over = observed(Some(&known), &first);
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
        let known = observed(None, &config(5, "one", &[("pathline", DATA, 20)]));
        let other = observed(None, &config(5, "two", &[("pathline", DATA, 20)]));
        assert_eq!(known, other);
        let text = serde_json::to_string(&known).unwrap();
        assert_eq!(serde_json::from_str::<ConfigRecord>(&text).unwrap(), known);
        assert_eq!(
            serde_json::from_str::<ConfigRecord>("{}").unwrap(),
            ConfigRecord::default()
        );
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
