//! Values that an apply has set or removed: waited for as they were applied, whatever the owner says
//! later.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde_json::Value as Json;

use super::Options;
use super::asked::{Asked, Value};
use super::judging::Judging;
use super::verdict::{Progress, Verdict};
use super::wait_for::{WaitFor, Wanted, Written};
use crate::artifact::{Artifact, Kind};
use crate::origin::Origin;
use crate::owner_lineage::OwnerLineage;

/// The longest value that is written as it is, in bytes; a longer one is written as it is shown.
const MAX_WRITTEN_BYTES: usize = 1024;

/// A value that an apply has set: `param:debug="on"`, `field:spec.source.git.url="https://…"`.
///
/// The value is JSON. One that is too long for that is written as artifacts show it, which is no JSON.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Setting {
    /// The name of the input.
    input: String,
    /// The value, as it is written.
    value: String,
}

/// A text is no setting.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("`{0}` is no value that was applied: write param:NAME=JSON or field:PATH=JSON")]
pub struct NotASetting(String);

/// The values that one apply has set and removed.
#[derive(Clone, Debug, Default)]
pub struct Applied {
    set: Vec<Setting>,
    /// The names of inputs that the owner no longer says.
    removed: Vec<String>,
    /// Inputs that were removed, as they are since then, as far as somebody has looked.
    after: BTreeMap<String, Artifact>,
}

impl Setting {
    /// Takes the name of an input, as [`crate::Origin::Owner`] has it, and its value.
    pub fn new(input: &str, value: &Json) -> Self {
        let json = value.to_string();
        let value = if json.len() <= MAX_WRITTEN_BYTES {
            json
        } else {
            Artifact::value(Kind::Field, value).shown().to_owned()
        };
        let input = input.to_owned();
        Self { input, value }
    }

    fn wait_for(&self) -> WaitFor {
        wait_for(&self.input, self.value.clone())
    }

    /// Returns what it means for an input of the owner, if it means something for that.
    fn wanted(&self, input: &str) -> Option<Wanted> {
        let json = serde_json::from_str::<Json>(&self.value).ok();
        if input == self.input {
            let exactly = json.map(|json| Wanted::Exactly(artifact(input, &json)));
            return Some(exactly.unwrap_or_else(|| Wanted::Value(Written::json(&self.value))));
        }
        if let Some(path) = below(input, &self.input) {
            let value = Written::json(&self.value);
            return Some(Wanted::Inside { path, value });
        }
        let part = below(&self.input, input)?;
        let json = json?;
        let part = part.replace('[', ".").replace(']', "");
        let found = super::wait_for::find(&json, part.trim_start_matches('.'));
        Some(Wanted::Exactly(artifact(
            input,
            found.unwrap_or(&Json::Null),
        )))
    }
}

impl Applied {
    /// Takes what was set, and the names of the inputs that were removed.
    pub fn new(set: Vec<Setting>, removed: Vec<String>) -> Self {
        Self {
            set,
            removed,
            after: BTreeMap::new(),
        }
    }

    /// Returns what is waited for, as it would be asked.
    pub(super) fn awaited(&self) -> Vec<WaitFor> {
        self.set.iter().map(Setting::wait_for).collect()
    }

    /// Tells whether something was removed of which nobody knows what it was right after that.
    pub(super) fn is_unsure(&self, lineage: &OwnerLineage, since: Option<i64>) -> bool {
        let is_later = since.is_some_and(|since| lineage.generation > since);
        is_later && !self.removed.is_empty() && self.after.is_empty()
    }

    /// Judges what is waited for by what is known now.
    pub(super) fn judge(&mut self, lineage: &OwnerLineage, options: Options) -> Verdict {
        self.note_removed(lineage);
        let judging = Judging {
            lineage,
            options,
            // It was applied, so it was there.
            was_carried: true,
        };
        let set = self.set.iter().filter_map(|setting| {
            let values = self.values(setting, lineage)?;
            Some(judging.judge(&setting.wait_for(), &values))
        });
        let removed = self.removed.iter();
        let removed = removed.map(|name| self.look_at_removed(name, judging));
        let all = set.chain(removed).reduce(Verdict::and);
        let finals = judging.judge(&WaitFor::Current, &Asked::All(Vec::new()));
        all.map_or(finals.clone(), |all| all.and(finals))
    }

    /// Returns what people should know about values that are not waited for.
    pub(super) fn notes(&self, lineage: &OwnerLineage) -> Vec<String> {
        let idle = self
            .set
            .iter()
            .filter(|it| self.values(it, lineage).is_none());
        let note = |setting: &Setting| {
            let Setting { input, .. } = setting;
            match fixed(input, lineage) {
                Some(value) => format!(
                    "the blueprint fixes {input} to `{value}`: what was applied is not waited for"
                ),
                None => format!("nothing on the path reads {input}: it is not waited for"),
            }
        };
        idle.map(note).collect()
    }

    /// Returns what a setting means on a path; nothing if nothing reads it.
    fn values(&self, setting: &Setting, lineage: &OwnerLineage) -> Option<Asked> {
        if lineage.state.chain().resources().is_empty() {
            return Some(Asked::Later("no path has been chosen yet".into()));
        }
        if fixed(&setting.input, lineage).is_some() {
            return None;
        }
        let values: Vec<_> = read(lineage)
            .filter_map(|(name, _)| {
                Some(Value {
                    origin: Origin::owner(name),
                    wanted: setting.wanted(name)?,
                })
            })
            .collect();
        (!values.is_empty()).then_some(Asked::All(values))
    }

