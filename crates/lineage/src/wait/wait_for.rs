//! The `for` of a wait, as it is written on a command line.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::artifact::{Artifact, AwaitedValue, Kind};
use crate::revision::{self, MIN_DIGITS};

/// One thing that somebody waits for.
///
/// ```
/// use pathline_lineage::wait::WaitFor;
///
/// let wait_for: WaitFor = "param:debug=on".parse().unwrap();
/// assert_eq!(wait_for, WaitFor::Param { name: "debug".into(), value: "on".into() });
/// assert!("debug=on".parse::<WaitFor>().is_err());
/// ```
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(try_from = "String", into = "String")]
pub enum WaitFor {
    /// A revision of the source, as [`revision::matches`] recognizes it.
    Source(String),
    /// An image: its reference, or its digest.
    Image(String),
    /// A param of the owner.
    Param {
        /// Its name.
        name: String,
        /// Its value: JSON, or plain text.
        value: String,
    },
    /// A field of the owner.
    Field {
        /// Its path, dotted from the owner's root.
        path: String,
        /// Its value: JSON, or plain text.
        value: String,
    },
    /// Everything that the owner says now.
    Current,
}

/// The reason why a text is no [`WaitFor`].
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum ParseWaitForError {
    /// Nothing like it can be waited for.
    #[error(
        "`{0}` can't be waited for: use source=REV, image=REF, param:NAME=VALUE, field:PATH=VALUE or current"
    )]
    Unknown(String),
    /// There is no value.
    #[error("`{0}` has no value: write {0}=VALUE (for an empty text, {0}='\"\"')")]
    NoValue(String),
    /// A param without a name, a field without a path.
    #[error("`{0}` names nothing: write param:NAME=VALUE or field:PATH=VALUE")]
    NoName(String),
    /// A digest of which too little is there.
    #[error("`{0}` is too short: write at least {MIN_DIGITS} digits of the digest")]
    ShortDigest(String),
    /// Two things that can't both be true.
    #[error("`{0}` and `{1}` can't both be true: wait for one of them")]
    Contradiction(String, String),
}

impl FromStr for WaitFor {
    type Err = ParseWaitForError;

    fn from_str(text: &str) -> Result<Self, ParseWaitForError> {
        if text == "current" {
            return Ok(Self::Current);
        }
        let (what, value) = text.split_once('=').unwrap_or((text, ""));
        let wait_for = match what.split_once(':') {
            None if what == "source" => Self::Source(value.to_owned()),
            None if what == "image" => Self::Image(value.to_owned()),
            Some(("param", name)) => Self::Param {
                name: name.to_owned(),
                value: value.to_owned(),
            },
            Some(("field", path)) => Self::Field {
                path: path.trim_start_matches('.').to_owned(),
                value: value.to_owned(),
            },
            _ => return Err(ParseWaitForError::Unknown(text.to_owned())),
        };
        if matches!(&wait_for, Self::Param { name: it, .. } | Self::Field { path: it, .. } if it.is_empty())
        {
            return Err(ParseWaitForError::NoName(text.to_owned()));
        }
        if value.is_empty() {
            return Err(ParseWaitForError::NoValue(what.to_owned()));
        }
        if what == "image" && is_too_short(value) {
            return Err(ParseWaitForError::ShortDigest(value.to_owned()));
        }
        Ok(wait_for)
    }
}

/// Tells whether a text is a digest, without a repository, of which too few digits are there to name any image.
fn is_too_short(reference: &str) -> bool {
    let digest = reference.strip_prefix("sha256:");
    digest.is_some_and(|digest| digest.len() < MIN_DIGITS)
}

impl fmt::Display for WaitFor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Source(revision) => write!(f, "source={revision}"),
            Self::Image(reference) => write!(f, "image={reference}"),
            Self::Param { name, value } => write!(f, "param:{name}={value}"),
            Self::Field { path, value } => write!(f, "field:{path}={value}"),
            Self::Current => f.write_str("current"),
        }
    }
}

impl TryFrom<String> for WaitFor {
    type Error = ParseWaitForError;

    fn try_from(text: String) -> Result<Self, ParseWaitForError> {
        text.parse()
    }
}

impl From<WaitFor> for String {
    fn from(wait_for: WaitFor) -> Self {
        wait_for.to_string()
    }
}

/// A way to recognize a value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Wanted {
    /// By its content.
    Exactly(Artifact),
    /// As a revision of a source.
    Revision(String),
    /// As an image.
    Image(String),
    /// As a value, JSON or text.
    Value(Written),
    /// As a value at a place inside of what was read.
    Inside {
        /// The rest of the path.
        path: String,
        /// JSON, or text.
        value: Written,
    },
}

/// A value as somebody writes it on a command line: `true` may be a boolean or a text.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Written {
    text: String,
    as_text: AwaitedValue,
    as_json: Option<AwaitedValue>,
    reading: Reading,
}

/// A way to read a written value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Reading {
    /// As JSON.
    Json,
    /// As plain text.
    Text,
    /// As whichever of the two comes first.
    #[default]
    Either,
}

