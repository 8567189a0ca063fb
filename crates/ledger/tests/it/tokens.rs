//! Tokens, of which the ledger knows hashes only.

use pathline_ledger::{Error, Scope, Token};

use crate::home::Home;
use crate::story::at;

on_both!(
    token_is_found_by_its_hash,
    names_are_never_used_again,
    revoked_token_stays_known,
    last_use_only_grows,
);

async fn token_is_found_by_its_hash(home: &Home) -> anyhow::Result<()> {
    let ledger = home.open().await?;
    let created = ledger
        .create_token("ci", Scope::Write, &[7; 32], Some(at(9)), at(1))
        .await?;
    let expected = Token {
        name: "ci".to_owned(),
        scope: Scope::Write,
        created: at(1),
        expires: Some(at(9)),
        last_used: None,
        revoked: None,
    };
    assert_eq!(created, expected);
    assert_eq!(ledger.token_by_hash(&[7; 32]).await?, Some(expected));
    assert_eq!(ledger.token_by_hash(&[8; 32]).await?, None);
    Ok(())
}

async fn names_are_never_used_again(home: &Home) -> anyhow::Result<()> {
    let ledger = home.open().await?;
    ledger
        .create_token("ci", Scope::Read, &[1; 32], None, at(1))
        .await?;
    let again = ledger
        .create_token("ci", Scope::Read, &[2; 32], None, at(1))
        .await;
    assert!(matches!(again, Err(Error::NameTaken(name)) if name == "ci"));
    ledger.revoke_token("ci", at(2)).await?;
    let again = ledger
        .create_token("ci", Scope::Read, &[2; 32], None, at(3))
        .await;
    assert!(matches!(again, Err(Error::NameTaken(_))));
    let other = ledger
        .create_token("other", Scope::Admin, &[2; 32], None, at(3))
        .await;
    assert!(other.is_ok());
    Ok(())
}

async fn revoked_token_stays_known(home: &Home) -> anyhow::Result<()> {
    let ledger = home.open().await?;
    ledger
        .create_token("ci", Scope::Read, &[1; 32], None, at(1))
        .await?;
    ledger
        .create_token("admin", Scope::Admin, &[2; 32], None, at(1))
        .await?;
    assert_eq!(ledger.revoke_token("nobody", at(2)).await?, None);
    let revoked = ledger.revoke_token("ci", at(2)).await?.unwrap();
    assert_eq!(revoked.revoked, Some(at(2)));
    let again = ledger.revoke_token("ci", at(3)).await?.unwrap();
    assert_eq!(again.revoked, Some(at(2)), "the first time counts");
    assert_eq!(ledger.token_by_hash(&[1; 32]).await?, Some(revoked));
    let names: Vec<_> = ledger
        .tokens()
        .await?
        .into_iter()
        .map(|it| it.name)
        .collect();
    assert_eq!(names, ["admin", "ci"]);
    Ok(())
}

async fn last_use_only_grows(home: &Home) -> anyhow::Result<()> {
    let ledger = home.open().await?;
    ledger
        .create_token("ci", Scope::Read, &[1; 32], None, at(1))
        .await?;
    for seconds in [5, 3] {
        ledger.used_token("ci", at(seconds)).await?;
    }
    ledger.used_token("nobody", at(4)).await?;
    assert_eq!(ledger.tokens().await?[0].last_used, Some(at(5)));
    Ok(())
}
