//! Rotation of the key.

use pathline_ledger::{Error, Ledger};

use super::{SECRET, Seen, TOKEN, create, mk_key, open};
use crate::home::Home;

on_both!(
    everything_is_sealed_with_the_new_key,
    wrong_keys_change_nothing,
    one_secret_that_cannot_be_opened_keeps_all_as_they_are,
    handles_with_the_old_key_refuse,
    rotation_of_nothing_is_done,
);

/// Makes trackers, each with a token and a release of a configuration with a secret.
async fn fill(ledger: &Ledger) -> anyhow::Result<()> {
    for name in ["shop.web", "shop.db", "shop.api"] {
        create(ledger, name).await?;
        let seen = Seen {
            has_secret: true,
            ..Seen::new("one", "sha256:1")
        };
        seen.apply(ledger, name).await?;
    }
    Ok(())
}

/// Checks that everything can be opened.
async fn check(ledger: &Ledger) -> anyhow::Result<()> {
    let trackers = ledger.trackers().all_active().await?;
    assert_eq!(trackers.len(), 3);
    for tracker in trackers {
        let token = ledger.trackers().token(&tracker.uid).await?;
        assert_eq!(token.as_ref().map(|it| it.reveal()), Some(TOKEN));
        let hash = &tracker.state.source().unwrap().config_hash;
        let found = ledger.releases().configuration(&tracker.uid, hash).await?;
        assert!(found.unwrap().whole().to_string().contains(SECRET));
    }
    Ok(())
}

async fn everything_is_sealed_with_the_new_key(home: &Home) -> anyhow::Result<()> {
    let ledger = open(home).await?;
    fill(&ledger).await?;
    let (old, new) = (mk_key(1), mk_key(2));
    assert_eq!(ledger.reseal(&old, &new).await?, 6);
    // The answer was lost, and somebody asks again.
    assert_eq!(ledger.reseal(&old, &new).await?, 6);
    let opened = home.open().await?.with_seal_key(new.clone()).await?;
    check(&opened).await?;
    assert!(home.open().await?.with_seal_key(old).await.is_err());
    opened.reseal(&new, &mk_key(3)).await?;
    check(&home.open().await?.with_seal_key(mk_key(3)).await?).await
}

async fn wrong_keys_change_nothing(home: &Home) -> anyhow::Result<()> {
    let ledger = open(home).await?;
    fill(&ledger).await?;
    let refused = ledger.reseal(&mk_key(8), &mk_key(9)).await;
    assert!(
        matches!(refused, Err(Error::WrongSealKey { .. })),
        "{refused:?}"
    );
    check(&ledger).await
}

/// As if somebody had ended the process in the middle: all of it happens, or nothing does.
async fn one_secret_that_cannot_be_opened_keeps_all_as_they_are(home: &Home) -> anyhow::Result<()> {
    let ledger = open(home).await?;
    fill(&ledger).await?;
    let sealed = home.run("select count(distinct token) from tracker").await;
    assert_eq!(sealed, Some(3));
    home.run("create table before as select tracker_uid, secrets from configuration")
        .await;
    let last = "(select max(tracker_uid) from configuration)";
    home.run(&format!(
        "update configuration set secrets = 'x1:' where tracker_uid = {last}"
    ))
    .await;
    let refused = ledger.reseal(&mk_key(1), &mk_key(2)).await;
    assert!(
        matches!(refused, Err(Error::WrongSealKey { .. })),
        "{refused:?}"
    );
    home.run(
        "update configuration set secrets = (select before.secrets from before \
         where before.tracker_uid = configuration.tracker_uid)",
    )
    .await;
    check(&ledger).await?;
    assert_eq!(ledger.reseal(&mk_key(1), &mk_key(2)).await?, 6);
    Ok(())
}

async fn handles_with_the_old_key_refuse(home: &Home) -> anyhow::Result<()> {
    let (ledger, other) = (open(home).await?, open(home).await?);
    fill(&ledger).await?;
    ledger.reseal(&mk_key(1), &mk_key(2)).await?;
    for ledger in [&ledger, &other] {
        let uid = &ledger.trackers().all_active().await?[0].uid;
        let token = ledger.trackers().token(uid).await;
        assert!(
            matches!(token, Err(Error::WrongSealKey { .. })),
            "{token:?}"
        );
        let made = create(ledger, "shop.new").await.unwrap_err();
        let made = made.downcast_ref::<Error>();
        assert!(matches!(made, Some(Error::WrongSealKey { .. })), "{made:?}");
    }
    let now = ledger.with_seal_key(mk_key(2)).await?;
    check(&now).await
}

async fn rotation_of_nothing_is_done(home: &Home) -> anyhow::Result<()> {
    let ledger = home.open().await?;
    assert_eq!(ledger.reseal(&mk_key(1), &mk_key(2)).await?, 0);
    create(&ledger.with_seal_key(mk_key(2)).await?, "shop.web").await?;
    assert!(home.open().await?.with_seal_key(mk_key(1)).await.is_err());
    Ok(())
}
