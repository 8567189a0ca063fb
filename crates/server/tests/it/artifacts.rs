use axum::http::StatusCode;
use pathline_client::api::{Artifact, ArtifactEntry, Contains};
use pathline_ledger::Permissions;
use pathline_lineage::Evidence;

use crate::story;
use crate::world::World;

#[tokio::test]
async fn artifact_says_what_it_is_made_of_and_what_uses_it() {
    let world = World::without_cluster().await;
    let token = world.token("reader", Permissions::READ).await;
    story::record(&world.ledger, "uid-1").await;

    let answer = world
        .get(&format!("/artifacts/{}", story::image().id()), &token)
        .await;

    assert_eq!(answer.status, StatusCode::OK, "{answer:?}");
    let image: ArtifactEntry = serde_json::from_value(answer.body).unwrap();
    assert_eq!(image.artifact, Artifact::from(&story::image()));
    assert!(image.used.is_empty() && !image.cut);
    let made = &image.made[0];
    assert_eq!(
        (made.resource.as_str(), made.current),
        ("image-builder", true)
    );
    assert_eq!(made.template.name, "ClusterTemplate/image-builder");
    assert_eq!(made.owner.name, "web");
    let from = made.from.iter();
    let from: Vec<_> = from
        .map(|it| (it.origin.as_str(), it.artifact.value.as_str()))
        .collect();
    assert_eq!(
        from,
        [
            ("owner param:debug", "on"),
            ("resource source-cloner", "def567")
        ]
    );
    assert!(
        made.from
            .iter()
            .all(|it| it.evidence == Evidence::Generation)
    );

    let answer = world
        .get(&format!("/artifacts/{}", story::source().id()), &token)
        .await;

    let source: ArtifactEntry = serde_json::from_value(answer.body).unwrap();
    assert_eq!(source.used.len(), 1);
    assert_eq!(source.used[0].output, Some(Artifact::from(&story::image())));
    assert_eq!(source.used[0].origin, "resource source-cloner");
}

#[tokio::test]
async fn contains_finds_the_source_and_everything_made_of_it() {
    let world = World::without_cluster().await;
    let token = world.token("reader", Permissions::READ).await;
    story::record(&world.ledger, "uid-1").await;

    let answer = world.get("/artifacts?contains=source:def567", &token).await;

    assert_eq!(answer.status, StatusCode::OK, "{answer:?}");
    let contains: Contains = serde_json::from_value(answer.body).unwrap();
    assert_eq!(contains.found, [Artifact::from(&story::source())]);
    let built = contains
        .carriers
        .iter()
        .find(|it| it.resource == "image-builder");
    let built = built.expect("the image contains the source");
    assert_eq!(built.artifact, Some(Artifact::from(&story::image())));
    assert!(built.proven && built.current && built.until.is_none());
}

#[tokio::test]
async fn carriers_come_in_pages_that_go_on_where_the_last_one_ended() {
    let world = World::without_cluster().await;
    let token = world.token("reader", Permissions::READ).await;
    for number in 0..5 {
        story::record(&world.ledger, &format!("uid-{number}")).await;
    }
    let whole = world.get("/artifacts?contains=source:def567", &token).await;
    let whole: Contains = serde_json::from_value(whole.body).unwrap();
    assert!(whole.carriers.len() >= 5 && whole.next.is_none());

    let mut carriers = Vec::new();
    let mut after = String::new();
    loop {
        let path = format!("/artifacts?contains=source:def567&limit=2{after}");
        let page: Contains = serde_json::from_value(world.get(&path, &token).await.body).unwrap();
        assert!(page.carriers.len() <= 2);
        carriers.extend(page.carriers);
        let Some(next) = page.next else { break };
        after = format!("&continue={next}");
    }

    assert_eq!(carriers, whole.carriers);
}

#[tokio::test]
async fn what_nobody_has_seen_is_found_nowhere() {
    let world = World::without_cluster().await;
    let token = world.token("reader", Permissions::READ).await;
    let id = "0".repeat(64);
    let answer = world.get(&format!("/artifacts/{id}"), &token).await;
    assert_eq!(
        (answer.status, answer.code()),
        (StatusCode::NOT_FOUND, "not-found")
    );
    let answer = world.get("/artifacts?contains=image:nothing", &token).await;
    assert_eq!(answer.status, StatusCode::OK);
    assert_eq!(
        answer.body,
        serde_json::json!({"found": [], "carriers": []})
    );
}
