//! Descriptions of images, which releases do not wait for.

use pathline_ledger::releases::StoredRelease;

use super::*;

const REVISION: &str = "org.opencontainers.image.revision";
const SOURCE: &str = "org.opencontainers.image.source";

/// Returns a world in which an image is there whose configuration cannot be had.
async fn broken(labels: &[(&str, &str)]) -> World {
    let mut world = World::with(Behaviour {
        breaks_blobs: true,
        ..Behaviour::default()
    })
    .await;
    world.registry.push("shop/web", "latest", labels);
    world.commit("latest");
    world.follow(&["shop.web"]).await;
    world
}

async fn release(world: &World) -> StoredRelease {
    let uid = &world.tracker().stored.uid;
    let found = world.ledger.releases().numbered(uid, 1).await.unwrap();
    found.expect("it is formed")
}

/// Returns the number of configurations of images that were asked for.
fn blobs(world: &World) -> usize {
    let (registry, _) = world.asked();
    registry.iter().filter(|it| it.contains("/blobs/")).count()
}

#[tokio::test]
async fn release_is_formed_at_once_and_described_when_that_works_also_after_a_restart() {
    let mut world = broken(&[(REVISION, "c0ffee"), (SOURCE, "https://git.example/shop")]).await;
    let endings = world.poll().await;
    assert!(
        matches!(endings[..], [Ending::Succeeded { .. }]),
        "{endings:?}"
    );
    let formed = release(&world).await;
    assert_eq!(
        (&formed.image_revision, &formed.image_source),
        (&None, &None)
    );
    let told = world.tracker().last_failure.clone().unwrap_or_default();
    assert!(
        told.contains("500") && told.contains(&world.registry.host()),
        "{told}"
    );

    world.restart().await;
    world.registry.change(|it| it.breaks_blobs = false);
    world.poll().await;
    let described = release(&world).await;
    assert_eq!(described.image_revision.as_deref(), Some("c0ffee"));
    assert_eq!(
        described.image_source.as_deref(),
        Some("https://git.example/shop")
    );
    let expected = StoredRelease {
        image_revision: described.image_revision.clone(),
        image_source: described.image_source.clone(),
        ..formed
    };
    assert_eq!(described, expected, "all else is as it was formed");
    assert_eq!(world.tracker().last_failure, None);
    world.asked();
    world.poll().await;
    assert_eq!(world.count(), 2, "it is not asked again");
}

#[tokio::test]
async fn description_that_fails_is_tried_less_and_less_often() {
    let mut world = broken(&[]).await;
    world.poll_so(false).await;
    assert_eq!(blobs(&world), 1);
    let mut tries = 0;
    for _ in 0..360 {
        world.pass(SignedDuration::from_secs(9));
        world.poll_so(false).await;
        tries += blobs(&world);
    }
    assert!((6..=10).contains(&tries), "{tries} in an hour");
    world.poll_so(true).await;
    assert_eq!(blobs(&world), 1, "whoever wants it gets it tried");
}

#[tokio::test]
async fn image_of_many_trackers_is_described_once() {
    let mut world = World::new().await;
    world
        .registry
        .push("shop/web", "latest", &[(REVISION, "c0ffee")]);
    world.commit("latest");
    let names: Vec<String> = (0..30).map(|it| format!("shop.web{it}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    world.follow(&names).await;
    world.poll().await;
    let (asked, _) = world.asked();
    let count = |part: &str| asked.iter().filter(|it| it.contains(part)).count();
    assert_eq!(count("GET /v2/shop/web/manifests/"), 1, "{asked:?}");
    assert_eq!(count("/blobs/"), 1, "{asked:?}");
    for tracker in world.followed.all() {
        let uid = &tracker.stored.uid;
        let found = world.ledger.releases().numbered(uid, 1).await.unwrap();
        let revision = found.and_then(|it| it.image_revision);
        assert_eq!(revision.as_deref(), Some("c0ffee"));
    }
    // Another image is asked for, and this one still is not.
    world
        .registry
        .push("shop/web", "latest", &[(REVISION, "beef")]);
    world.poll().await;
    assert_eq!(blobs(&world), 1);
}

#[tokio::test]
async fn failed_description_is_shared_by_nobody_who_comes_later() {
    let mut world = broken(&[(REVISION, "c0ffee")]).await;
    world.poll().await;
    assert_eq!(blobs(&world), 1);
    world.registry.change(|it| it.breaks_blobs = false);
    world.poll().await;
    assert_eq!(blobs(&world), 1, "it is asked again");
    let revision = release(&world).await.image_revision;
    assert_eq!(revision.as_deref(), Some("c0ffee"));
}

#[tokio::test]
async fn image_that_says_nothing_is_asked_once() {
    let mut world = broken(&[]).await;
    world.registry.change(|it| it.breaks_blobs = false);
    world.poll().await;
    assert_eq!(blobs(&world), 1);
    assert!(!world.tracker().stored.is_undescribed);
    world.restart().await;
    for _ in 0..3 {
        world.poll().await;
        assert_eq!(world.count(), 2);
    }
    assert_eq!(release(&world).await.image_revision, None);
}
