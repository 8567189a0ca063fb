//! The configuration that holds in an environment, and the part of it that may be shown.

use serde_json::Value;
use zeroize::Zeroize;

use super::Deployed;
use crate::application::{Secrets, effective};

/// The settings that say where an application goes. They are heeded before, and are no configuration of what runs.
const VETOS: [&str; 3] = ["vetos", "omitFromDeploy", "omitFromNamespaces"];

/// The configuration that holds in an environment.
pub(super) struct Effective {
    /// All of it. Wiped when it is dropped.
    whole: Wiped,
    /// The part that is no secret.
    pub(super) public: Value,
}

/// A value with secrets, wiped when it is dropped.
struct Wiped(Value);

impl Drop for Wiped {
    fn drop(&mut self) {
        let mut open = vec![self.0.take()];
        while let Some(value) = open.pop() {
            match value {
                Value::String(mut text) => text.zeroize(),
                Value::Array(items) => open.extend(items),
                Value::Object(fields) => open.extend(fields.into_iter().map(|(_, value)| value)),
                Value::Null | Value::Bool(_) | Value::Number(_) => {}
            }
        }
    }
}

impl Effective {
    pub(super) fn of(of: &Deployed<'_>) -> Self {
        let document = Wiped(of.secrets.merged_into(of.document));
        let part = |key| document.0.get(key).unwrap_or(&Value::Null);
        let place = &of.environment.environment;
        let whole = effective(
            &of.environment.template,
            (part("group"), part("application")),
            &place.name,
            place.of_type.as_deref(),
        );
        let mut public = whole.clone();
        // What is a secret by today's rules, and what was one when it was sealed.
        drop(Secrets::take_from_settings_of(&mut public));
        for pointer in of.secrets.pointers() {
            remove(&mut public, within_settings(pointer));
        }
        let texts = of.secrets.texts();
        Secrets::remove_repeated(&mut public, &texts);
        if let Value::Object(fields) = &mut public {
            fields.retain(|key, _| !VETOS.contains(&key.as_str()));
        }
        Self {
            whole: Wiped(whole),
            public,
        }
    }

    /// Returns the members of a mapping, each with whether it is a secret.
    pub(super) fn members(&self, pointer: &str) -> impl Iterator<Item = (&str, &Value, bool)> {
        let shown = self.public.pointer(pointer);
        let members = self.whole.0.pointer(pointer).and_then(Value::as_object);
        members.into_iter().flatten().map(move |(key, value)| {
            let is_shown = shown.and_then(|it| it.get(key)) == Some(value);
            (key.as_str(), value, !is_shown)
        })
    }
}

/// Returns the place in merged settings of what is at a pointer of a document: that of an override is where it overrides.
fn within_settings(pointer: &str) -> &str {
    let after = |text: &'_ str| text.find('/').map_or(text.len(), |it| it);
    let settings = pointer.strip_prefix('/').unwrap_or(pointer);
    let settings = &settings[after(settings)..];
    match settings.strip_prefix("/in/") {
        Some(of_environment) => &of_environment[after(of_environment)..],
        None => settings,
    }
}

fn remove(settings: &mut Value, pointer: &str) {
    let Some((parent, key)) = pointer.rsplit_once('/') else {
        return;
    };
    if let Some(Value::Object(fields)) = settings.pointer_mut(parent) {
        fields.remove(&key.replace("~1", "/").replace("~0", "~"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pointers_of_a_document_are_found_in_merged_settings() {
        for (pointer, within) in [
            ("/group/a/b", "/a/b"),
            ("/application/in/prod/a", "/a"),
            ("/application/in/prod", ""),
            ("/application", ""),
            ("/group/in", "/in"),
        ] {
            assert_eq!(within_settings(pointer), within, "{pointer}");
        }
    }
}
