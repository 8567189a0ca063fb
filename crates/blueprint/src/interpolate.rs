//! `$(...)$`: values of the context in the strings of a template.

use std::collections::BTreeSet;

use pathline_jsonpath::FieldPath;
use serde_json::Value;

use crate::evaluate;

/// Says where and why a template could not be filled in.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error(
    "failed to recursively evaluate template: failed to interpolate template at path [{path}]: {reason}"
)]
pub struct Error {
    path: String,
    reason: TagError,
}

#[derive(Debug, Clone, PartialEq, thiserror::Error)]
enum TagError {
    #[error("evaluate tag {tag}: {reason}")]
    Whole {
        tag: String,
        reason: evaluate::Error,
    },
    #[error("interpolate tag: evaluate jsonpath: {0}")]
    Inside(evaluate::Error),
    #[error("interpolate tag: tag must not point to nil value: {0}")]
    Null(String),
    #[error("the object is larger than {mib} MiB with the value of [{0}]; no cluster takes that", mib = LIMIT >> 20)]
    TooLarge(String),
}

/// The most that values may add to a template, in bytes: twice what an API server stores.
const LIMIT: usize = 3 << 20;

/// Fills in every string of a template; keys, and all that is no string, stay as they are.
///
/// A string that is one tag becomes the value with its type. In longer strings the value is written
/// out, as JSON unless it is a string. What a value brings in is not interpolated again.
pub(crate) fn interpolate(template: &Value, context: &Value) -> Result<Value, Error> {
    let mut added = 0;
    let mut take = |expression: &str| {
        let value = evaluate::value(expression, context).map_err(Refusal::Path)?;
        added += size(&value);
        if added > LIMIT {
            return Err(Refusal::TooLarge(expression.to_owned()));
        }
        Ok(value)
    };
    fill(template, &mut take, &mut Path::default())
}

/// Returns the places of a context at which a template looks, unless one of its tags is no path.
///
/// No value decides where else is looked, so these are the same in every context.
pub(crate) fn places(template: &Value) -> Result<BTreeSet<FieldPath>, Error> {
    let mut places = BTreeSet::new();
    let mut note = |expression: &str| {
        let path = evaluate::parse(expression).map_err(Refusal::Path)?;
        places.extend(path.places());
        Ok(Value::from(""))
    };
    fill(template, &mut note, &mut Path::default())?;
    Ok(places)
}

/// Gives the value of an expression.
type Take<'t> = dyn FnMut(&str) -> Result<Value, Refusal> + 't;

/// Says why an expression gives no value.
enum Refusal {
    Path(evaluate::Error),
    TooLarge(String),
}

/// Returns about how many bytes a value takes when it is written out.
fn size(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 8,
        Value::String(text) => text.len() + 2,
        Value::Array(list) => list.iter().map(|item| size(item) + 1).sum(),
        Value::Object(map) => map
            .iter()
            .map(|(key, value)| key.len() + size(value) + 4)
            .sum(),
    }
}

fn fill(template: &Value, take: &mut Take<'_>, path: &mut Path) -> Result<Value, Error> {
    match template {
        Value::String(text) => fill_text(text, take).map_err(|reason| Error {
            path: path.text(),
            reason,
        }),
        Value::Array(list) => {
            let items = list.iter().enumerate();
            items
                .map(|(index, item)| path.within(Step::Index(index), |path| fill(item, take, path)))
                .collect()
        }
        Value::Object(map) => {
            let entries = map.iter().map(|(key, value)| {
                let filled = path.within(Step::Key(key.clone()), |path| fill(value, take, path))?;
                Ok((key.clone(), filled))
            });
            entries
                .collect::<Result<serde_json::Map<_, _>, _>>()
                .map(Value::Object)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => Ok(template.clone()),
    }
}

fn fill_text(text: &str, take: &mut Take<'_>) -> Result<Value, TagError> {
    if let Some(expression) = whole_tag(text) {
        return take(expression).map_err(|refusal| match refusal {
            Refusal::Path(reason) => TagError::Whole {
                tag: text.to_owned(),
                reason,
            },
            Refusal::TooLarge(expression) => TagError::TooLarge(expression),
        });
    }
    let mut filled = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, expression, after)) = next_tag(rest) {
        filled.push_str(before);
        let value = take(expression).map_err(|refusal| match refusal {
            Refusal::Path(reason) => TagError::Inside(reason),
            Refusal::TooLarge(expression) => TagError::TooLarge(expression),
        })?;
        match value {
            Value::Null => return Err(TagError::Null(expression.to_owned())),
            Value::String(text) => filled.push_str(&text),
            value => filled.push_str(&value.to_string()),
        }
        rest = after;
    }
    filled.push_str(rest);
    Ok(Value::String(filled))
}

/// Returns the expression of a string that is one tag.
pub(crate) fn whole_tag(text: &str) -> Option<&str> {
    let expression = text.strip_prefix("$(")?.strip_suffix(")$")?;
    (!expression.contains("$(")).then_some(expression)
}

