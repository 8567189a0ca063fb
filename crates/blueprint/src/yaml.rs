//! Values as Go's `gopkg.in/yaml.v3` writes them.
//!
//! Previews and digests of outputs are taken from this text, so every blank counts: blocks are
//! indented by four, but by two after a dash; keys sort naturally; numbers are floats.

mod keys;
mod scalar;

use serde_json::Value;

use crate::go;

/// Blocks are indented to the next multiple of this.
const INDENT: usize = 4;

/// Writes a value as a YAML document, which ends with a line break.
pub(crate) fn document(value: &Value) -> String {
    let mut text = String::new();
    Writer { text: &mut text }.node(value, Place::Root);
    text
}

/// Where a node stands, which decides how deep what it contains is indented.
#[derive(Clone, Copy)]
enum Place {
    Root,
    MapValue(usize),
    ListItem(usize),
}

impl Place {
    /// The indentation of a block that stands here.
    fn block_indent(self) -> usize {
        match self {
            Self::Root => 0,
            Self::MapValue(indent) => INDENT * (indent / INDENT + 1),
            Self::ListItem(indent) => indent + 2,
        }
    }

    /// The indentation of the lines of a text that stands here.
    fn text_indent(self) -> usize {
        match self {
            Self::Root => INDENT,
            Self::MapValue(_) | Self::ListItem(_) => self.block_indent(),
        }
    }
}

struct Writer<'t> {
    text: &'t mut String,
}

impl Writer<'_> {
    fn node(&mut self, value: &Value, place: Place) {
        match value {
            Value::Object(map) if !map.is_empty() => self.map(map, place),
            Value::Array(list) if !list.is_empty() => self.list(list, place),
            Value::String(text) => {
                self.separate(place);
                let block = scalar::write(text, place.text_indent());
                self.text.push_str(&block);
            }
            scalar => {
                self.separate(place);
                self.text.push_str(&plain(scalar));
                self.text.push('\n');
            }
        }
    }

    fn map(&mut self, map: &serde_json::Map<String, Value>, place: Place) {
        let indent = place.block_indent();
        let mut keys: Vec<&String> = map.keys().collect();
        keys.sort_by(|left, right| keys::order(left, right));
        for (position, key) in keys.into_iter().enumerate() {
            self.start_entry(position, indent, place);
            self.text.push_str(&scalar::key(key));
            self.text.push(':');
            self.node(&map[key], Place::MapValue(indent));
        }
    }

    fn list(&mut self, list: &[Value], place: Place) {
        let indent = place.block_indent();
        for (position, item) in list.iter().enumerate() {
            self.start_entry(position, indent, place);
            self.text.push('-');
            self.node(item, Place::ListItem(indent));
        }
    }

    /// Starts an entry of a block: the first one stays in the line of the dash it belongs to.
    fn start_entry(&mut self, position: usize, indent: usize, place: Place) {
        match (position, place) {
            (0, Place::Root) => {}
            (0, Place::ListItem(_)) => self.text.push(' '),
            (0, Place::MapValue(_)) => {
                self.text.push('\n');
                self.pad(indent);
            }
            _ => self.pad(indent),
        }
    }

    fn separate(&mut self, place: Place) {
        if !matches!(place, Place::Root) {
            self.text.push(' ');
        }
    }

    fn pad(&mut self, indent: usize) {
        self.text.extend(std::iter::repeat_n(' ', indent));
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
    }
}
