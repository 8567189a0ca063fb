//! Changes of trackers and releases, for those who follow them.

use std::time::Duration;

use pathline_ledger::trackers::WhatHappened;
use pathline_ledger::{Error, Topic};
use tokio::time::timeout;

use super::{SECRET, Seen, TOKEN, create, mk_name, mk_replacement, open, replace};
use crate::home::Home;
use crate::story::at;

on_both!(
    changes_say_what_happened_and_who_did_it,
    others_are_notified,
);

async fn changes_say_what_happened_and_who_did_it(home: &Home) -> anyhow::Result<()> {
    let ledger = open(home).await?;
    let tracker = create(&ledger, "Shop.web").await?;
    let seen = Seen {
        has_secret: true,
        ..Seen::new("one", "sha256:1")
    };
    let formed = seen
        .apply(&ledger, "Shop.web")
        .await?
        .expect("it was formed");
    replace(
        &ledger,
        "Shop.web",
        mk_replacement("acme/other", "deploy", Some("other")),
    )
    .await?;
    let name = mk_name("shop.web");
    ledger.trackers().delete(&name, None, "ops", at(20)).await?;

    let changes = ledger.trackers().changes(0, 100).await?;
    assert!(
        changes
            .iter()
            .all(|it| it.uid == tracker.uid && it.name == tracker.name)
    );
    let times: Vec<_> = changes.iter().map(|it| it.time).collect();
    assert_eq!(times, [at(1), at(10), at(5), at(20)]);
    let (last, what) = (changes[3].sequence, changes.into_iter().map(|it| it.what));
    let expected = [
        WhatHappened::Created {
            by: "ci".to_owned(),
        },
        WhatHappened::Observed { release: Some(1) },
        WhatHappened::Replaced {
            by: "ops".to_owned(),
            has_new_source: true,
            has_new_token: true,
        },
        WhatHappened::Deleted {
            by: "ops".to_owned(),
        },
    ];
    assert_eq!(what.collect::<Vec<_>>(), expected);
    let [change] = &ledger.releases().changes(0, 100).await?[..] else {
        panic!("there is one release");
    };
    assert_eq!((&change.id, change.time), (&formed.id, at(10)));
    assert_eq!(change.formed.tracker, tracker.name);
    assert_eq!(change.formed.tracker_uid, tracker.uid);
    assert_eq!(change.formed.number, 1);
    assert_eq!(change.formed.repository, formed.release.image.repository);
    assert_eq!(change.formed.digest, "sha256:1");

    assert_eq!(ledger.trackers().changes(last, 100).await?, []);
    assert_eq!(ledger.trackers().changes(last - 1, 100).await?.len(), 1);
    let ahead = ledger.trackers().changes(last + 1, 100).await;
    assert!(matches!(ahead, Err(Error::Ahead { .. })), "{ahead:?}");
    for secret in [TOKEN, SECRET, "other"] {
        let told = format!("change where what like '%{secret}%'");
        assert_eq!(home.count(&told).await, 0, "{secret}");
    }
    Ok(())
}

async fn others_are_notified(home: &Home) -> anyhow::Result<()> {
    let (here, there) = (open(home).await?, open(home).await?);
    let mut trackers = there.subscribe(Topic::Trackers);
    let mut releases = there.subscribe(Topic::Releases);
    create(&here, "shop.web").await?;
    Seen::new("one", "sha256:1")
        .apply(&here, "shop.web")
        .await?;
    let limit = Duration::from_secs(60);
    let newest = *timeout(limit, releases.wait_for(|it| *it > 0)).await??;
    let [formed] = &there.releases().changes(newest - 1, 10).await?[..] else {
        panic!("it can be read");
    };
    assert_eq!(formed.sequence, newest);
    timeout(limit, trackers.wait_for(|it| *it > newest)).await??;
    Ok(())
}
