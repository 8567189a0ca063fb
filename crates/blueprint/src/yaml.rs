//! Values as Go's `gopkg.in/yaml.v3` writes them.
//!
//! Previews and digests of outputs are taken from this text, so every blank counts: blocks are
//! indented by four, but by two after a dash; keys sort naturally; numbers are floats. Where that
//! library does something strange with strange texts, it is done here too.

mod emitter;
mod keys;
mod resolve;
mod style;
mod timestamp;

use pathline_jsonpath::go;
use serde_json::Value;

use self::emitter::{Emitter, Place};

/// Writes a value as a YAML document, which ends with a line break.
pub(crate) fn document(value: &Value) -> String {
    let mut emitter = Emitter::new();
    node(&mut emitter, value, Place::Block);
    emitter.finish()
}

fn node(emitter: &mut Emitter, value: &Value, place: Place) {
    match value {
        Value::Object(map) if !map.is_empty() => {
            let outer = emitter.indent(place);
            entries(emitter, map);
            emitter.restore(outer);
        }
        Value::Array(list) if !list.is_empty() => {
            let outer = emitter.indent(place);
            for item in list {
                emitter.start_line();
                emitter.block_mark('-');
                node(emitter, item, Place::Item);
            }
            emitter.restore(outer);
        }
        Value::String(text) => emitter.scalar(text, style::of_value(text), place),
        scalar => emitter.scalar(&plain(scalar), style::Style::Plain, place),
    }
}

fn entries(emitter: &mut Emitter, map: &serde_json::Map<String, Value>) {
    let mut keys: Vec<&String> = map.keys().collect();
    keys.sort_by(|left, right| keys::order(left, right));
    for key in keys {
        emitter.start_line();
        if style::fits_before_colon(key) {
            emitter.scalar(key, style::of_value(key), Place::Block);
            emitter.colon();
        } else {
            emitter.block_mark('?');
            emitter.scalar(key, style::of_value(key), Place::Block);
            emitter.start_line();
            emitter.block_mark(':');
        }
        node(emitter, &map[key], Place::Block);
    }
}

fn plain(value: &Value) -> String {
    match value {
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) => number
            .as_f64()
            .map_or_else(|| number.to_string(), go::format_float),
        Value::Array(_) => "[]".to_owned(),
        Value::Object(_) => "{}".to_owned(),
        Value::Null | Value::String(_) => "null".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn blocks_are_indented_by_four_and_by_two_after_a_dash() {
        let value = json!({"b": {"c": {"d": 1}}, "a": [{"x": 1, "y": [1, [2, 3]]}, "s", [], {}], "n": null});
        let expected = "\
a:
    - x: 1
      \"y\":
        - 1
        - - 2
          - 3
    - s
    - []
    - {}
b:
    c:
        d: 1
\"n\": null
";
        assert_eq!(document(&value), expected);
    }

    #[test]
    fn scalars_stand_alone() {
        assert_eq!(document(&json!("knitting")), "knitting\n");
        assert_eq!(document(&json!("5")), "\"5\"\n");
        assert_eq!(document(&json!(1_000_000)), "1e+06\n");
        assert_eq!(document(&json!(true)), "true\n");
        assert_eq!(document(&json!({})), "{}\n");
        assert_eq!(document(&json!("a\nb")), "|-\n    a\n    b\n");
    }

    #[test]
    fn texts_of_several_lines_are_literal() {
        assert_eq!(
            document(&json!({"t": "a\n\nb\n"})),
            "t: |\n    a\n\n    b\n"
        );
        assert_eq!(document(&json!(["a\nb"])), "- |-\n  a\n  b\n");
        assert_eq!(
            document(&json!({"u": {"t": "x\n\n"}})),
            "u:\n    t: |+\n        x\n\n"
        );
        assert_eq!(document(&json!(" a\nb\n")), "|4\n     a\n    b\n");
        assert_eq!(document(&json!("\n")), "|4+\n");
    }

    #[test]
    fn keys_that_cannot_stand_before_a_colon_get_a_question_mark() {
        let value = json!({"a\nb": 1, "x".repeat(129): {"y1": ["z"]}});
        let expected = format!(
            "? |-\n    a\n    b\n: 1\n? {}\n:   y1:\n        - z\n",
            "x".repeat(129)
        );
        assert_eq!(document(&value), expected);
    }
}
