//! YAML as people write it: many styles, comments, anchors.

use serde_json::Value;

/// Writes YAML with a style for each value that the choices decide.
pub(crate) struct Writer<'c> {
    choices: std::iter::Cycle<std::slice::Iter<'c, u8>>,
    step: usize,
    out: String,
    anchors: usize,
}

/// Returns a YAML text that says this, and some more if it is a map.
pub(crate) fn yaml(value: &Value, choices: &[u8]) -> String {
    let mut writer = Writer {
        choices: choices.iter().cycle(),
        step: 2,
        out: String::new(),
        anchors: 0,
    };
    writer.step = 1 + usize::from(writer.choose(4));
    if writer.choose(3) == 0 {
        writer.out.push_str("# head\n---\n");
    }
    match value {
        Value::Object(map) if !map.is_empty() => {
            writer.block(value, 0);
            writer.aliases();
        }
        Value::Array(items) if !items.is_empty() => writer.block(value, 0),
        _ => {
            writer.scalar(value, 1);
            writer.out.push('\n');
        }
    }
    if writer.choose(4) == 0 {
        writer.out.push_str("\n# tail\n");
    }
    if writer.choose(5) == 0 {
        writer.out.truncate(writer.out.trim_end().len());
    }
    writer.out
}

impl Writer<'_> {
    fn choose(&mut self, of: u8) -> u8 {
        self.choices.next().copied().unwrap_or_default() % of
    }

    fn block(&mut self, value: &Value, indent: usize) {
        let entries: Vec<(Option<&String>, &Value)> = match value {
            Value::Object(map) => map.iter().map(|(key, value)| (Some(key), value)).collect(),
            Value::Array(items) => items.iter().map(|value| (None, value)).collect(),
            _ => Vec::new(),
        };
        for (at, (key, value)) in entries.into_iter().enumerate() {
            let is_in_line = at == 0 && self.out.ends_with("- ");
            if !is_in_line {
                self.gap(indent);
                self.out.push_str(&" ".repeat(indent));
            }
            match key {
                Some(key) => {
                    self.key(key);
                    self.value(value, indent, true);
                }
                None => {
                    self.out.push('-');
                    self.value(value, indent, false);
                }
            }
        }
    }

    fn gap(&mut self, indent: usize) {
        match self.choose(8) {
            0 => self.out.push('\n'),
            1 => {
                let comment = format!("{}# - a: [note,\n", " ".repeat(indent));
                self.out.push_str(&comment);
            }
            _ => {}
        }
    }

    fn key(&mut self, key: &str) {
        match self.choose(4) {
            0 => self.out.push_str(&Value::from(key).to_string()),
            1 => self.out.push_str(&format!("'{key}'")),
            _ => self.out.push_str(key),
        }
        self.out.push(':');
    }

    fn value(&mut self, value: &Value, indent: usize, is_member: bool) {
        if self.choose(8) == 0 {
            self.anchors += 1;
            self.out.push_str(&format!(" &n{}", self.anchors));
        }
        let has_entries = match value {
            Value::Object(map) => !map.is_empty(),
            Value::Array(items) => !items.is_empty(),
            _ => false,
        };
        let style = self.choose(5);
        if !has_entries || style == 0 {
            self.scalar(value, indent + self.step);
            self.tail();
            return;
        }
        let is_plain_dash = !is_member && self.out.ends_with('-');
        if is_plain_dash && style < 3 {
            self.out.push(' ');
            return self.block(value, indent + 2);
        }
        self.tail();
        let is_list = value.is_array();
        let deeper = if is_list && is_member && self.step < 3 {
            0
        } else {
            self.step
        };
        self.block(value, indent + deeper);
    }

    fn tail(&mut self) {
        if self.choose(5) == 0 {
            self.out.push_str(" # it's, {a} note");
        }
        self.out.push('\n');
    }

    /// Writes a value in flow style, or as a block of text.
    fn scalar(&mut self, value: &Value, indent: usize) {
        let style = self.choose(4);
        match value {
            Value::Null if style < 2 && !self.out.is_empty() => {}
            Value::String(text) if text.ends_with("b\n") && style < 3 => {
                let mark = if style == 0 { '>' } else { '|' };
                self.out.push_str(&format!(" {mark}"));
                for line in text.lines() {
                    self.out
                        .push_str(&format!("\n{}{line}", " ".repeat(indent)));
                }
            }
            Value::String(text) if style == 0 && !text.contains(char::is_control) => {
                self.out
                    .push_str(&format!(" '{}'", text.replace('\'', "''")));
            }
            Value::String(text)
                if style == 1 && text.bytes().all(|it| it.is_ascii_alphabetic()) =>
            {
                self.out.push_str(&format!(" {text}"));
            }
            Value::Array(items) if style < 2 && !items.is_empty() => self.spread(value, indent),
            Value::Object(map) if style < 2 && !map.is_empty() => self.spread(value, indent),
            _ => self.out.push_str(&format!(" {value}")),
        }
    }

    /// Writes a list or map in brackets over several lines, with comments.
    fn spread(&mut self, value: &Value, indent: usize) {
        let entries: Vec<String> = match value {
            Value::Object(map) => {
                let entry = |(key, value): (&String, &Value)| format!("{key}: {value}");
                map.iter().map(entry).collect()
            }
            Value::Array(items) => items.iter().map(Value::to_string).collect(),
            _ => Vec::new(),
        };
        let (open, close) = if value.is_array() {
            ('[', ']')
        } else {
            ('{', '}')
        };
        self.out.push_str(&format!(" {open}"));
        let last = entries.len() - 1;
        for (at, entry) in entries.iter().enumerate() {
            if self.choose(3) > 0 {
                self.out.push_str(&format!("\n{}", " ".repeat(indent)));
            } else {
                self.out.push(' ');
            }
            self.out.push_str(entry);
            if at < last || self.choose(2) == 0 {
                self.out.push(',');
            }
            if self.choose(4) == 0 {
                self.out
                    .push_str(&format!(" # one, [two\n{}", " ".repeat(indent)));
            }
        }
        if self.choose(2) == 0 {
            self.out.push_str(&format!("\n{}", " ".repeat(indent)));
        }
        self.out.push(close);
    }

    /// Adds keys whose values are aliases, and merge keys.
    fn aliases(&mut self) {
        for anchor in 1..=self.anchors {
            match self.choose(4) {
                0 => self
                    .out
                    .push_str(&format!("y{anchor}: *n{anchor} # again\n")),
                1 => self.out.push_str(&format!("z{anchor}: [*n{anchor}, 1]\n")),
                2 => self
                    .out
                    .push_str(&format!("x:\n  <<: *n{anchor}\n  b: 1\n")),
                _ => {}
            }
        }
    }
}
