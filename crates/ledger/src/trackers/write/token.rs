//! Tokens of trackers: sealed when they are stored, and overwritten before they are gone.

use pathline_release::Token;

use crate::database::sql;
use crate::error::Error;
use crate::sealed::SecretText;
use crate::sealing::{FORGOTTEN, Sealing, TOKEN};
use crate::writer::Transaction;

/// Seals a token for its row; nothing for one that is anonymous.
pub(super) async fn sealed(
    transaction: &mut Transaction<'_>,
    sealing: &Sealing,
    token: &Token,
    (uid, version): (&str, i64),
) -> Result<Option<String>, Error> {
    if token.is_anonymous() {
        return Ok(None);
    }
    let secret = SecretText::new(token.expose());
    let cell = TOKEN.of(uid, version);
    sealing.seal(transaction, &secret, &cell).await.map(Some)
}

/// Tells whether a token is the one that is stored.
pub(super) async fn is_stored(
    transaction: &mut Transaction<'_>,
    sealing: &Sealing,
    token: &Token,
    uid: &str,
) -> Result<bool, Error> {
    let asked = sql("select token, token_version from tracker where uid = $1").bind(uid);
    let row: Option<(Option<String>, i64)> = transaction.session().first(asked).await?;
    let Some((Some(stored), version)) = row else {
        return Ok(token.is_anonymous());
    };
    if stored == FORGOTTEN {
        return Ok(false);
    }
    if token.is_anonymous() {
        return Ok(false);
    }
    let stored = sealing.open(&stored, &TOKEN.of(uid, version))?;
    Ok(stored.reveal() == token.expose())
}

/// Overwrites a token with as many zeros, and then removes it.
pub(super) async fn erase(transaction: &mut Transaction<'_>, uid: &str) -> Result<(), Error> {
    let session = transaction.session();
    let asked = sql(
        "select cast(length(token) as bigint) from tracker where uid = $1 and token is not null",
    );
    let asked: Option<(i64,)> = session.first(asked.bind(uid)).await?;
    let Some((length,)) = asked else {
        return Ok(());
    };
    let zeros = "0".repeat(usize::try_from(length).unwrap_or_default());
    let overwrite = sql("update tracker set token = $2 where uid = $1");
    session.run(overwrite.bind(uid).bind(&zeros)).await?;
    let remove = sql("update tracker set token = null where uid = $1");
    session.run(remove.bind(uid)).await.map(drop)
}
