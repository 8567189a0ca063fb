//! What a question is about: `workload/hello`, `source=8f1c2e7`, `registry.example/app@sha256:...`.

use std::fmt;
use std::str::FromStr;

use pathline_lineage::{ArtifactId, Kind};

/// What to explain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Subject {
    /// An owner, by its kind and name.
    Owner(OwnerKind, String),
    /// A source or an image, by what people call it.
    Named(Sought),
    /// Anything, by the id of its content.
    Id(ArtifactId),
}

/// The kinds that own a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OwnerKind {
    Workload,
    Deliverable,
}

/// A source or an image, by what people call it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sought {
    pub(crate) kind: Kind,
    pub(crate) text: String,
}

/// Why a text is no subject.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub(crate) enum ParseError {
    #[error(
        "write workload/NAME, deliverable/NAME, image=REF, source=REV, a reference with a digest, or an artifact id of \
         64 digits"
    )]
    Subject,
    #[error("write source=REV or image=REF")]
    Sought,
    #[error("a revision is named by at least 7 of its digits, or by the whole of it")]
    ShortRevision,
}

impl OwnerKind {
    /// Returns the word for it in a text and, with an `s`, in the address of its list.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Workload => "workload",
            Self::Deliverable => "deliverable",
        }
    }

    /// Returns where the REST API lists it.
    pub(crate) fn plural(self) -> &'static str {
        match self {
            Self::Workload => "workloads",
            Self::Deliverable => "deliverables",
        }
    }

    fn named(word: &str) -> Option<Self> {
        let word = word.to_ascii_lowercase();
        [Self::Workload, Self::Deliverable]
            .into_iter()
            .find(|kind| word == kind.word() || word == kind.plural())
    }
}

impl Sought {
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

impl fmt::Display for Sought {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.word(), self.text)
    }
}

impl FromStr for Sought {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        match text.split_once('=') {
            Some((_, "")) | None => Err(ParseError::Sought),
            Some(("source", revision)) => source(revision),
            Some(("image", reference)) => Ok(Self::image(reference)),
            Some(_) => Err(ParseError::Sought),
        }
    }
}

/// Short hexadecimal texts are almost certainly commits that were cut too short.
fn source(revision: &str) -> Result<Sought, ParseError> {
    let hexadecimal = revision.bytes().all(|byte| byte.is_ascii_hexdigit());
    if hexadecimal && revision.len() < 7 {
        return Err(ParseError::ShortRevision);
    }
    Ok(Sought {
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
            return Ok(Self::Named(Sought::image(text)));
        }
        let (kind, name) = text.split_once('/').ok_or(ParseError::Subject)?;
        let kind = OwnerKind::named(kind).ok_or(ParseError::Subject)?;
        if name.is_empty() || name.contains('/') {
            return Err(ParseError::Subject);
        }
        Ok(Self::Owner(kind, name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Subject, ParseError> {
        text.parse()
    }

    fn mk_image(text: &str) -> Subject {
        Subject::Named(Sought::image(text))
    }

    #[test]
    fn owners_are_named_by_kind_and_name() {
        let hello = || "hello".to_owned();
        assert_eq!(
            parse("workload/hello"),
            Ok(Subject::Owner(OwnerKind::Workload, hello()))
        );
        assert_eq!(
            parse("Deliverables/hello"),
            Ok(Subject::Owner(OwnerKind::Deliverable, hello()))
        );
        for wrong in ["hello", "pods/hello", "workload/", "workload/a/b", ""] {
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
        assert_eq!("config=x".parse::<Sought>(), Err(ParseError::Sought));
        assert_eq!("source=".parse::<Sought>(), Err(ParseError::Sought));
    }

    #[test]
    fn content_is_named_by_its_id() {
        let id = "0a".repeat(32);
        assert!(matches!(parse(&id), Ok(Subject::Id(_))));
    }
}
