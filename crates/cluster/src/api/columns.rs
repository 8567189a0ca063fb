//! The columns of a kind's table: those of the server, and those that definitions declare.

use jiff::Timestamp;
use pathline_jsonpath::JsonPath;
use serde_json::{Value, json};

use crate::builtin;

/// One column: its header and how its cells are found.
#[derive(Debug, Clone)]
pub(crate) enum Column {
    /// A column of a built-in kind.
    BuiltIn(&'static builtin::Column),
    /// A printer column of a custom resource.
    Printer(Printer),
}

/// A column that shows the first result of a path.
#[derive(Debug, Clone)]
pub(crate) struct Printer {
    name: String,
    kind: String,
    format: String,
    description: String,
    priority: i64,
    path: JsonPath,
}

impl Column {
    /// Returns the columns of a custom resource: its name, then those its definition declares.
    pub(crate) fn of_definition(declared: &[Value]) -> Vec<Self> {
        let age = json!({
            "name": "Age",
            "type": "date",
            "description": "How long ago the object was created",
            "jsonPath": ".metadata.creationTimestamp",
        });
        let declared = if declared.is_empty() {
            std::slice::from_ref(&age)
        } else {
            declared
        };
        let name = json!({
            "name": "Name",
            "type": "string",
            "format": "name",
            "description": "The name of the object, unique in its namespace",
            "jsonPath": ".metadata.name",
        });
        let all = std::iter::once(&name).chain(declared);
        all.filter_map(|column| Printer::parse(column).map(Self::Printer))
            .collect()
    }

    /// Returns the header.
    pub(crate) fn definition(&self) -> Value {
        match self {
            Self::BuiltIn(column) => json!({
                "name": column.name,
                "type": column.kind,
                "format": column.format,
                "description": "",
                "priority": column.priority,
            }),
            Self::Printer(column) => json!({
                "name": column.name,
                "type": column.kind,
                "format": column.format,
                "description": column.description,
                "priority": column.priority,
            }),
        }
    }

    /// Returns the cell of one object.
    pub(crate) fn cell(&self, object: &Value, now: Timestamp) -> Value {
        match self {
            Self::BuiltIn(column) => (column.cell)(object, now),
            Self::Printer(column) => {
                let found = column.path.find(object).ok();
                let found = found.and_then(|found| found.into_iter().next());
                found.map_or(Value::Null, |value| by_type(&column.kind, &value, now))
            }
        }
    }
}

impl Printer {
    /// Reads one of the `additionalPrinterColumns`. A path that does not parse makes no column;
    /// definitions with such paths are refused before.
    fn parse(column: &Value) -> Option<Self> {
        let text = |key: &str| column[key].as_str().unwrap_or_default().to_owned();
        let path = text("jsonPath");
        let description = match text("description") {
            described if described.is_empty() => {
                format!("Custom resource definition column (in JSONPath format): {path}")
            }
            described => described,
        };
        Some(Self {
            name: text("name"),
            kind: text("type"),
            format: text("format"),
            description,
            priority: column["priority"].as_i64().unwrap_or(0),
            path: JsonPath::parse(&path).ok()?,
        })
    }
}

/// Shows a value by the type of its column; one of another type is not shown.
fn by_type(kind: &str, value: &Value, now: Timestamp) -> Value {
    match (kind, value) {
        (_, Value::Null) => Value::Null,
        ("string", Value::String(text)) => text.as_str().into(),
        ("string", other) => other.to_string().into(),
        ("date", Value::String(time)) => since(time, now).into(),
        ("boolean", Value::Bool(_)) | ("number", Value::Number(_)) => value.clone(),
        ("integer", Value::Number(number)) => {
            #[expect(
                clippy::cast_possible_truncation,
                reason = "a column of integers shows the whole part"
            )]
            let whole = number
                .as_i64()
                .or_else(|| number.as_f64().map(|it| it as i64));
            whole.map_or(Value::Null, Value::from)
        }
        _ => Value::Null,
    }
}

/// Shows how long ago a time was.
fn since(time: &str, now: Timestamp) -> String {
    match time.parse::<Timestamp>() {
        Ok(time) => builtin::human_duration(now.as_second() - time.as_second()),
        Err(_) => "<invalid>".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printer(kind: &str, path: &str) -> Column {
        let column = json!({"name": "X", "type": kind, "jsonPath": path});
        Column::of_definition(&[column]).pop().unwrap()
    }

    #[test]
    fn a_definition_without_columns_shows_name_and_age() {
        let names: Vec<Value> = Column::of_definition(&[])
            .iter()
            .map(|it| it.definition()["name"].clone())
            .collect();
        assert_eq!(names, ["Name", "Age"]);
    }

    #[test]
    fn printer_columns_show_values_of_their_type() {
        let now = "2026-01-02T00:00:00Z".parse().unwrap();
        let object =
            json!({"a": 1, "b": true, "c": "x", "d": {"e": 1}, "t": "2026-01-01T00:00:00Z"});
        let cell = |kind, path| printer(kind, path).cell(&object, now);
        assert_eq!(cell("integer", ".a"), json!(1));
        assert_eq!(cell("string", ".a"), json!("1"));
        assert_eq!(cell("string", ".b"), json!("true"));
        assert_eq!(cell("string", ".d"), json!("{\"e\":1}"));
        assert_eq!(cell("boolean", ".b"), json!(true));
        assert_eq!(cell("date", ".t"), json!("24h"));
        assert_eq!(cell("date", ".c"), json!("<invalid>"));
        assert_eq!(cell("integer", ".c"), Value::Null);
        assert_eq!(cell("string", ".missing"), Value::Null);
    }

    #[test]
    fn a_column_without_a_description_describes_its_path() {
        let definition = printer("string", ".spec.color").definition();
        assert_eq!(
            definition["description"],
            "Custom resource definition column (in JSONPath format): .spec.color"
        );
    }
}