impl Written {
    pub(super) fn new(text: &str) -> Self {
        Self {
            as_json: serde_json::from_str(text).ok().map(AwaitedValue::new),
            as_text: AwaitedValue::new(text.into()),
            text: text.to_owned(),
            reading: Reading::default(),
        }
    }

    /// Takes a value that is JSON, and is read as nothing else; what is no JSON is text.
    pub(super) fn json(text: &str) -> Self {
        let written = Self::new(text);
        let reading = match written.as_json {
            Some(_) => Reading::Json,
            None => Reading::Text,
        };
        Self { reading, ..written }
    }

    /// Decides how it is read: as JSON where such a value is around, as plain text where only that
    /// is. `is_around` tells whether a value is.
    fn read_among(mut self, is_around: impl Fn(&AwaitedValue) -> bool) -> Self {
        self.reading = if self.as_json.as_ref().is_some_and(&is_around) {
            Reading::Json
        } else if is_around(&self.as_text) {
            Reading::Text
        } else {
            Reading::Either
        };
        self
    }

    /// Tells whether something that can be compared with values is the one that was written.
    fn is(&self, is_value: impl Fn(&AwaitedValue) -> bool) -> bool {
        let json = || self.as_json.as_ref().is_some_and(&is_value);
        let text = || is_value(&self.as_text);
        match self.reading {
            Reading::Json => json(),
            Reading::Text => text(),
            Reading::Either => json() || text(),
        }
    }
}

impl Wanted {
    pub(super) fn is(&self, artifact: &Artifact) -> bool {
        match self {
            Self::Exactly(wanted) => wanted == artifact,
            Self::Revision(asked) => {
                artifact.kind() == Kind::Source && revision::matches(asked, artifact.shown())
            }
            Self::Image(asked) => is_image(asked, artifact.shown()),
            Self::Value(written) => {
                written.is(|value| value.is(artifact)) || artifact.is_cut_to(&written.text)
            }
            Self::Inside { path, value } => value.is(|value| has_inside(artifact, path, value)),
        }
    }

    /// Returns what is shown of a value that is there in its place.
    pub(super) fn in_place(&self, artifact: &Artifact) -> String {
        let inside = match self {
            Self::Inside { path, .. } => {
                let whole = serde_json::from_str::<Value>(artifact.shown()).ok();
                whole.and_then(|whole| find(&whole, path).cloned())
            }
            _ => None,
        };
        let inside = inside.map(|it| Artifact::value(Kind::Field, &it));
        inside.as_ref().unwrap_or(artifact).shown().to_owned()
    }

    /// Decides how a written value is read, by the artifacts that are around.
    pub(super) fn among<'a>(self, around: impl Iterator<Item = &'a Artifact>) -> Self {
        let around: Vec<_> = around.collect();
        match self {
            Self::Value(written) => {
                Self::Value(written.read_among(|value| around.iter().any(|it| value.is(it))))
            }
            Self::Inside { path, value } => Self::Inside {
                value: value
                    .read_among(|value| around.iter().any(|it| has_inside(it, &path, value))),
                path,
            },
            other => other,
        }
    }
}

/// Tells whether a value lies at a place inside of what was read.
fn has_inside(artifact: &Artifact, path: &str, value: &AwaitedValue) -> bool {
    let whole = serde_json::from_str::<Value>(artifact.shown());
    whole.is_ok_and(|whole| find(&whole, path) == Some(value.value()))
}

impl fmt::Display for Wanted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exactly(artifact) => f.write_str(artifact.shown()),
            Self::Revision(text) | Self::Image(text) => f.write_str(text),
            Self::Value(written) | Self::Inside { value: written, .. } => {
                f.write_str(&written.text)
            }
        }
    }
}

/// Tells whether an image is the one asked for: by its whole reference, or by its digest, with or
/// without the repository; at least seven digits of that are enough.
fn is_image(asked: &str, there: &str) -> bool {
    let parts = |reference: &str| match reference.split_once("@sha256:") {
        Some((name, digest)) => (Some(name.to_owned()), Some(digest.to_owned())),
        None => match reference.strip_prefix("sha256:") {
            Some(digest) => (None, Some(digest.to_owned())),
            None => (Some(reference.to_owned()), None),
        },
    };
    let repository = |name: &str| {
        let directory = name.rfind('/').map_or(0, |at| at + 1);
        let tag = name[directory..].find(':').map(|at| directory + at);
        name[..tag.unwrap_or(name.len())].to_owned()
    };
    let ((asked_name, asked_digest), (name, digest)) = (parts(asked), parts(there));
    let same_repository = asked_name
        .is_none_or(|asked| name.is_some_and(|name| repository(&asked) == repository(&name)));
    let same_digest = asked_digest
        .is_some_and(|asked| digest.is_some_and(|there| revision::matches(&asked, &there)));
    asked == there || (same_digest && same_repository)
}

