//! Variables of an application. Those that are secret are in a Secret, and the owner names it.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use zeroize::Zeroizing;

use super::content::text_of;
use super::effective::Effective;
use super::names::key;
use super::{Content, InvalidObjects, MAX_OBJECT};

/// The name of the Secret with variables, where others have that of a file.
const VARIABLES: &str = "variables";

/// The variables that hold in an environment, by name.
pub(super) struct Variables {
    /// Each with its value, or nothing if it is a secret.
    shown: BTreeMap<String, Option<String>>,
    secret: BTreeMap<String, Zeroizing<Vec<u8>>>,
}

impl Variables {
    pub(super) fn of(effective: &Effective) -> Self {
        let (mut shown, mut secret) = (BTreeMap::new(), BTreeMap::new());
        for (name, value, is_secret) in effective.members("/environment/variable") {
            let mut text = Some(text_of(value));
            if is_secret {
                let bytes = text.take().unwrap_or_default().into_bytes();
                secret.insert(name.to_owned(), Zeroizing::new(bytes));
            }
            shown.insert(name.to_owned(), text);
        }
        Self { shown, secret }
    }

    /// Returns the content of their Secret, if some are secret.
    pub(super) fn content(&self) -> Result<Option<Content>, InvalidObjects> {
        if self.secret.is_empty() {
            return Ok(None);
        }
        let content = Content {
            file: VARIABLES.to_owned(),
            mount_path: None,
            parts: self.secret.clone(),
        };
        match content.size() {
            size if size > MAX_OBJECT => Err(InvalidObjects::VariablesTooLarge { size }),
            _ => Ok(Some(content)),
        }
    }

    /// Returns them as an owner has them, in the order of their names.
    pub(super) fn env(&self, secret: Option<&str>) -> Vec<Value> {
        let shown = self.shown.iter();
        let env = shown.map(|(name, value)| match value {
            Some(value) => json!({"name": name, "value": value}),
            None => {
                let reference = json!({"name": secret, "key": key(name)});
                json!({"name": name, "valueFrom": {"secretKeyRef": reference}})
            }
        });
        env.collect()
    }
}
