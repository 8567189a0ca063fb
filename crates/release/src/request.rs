//! Requests: the bodies by which trackers are made and replaced, and what may be wrong with them.
//!
//! Problems are found together, in the order of the fields, and never repeat a value that may be a secret.

mod by_hand;
mod fields;
mod reference;
mod repository;
mod source_path;

use pathline_document::{Format, Limits, ReadError};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub(crate) use self::by_hand::is_line;
pub use self::by_hand::{HoldBody, MAX_REASON, PromoteBody, RollbackBody};
use self::fields::Fields;
pub use self::reference::Reference;
pub use self::repository::{Host, Hosts, Repository, Scheme};
pub use self::source_path::SourcePath;
use crate::name::{InvalidName, TrackerName};
use crate::token::Token;

/// The largest body, in bytes.
pub const MAX_BODY: usize = 64 << 10;

/// The deepest body.
const MAX_NESTING: usize = 16;

/// A body that is an object.
pub struct Body {
    fields: Map<String, Value>,
}

/// Says why a body is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidBody {
    /// It has too many bytes.
    #[error("the body is larger than {MAX_BODY} bytes")]
    TooLarge,
    /// It is not text.
    #[error("the body is not UTF-8")]
    NotUtf8,
    /// It is not JSON, or has a key twice.
    #[error("the body is not JSON")]
    NotJson(#[source] ReadError),
    /// It is something else than an object.
    #[error("the body is not an object")]
    NotAnObject,
}

/// Something that is wrong with one field.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// The field.
    pub field: String,
    /// The word for it.
    pub code: &'static str,
    /// The complaint.
    pub message: String,
}

/// A place in a repository where an application file is.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SourceLocation {
    /// The repository.
    pub repository: Repository,
    /// The file in it.
    pub path: SourcePath,
    /// The revision of it.
    pub reference: Reference,
}

/// A tracker to be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewTracker {
    /// The name.
    pub name: TrackerName,
    /// The file that it reads.
    pub source: SourceLocation,
    /// The secret that it reads it with.
    pub token: Token,
}

/// A replacement of what a tracker reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replacement {
    /// The file that it reads from now on.
    pub source: SourceLocation,
    /// Whether that is another one.
    pub has_new_source: bool,
    /// The secret, if it is another one.
    pub token: Option<Token>,
}

impl Body {
    /// Reads a body.
    ///
    /// # Errors
    /// If it is too large, no JSON, has a key twice or is no object.
    pub fn read(bytes: &[u8]) -> Result<Self, InvalidBody> {
        if bytes.len() > MAX_BODY {
            return Err(InvalidBody::TooLarge);
        }
        let text = std::str::from_utf8(bytes).map_err(|_| InvalidBody::NotUtf8)?;
        let limits = Limits::default().with_nesting(MAX_NESTING);
        let read = Format::Json.read_with(text, &limits);
        let documents = read.map_err(InvalidBody::NotJson)?;
        match documents.first().map(pathline_document::Document::to_json) {
            Some(Value::Object(fields)) => Ok(Self { fields }),
            _ => Err(InvalidBody::NotAnObject),
        }
    }

    /// Reads the body that makes a tracker.
    ///
    /// # Errors
    /// If fields are missing or wrong: all problems, in the order of the fields.
    pub fn create(&self, hosts: &Hosts) -> Result<NewTracker, Vec<Problem>> {
        let mut fields = Fields::new(&self.fields);
        let name = fields.required("id", read_name);
        let token = fields.required("token", read_token);
        let (_, source) = fields.source(hosts);
        let problems = fields.finish();
        match (name, token, source) {
            (Some(name), Some(token), Some(source)) if problems.is_empty() => Ok(NewTracker {
                name,
                source,
                token,
            }),
            _ => Err(problems),
        }
    }

    /// Reads the body that replaces what a tracker reads.
    ///
    /// A token that is absent stays, but only for the repository that it was given for: a stored secret is sent
    /// nowhere else.
    ///
    /// # Errors
    /// If fields are missing or wrong: all problems, in the order of the fields.
    pub fn replace(
        &self,
        name: &TrackerName,
        (stored, token): (&SourceLocation, &Token),
        hosts: &Hosts,
    ) -> Result<Replacement, Vec<Problem>> {
        let mut fields = Fields::new(&self.fields);
        let id = fields.optional("id", read_name);
        if id.is_some_and(|id| id.key() != name.key()) {
            let message = format!("the tracker is called `{name}`, and is not renamed");
            fields.add("id", "id-mismatch", message);
        }
        let given = fields.optional("token", read_token);
        let is_given = fields.has("token");
        let (repository, source) = fields.source(hosts);
        let is_elsewhere = repository.is_some_and(|it| it != stored.repository);
        if !is_given && !token.is_anonymous() && is_elsewhere {
            let message = "a stored token is not sent to another repository; give one".to_owned();
            fields.add_in_order("token", "token-required", message);
        }
        let problems = fields.finish();
        match source {
            Some(source) if problems.is_empty() => Ok(Replacement {
                has_new_source: source != *stored,
                source,
                token: given.filter(|given| given != token),
            }),
            _ => Err(problems),
        }
    }
}

fn read_name(text: &str) -> Result<TrackerName, (&'static str, String)> {
    text.parse().map_err(|invalid: InvalidName| {
        let code = match invalid {
            InvalidName::Malformed => "malformed",
            InvalidName::Reserved => "reserved",
        };
        (code, invalid.to_string())
    })
}

fn read_token(text: &str) -> Result<Token, (&'static str, String)> {
    let token = Token::new(text.to_owned());
    token.ok_or_else(|| {
        let message = "a token is at most 512 visible ASCII characters, or empty for none";
        ("malformed", message.to_owned())
    })
}
