//! The expectation of a test about one resource.

use std::fmt;

use serde_json::Value;

use pathline_blueprint::path::{ResourceReport, State};

/// An expectation; what is not said may be anything.
#[derive(Debug, PartialEq)]
pub(super) struct Expectation {
    state: State,
    option: Option<usize>,
    template: Option<String>,
    pass_through: Option<String>,
}

impl Expectation {
    /// Reads an expectation: an index, a word, a template, or an object with some of these.
    pub(super) fn read(value: &Value) -> Result<Self, String> {
        match value {
            Value::Number(_) => Ok(Self {
                option: Some(index(value)?),
                ..Self::of(State::Selected)
            }),
            Value::String(word) => Ok(Self::from_word(word)),
            Value::Object(fields) => {
                let mut expectation = Self::of(State::Selected);
                for (name, value) in fields {
                    expectation.set(name, value)?;
                }
                Ok(expectation)
            }
            Value::Null | Value::Bool(_) | Value::Array(_) => Err(
                "expected the index of an option, `ok`, `skipped`, `failed`, or the name of a template"
                    .to_owned(),
            ),
        }
    }

    fn of(state: State) -> Self {
        Self {
            state,
            option: None,
            template: None,
            pass_through: None,
        }
    }

    fn from_word(word: &str) -> Self {
        match word {
            "ok" | "selected" => Self::of(State::Selected),
            "skipped" => Self::of(State::Skipped),
            "failed" => Self::of(State::Failed),
            template => Self {
                template: Some(template.to_owned()),
                ..Self::of(State::Selected)
            },
        }
    }

    fn set(&mut self, name: &str, value: &Value) -> Result<(), String> {
        match (name, value) {
            ("option", value) => self.option = Some(index(value)?),
            ("template", Value::String(template)) => self.template = Some(template.clone()),
            ("passThrough", Value::String(input)) => self.pass_through = Some(input.clone()),
            ("state", Value::String(state)) => {
                self.state = match state.as_str() {
                    "selected" => State::Selected,
                    "skipped" => State::Skipped,
                    "failed" => State::Failed,
                    other => return Err(format!("`{other}` is not selected, skipped or failed")),
                }
            }
            ("template" | "passThrough" | "state", _) => {
                return Err(format!("`{name}` has to be text"));
            }
            _ => {
                return Err(format!(
                    "there is no `{name}` to expect; there are state, option, template and passThrough"
                ));
            }
        }
        Ok(())
    }

    /// Returns whether a resource is as expected.
    pub(super) fn holds(&self, found: &ResourceReport) -> bool {
        let fits =
            |wanted: &Option<String>, found: &Option<String>| wanted.is_none() || wanted == found;
        self.state == found.state
            && (self.option.is_none() || self.option == found.option)
            && fits(&self.template, &found.template)
            && fits(&self.pass_through, &found.pass_through)
    }
}

fn index(value: &Value) -> Result<usize, String> {
    let index = value.as_u64().and_then(|index| usize::try_from(index).ok());
    index.ok_or_else(|| format!("{value} is not the index of an option; they count from 0"))
}

impl fmt::Display for Expectation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_choice(
            f,
            self.state,
            self.option,
            self.template.as_deref(),
            self.pass_through.as_deref(),
        )
    }
}

/// Returns what was found, in the words of expectations.
pub(super) fn describe(found: &ResourceReport) -> String {
    struct Found<'r>(&'r ResourceReport);
    impl fmt::Display for Found<'_> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            let Self(found) = self;
            write_choice(
                f,
                found.state,
                found.option,
                found.template.as_deref(),
                found.pass_through.as_deref(),
            )
        }
    }
    Found(found).to_string()
}

fn write_choice(
    f: &mut fmt::Formatter<'_>,
    state: State,
    option: Option<usize>,
    template: Option<&str>,
    pass_through: Option<&str>,
) -> fmt::Result {
    f.write_str(state.name())?;
    if let Some(option) = option {
        write!(f, ", option {option}")?;
    }
    if let Some(template) = template {
        write!(f, ", template {template}")?;
    }
    if let Some(input) = pass_through {
        write!(f, ", passing on {input}")?;
    }
    Ok(())
}
