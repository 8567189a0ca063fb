//! Subjects of questions: `workload/hello`, `source=8f1c2e7`, `registry.example/app@sha256:...`.

use std::fmt;
use std::str::FromStr;

use pathline_blueprint::owner::OwnerKind;
use pathline_lineage::{ArtifactId, Kind};

/// The subject of a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Subject {
    /// An owner, by its kind and name.
    Owner(OwnerName),
    /// Another object of the cluster, such as a pod.
    Object(ObjectName),
    /// A source or an image, by what people call it.
    Named(ArtifactName),
    /// Anything, by the id of its content.
    Id(ArtifactId),
}

/// An owner in some namespace: `workload/hello`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OwnerName {
    pub(crate) kind: OwnerKind,
    pub(crate) name: String,
}

/// An object in some namespace: `pod/hello-7d4b9`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ObjectName {
    /// A word such as `pod`, or `KIND.VERSION.GROUP`.
    pub(crate) kind: String,
    pub(crate) name: String,
}

/// A source or an image, by what people call it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ArtifactName {
    pub(crate) kind: Kind,
    pub(crate) text: String,
}

/// An error in a subject.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub(crate) enum ParseError {
    #[error(
        "write workload/NAME, deliverable/NAME, pod/NAME or another KIND/NAME, image=REF, source=REV, a reference with a \
         digest, or an artifact id of 64 digits"
    )]
    Subject,
    #[error("write workload/NAME or deliverable/NAME")]
    Owner,
    #[error("write source=REV or image=REF")]
    ArtifactName,
    #[error("a revision is named by at least 7 of its digits, or by the whole of it")]
    ShortRevision,
}

impl OwnerName {
    /// Returns where the REST API lists its kind.
    pub(crate) fn plural(&self) -> String {
        format!("{}s", self.kind.noun())
    }
}

impl ArtifactName {
    /// Returns how the REST API spells it.
    pub(crate) fn query(&self) -> String {
        format!("{}:{}", self.word(), self.text)
    }

    pub(crate) fn word(&self) -> &'static str {
        match self.kind {
            Kind::Source => "source",
            _ => "image",
        }
    }

    fn image(reference: &str) -> Self {
        // `image@sha256:...` asks for a digest, wherever the image is kept.
        let text = reference.strip_prefix("image@").unwrap_or(reference);
        Self {
            kind: Kind::Image,
            text: text.to_owned(),
        }
    }
}

impl fmt::Display for ArtifactName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.word(), self.text)
    }
}

impl FromStr for ArtifactName {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        match text.split_once('=') {
            Some((_, "")) | None => Err(ParseError::ArtifactName),
            Some(("source", revision)) => source(revision),
            Some(("image", reference)) => Ok(Self::image(reference)),
            Some(_) => Err(ParseError::ArtifactName),
        }
    }
}

/// Short hexadecimal texts are almost certainly commits that were cut too short.
fn source(revision: &str) -> Result<ArtifactName, ParseError> {
    let hexadecimal = revision.bytes().all(|byte| byte.is_ascii_hexdigit());
    if hexadecimal && revision.len() < 7 {
        return Err(ParseError::ShortRevision);
    }
    Ok(ArtifactName {
        kind: Kind::Source,
        text: revision.to_owned(),
    })
}

impl FromStr for Subject {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        if let Ok(id) = ArtifactId::try_from(text.to_owned()) {
            return Ok(Self::Id(id));
        }
        if text.starts_with("source=") || text.starts_with("image=") {
            return text.parse().map(Self::Named);
        }
        if text.contains("@sha256:") || text.starts_with("sha256:") {
            return Ok(Self::Named(ArtifactName::image(text)));
        }
        if let Ok(owner) = text.parse() {
            return Ok(Self::Owner(owner));
        }
        text.parse().map(Self::Object)
    }
}

