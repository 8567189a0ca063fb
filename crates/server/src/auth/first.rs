//! The first token, with which all others can be made.

use std::io;

use jiff::Timestamp;
use pathline_ledger::{Error, Ledger, Permission, Permissions, Token};

use super::Secret;

/// The outcome of [`first_admin`].
#[derive(Debug)]
pub enum FirstToken {
    /// The secret that is kept on this machine belongs to an admin.
    Kept,
    /// A token was made, and `keep` has its secret.
    Made(Token),
    /// Somebody else has one, who shares the ledger.
    Elsewhere,
}

/// An error because of which there is no first token.
#[derive(Debug, thiserror::Error)]
pub enum FirstTokenError {
    /// The ledger did not answer.
    #[error("cannot look for the first admin token")]
    Ledger(#[from] Error),
    /// The system has no randomness.
    #[error("cannot make a secret")]
    Random(#[from] getrandom::Error),
    /// The secret could not be kept.
    #[error("cannot keep the first admin token")]
    Keep(#[source] io::Error),
}

/// Makes sure that somebody can come in as admin.
///
/// `kept` is the secret that is kept on this machine, if there is one. With a ledger that is
/// `shared`, a token is made only if no admin is left in it; with one of our own also if the kept
/// secret is lost or has ended, for whoever may read the ledger's files is admin anyway. The secret
/// is given to `keep` before the ledger knows it, so that a crash in between loses nothing.
///
/// # Errors
/// If the ledger does not answer, or `keep` fails; then the ledger does not know the token.
pub async fn first_admin(
    ledger: &Ledger,
    shared: bool,
    kept: Option<&Secret>,
    now: Timestamp,
    keep: impl Fn(&Secret) -> io::Result<()>,
) -> Result<FirstToken, FirstTokenError> {
    let opens = |token: &Token| {
        let lasts = token.expires.is_none_or(|expires| now < expires);
        token.permissions.contains(Permission::Admin) && token.revoked.is_none() && lasts
    };
    if let Some(secret) = kept {
        let token = ledger.access().token_by_hash(&secret.hash()).await?;
        if token.is_some_and(|token| opens(&token)) {
            return Ok(FirstToken::Kept);
        }
    }
    let tokens = ledger.access().tokens().await?;
    if shared && tokens.iter().any(opens) {
        return Ok(FirstToken::Elsewhere);
    }
    let secret = Secret::random()?;
    keep(&secret).map_err(FirstTokenError::Keep)?;
    let name = free_name(&tokens);
    let hash = secret.hash();
    match ledger
        .access()
        .create_token(&name, Permissions::ADMIN, &hash, None, now)
        .await
    {
        Ok(token) => Ok(FirstToken::Made(token)),
        // Another process was faster.
        Err(Error::NameTaken(_)) if shared => Ok(FirstToken::Elsewhere),
        Err(error) => Err(error.into()),
    }
}

/// Returns `admin`, or the first of `admin-2`, `admin-3`, … that was never used.
fn free_name(tokens: &[Token]) -> String {
    let taken = |name: &str| tokens.iter().any(|token| token.name == name);
    let numbered = (2..).map(|number| format!("admin-{number}"));
    std::iter::once("admin".to_owned())
        .chain(numbered)
        .find(|name| !taken(name))
        .expect("there are more numbers than tokens")
}
