//! Tokens: who may ask, and for what.

use jiff::Timestamp;
use pathline_ledger::Scope;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::schemas;

/// A token to be made.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewToken {
    /// Names who will use it, once and for all: a name is never used again.
    #[schema(
        min_length = 1,
        max_length = 63,
        pattern = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"
    )]
    pub name: String,
    /// What it may do; each scope includes the ones before it.
    #[schema(schema_with = schemas::scope)]
    pub scope: Scope,
    /// After how many seconds it ends; without, it lasts until it is revoked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 315_360_000)]
    pub expires_in_seconds: Option<u32>,
}

/// A token that was made. The secret is in this answer and nowhere else.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CreatedToken {
    /// What is known of the token.
    pub token: Token,
    /// What to send as `Authorization: Bearer SECRET`.
    pub secret: String,
}

/// What is known of a token; the secret is not.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Token {
    /// Names who uses it.
    pub name: String,
    /// What it may do.
    #[schema(schema_with = schemas::scope)]
    pub scope: Scope,
    /// When it was made.
    #[schema(schema_with = schemas::time)]
    pub created: Timestamp,
    /// When it ends by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = schemas::time, required = false)]
    pub expires: Option<Timestamp>,
    /// When it was used last, to about a minute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = schemas::time, required = false)]
    pub last_used: Option<Timestamp>,
    /// When it was revoked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = schemas::time, required = false)]
    pub revoked: Option<Timestamp>,
}

/// All tokens, also those that have ended.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
pub struct TokenList {
    /// The tokens, by name.
    pub items: Vec<Token>,
}

impl From<pathline_ledger::Token> for Token {
    fn from(token: pathline_ledger::Token) -> Self {
        Self {
            name: token.name,
            scope: token.scope,
            created: token.created,
            expires: token.expires,
            last_used: token.last_used,
            revoked: token.revoked,
        }
    }
}
