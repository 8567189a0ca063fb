//! The requests that a poll takes, and how many of them an interval holds.

use jiff::SignedDuration;
use pathline_testkit::doubles::Reply;
use pathline_testkit::doubles::registry::{Auth, Behaviour};

use super::*;

const HEAD: &str = "HEAD /v2/shop/web/manifests/latest";

/// Looks until there is nothing new, and forgets what that took.
async fn settle(world: &mut World) {
    world.poll().await;
    world.poll().await;
    world.asked();
}

#[tokio::test]
async fn p01_poll_of_a_fixed_label_without_news_is_two_requests_and_writes_nothing() {
    let mut world = World::new().await;
    world.registry.push("shop/web", "latest", &[]);
    world.commit("latest");
    world.follow(&["shop.web"]).await;
    settle(&mut world).await;
    let trackers = world.ledger.trackers();
    let before = (
        trackers.newest_change().await.unwrap(),
        trackers.all_active().await.unwrap(),
    );
    for _ in 0..100 {
        world.poll().await;
        assert_eq!(world.asked(), (vec![HEAD.to_owned()], 1));
    }
    let trackers = world.ledger.trackers();
    let after = (
        trackers.newest_change().await.unwrap(),
        trackers.all_active().await.unwrap(),
    );
    assert_eq!(after, before);
}

#[tokio::test]
async fn p01_poll_of_a_range_without_news_is_the_pages_and_two_requests() {
    let mut world = World::with(Behaviour {
        page: Some(1),
        ..Behaviour::default()
    })
    .await;
    for tag in ["1.0.0", "1.1.0", "1.2.0"] {
        world.registry.push("shop/web", tag, &[]);
    }
    world.commit("1.x");
    world.follow(&["shop.web"]).await;
    settle(&mut world).await;
    let before = world.ledger.trackers().newest_change().await.unwrap();
    world.poll().await;
    let list = "GET /v2/shop/web/tags/list".to_owned();
    let head = "HEAD /v2/shop/web/manifests/1.2.0".to_owned();
    assert_eq!(
        world.asked(),
        (vec![list.clone(), list.clone(), list, head], 1)
    );
    let after = world.ledger.trackers().newest_change().await.unwrap();
    assert_eq!(after, before);
}

#[tokio::test]
async fn p12_trackers_of_one_file_and_one_label_count_as_two_requests() {
    let mut world = World::new().await;
    world.registry.push("shop/web", "latest", &[]);
    world.commit("latest");
    let names: Vec<String> = (0..57).map(|it| format!("shop.web{it}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    world.follow(&names).await;
    settle(&mut world).await;
    world.poll().await;
    assert_eq!(world.asked(), (vec![HEAD.to_owned()], 1));
    for host in [
        world.registry.host(),
        world.github.server.address.to_string(),
    ] {
        assert_eq!(world.followed.requests(&host), 1, "{host}");
    }
}

#[tokio::test]
async fn interval_is_stretched_by_all_requests_of_a_poll_without_news() {
    let mut world = World::with(Behaviour {
        page: Some(1),
        auth: Auth::Bearer(None),
        expires_in: Some(60),
        ..Behaviour::default()
    })
    .await;
    for minor in 0..5 {
        world
            .registry
            .push("shop/web", &format!("1.{minor}.0"), &[]);
    }
    world.commit("1.x");
    // Of a budget of a thousand a second, so many milliseconds are so many requests.
    let mut settings = (*world.tracking.settings).clone();
    settings.interval = SignedDuration::from_millis(1);
    settings.registries[0].budget.per_second = 1000;
    world.tracking.settings = Arc::new(settings);
    world.follow(&["shop.web"]).await;
    world.restart().await;
    settle(&mut world).await;
    let uid = world.tracker().stored.uid.clone();
    let host = world.registry.host();
    // Five pages and the image.
    assert_eq!(world.followed.requests(&host), 6);
    world.pass(SignedDuration::from_secs(61));
    world.poll().await;
    assert_eq!(world.count(), 9, "the token is over: it takes two more");
    assert_eq!(world.followed.requests(&host), 8);
    assert_eq!(
        world.followed.interval([&uid]),
        SignedDuration::from_millis(8)
    );
}

#[tokio::test]
async fn p08_registry_that_wants_to_be_left_alone_is_asked_again_when_it_said() {
    let mut world = World::new().await;
    world.registry.push("shop/web", "latest", &[]);
    world.commit("latest");
    world.follow(&["shop.web"]).await;
    settle(&mut world).await;
    let reply = Reply::new(429).header("retry-after", "600");
    world.registry.server.reply_next(reply);
    let until = world.clock.now() + SignedDuration::from_secs(600);
    let held = world.poll().await;
    let [
        Ending::Failed {
            not_before: Some(not_before),
            ..
        },
    ] = held[..]
    else {
        panic!("it was not held: {held:?}");
    };
    assert!(not_before >= until);
    assert_eq!(world.asked().0, [HEAD]);
    for _ in 0..10 {
        let ending = world.poll().await;
        assert_eq!(ending, [Ending::Again(not_before)], "nothing has failed");
        assert_eq!(
            world.asked(),
            (Vec::new(), 1),
            "not even if somebody wants it"
        );
    }
    let told = world.tracker().last_failure.clone().unwrap();
    assert!(told.contains(&world.registry.host()), "{told}");
    assert!(told.contains(&not_before.to_string()), "{told}");
    world.clock.set(not_before);
    world.poll().await;
    assert_eq!(world.asked().0, [HEAD]);
    assert_eq!(world.tracker().last_failure, None);
}

#[tokio::test]
async fn file_that_is_not_valid_is_read_once_and_stays_explained() {
    let mut world = World::new().await;
    world.commit("not a version at all");
    world.follow(&["shop.web"]).await;
    world.poll().await;
    let told = world.tracker().last_failure.clone();
    assert!(
        told.as_ref()
            .is_some_and(|it| it.contains("fathomable.yaml")),
        "{told:?}"
    );
    world.asked();
    for _ in 0..3 {
        world.poll().await;
        assert_eq!(world.asked(), (Vec::new(), 1), "the commit alone");
        assert_eq!(world.tracker().last_failure, told);
    }
}
