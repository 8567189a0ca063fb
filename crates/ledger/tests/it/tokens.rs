//! Tokens, of which the ledger knows hashes only.

use pathline_ledger::{Error, Permissions, Token};

use crate::home::Home;
use crate::story::at;

on_both!(
    token_is_found_by_its_hash,
    names_are_never_used_again,
    revoked_token_stays_known,
    last_use_only_grows,
    permissions_that_are_not_known_give_nothing,
);

async fn token_is_found_by_its_hash(home: &Home) -> anyhow::Result<()> {
    let ledger = home.open().await?;
    let created = ledger
        .access()
        .create_token("ci", Permissions::WRITE, &[7; 32], Some(at(9)), at(1))
        .await?;
    let expected = Token {
        name: "ci".to_owned(),
        permissions: Permissions::WRITE,
        created: at(1),
        expires: Some(at(9)),
        last_used: None,
        revoked: None,
    };
    assert_eq!(created, expected);
    assert_eq!(
        ledger.access().token_by_hash(&[7; 32]).await?,
        Some(expected)
    );
    assert_eq!(ledger.access().token_by_hash(&[8; 32]).await?, None);
    Ok(())
}

async fn names_are_never_used_again(home: &Home) -> anyhow::Result<()> {
    let ledger = home.open().await?;
    ledger
        .access()
        .create_token("ci", Permissions::READ, &[1; 32], None, at(1))
        .await?;
    let again = ledger
        .access()
        .create_token("ci", Permissions::READ, &[2; 32], None, at(1))
        .await;
    assert!(matches!(again, Err(Error::NameTaken(name)) if name == "ci"));
    ledger.access().revoke_token("ci", at(2)).await?;
    let again = ledger
        .access()
        .create_token("ci", Permissions::READ, &[2; 32], None, at(3))
        .await;
    assert!(matches!(again, Err(Error::NameTaken(_))));
    let other = ledger
        .access()
        .create_token("other", Permissions::ADMIN, &[2; 32], None, at(3))
        .await;
    assert!(other.is_ok());
    Ok(())
}

async fn revoked_token_stays_known(home: &Home) -> anyhow::Result<()> {
    let ledger = home.open().await?;
    ledger
        .access()
        .create_token("ci", Permissions::READ, &[1; 32], None, at(1))
        .await?;
    ledger
        .access()
        .create_token("admin", Permissions::ADMIN, &[2; 32], None, at(1))
        .await?;
    assert_eq!(ledger.access().revoke_token("nobody", at(2)).await?, None);
    let revoked = ledger.access().revoke_token("ci", at(2)).await?.unwrap();
    assert_eq!(revoked.revoked, Some(at(2)));
    let again = ledger.access().revoke_token("ci", at(3)).await?.unwrap();
    assert_eq!(again.revoked, Some(at(2)), "the first time counts");
    assert_eq!(
        ledger.access().token_by_hash(&[1; 32]).await?,
        Some(revoked)
    );
    let names: Vec<_> = ledger
        .access()
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
        .access()
        .create_token("ci", Permissions::READ, &[1; 32], None, at(1))
        .await?;
    for seconds in [5, 3] {
        ledger.access().used_token("ci", at(seconds)).await?;
    }
    ledger.access().used_token("nobody", at(4)).await?;
    assert_eq!(ledger.access().tokens().await?[0].last_used, Some(at(5)));
    Ok(())
}

async fn permissions_that_are_not_known_give_nothing(home: &Home) -> anyhow::Result<()> {
    let ledger = home.open().await?;
    ledger
        .access()
        .create_token("ci", Permissions::WRITE, &[1; 32], None, at(1))
        .await?;
    let stored = [
        ("read,write", Permissions::WRITE),
        ("read,events:write", Permissions::READ),
        ("events:write", Permissions::NONE),
        ("admin", Permissions::NONE),
        ("read,admin", Permissions::READ),
        ("", Permissions::NONE),
    ];
    for (text, permissions) in stored {
        home.run(&format!("update token set permissions = '{text}'"))
            .await;
        let token = ledger.access().token_by_hash(&[1; 32]).await?.unwrap();
        assert_eq!(token.permissions, permissions, "{text}");
        ledger.access().used_token("ci", at(2)).await?;
        let kept = home
            .count(&format!("token where permissions = '{text}'"))
            .await;
        assert_eq!(kept, 1, "what is not known is left as it is");
    }
    Ok(())
}
