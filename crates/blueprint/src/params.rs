//! Which value does a parameter have?

use serde_json::{Map, Value};

use crate::model::{BlueprintParam, OwnerParam, TemplateParam};

/// Merges parameters: template defaults, then blueprint, then resource, then owner.
///
/// A `value` is out of the owner's reach, a `default` is not; the resource decides this anew for the
/// parameters it names. Owners may add parameters that nobody declared. Null is a value like any other.
pub fn merge(
    template: &[TemplateParam],
    blueprint: &[BlueprintParam],
    resource: &[BlueprintParam],
    owner: &[OwnerParam],
) -> Map<String, Value> {
    let mut merged: Map<String, Value> = template
        .iter()
        .map(|param| (param.name.clone(), param.default.clone()))
        .collect();
    let mut protected = std::collections::BTreeSet::new();
    for param in blueprint.iter().chain(resource) {
        let (value, is_protected) = match (&param.value, &param.default) {
            (Some(value), _) => (value, true),
            (None, Some(default)) => (default, false),
            (None, None) => continue,
        };
        merged.insert(param.name.clone(), value.clone());
        if is_protected {
            protected.insert(param.name.as_str());
        } else {
            protected.remove(param.name.as_str());
        }
    }
    for param in owner
        .iter()
        .filter(|param| !protected.contains(param.name.as_str()))
    {
        merged.insert(param.name.clone(), param.value.clone());
    }
    merged
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const DEFAULT: fn(&str) -> Option<Value> = |text| Some(json!({"default": text}));
    const VALUE: fn(&str) -> Option<Value> = |text| Some(json!({"value": text}));

    fn param(setting: Option<Value>) -> Vec<BlueprintParam> {
        let setting = setting.map(|mut setting| {
            setting["name"] = json!("p");
            serde_json::from_value(setting).unwrap()
        });
        setting.into_iter().collect()
    }

    fn merged(blueprint: Option<Value>, resource: Option<Value>, owner: Option<Value>) -> Value {
        let template = [TemplateParam {
            name: "p".to_owned(),
            default: json!("template"),
        }];
        let owner: Vec<OwnerParam> = owner
            .into_iter()
            .map(|value| OwnerParam {
                name: "p".to_owned(),
                value,
            })
            .collect();
        merge(&template, &param(blueprint), &param(resource), &owner)["p"].clone()
    }

    #[test]
    fn the_nearest_setting_wins_unless_it_is_protected() {
        let owner = || Some(json!("owner"));
        let cases = [
            (None, None, None, "template"),
            (None, None, owner(), "owner"),
            (DEFAULT("blueprint"), None, None, "blueprint"),
            (DEFAULT("blueprint"), None, owner(), "owner"),
            (VALUE("blueprint"), None, owner(), "blueprint"),
            (None, DEFAULT("resource"), None, "resource"),
            (None, DEFAULT("resource"), owner(), "owner"),
            (None, VALUE("resource"), owner(), "resource"),
            (VALUE("blueprint"), DEFAULT("resource"), None, "resource"),
            (VALUE("blueprint"), DEFAULT("resource"), owner(), "owner"),
            (DEFAULT("blueprint"), VALUE("resource"), owner(), "resource"),
            (VALUE("blueprint"), VALUE("resource"), owner(), "resource"),
        ];
        for (blueprint, resource, owner, expected) in cases {
            let context = format!("{blueprint:?} {resource:?} {owner:?}");
            assert_eq!(
                merged(blueprint, resource, owner),
                json!(expected),
                "{context}"
            );
        }
    }

    #[test]
    fn issue_1048_null_is_a_value() {
        assert_eq!(merged(None, None, Some(Value::Null)), Value::Null);
        assert_eq!(
            merged(Some(json!({"value": null})), None, Some(json!("owner"))),
            Value::Null
        );
    }

    #[test]
    fn owners_may_add_what_nobody_declared() {
        let owner = [OwnerParam {
            name: "extra".to_owned(),
            value: json!({"a": [1]}),
        }];
        assert_eq!(merge(&[], &[], &[], &owner)["extra"], json!({"a": [1]}));
    }
}
