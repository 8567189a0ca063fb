//! Changes of trackers and releases, for those who follow them.

use std::time::Duration;

use pathline_ledger::releases::{Formed, Moved, What};
use pathline_ledger::trackers::WhatHappened;
use pathline_ledger::{Error, Topic};
use pathline_release::Cause;
use pathline_release::queue::EntryState;
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
    let changes = ledger.releases().changes(0, 100).await?;
    assert!(changes.iter().all(|it| it.subject == formed.id));
    let times: Vec<_> = changes.iter().map(|it| it.time).collect();
    assert_eq!(times, [at(10), at(10), at(20)]);
    let what: Vec<_> = changes.into_iter().map(|it| it.what).collect();
    let moved = |from, to, by: Option<&str>| {
        What::Moved(Moved {
            tracker: tracker.name.clone(),
            tracker_uid: tracker.uid.clone(),
            number: 1,
            environment: "dev".to_owned(),
            from,
            to,
            by: by.map(str::to_owned),
            reason: None,
        })
    };
    let expected = [
        What::Formed(Formed {
            tracker: tracker.name.clone(),
            tracker_uid: tracker.uid.clone(),
            number: 1,
            cause: Cause::Initial,
            repository: formed.release.image.repository.clone(),
            tag: "main".to_owned(),
            digest: "sha256:1".to_owned(),
            by: None,
            reason: None,
        }),
        moved(None, EntryState::Queued, None),
        moved(Some(EntryState::Queued), EntryState::Cancelled, Some("ops")),
    ];
    assert_eq!(what, expected);

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
    let [queued] = &there.releases().changes(newest - 1, 10).await?[..] else {
        panic!("it can be read");
    };
    assert_eq!(queued.sequence, newest);
    timeout(limit, trackers.wait_for(|it| *it > newest)).await??;
    Ok(())
}