/// Finds a dotted path in a value; keys may have dots themselves.
pub(super) fn find<'a>(value: &'a Value, path: &str) -> Option<&'a Value> {
    if path.is_empty() {
        return Some(value);
    }
    let ends = path.match_indices('.').map(|(at, _)| at);
    ends.chain([path.len()]).find_map(|end| {
        let inner = match value {
            Value::Object(map) => map.get(&path[..end]),
            Value::Array(list) => list.get(path[..end].parse::<usize>().ok()?),
            _ => None,
        };
        find(inner?, path[end..].trim_start_matches('.'))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn wishes_are_written_as_they_are_read() {
        for text in [
            "source=8f1c2e7",
            "source=main@sha1:8f1c2e7d",
            "image=registry.example/app:1@sha256:00",
            "param:debug=on",
            "param:env=[{\"name\":\"A\",\"value\":\"x=y\"}]",
            "field:spec.source.git.url=https://git.example/app",
            "current",
        ] {
            let wait_for: WaitFor = text.parse().expect(text);
            assert_eq!(wait_for.to_string(), text);
        }
    }

    #[test]
    fn what_is_no_wish_says_what_to_write() {
        for (text, said) in [
            ("debug=on", "param:NAME=VALUE"),
            ("", "can't be waited for"),
            ("source", "write source=VALUE"),
            ("image=", "write image=VALUE"),
            ("param:debug", "write param:debug=VALUE"),
            ("param:=on", "names nothing"),
            ("field:=1", "names nothing"),
            ("current=1", "can't be waited for"),
        ] {
            let error = text.parse::<WaitFor>().expect_err(text).to_string();
            assert!(error.contains(said), "{text}: {error}");
        }
    }

    #[test]
    fn value_is_recognized_as_json_or_as_plain_text() {
        let is = |asked: &str, value: Value| {
            Wanted::Value(Written::new(asked)).is(&Artifact::param("p", &value))
        };
        assert!(is("on", json!("on")));
        assert!(is("\"on\"", json!("on")));
        assert!(is("true", json!(true)));
        assert!(is("true", json!("true")));
        assert!(is("{\"b\": 1, \"a\": [2]}", json!({"a": [2], "b": 1})));
        assert!(is(&"x".repeat(5000), json!("x".repeat(5000))));
        assert!(!is("on", json!("off")));
        assert!(!is("1", json!(2)));
    }

    #[test]
    fn point_11_text_and_boolean_of_one_spelling_are_two_values() {
        let param = |value: Value| Artifact::param("p", &value);
        let wanted = |asked: &str, around: &[Artifact]| {
            Wanted::Value(Written::new(asked)).among(around.iter())
        };
        let [text, boolean] = [json!("true"), json!(true)].map(param);
        let both = [text.clone(), boolean.clone()];
        assert!(wanted("true", &both).is(&boolean));
        assert!(!wanted("true", &both).is(&text), "JSON decides");
        let only_text = std::slice::from_ref(&text);
        assert!(wanted("true", only_text).is(&text));
        assert!(!wanted("true", only_text).is(&boolean));
        assert!(wanted("\"true\"", &both).is(&text));
        assert!(!wanted("\"true\"", &both).is(&boolean));
        let whole = |value: Value| Artifact::field("spec", &json!({ "on": value }));
        let inside = Wanted::Inside {
            path: "on".into(),
            value: Written::new("true"),
        };
        let around = [whole(json!("true")), whole(json!(true))];
        let inside = inside.among(around.iter());
        assert!(inside.is(&around[1]) && !inside.is(&around[0]));
    }

    #[test]
    fn image_is_recognized_by_reference_or_digest() {
        let digest = format!("sha256:{}", "a".repeat(64));
        let there = format!("registry.example:5000/app:1@{digest}");
        assert!(is_image(&there, &there));
        assert!(is_image(&digest, &there));
        assert!(is_image("sha256:aaaaaaa", &there), "as of a commit");
        assert!(!is_image("sha256:aaaaaab", &there));
        assert!("image=sha256:aaaaaa".parse::<WaitFor>().is_err());
        assert!(is_image(
            &format!("registry.example:5000/app@{digest}"),
            &there
        ));
        assert!(!is_image(
            &format!("registry.example:5000/other@{digest}"),
            &there
        ));
        assert!(!is_image("registry.example:5000/app:1", &there));
        assert!(is_image("app:1", "app:1"));
        assert!(!is_image("app:1", "app:2"));
    }

    #[test]
    fn value_inside_of_what_was_read_is_found() {
        let read = Artifact::field(
            "spec.source",
            &json!({"git": {"ref": {"branch": "main"}, "a.b": [1]}}),
        );
        let is = |path: &str, value: &str| {
            let (path, value) = (path.to_owned(), Written::new(value));
            Wanted::Inside { path, value }.is(&read)
        };
        assert!(is("git.ref.branch", "main"));
        assert!(is("git.a.b.0", "1"));
        assert!(!is("git.ref.branch", "dev"));
        assert!(!is("git.ref.tag", "main"));
    }
}
