//! The values of parameters.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use pathline_kinds::carto::{BlueprintParam, OwnerParam, TemplateParam};

/// The parameters of one resource, by who decides about them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Owned {
    /// Those that the owner may set, with the value they have, be it a default.
    pub settable: BTreeMap<String, Value>,
    /// Those that are out of the owner's reach.
    pub fixed: BTreeMap<String, Fixed>,
}

/// A parameter that no owner can set.
#[derive(Debug, Clone, PartialEq)]
pub struct Fixed {
    /// Its value.
    pub value: Value,
    /// The origin of the value.
    pub by: Fixer,
}

/// The origin of a fixed value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fixer {
    /// The blueprint, for all resources.
    Blueprint,
    /// The resource, for itself.
    Resource,
}

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
    let Owned { settable, fixed } = owned(template, blueprint, resource, owner);
    let fixed = fixed.into_iter().map(|(name, fixed)| (name, fixed.value));
    settable.into_iter().chain(fixed).collect()
}

/// Merges parameters as [`merge`] does, and tells which of them the owner may set.
pub fn owned(
    template: &[TemplateParam],
    blueprint: &[BlueprintParam],
    resource: &[BlueprintParam],
    owner: &[OwnerParam],
) -> Owned {
    let defaults = template.iter();
    let mut owned = Owned {
        settable: defaults
            .map(|param| (param.name.clone(), param.default.clone()))
            .collect(),
        fixed: BTreeMap::new(),
    };
    let blueprint = blueprint.iter().map(|param| (param, Fixer::Blueprint));
    let resource = resource.iter().map(|param| (param, Fixer::Resource));
    for (param, by) in blueprint.chain(resource) {
        owned.set(param, by);
    }
    for OwnerParam { name, value } in owner {
        if !owned.fixed.contains_key(name) {
            owned.settable.insert(name.clone(), value.clone());
        }
    }
    owned
}

impl Owned {
    fn set(&mut self, param: &BlueprintParam, by: Fixer) {
        let name = &param.name;
        if let Some(value) = &param.value {
            let value = value.clone();
            self.settable.remove(name);
            self.fixed.insert(name.clone(), Fixed { value, by });
        } else if let Some(default) = &param.default {
            self.fixed.remove(name);
            self.settable.insert(name.clone(), default.clone());
        }
    }
}

/// Returns the parameters of an owner, given those of the resources on its path: each that it may set
/// for at least one of them.
///
/// A parameter that the owner leaves alone may have other defaults in other resources. It has no one
/// value then, and is null: the owner says nothing about it.
pub fn of_owner<'r>(
    owner: &[OwnerParam],
    resources: impl IntoIterator<Item = &'r Owned>,
) -> BTreeMap<String, Value> {
    let mut settable: BTreeMap<String, Value> = BTreeMap::new();
    let mut fixed = BTreeSet::new();
    for resource in resources {
        fixed.extend(resource.fixed.keys());
        for (name, value) in &resource.settable {
            let known = settable
                .entry(name.clone())
                .or_insert_with(|| value.clone());
            if known != value {
                *known = Value::Null;
            }
        }
    }
    for OwnerParam { name, value } in owner {
        if !fixed.contains(name) {
            settable.insert(name.clone(), value.clone());
        }
    }
    settable
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

    #[test]
    fn owners_set_what_nobody_fixed() {
        let set = |name: &str, setting: Value| {
            let mut param = setting;
            param["name"] = json!(name);
            serde_json::from_value::<BlueprintParam>(param).unwrap()
        };
        let template = ["debug", "size", "team", "mode"].map(|name| TemplateParam {
            name: name.to_owned(),
            default: json!("template"),
        });
        let blueprint = [
            set("size", json!({"value": "blueprint"})),
            set("mode", json!({"value": "blueprint"})),
            set("team", json!({"default": "blueprint"})),
        ];
        let resource = [
            set("mode", json!({"default": "resource"})),
            set("team", json!({"value": "resource"})),
        ];
        let owner = ["size", "team"].map(|name| OwnerParam {
            name: name.to_owned(),
            value: json!("owner"),
        });
        let owned = owned(&template, &blueprint, &resource, &owner);
        let fixed = |name: &str| owned.fixed.get(name).map(|fixed| (fixed.by, &fixed.value));
        assert_eq!(fixed("size"), Some((Fixer::Blueprint, &json!("blueprint"))));
        assert_eq!(fixed("team"), Some((Fixer::Resource, &json!("resource"))));
        let settable = json!({"debug": "template", "mode": "resource"});
        assert_eq!(json!(owned.settable), settable);
        let merged = merge(&template, &blueprint, &resource, &owner);
        assert_eq!(merged.len(), 4, "each is one or the other");
    }

    #[test]
    fn a_param_that_the_owner_leaves_alone_has_a_value_if_its_defaults_agree() {
        let defaults = |debug: &str| Owned {
            settable: BTreeMap::from([
                ("debug".to_owned(), json!(debug)),
                ("a".to_owned(), json!(1)),
            ]),
            fixed: BTreeMap::new(),
        };
        let fixes = Owned {
            settable: BTreeMap::new(),
            fixed: BTreeMap::from([(
                "a".to_owned(),
                Fixed {
                    value: json!(2),
                    by: Fixer::Blueprint,
                },
            )]),
        };
        let of = |resources: &[&Owned]| json!(of_owner(&[], resources.iter().copied()));
        let (off, on) = (defaults("off"), defaults("on"));
        assert_eq!(of(&[&off, &off]), json!({"a": 1, "debug": "off"}));
        assert_eq!(of(&[&off, &on]), json!({"a": 1, "debug": null}));
        assert_eq!(of(&[&off, &fixes]), json!({"a": 1, "debug": "off"}));
        assert_eq!(of(&[&fixes]), json!({}));
        let set = [OwnerParam {
            name: "debug".to_owned(),
            value: json!("on"),
        }];
        assert_eq!(json!(of_owner(&set, [])), json!({"debug": "on"}));
    }
}
