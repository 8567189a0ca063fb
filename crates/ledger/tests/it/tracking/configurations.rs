//! Configurations that are kept, with their secrets apart.

use pathline_ledger::Error;
use pathline_ledger::trackers::ApplyOutcome;
use serde_json::json;

use super::{SECRET, Seen, create, mk_key, mk_name, mk_new, open, stored};
use crate::home::Home;
use crate::story::at;

on_both!(
    configuration_is_whole_with_its_secrets,
    configuration_with_secrets_needs_a_key,
    configuration_that_was_never_released_is_forgotten,
    secret_of_another_row_is_not_opened,
);

fn with_secret(setting: &'static str, digest: &str) -> Seen {
    Seen {
        has_secret: true,
        ..Seen::new(setting, digest)
    }
}

async fn configuration_is_whole_with_its_secrets(home: &Home) -> anyhow::Result<()> {
    let ledger = open(home).await?;
    let tracker = create(&ledger, "shop.web").await?;
    let mut hashes = Vec::new();
    for seen in [Seen::new("one", "sha256:1"), with_secret("two", "sha256:2")] {
        let formed = seen
            .apply(&ledger, "shop.web")
            .await?
            .expect("it was formed");
        hashes.push(formed.release.configuration.config_hash);
    }
    let other = open(home).await?;
    let plain = other
        .releases()
        .configuration(&tracker.uid, &hashes[0])
        .await?;
    let plain = plain.expect("it is kept");
    assert!(plain.secrets.is_empty());
    assert_eq!(plain.whole(), plain.document);
    let with = other
        .releases()
        .configuration(&tracker.uid, &hashes[1])
        .await?;
    let with = with.expect("it is kept");
    assert!(!with.document.to_string().contains(SECRET));
    let file = "/application/environment/file/secret/key/data/0";
    assert_eq!(with.document.pointer(file), Some(&json!({"name": "a"})));
    let whole = with.whole();
    assert_eq!(
        whole.pointer(file),
        Some(&json!({"name": "a", "value": SECRET}))
    );
    let setting = "/application/environment/variable/SETTING";
    assert_eq!(whole.pointer(setting), Some(&json!("two")));
    assert_eq!(
        other.releases().configuration(&tracker.uid, "none").await?,
        None
    );
    assert_eq!(
        other.releases().configuration("nobody", &hashes[0]).await?,
        None
    );
    Ok(())
}

async fn configuration_with_secrets_needs_a_key(home: &Home) -> anyhow::Result<()> {
    let ledger = home.open().await?;
    let settle = jiff::SignedDuration::ZERO;
    let new = mk_new("shop.web", "");
    ledger.trackers().create(new, settle, "ci", at(1)).await?;
    let before = stored(&ledger, "shop.web").await?;
    let result = with_secret("one", "sha256:1").result(&before);
    let refused = ledger.trackers().apply(result.clone()).await;
    assert!(
        matches!(refused, Err(Error::NoSealKey { .. })),
        "{refused:?}"
    );
    assert_eq!(stored(&ledger, "shop.web").await?, before);
    let hash = result.configuration.as_ref().unwrap().config_hash.clone();
    let with_key = ledger.clone().with_seal_key(mk_key(1)).await?;
    let applied = with_key.trackers().apply(result).await?;
    assert!(matches!(applied, ApplyOutcome::Applied { .. }));
    let unopened = ledger.releases().configuration(&before.uid, &hash).await;
    assert!(
        matches!(unopened, Err(Error::NoSealKey { .. })),
        "{unopened:?}"
    );
    Ok(())
}

async fn configuration_that_was_never_released_is_forgotten(home: &Home) -> anyhow::Result<()> {
    let ledger = open(home).await?;
    create(&ledger, "shop.web").await?;
    let released = Seen::new("one", "sha256:1")
        .apply(&ledger, "shop.web")
        .await?;
    let released = released
        .expect("it was formed")
        .release
        .configuration
        .config_hash;
    // The image stays, so each of these waits until the next one takes its place.
    for setting in ["two", "three", "four"] {
        let seen = with_secret(setting, "sha256:1");
        assert_eq!(seen.apply(&ledger, "shop.web").await?, None);
        assert_eq!(home.count("configuration").await, 2, "{setting}");
    }
    let formed = with_secret("four", "sha256:2")
        .apply(&ledger, "shop.web")
        .await?;
    let formed = formed.expect("its image is there").release;
    let tracker = stored(&ledger, "shop.web").await?;
    for hash in [&released, &formed.configuration.config_hash] {
        let kept = ledger.releases().configuration(&tracker.uid, hash).await?;
        assert!(kept.is_some(), "{hash}");
    }
    assert_eq!(home.count("configuration").await, 2);
    Ok(())
}

async fn secret_of_another_row_is_not_opened(home: &Home) -> anyhow::Result<()> {
    let ledger = open(home).await?;
    let mut hashes = Vec::new();
    for name in ["shop.web", "shop.db"] {
        create(&ledger, name).await?;
        let formed = with_secret("one", "sha256:1").apply(&ledger, name).await?;
        hashes.push(formed.expect("it was formed"));
    }
    let (web, db) = (&hashes[0], &hashes[1]);
    home.run(&format!(
        "update configuration set secrets = (select secrets from configuration \
         where tracker_uid = '{}') where tracker_uid = '{}'",
        web.tracker_uid, db.tracker_uid
    ))
    .await;
    home.run(&format!(
        "update tracker set token = (select token from tracker where uid = '{}') where uid = '{}'",
        web.tracker_uid, db.tracker_uid
    ))
    .await;
    let hash = &db.release.configuration.config_hash;
    let moved = ledger.releases().configuration(&db.tracker_uid, hash).await;
    assert!(
        matches!(moved, Err(Error::WrongSealKey { .. })),
        "{moved:?}"
    );
    let moved = ledger.trackers().token(&db.tracker_uid).await;
    assert!(
        matches!(moved, Err(Error::WrongSealKey { .. })),
        "{moved:?}"
    );
    // A token of an earlier version is no longer of use, either.
    home.run("update tracker set token_version = token_version + 1")
        .await;
    let uid = ledger
        .trackers()
        .get(&mk_name("shop.web"))
        .await?
        .unwrap()
        .uid;
    let earlier = ledger.trackers().token(&uid).await;
    assert!(
        matches!(earlier, Err(Error::WrongSealKey { .. })),
        "{earlier:?}"
    );
    Ok(())
}
