//! The key that secrets are sealed with.

use pathline_ledger::{Error, Ledger};

use super::{Seen, TOKEN, create, mk_key, mk_name, open};
use crate::home::Home;
use crate::story::at;

on_both!(
    wrong_key_is_noticed_at_the_start,
    any_key_will_do_while_nothing_is_sealed,
    key_that_was_adopted_meanwhile_is_noticed,
);

async fn with_key(home: &Home, byte: u8) -> anyhow::Result<Result<Ledger, Error>> {
    Ok(home.open().await?.with_seal_key(mk_key(byte)).await)
}

async fn wrong_key_is_noticed_at_the_start(home: &Home) -> anyhow::Result<()> {
    let ledger = open(home).await?;
    let tracker = create(&ledger, "shop.web").await?;
    let Err(error) = with_key(home, 2).await? else {
        panic!("it is another key");
    };
    assert!(matches!(error, Error::WrongSealKey { .. }), "{error:?}");
    let message = error.to_string();
    assert!(message.contains("sealed with another key"), "{message}");
    assert!(!error.is_temporary());
    let again = with_key(home, 1).await??;
    let token = again.trackers().token(&tracker.uid).await?;
    assert_eq!(token.as_ref().map(|it| it.reveal()), Some(TOKEN));
    // Secrets of configurations count as tokens do.
    let seen = Seen {
        has_secret: true,
        ..Seen::new("one", "sha256:1")
    };
    seen.apply(&ledger, "shop.web").await?;
    let name = mk_name("shop.web");
    ledger.trackers().delete(&name, None, "ops", at(5)).await?;
    assert!(with_key(home, 2).await?.is_err());
    Ok(())
}

async fn any_key_will_do_while_nothing_is_sealed(home: &Home) -> anyhow::Result<()> {
    let first = with_key(home, 1).await??;
    create(&first, "shop.web").await?;
    let name = mk_name("shop.web");
    first.trackers().delete(&name, None, "ops", at(2)).await?;
    for byte in [2, 3] {
        with_key(home, byte).await??;
    }
    assert_eq!(home.count("seal").await, 1);
    Ok(())
}

async fn key_that_was_adopted_meanwhile_is_noticed(home: &Home) -> anyhow::Result<()> {
    let one = with_key(home, 1).await??;
    let other = with_key(home, 2).await??;
    create(&other, "shop.web").await?;
    let refused = create(&one, "shop.db").await.unwrap_err();
    let refused = refused.downcast_ref::<Error>();
    assert!(
        matches!(refused, Some(Error::WrongSealKey { .. })),
        "{refused:?}"
    );
    assert_eq!(home.count("tracker").await, 1);
    Ok(())
}