impl FromStr for ObjectName {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let (kind, name) = text.split_once('/').ok_or(ParseError::Subject)?;
        let is_plain = |text: &str, letter: fn(&u8) -> bool| {
            let mark = |it: &u8| b".-".contains(it);
            !text.is_empty() && text.bytes().all(|it| letter(&it) || mark(&it))
        };
        let is_kind = is_plain(kind, u8::is_ascii_alphanumeric);
        let is_name = is_plain(name, |it| it.is_ascii_lowercase() || it.is_ascii_digit());
        if !is_kind || !is_name {
            return Err(ParseError::Subject);
        }
        let (kind, name) = (kind.to_owned(), name.to_owned());
        Ok(Self { kind, name })
    }
}

impl FromStr for OwnerName {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let (kind, name) = text.split_once('/').ok_or(ParseError::Owner)?;
        let kind = kind.to_ascii_lowercase();
        let kind = OwnerKind::ALL.into_iter().find(|it| {
            let noun = it.noun();
            kind == noun || kind.strip_suffix('s') == Some(noun)
        });
        let kind = kind.ok_or(ParseError::Owner)?;
        if name.is_empty() || name.contains('/') {
            return Err(ParseError::Owner);
        }
        let name = name.to_owned();
        Ok(Self { kind, name })
    }
}

impl fmt::Display for OwnerName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.kind.noun(), self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Subject, ParseError> {
        text.parse()
    }

    fn mk_image(text: &str) -> Subject {
        Subject::Named(ArtifactName::image(text))
    }

    #[test]
    fn owners_are_named_by_kind_and_name() {
        let hello = |kind| {
            let name = "hello".to_owned();
            Ok(Subject::Owner(OwnerName { kind, name }))
        };
        assert_eq!(parse("workload/hello"), hello(OwnerKind::Workload));
        assert_eq!(parse("Deliverables/hello"), hello(OwnerKind::Deliverable));
        for wrong in ["hello", "workload/", "workload/a/b", ""] {
            assert_eq!(parse(wrong), Err(ParseError::Subject), "{wrong}");
        }
    }

    #[test]
    fn other_objects_are_named_in_the_same_way() {
        for (kind, name) in [
            ("pod", "hello-7d4b9"),
            ("Service.v1.serving.knative.dev", "a"),
        ] {
            let object = ObjectName {
                kind: kind.to_owned(),
                name: name.to_owned(),
            };
            assert_eq!(
                parse(&format!("{kind}/{name}")),
                Ok(Subject::Object(object))
            );
        }
        for wrong in [
            "pod/",
            "/hello",
            "pod/a/b",
            "pod/Hello",
            "example.com/app:1",
        ] {
            assert_eq!(parse(wrong), Err(ParseError::Subject), "{wrong}");
        }
    }

    #[test]
    fn images_are_named_by_reference_or_by_digest() {
        assert_eq!(parse("image=app:1"), Ok(mk_image("app:1")));
        assert_eq!(
            parse("example.com/app@sha256:12"),
            Ok(mk_image("example.com/app@sha256:12"))
        );
        assert_eq!(parse("image@sha256:12"), Ok(mk_image("sha256:12")));
        assert_eq!(parse("sha256:12"), Ok(mk_image("sha256:12")));
    }

    #[test]
    fn sources_need_enough_digits() {
        let Ok(Subject::Named(source)) = parse("source=8f1c2e7") else {
            panic!("seven digits are enough");
        };
        assert_eq!(source.query(), "source:8f1c2e7");
        assert_eq!(parse("source=8f1c2e"), Err(ParseError::ShortRevision));
        assert!(parse("source=v1").is_ok(), "a revision need not be a hash");
        assert_eq!(
            "config=x".parse::<ArtifactName>(),
            Err(ParseError::ArtifactName)
        );
        assert_eq!(
            "source=".parse::<ArtifactName>(),
            Err(ParseError::ArtifactName)
        );
    }

    #[test]
    fn content_is_named_by_its_id() {
        let id = "0a".repeat(32);
        assert!(matches!(parse(&id), Ok(Subject::Id(_))));
    }
}
