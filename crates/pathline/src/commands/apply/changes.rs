//! The values that an apply has set and removed, which `apply --wait` waits for.

use std::collections::BTreeMap;

use kube::ResourceExt;
use kube::api::DynamicObject;
use pathline_blueprint::owner::{Owner, OwnerKind};
use pathline_lineage::wait::Setting;
use serde_json::Value;

use crate::terminal::report::{CommandError, Exit};

/// The most values, and the most bytes of them, that are waited for at once.
const MAX_VALUES: usize = 400;
const MAX_BYTES: usize = 40 << 10;

/// The changes of an apply to an owner.
#[derive(Clone, Debug)]
pub(crate) struct Changes {
    /// The values that the file names, as the cluster has taken them.
    pub(crate) set: Vec<Setting>,
    /// The inputs that were there before, and are no longer.
    pub(crate) removed: Vec<String>,
    pub(crate) generation: i64,
    pub(crate) uid: String,
}

impl Changes {
    /// Compares the owner in the file, the one that was there before, and what has become of it.
    pub(super) fn of(
        kind: OwnerKind,
        file: &DynamicObject,
        before: Option<&DynamicObject>,
        after: &DynamicObject,
    ) -> Self {
        let (named, said) = (said(kind, file), said(kind, after));
        let before = before.map(|it| self::said(kind, it)).unwrap_or_default();
        let set = said.iter().filter(|(name, _)| named.contains_key(*name));
        let removed = before.into_keys().filter(|name| !said.contains_key(name));
        Self {
            set: set.map(|(name, value)| Setting::new(name, value)).collect(),
            removed: removed.collect(),
            generation: after.metadata.generation.unwrap_or_default(),
            uid: after.uid().unwrap_or_default(),
        }
    }

    /// Tells whether there is nothing of it to wait for.
    pub(crate) fn is_empty(&self) -> bool {
        self.set.is_empty() && self.removed.is_empty()
    }

    /// Returns it as parameters of a question.
    pub(crate) fn query(&self) -> impl Iterator<Item = (&'static str, String)> {
        let set = self.set.iter().map(|it| ("applied", it.to_string()));
        let removed = self.removed.iter().map(|it| ("removed", it.clone()));
        let generation = ("generation", self.generation.to_string());
        let uid = Some(("uid", self.uid.clone())).filter(|(_, uid)| !uid.is_empty());
        set.chain(removed).chain([generation]).chain(uid)
    }

    /// Refuses what is too much for one question.
    pub(super) fn check(&self) -> Result<(), CommandError> {
        let values = self.set.len() + self.removed.len();
        let bytes: usize = self.query().map(|(_, value)| value.len()).sum();
        if values <= MAX_VALUES && bytes <= MAX_BYTES {
            return Ok(());
        }
        let message = format!("{values} values of {bytes} bytes are too much to wait for at once");
        Err(CommandError::new(message)
            .with_hint("it was applied; `pathline wait` waits for what you name with `--for`")
            .with_exit(Exit::Unknown))
    }
}

/// Returns what an owner says, by the names of inputs.
fn said(kind: OwnerKind, object: &DynamicObject) -> BTreeMap<String, Value> {
    let value = serde_json::to_value(object).unwrap_or_default();
    let owner = Owner::read(kind, value);
    owner.map(|owner| owner.said()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn mk_owner(spec: &Value, labels: &Value) -> DynamicObject {
        let metadata = json!({"name": "a", "uid": "u", "generation": 2, "labels": labels});
        serde_json::from_value(json!({"metadata": metadata, "spec": spec})).unwrap()
    }

    #[test]
    fn what_the_file_names_was_set_and_what_is_gone_was_removed() {
        let file = json!({
            "serviceAccountName": "robot",
            "params": [{"name": "debug", "value": "true"}],
            "source": {"git": {"url": "u"}},
        });
        let file = mk_owner(&file, &json!({"path": "web"}));
        let before = json!({"image": "i", "params": [{"name": "tier", "value": 1}]});
        let before = mk_owner(&before, &json!({"team": "a"}));
        let after = json!({
            "params": [{"name": "debug", "value": "true"}],
            "source": {"git": {"url": "u", "ref": {"branch": "main"}}},
        });
        let after = mk_owner(&after, &json!({"path": "web", "by": "webhook"}));

        let changes = Changes::of(OwnerKind::Workload, &file, Some(&before), &after);

        let set: Vec<_> = changes.set.iter().map(ToString::to_string).collect();
        assert_eq!(
            set,
            [
                "field:metadata.labels.path=\"web\"",
                "field:spec.source.git.url=\"u\"",
                "param:debug=\"true\"",
            ]
        );
        assert_eq!(
            changes.removed,
            [
                "field:metadata.labels.team",
                "field:spec.image",
                "param:tier"
            ]
        );
        assert_eq!((changes.generation, changes.uid.as_str()), (2, "u"));
    }

    #[test]
    fn too_much_is_refused() {
        let many: serde_json::Map<_, _> =
            (0..500).map(|it| (format!("f{it}"), json!(it))).collect();
        let owner = mk_owner(&Value::Object(many), &json!({}));
        let changes = Changes::of(OwnerKind::Workload, &owner, None, &owner);
        let failure = changes.check().unwrap_err();
        assert_eq!(failure.exit(), Exit::Unknown);
    }
}
