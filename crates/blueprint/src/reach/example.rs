//! An assignment as an owner.

use pathline_jsonpath::{JsonPath, SimpleStep};
use pathline_kinds::carto::API_VERSION;
use serde_json::{Value, json};

use super::Question;
use super::facts::{Content, Field};
use super::schema::Schema;
use crate::owner::{Owner, OwnerKind};

/// Makes an owner of the last answer. What free keys ask for is met as far as possible.
pub(super) fn build(question: &Question<'_>) -> Value {
    let kind = question.blueprint.owner_kind;
    let solver = question.gates.answer();
    let mut owner = json!({
        "apiVersion": API_VERSION,
        "kind": kind.name(),
        "metadata": {"name": "example"},
        "spec": {},
    });
    for (path, field, content) in question.facts.present(solver) {
        if is_given(path) {
            continue;
        }
        let other = |text: &str| !question.facts.is_mentioned(path, text);
        put(&mut owner, path, value(path, field, content, other));
    }
    for (key, content) in question.facts.present_free(solver) {
        let other = |text: &str| !question.facts.is_mentioned_free(key, text);
        let value = match content {
            Content::Text(text) => Some(json!(text)),
            Content::Other => Some(json!(unmentioned("any", other))),
            Content::Error => None,
        };
        let path = JsonPath::parse(key).ok();
        if let Some(steps) = path.as_ref().and_then(JsonPath::simple_steps) {
            lead(&mut owner, Schema::of(kind), &steps, value);
        }
    }
    owner
}

/// Reads an example as selection reads owners.
pub(super) fn read(kind: OwnerKind, example: &Value) -> Option<Owner> {
    Owner::read(kind, example.clone()).ok()
}

/// Says whether every owner has the field with a value that is no choice, or stands there already.
fn is_given(path: &[String]) -> bool {
    matches!(path, [only] if ["apiVersion", "kind", "metadata", "spec"].contains(&only.as_str()))
}

fn value(
    path: &[String],
    field: &Field,
    content: Content<'_>,
    other: impl Fn(&str) -> bool,
) -> Value {
    match content {
        Content::Text(text) => json!(text),
        Content::Other | Content::Error => {
            let is_name = path.last().is_some_and(|last| last == "name");
            field
                .type_
                .sample(&unmentioned(if is_name { "example" } else { "any" }, other))
        }
    }
}

/// Returns a text that nobody mentions.
fn unmentioned(text: &str, is_other: impl Fn(&str) -> bool) -> String {
    let numbered = (2..).map(|number| format!("{text}-{number}"));
    let mut texts = std::iter::once(text.to_owned()).chain(numbered);
    texts
        .find(|text| is_other(text))
        .expect("only finitely many texts are mentioned")
}

/// Puts a value where a path leads; the objects on the way are made.
fn put(owner: &mut Value, path: &[String], value: Value) {
    let Some((last, parents)) = path.split_last() else {
        return;
    };
    let mut place = owner;
    for name in parents {
        place = field(place, name);
    }
    *field(place, last) = value;
}

fn field<'v>(place: &'v mut Value, name: &str) -> &'v mut Value {
    if !place.is_object() {
        *place = json!({});
    }
    &mut place[name]
}

/// Lets a path lead to a value, or to an error if there is no value to lead to.
fn lead(owner: &mut Value, schema: Schema, steps: &[SimpleStep<'_>], value: Option<Value>) {
    let mut place = owner;
    let mut path: Vec<String> = Vec::new();
    for step in steps {
        if let SimpleStep::Field(name) = step {
            path.push((*name).to_owned());
            place = field(place, name);
            continue;
        }
        if !place.is_array() {
            *place = json!([]);
        }
        let Value::Array(list) = place else {
            return;
        };
        let item = || schema.item(&path);
        let index = match step {
            SimpleStep::Index(index) if value.is_none() => {
                // Too short a list is the error.
                list.truncate(*index);
                return;
            }
            SimpleStep::Index(index) if *index < 64 => {
                while list.len() <= *index {
                    list.push(item());
                }
                *index
            }
            SimpleStep::Wildcard => {
                list.resize_with(list.len().max(1), item);
                0
            }
            SimpleStep::Filter(name, wanted) => {
                let known = list.iter().position(|item| item.get(name) == Some(wanted));
                known.unwrap_or_else(|| {
                    let mut item = item();
                    *field(&mut item, name) = (*wanted).clone();
                    list.push(item);
                    list.len() - 1
                })
            }
            _ => return,
        };
        if value.is_none() {
            // Two results where one is needed are the error.
            let twin = list[index].clone();
            list.push(twin);
        }
        place = &mut list[index];
    }
    if let Some(value) = value {
        *place = value;
    }
}
