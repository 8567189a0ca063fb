//! A key that is lost: what it sealed is forgotten, and nothing else is.

use pathline_ledger::trackers::{NewConfiguration, SealedSecrets};

use super::{SECRET, Seen, TOKEN, create, mk_key, mk_name, mk_replacement, open, replace, stored};
use crate::home::Home;
use crate::story::at;

on_both!(
    what_the_key_sealed_is_forgotten_and_all_else_stays,
    token_is_given_again_or_taken_away,
    secrets_of_a_file_are_kept_again_once_it_was_read,
    forgetting_nothing_is_done,
);

fn secret() -> Seen {
    Seen {
        has_secret: true,
        ..Seen::new("one", "sha256:1")
    }
}

async fn what_the_key_sealed_is_forgotten_and_all_else_stays(home: &Home) -> anyhow::Result<()> {
    let ledger = open(home).await?;
    for name in ["shop.web", "shop.db"] {
        create(&ledger, name).await?;
        secret().apply(&ledger, name).await?;
    }
    let before = stored(&ledger, "shop.web").await?;
    let expected = SealedSecrets {
        tokens: vec!["shop.db".to_owned(), "shop.web".to_owned()],
        configurations: 2,
    };
    // Nobody has the key.
    let ledger = home.open().await?;
    assert_eq!(ledger.trackers().sealed_secrets().await?, expected);
    assert_eq!(ledger.trackers().forget_secrets(at(50)).await?, expected);
    assert_eq!(
        ledger.trackers().sealed_secrets().await?,
        SealedSecrets::default()
    );
    let after = stored(&ledger, "shop.web").await?;
    assert!(!after.has_token && after.has_lost_token);
    assert_eq!(
        after.edition.token_version,
        before.edition.token_version + 1
    );
    assert_eq!(
        (&after.state, &after.name, after.known_source),
        (&before.state, &before.name, None),
        "the file is read again"
    );
    assert_eq!(ledger.trackers().token(&after.uid).await?, None);
    let hash = &after.state.source().unwrap().config_hash;
    let kept = ledger.releases().configuration(&after.uid, hash).await?;
    let kept = kept.expect("it is there");
    assert!(kept.has_lost_secrets && kept.secrets.is_empty());
    assert!(ledger.releases().numbered(&after.uid, 1).await?.is_some());
    // Any key will do from now on, and then that one.
    let given = home.open().await?.with_seal_key(mk_key(7)).await?;
    create(&given, "shop.api").await?;
    assert!(home.open().await?.with_seal_key(mk_key(8)).await.is_err());
    assert_eq!(given.reseal(&mk_key(7), &mk_key(8)).await?, 1);
    Ok(())
}

async fn token_is_given_again_or_taken_away(home: &Home) -> anyhow::Result<()> {
    let ledger = open(home).await?;
    for name in ["shop.web", "shop.db"] {
        create(&ledger, name).await?;
    }
    ledger.trackers().forget_secrets(at(50)).await?;
    let ledger = home.open().await?.with_seal_key(mk_key(7)).await?;
    for (name, token) in [("shop.web", TOKEN), ("shop.db", "")] {
        let source = stored(&ledger, name).await?.source;
        let mut replacement = mk_replacement("shop/web", "deploy", Some(token));
        replacement.source = source;
        replace(&ledger, name, replacement).await?;
        let after = stored(&ledger, name).await?;
        assert_eq!(
            (after.has_token, after.has_lost_token),
            (!token.is_empty(), false)
        );
    }
    let uid = stored(&ledger, "shop.web").await?.uid;
    let token = ledger.trackers().token(&uid).await?;
    assert_eq!(token.as_ref().map(|it| it.reveal()), Some(TOKEN));
    Ok(())
}

async fn secrets_of_a_file_are_kept_again_once_it_was_read(home: &Home) -> anyhow::Result<()> {
    let ledger = open(home).await?;
    let tracker = create(&ledger, "shop.web").await?;
    secret().apply(&ledger, "shop.web").await?;
    ledger.trackers().forget_secrets(at(50)).await?;
    let ledger = home.open().await?.with_seal_key(mk_key(7)).await?;
    let application = secret().application(&mk_name("shop.web"));
    let configuration = || NewConfiguration::from(&application);
    let (uid, hash) = (&tracker.uid, application.config_hash());
    // Once more changes nothing.
    for _ in 0..2 {
        let trackers = ledger.trackers();
        trackers.restore_secrets(uid, configuration()).await?;
        let kept = ledger.releases().configuration(uid, hash).await?;
        let kept = kept.expect("it is there");
        assert!(!kept.has_lost_secrets && kept.whole().to_string().contains(SECRET));
    }
    let other = Seen::new("two", "sha256:1").application(&mk_name("shop.web"));
    let other = NewConfiguration::from(&other);
    let hash = other.config_hash.clone();
    ledger.trackers().restore_secrets(uid, other).await?;
    let kept = ledger.releases().configuration(uid, &hash).await?;
    assert!(kept.is_none(), "what was not there is not made");
    Ok(())
}

async fn forgetting_nothing_is_done(home: &Home) -> anyhow::Result<()> {
    let ledger = home.open().await?;
    for _ in 0..2 {
        let forgotten = ledger.trackers().forget_secrets(at(50)).await?;
        assert_eq!(forgotten, SealedSecrets::default());
    }
    Ok(())
}
