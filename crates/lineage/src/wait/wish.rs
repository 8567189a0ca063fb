//! What somebody waits for, as it is written on a command line.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::artifact::{Artifact, Kind};
use crate::revision;

/// One thing that somebody waits for.
///
/// ```
/// use pathline_lineage::wait::Wish;
///
/// let wish: Wish = "param:debug=on".parse().unwrap();
/// assert_eq!(wish, Wish::Param { name: "debug".into(), value: "on".into() });
/// assert!("debug=on".parse::<Wish>().is_err());
/// ```
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(try_from = "String", into = "String")]
pub enum Wish {
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

/// Why a text is no wish.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum NotAWish {
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
}

impl FromStr for Wish {
    type Err = NotAWish;

    fn from_str(text: &str) -> Result<Self, NotAWish> {
        if text == "current" {
            return Ok(Self::Current);
        }
        let (what, value) = text.split_once('=').unwrap_or((text, ""));
        let wish = match what.split_once(':') {
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
            _ => return Err(NotAWish::Unknown(text.to_owned())),
        };
        if matches!(&wish, Self::Param { name: it, .. } | Self::Field { path: it, .. } if it.is_empty())
        {
            return Err(NotAWish::NoName(text.to_owned()));
        }
        if value.is_empty() {
            return Err(NotAWish::NoValue(what.to_owned()));
        }
        Ok(wish)
    }
}

impl fmt::Display for Wish {
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

impl TryFrom<String> for Wish {
    type Error = NotAWish;

    fn try_from(text: String) -> Result<Self, NotAWish> {
        text.parse()
    }
}

impl From<Wish> for String {
    fn from(wish: Wish) -> Self {
        wish.to_string()
    }
}

/// How a value is recognized.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Wanted {
    /// By its content.
    Exactly(Artifact),
    /// As a revision of a source.
    Revision(String),
    /// As an image.
    Image(String),
    /// As a value, JSON or text.
    Value(String),
    /// As a value at a place inside of what was read.
    Inside {
        /// The rest of the path.
        path: String,
        /// JSON, or text.
        value: String,
    },
}

impl Wanted {
    pub(super) fn is(&self, artifact: &Artifact) -> bool {
        match self {
            Self::Exactly(wanted) => wanted == artifact,
            Self::Revision(asked) => {
                artifact.kind() == Kind::Source && revision::matches(asked, artifact.shown())
            }
            Self::Image(asked) => is_image(asked, artifact.shown()),
            Self::Value(asked) => is_shown_as(asked, artifact.shown()),
            Self::Inside { path, value } => {
                let whole = serde_json::from_str::<Value>(artifact.shown());
                let inside = whole.as_ref().ok().and_then(|whole| find(whole, path));
                inside.is_some_and(|inside| is_shown_as(value, shown(inside).shown()))
            }
        }
    }
}

impl fmt::Display for Wanted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exactly(artifact) => f.write_str(artifact.shown()),
            Self::Revision(text) | Self::Image(text) | Self::Value(text) => f.write_str(text),
            Self::Inside { value, .. } => f.write_str(value),
        }
    }
}

fn shown(value: &Value) -> Artifact {
    Artifact::value(Kind::Field, value)
}

/// Tells whether a value that is shown so is the one asked for, read as text or as JSON.
fn is_shown_as(asked: &str, there: &str) -> bool {
    let text = shown(&Value::from(asked));
    let json = serde_json::from_str::<Value>(asked);
    text.shown() == there || json.is_ok_and(|json| shown(&json).shown() == there)
}

/// Tells whether an image is the one asked for: by its whole reference, or by its digest, with or
/// without the repository.
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
    asked == there || (asked_digest.is_some() && asked_digest == digest && same_repository)
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
            let wish: Wish = text.parse().expect(text);
            assert_eq!(wish.to_string(), text);
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
            let error = text.parse::<Wish>().expect_err(text).to_string();
            assert!(error.contains(said), "{text}: {error}");
        }
    }

    #[test]
    fn value_is_recognized_as_json_or_as_plain_text() {
        let is = |asked: &str, value: Value| {
            Wanted::Value(asked.into()).is(&Artifact::param("p", &value))
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
    fn image_is_recognized_by_reference_or_digest() {
        let digest = format!("sha256:{}", "a".repeat(64));
        let there = format!("registry.example:5000/app:1@{digest}");
        assert!(is_image(&there, &there));
        assert!(is_image(&digest, &there));
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
            let (path, value) = (path.to_owned(), value.to_owned());
            Wanted::Inside { path, value }.is(&read)
        };
        assert!(is("git.ref.branch", "main"));
        assert!(is("git.a.b.0", "1"));
        assert!(!is("git.ref.branch", "dev"));
        assert!(!is("git.ref.tag", "main"));
    }
}