    /// Takes note of what inputs are that were removed, the first time that somebody looked since.
    fn note_removed(&mut self, lineage: &OwnerLineage) {
        if !self.after.is_empty() || lineage.state.chain().resources().is_empty() {
            return;
        }
        let is_removed =
            |name: &str| (self.removed.iter()).any(|it| it == name || below(it, name).is_some());
        let after = lineage.state.owner().iter();
        let after = after.filter(|(name, _)| is_removed(name));
        self.after = after.map(|(name, it)| (name.clone(), it.clone())).collect();
    }

    /// Judges an input that the owner no longer says: where something reads it, it has another value;
    /// else all that was made with it has to be made again.
    fn look_at_removed(&self, removed: &str, judging: Judging<'_>) -> Verdict {
        let wait_for = wait_for(removed, "(removed)".into());
        let after = self.after.iter();
        let after = after.filter(|(name, _)| *name == removed || below(removed, name).is_some());
        let read = |name: &str| read(judging.lineage).any(|(it, _)| it == name);
        let values: Vec<_> = after
            .filter(|(name, _)| read(name))
            .map(|(name, artifact)| Value {
                origin: Origin::owner(name),
                wanted: Wanted::Exactly(artifact.clone()),
            })
            .collect();
        if !values.is_empty() {
            return judging.judge(&wait_for, &Asked::All(values));
        }
        if judging.lineage.state.is_settled() {
            return Verdict::Holds(Vec::new());
        }
        let missing = "what was made with it is still being replaced";
        Verdict::Waiting(vec![Progress::unknown(&wait_for, missing.into())])
    }
}

/// Returns the inputs of the owner that something on the path reads.
fn read(lineage: &OwnerLineage) -> impl Iterator<Item = (&String, &Artifact)> {
    let state = &lineage.state;
    let read = |name: &String| {
        let mut resources = state.chain().resources().iter();
        resources.any(|it| it.reads.contains(name))
    };
    state.owner().iter().filter(move |(name, _)| read(name))
}

/// Returns the value that the blueprint fixes a param to.
fn fixed<'t>(input: &str, lineage: &'t OwnerLineage) -> Option<&'t String> {
    lineage.fixed.get(input.strip_prefix("param:")?)
}

/// Returns the rest of the path of a field that is inside of another one.
fn below(above: &str, field: &str) -> Option<String> {
    let rest = field.strip_prefix(above)?;
    let is_field = above.starts_with("field:");
    (is_field && rest.starts_with(['.', '['])).then(|| rest.trim_start_matches('.').to_owned())
}

fn artifact(input: &str, value: &Json) -> Artifact {
    match input.split_once(':') {
        Some(("param", name)) => Artifact::param(name, value),
        Some((_, path)) => Artifact::field(path, value),
        None => Artifact::value(Kind::Field, value),
    }
}

fn wait_for(input: &str, value: String) -> WaitFor {
    match input.split_once(':') {
        Some(("param", name)) => WaitFor::Param {
            name: name.to_owned(),
            value,
        },
        Some((_, path)) => WaitFor::Field {
            path: path.to_owned(),
            value,
        },
        None => WaitFor::Field {
            path: input.to_owned(),
            value,
        },
    }
}

impl FromStr for Setting {
    type Err = NotASetting;

    fn from_str(text: &str) -> Result<Self, NotASetting> {
        let refused = || NotASetting(text.to_owned());
        let (input, value) = text.split_once('=').ok_or_else(refused)?;
        let (kind, name) = input.split_once(':').ok_or_else(refused)?;
        let is_named = matches!(kind, "param" | "field") && !name.is_empty();
        if !is_named || value.is_empty() {
            return Err(refused());
        }
        Ok(Self {
            input: input.to_owned(),
            value: value.to_owned(),
        })
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { input, value } = self;
        write!(f, "{input}={value}")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn is(setting: &str, input: &str, value: &Json) -> Option<bool> {
        let setting: Setting = setting.parse().expect(setting);
        let wanted = setting.wanted(input)?;
        Some(wanted.is(&artifact(input, value)))
    }

    #[test]
    fn setting_is_recognized_by_its_json() {
        assert_eq!(
            is("param:p=\"true\"", "param:p", &json!("true")),
            Some(true)
        );
        assert_eq!(is("param:p=\"true\"", "param:p", &json!(true)), Some(false));
        assert_eq!(is("param:p=true", "param:p", &json!(true)), Some(true));
        assert_eq!(is("param:p=true", "param:pp", &json!(true)), None);
        let long = json!("x".repeat(5000));
        let written = Setting::new("param:p", &long).to_string();
        assert!(written.len() < 1000, "{written}");
        assert_eq!(is(&written, "param:p", &long), Some(true));
        assert_eq!(
            is(&written, "param:p", &json!("y".repeat(5000))),
            Some(false)
        );
    }

    #[test]
    fn setting_is_found_in_what_is_read_of_it_and_around_it() {
        let list = "field:spec.env=[{\"name\":\"A\",\"value\":\"1\"}]";
        assert_eq!(is(list, "field:spec.env[0].value", &json!("1")), Some(true));
        assert_eq!(
            is(list, "field:spec.env[0].value", &json!("2")),
            Some(false)
        );
        assert_eq!(is(list, "field:spec.environment", &json!("1")), None);
        let inside = "field:spec.a.b=\"c\"";
        assert_eq!(is(inside, "field:spec.a", &json!({"b": "c"})), Some(true));
        assert_eq!(is(inside, "field:spec.a", &json!("c")), Some(false));
    }

    #[test]
    fn what_is_no_setting_says_what_to_write() {
        for text in [
            "",
            "debug=1",
            "param:=1",
            "param:a",
            "param:a=",
            "source=\"a\"",
        ] {
            let error = text.parse::<Setting>().expect_err(text).to_string();
            assert!(error.contains("param:NAME=JSON"), "{error}");
        }
    }
}