/// Splits at the first tag; an opening without an end is plain text.
fn next_tag(text: &str) -> Option<(&str, &str, &str)> {
    let (before, opened) = text.split_once("$(")?;
    let (expression, after) = opened.split_once(")$")?;
    Some((before, expression, after))
}

/// The current position in the template.
#[derive(Default)]
struct Path {
    steps: Vec<Step>,
}

enum Step {
    Key(String),
    Index(usize),
}

impl Path {
    fn within<T>(&mut self, step: Step, inside: impl FnOnce(&mut Self) -> T) -> T {
        self.steps.push(step);
        let result = inside(self);
        self.steps.pop();
        result
    }

    /// Prints `spec.list.[0]key`: no dot follows an index.
    fn text(&self) -> String {
        self.steps
            .iter()
            .fold(String::new(), |text, step| match step {
                Step::Index(index) => format!("{text}.[{index}]"),
                Step::Key(key) if text.is_empty() || text.ends_with(']') => format!("{text}{key}"),
                Step::Key(key) => format!("{text}.{key}"),
            })
    }
}

#[cfg(test)]
mod tests {
    use pathline_testkit::cases;
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn context() -> Value {
        json!({
            "params": {"five": 5, "name": "app", "object": {"a": [1, true]}, "nothing": null, "tag": "$(params.five)$"},
            "list": [1, 2],
        })
    }

    fn filled(text: &str) -> Result<Value, String> {
        interpolate(&json!(text), &context()).map_err(|error| error.to_string())
    }

    #[test]
    fn a_string_that_is_one_tag_keeps_the_type() {
        assert_eq!(filled("$(params.five)$"), Ok(json!(5)));
        assert_eq!(filled("$(params.object)$"), Ok(json!({"a": [1, true]})));
        assert_eq!(filled("$(params.object.a[1])$"), Ok(json!(true)));
        assert_eq!(filled("$(params.nothing)$"), Ok(Value::Null));
        assert_eq!(filled("$({.params.name})$"), Ok(json!("app")));
    }

    #[test]
    fn tags_in_longer_strings_are_written_out() {
        assert_eq!(filled("$(params.five)$$(params.five)$"), Ok(json!("55")));
        assert_eq!(filled("[$(params.five)$]"), Ok(json!("[5]")));
        assert_eq!(
            filled("x-$(params.object)$"),
            Ok(json!(r#"x-{"a":[1,true]}"#))
        );
        assert_eq!(
            filled("$(params.name)$ costs $5 $("),
            Ok(json!("app costs $5 $("))
        );
        assert_eq!(
            filled("see $(params.tag)$"),
            Ok(json!("see $(params.five)$"))
        );
        assert_eq!(filled("plain"), Ok(json!("plain")));
    }

    #[test]
    fn failures_say_where_and_why() {
        let template = json!({"spec": {"a": [{"b": "$(params.absent)$"}]}});
        assert_eq!(
            interpolate(&template, &context()).unwrap_err().to_string(),
            "failed to recursively evaluate template: failed to interpolate template at path [spec.a.[0]b]: \
             evaluate tag $(params.absent)$: jsonpath returned empty list: params.absent"
        );
        let cases = [
            (
                "x$(params.absent)$",
                "interpolate tag: evaluate jsonpath: jsonpath returned empty list: params.absent",
            ),
            (
                "x$(params.nothing)$",
                "interpolate tag: tag must not point to nil value: params.nothing",
            ),
            (
                "$(list[*])$",
                "evaluate tag $(list[*])$: too many results for the query: list[*]",
            ),
            (
                "$()$",
                "evaluate tag $()$: evaluate: empty jsonpath not allowed",
            ),
            (
                "$(a[)$",
                "evaluate tag $(a[)$: evaluate: failed to parse jsonpath '{.a[}': unterminated array",
            ),
        ];
        for (text, reason) in cases {
            let prefix = "failed to recursively evaluate template: failed to interpolate template at path []: ";
            assert_eq!(filled(text), Err(format!("{prefix}{reason}")), "{text}");
        }
    }

    #[test]
    fn a_template_cannot_grow_without_end() {
        let context = json!({"big": "x".repeat(1 << 20)});
        let many = json!(vec!["$(big)$"; 1000]);
        let error = interpolate(&many, &context).unwrap_err().to_string();
        assert_eq!(
            error,
            "failed to recursively evaluate template: failed to interpolate template at path [.[2]]: \
             the object is larger than 3 MiB with the value of [big]; no cluster takes that"
        );
        let text = json!("$(big)$ ".repeat(1000));
        assert!(interpolate(&text, &context).is_err());
    }

    #[test]
    fn keys_and_other_values_stay() {
        let template = json!({"$(params.name)$": [1, null, true, [], {}]});
        assert_eq!(interpolate(&template, &context()), Ok(template));
    }

    proptest! {
        #![proptest_config(cases(256))]

        #[test]
        fn any_text_is_filled_in_or_refused(text in "[$().a-c\\[\\]{}*]{0,24}") {
            let result = interpolate(&json!({"k": text}), &json!({"a": {"b": [1, "x"]}, "b": null}));
            if !text.contains("$(") {
                prop_assert_eq!(result, Ok(json!({"k": text})));
            }
        }
    }
}
