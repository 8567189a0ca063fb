//! Descriptions of images, which are recorded after their releases.

use pathline_ledger::releases::{ImageDescription, Undescribed};

use super::{Seen, create, open, stored};
use crate::home::Home;

on_both!(
    release_waits_for_its_description_also_after_a_restart,
    description_is_recorded_once_and_changes_nothing_else,
    image_that_says_nothing_is_described,
);

fn says(revision: &str) -> ImageDescription {
    ImageDescription {
        revision: Some(revision.to_owned()),
        source: None,
    }
}

async fn release_waits_for_its_description_also_after_a_restart(home: &Home) -> anyhow::Result<()> {
    let ledger = open(home).await?;
    let tracker = create(&ledger, "shop.web").await?;
    assert!(!tracker.is_undescribed);
    let mut images = Vec::new();
    for digest in ["sha256:1", "sha256:2"] {
        let formed = Seen::new("one", digest).apply(&ledger, "shop.web").await?;
        images.push(formed.expect("it was formed").release.image);
    }
    drop(ledger);

    let ledger = open(home).await?;
    let releases = ledger.releases();
    assert!(stored(&ledger, "shop.web").await?.is_undescribed);
    let mut waiting = releases.undescribed(&tracker.uid, 10).await?;
    let [newest] = &releases.undescribed(&tracker.uid, 1).await?[..] else {
        panic!("one was wanted");
    };
    assert_eq!(newest.number, 2);
    waiting.reverse();
    let expected = [1, 2].into_iter().zip(images);
    let expected = expected.map(|(number, image)| Undescribed { number, image });
    assert_eq!(waiting, expected.collect::<Vec<_>>());
    for number in [1, 2] {
        assert!(stored(&ledger, "shop.web").await?.is_undescribed);
        releases.describe(&tracker.uid, number, says("a")).await?;
    }
    assert!(!stored(&ledger, "shop.web").await?.is_undescribed);
    assert_eq!(releases.undescribed(&tracker.uid, 10).await?, []);
    Ok(())
}

async fn description_is_recorded_once_and_changes_nothing_else(home: &Home) -> anyhow::Result<()> {
    let ledger = open(home).await?;
    let tracker = create(&ledger, "shop.web").await?;
    let seen = Seen::new("one", "sha256:1");
    let formed = seen.apply(&ledger, "shop.web").await?;
    let mut expected = formed.expect("it was formed");
    assert_eq!(
        (&expected.image_revision, &expected.image_source),
        (&None, &None)
    );
    let (before, releases) = (stored(&ledger, "shop.web").await?, ledger.releases());
    for revision in ["first", "second"] {
        releases.describe(&tracker.uid, 1, says(revision)).await?;
    }
    expected.image_revision = Some("first".to_owned());
    assert_eq!(releases.get(&expected.id).await?, Some(expected.clone()));
    let mut after = stored(&ledger, "shop.web").await?;
    after.is_undescribed = true;
    assert_eq!(after, before, "the tracker has not moved on");
    Ok(())
}

async fn image_that_says_nothing_is_described(home: &Home) -> anyhow::Result<()> {
    let ledger = open(home).await?;
    let tracker = create(&ledger, "shop.web").await?;
    Seen::new("one", "sha256:1")
        .apply(&ledger, "shop.web")
        .await?;
    let nothing = ImageDescription::default();
    ledger.releases().describe(&tracker.uid, 1, nothing).await?;
    assert!(!stored(&ledger, "shop.web").await?.is_undescribed);
    ledger
        .releases()
        .describe(&tracker.uid, 1, says("late"))
        .await?;
    let release = ledger.releases().numbered(&tracker.uid, 1).await?;
    assert_eq!(release.expect("it is there").image_revision, None);
    Ok(())
}
