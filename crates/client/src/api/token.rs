//! Tokens: who may ask, and for what.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
#[cfg(feature = "openapi")]
use utoipa::ToSchema;

use super::Scope;

/// A token to be made.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewToken {
    /// Names who will use it, once and for all: a name is never used again.
    #[cfg_attr(
        feature = "openapi",
        schema(
            min_length = 1,
            max_length = 63,
            pattern = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"
        )
    )]
    pub name: String,
    /// The scope, which says what it may do; each scope includes the ones before it.
    #[cfg_attr(feature = "openapi", schema(schema_with = super::schemas::scope))]
    pub scope: Scope,
    /// After how many seconds it ends; without, it lasts until it is revoked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(minimum = 1, maximum = 315_360_000))]
    pub expires_in_seconds: Option<u32>,
}

/// A token that was made. The secret is in this answer and nowhere else.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct CreatedToken {
    /// The token, without its secret.
    pub token: Token,
    /// The secret to send as `Authorization: Bearer SECRET`.
    pub secret: String,
}

/// A token, as it is known; the secret is not.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Token {
    /// Names who uses it.
    pub name: String,
    /// The scope, which says what it may do.
    #[cfg_attr(feature = "openapi", schema(schema_with = super::schemas::scope))]
    pub scope: String,
    /// When it was made.
    #[cfg_attr(feature = "openapi", schema(schema_with = super::schemas::time))]
    pub created: Timestamp,
    /// When it ends by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(schema_with = super::schemas::time, required = false))]
    pub expires: Option<Timestamp>,
    /// When it was used last, to about a minute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(schema_with = super::schemas::time, required = false))]
    pub last_used: Option<Timestamp>,
    /// When it was revoked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(schema_with = super::schemas::time, required = false))]
    pub revoked: Option<Timestamp>,
}

/// All tokens, also those that have ended.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(ToSchema))]
pub struct TokenList {
    /// The tokens, by name.
    pub items: Vec<Token>,
}
