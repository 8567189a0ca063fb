//! Carriers of an artifact: everything that it went into.

use pathline_ledger::{Carrier, Error, Ledger, Page};
use pathline_lineage::{Artifact, Kind};
use serde_json::json;

use crate::home::Home;
use crate::story::{Story, given, image, made_by, source};

on_both!(
    source_is_followed_to_everything_made_of_it,
    images_and_params_are_followed_too,
    nothing_is_found_of_what_nobody_knows,
    what_is_only_guessed_is_not_proven,
    what_one_look_guesses_first_and_then_proves_is_proven,
    what_was_proven_and_is_doubted_is_not_proven_any_more,
    carriers_end_when_something_else_is_made,
    equal_content_of_another_source_is_not_claimed,
    content_that_is_made_anew_belongs_to_the_new_source,
    proof_is_kept_when_the_same_is_made_again_and_never_proven,
    what_an_owner_was_given_is_followed_from_the_one_that_made_it,
    every_way_of_a_diamond_counts_once,
    pages_join_without_gaps,
);

async fn carriers(ledger: &Ledger, kind: Kind, text: &str) -> anyhow::Result<Vec<Carrier>> {
    Ok(ledger
        .lineage()
        .contains(kind, text, &Page::default())
        .await?
        .items)
}

fn told(carriers: &[Carrier]) -> Vec<(&str, &str, bool, bool)> {
    let mut told: Vec<_> = carriers
        .iter()
        .map(|it| {
            (
                it.owner.name.as_str(),
                it.resource.as_str(),
                it.current,
                it.proven,
            )
        })
        .collect();
    told.sort_unstable();
    told
}

const COMMIT: &str = "8f1c2e7d00000000000000000000000000000000";

async fn source_is_followed_to_everything_made_of_it(home: &Home) -> anyhow::Result<()> {
    let ledger = home.open().await?;
    let revision = format!("main@sha1:{COMMIT}");
    for name in ["one", "two"] {
        let mut story = Story::of(name);
        let url = format!("https://git.example/{name}");
        let source = Artifact::source(&url, Some(&revision));
        story.deliver(&source, "on", &image('a'));
        story.record(&ledger).await?;
    }
    let expected = [
        ("one", "build", true, true),
        ("one", "deploy", true, true),
        ("one", "fetch", true, true),
        ("two", "build", true, true),
        ("two", "deploy", true, true),
        ("two", "fetch", true, true),
    ];
    for text in [revision.as_str(), COMMIT, "8f1c2e7", "8F1C2E7"] {
        let carriers = carriers(&ledger, Kind::Source, text).await?;
        assert_eq!(told(&carriers), expected, "{text}");
    }
    assert!(carriers(&ledger, Kind::Source, "8f1c2e").await?.is_empty());
    let found = ledger
        .lineage()
        .find_artifacts(Kind::Source, "8f1c2e7")
        .await?;
    assert_eq!(found.len(), 2, "{found:?}");
    Ok(())
}

async fn images_and_params_are_followed_too(home: &Home) -> anyhow::Result<()> {
    let ledger = home.open().await?;
    let mut story = Story::of("app");
    story.deliver(&source("def567"), "on", &image('a'));
    story.record(&ledger).await?;
    let expected = [("app", "build", true, true), ("app", "deploy", true, true)];
    let digest = format!("sha256:{}", "a".repeat(64));
    for text in [image('a').shown(), digest.as_str()] {
        let carriers = carriers(&ledger, Kind::Image, text).await?;
        assert_eq!(told(&carriers), expected, "{text}");
    }
    let params = carriers(&ledger, Kind::Param, "on").await?;
    assert_eq!(told(&params), expected);
    Ok(())
}

async fn nothing_is_found_of_what_nobody_knows(home: &Home) -> anyhow::Result<()> {
    let ledger = home.open().await?;
    for text in ["", "%", "def567", "\0", "'", &"f".repeat(100_000)] {
        for kind in [Kind::Source, Kind::Image, Kind::Config] {
            assert!(carriers(&ledger, kind, text).await?.is_empty());
            assert!(
                ledger
                    .lineage()
                    .find_artifacts(kind, text)
                    .await?
                    .is_empty()
            );
        }
    }
    Ok(())
}

async fn what_is_only_guessed_is_not_proven(home: &Home) -> anyhow::Result<()> {
    let ledger = home.open().await?;
    let mut story = Story::of("app");
    let (first, second) = (source("def567"), source("abc123"));
    story.make("fetch", &[given("source", &first)], Some(&first));
    story.make("build", &[made_by("fetch", &first)], Some(&image('a')));
    story.make("fetch", &[given("source", &second)], Some(&second));
    story.guess("build", &[made_by("fetch", &second)], Some(&image('b')));
    story.make("deploy", &[made_by("build", &image('b'))], None);
    story.record(&ledger).await?;
    let expected = [
        ("app", "build", true, false),
        ("app", "deploy", true, false),
        ("app", "fetch", true, true),
    ];
    let found = carriers(&ledger, Kind::Source, "abc123").await?;
    assert_eq!(told(&found), expected);
    story.prove("build", Some(&image('b')));
    story.record(&ledger).await?;
    let found = carriers(&ledger, Kind::Source, "abc123").await?;
    assert!(found.iter().all(|it| it.proven && it.current), "{found:?}");
    Ok(())
}

/// As after a change of a template: an object is seen before it is stamped anew, and after that.
async fn what_one_look_guesses_first_and_then_proves_is_proven(home: &Home) -> anyhow::Result<()> {
    let ledger = home.open().await?;
    let mut story = Story::of("app");
    let first = source("def567");
    story.make("fetch", &[given("source", &first)], Some(&first));
    story.guess("build", &[made_by("fetch", &first)], Some(&image('a')));
    story.prove("build", Some(&image('a')));
    let looked = story.now();
    for derivation in &mut story.derivations {
        derivation.time = looked;
    }
    for _ in 0..2 {
        story.repeat(&ledger).await?;
        let found = carriers(&ledger, Kind::Source, "def567").await?;
        assert!(found.iter().all(|it| it.proven && it.current), "{found:?}");
    }
    Ok(())
}

/// The ledger agrees with the lineage of the owner, which shows the same as only assumed.
async fn what_was_proven_and_is_doubted_is_not_proven_any_more(home: &Home) -> anyhow::Result<()> {
    let ledger = home.open().await?;
    let mut story = Story::of("app");
    story.deliver(&source("def567"), "on", &image('a'));
    story.record(&ledger).await?;
    story.meddle("build", Some(&image('a')));
    story.record(&ledger).await?;
    let expected = [
        ("app", "build", true, false),
        ("app", "deploy", true, false),
        ("app", "fetch", true, true),
    ];
    let found = carriers(&ledger, Kind::Source, "def567").await?;
    assert_eq!(told(&found), expected);
    Ok(())
}

async fn carriers_end_when_something_else_is_made(home: &Home) -> anyhow::Result<()> {
    let ledger = home.open().await?;
    let mut story = Story::of("app");
    story.deliver(&source("def567"), "on", &image('a'));
    story.record(&ledger).await?;
    let second = source("abc123");
    story.make("fetch", &[given("source", &second)], Some(&second));
    story.make("build", &[made_by("fetch", &second)], Some(&image('b')));
    story.record(&ledger).await?;
    let old = [
        ("app", "build", false, true),
        ("app", "deploy", true, true),
        ("app", "fetch", false, true),
    ];
    let found = carriers(&ledger, Kind::Source, "def567").await?;
    assert_eq!(told(&found), old);
    for carrier in &found {
        assert_eq!(carrier.until.is_none(), carrier.current);
        assert!(carrier.until.is_none_or(|until| until > carrier.since));
    }
    ledger.lineage().gone(&story.owner, story.now()).await?;
    let found = carriers(&ledger, Kind::Source, "def567").await?;
    assert!(found.len() == 3 && found.iter().all(|it| !it.current));
    Ok(())
}

/// Two workloads, of two sources, happen to make the same configuration.
async fn equal_content_of_another_source_is_not_claimed(home: &Home) -> anyhow::Result<()> {
    let ledger = home.open().await?;
    let config = Artifact::value(Kind::Config, &json!({"replicas": 1}));
    for (name, revision) in [("one", "def567"), ("two", "abc123")] {
        let mut story = Story::of(name);
        story.deliver(&source(revision), "on", &config);
        story.record(&ledger).await?;
    }
    let found = carriers(&ledger, Kind::Source, "def567").await?;
    assert!(found.len() == 3 && found.iter().all(|it| it.owner.name == "one"));
    let found = carriers(&ledger, Kind::Config, config.shown()).await?;
    assert_eq!(
        found.len(),
        4,
        "of the content itself both are made: {found:?}"
    );
    Ok(())
}

/// The second source builds exactly the image of the first.
async fn content_that_is_made_anew_belongs_to_the_new_source(home: &Home) -> anyhow::Result<()> {
    let ledger = home.open().await?;
    let mut story = Story::of("app");
    story.deliver(&source("def567"), "on", &image('a'));
    story.record(&ledger).await?;
    let second = source("abc123");
    story.make("fetch", &[given("source", &second)], Some(&second));
    story.make("build", &[made_by("fetch", &second)], Some(&image('a')));
    story.record(&ledger).await?;
    let found = carriers(&ledger, Kind::Source, "abc123").await?;
    let expected = [
        ("app", "build", true, true),
        ("app", "deploy", true, true),
        ("app", "fetch", true, true),
    ];
    assert_eq!(told(&found), expected);
    let found = carriers(&ledger, Kind::Source, "def567").await?;
    assert!(
        found.len() == 3 && found.iter().all(|it| !it.current),
        "{found:?}"
    );
    // A third one makes something else; what is deployed of it never held the second.
    story.deliver(&source("fff000"), "on", &image('c'));
    story.record(&ledger).await?;
    let found = carriers(&ledger, Kind::Source, "fff000").await?;
    assert_eq!(found.len(), 3);
    let found = carriers(&ledger, Kind::Source, "abc123").await?;
    assert!(
        found.len() == 3 && found.iter().all(|it| !it.current),
        "{found:?}"
    );
    Ok(())
}

/// As when a template changes together with the source: what is built anew of the old source is
/// replaced before anything says that it is done.
async fn proof_is_kept_when_the_same_is_made_again_and_never_proven(
    home: &Home,
) -> anyhow::Result<()> {
    let ledger = home.open().await?;
    let mut story = Story::of("app");
    let first = source("def567");
    story.deliver(&first, "on", &image('a'));
    story.record(&ledger).await?;
    for (debug, digit) in [("off", 'c'), ("on", 'a')] {
        let debug = Artifact::param("debug", &json!(debug));
        let inputs = [made_by("fetch", &first), given("param:debug", &debug)];
        story.guess("build", &inputs, Some(&image(digit)));
        story.record(&ledger).await?;
    }
    story.deliver(&source("abc123"), "off", &image('b'));
    story.record(&ledger).await?;
    let found = carriers(&ledger, Kind::Source, "def567").await?;
    let expected = [
        ("app", "build", false, false),
        ("app", "build", false, false),
        ("app", "build", false, true),
        ("app", "deploy", false, true),
        ("app", "fetch", false, true),
    ];
    assert_eq!(told(&found), expected);
    Ok(())
}

async fn what_an_owner_was_given_is_followed_from_the_one_that_made_it(
    home: &Home,
) -> anyhow::Result<()> {
    let ledger = home.open().await?;
    let mut workload = Story::of("app");
    let manifests = Artifact::source("https://git.example/manifests", Some("cafe01"));
    workload.deliver(&source("def567"), "on", &manifests);
    workload.record(&ledger).await?;
    let mut delivery = Story::of("delivery");
    delivery.owner.kind = "Deliverable".to_owned();
    delivery.deliver(&manifests, "on", &image('a'));
    delivery.record(&ledger).await?;
    let found = carriers(&ledger, Kind::Source, "def567").await?;
    let deliverables = found.iter().filter(|it| it.owner.kind == "Deliverable");
    assert_eq!(
        deliverables.filter(|it| it.current && it.proven).count(),
        3,
        "{found:?}"
    );
    Ok(())
}

async fn every_way_of_a_diamond_counts_once(home: &Home) -> anyhow::Result<()> {
    let ledger = home.open().await?;
    let mut story = Story::of("app");
    let revision = source("def567");
    story.make("fetch", &[given("source", &revision)], Some(&revision));
    story.make(
        "build",
        &[made_by("fetch", &revision), given("source", &revision)],
        Some(&image('a')),
    );
    let both = [made_by("build", &image('a')), made_by("fetch", &revision)];
    story.make("deploy", &both, None);
    story.record(&ledger).await?;
    let found = carriers(&ledger, Kind::Source, "def567").await?;
    assert_eq!(found.len(), 3, "{found:?}");
    let uses = ledger
        .lineage()
        .uses(revision.id(), &Page::default())
        .await?;
    assert_eq!(uses.items.len(), 3, "{uses:?}");
    Ok(())
}

async fn pages_join_without_gaps(home: &Home) -> anyhow::Result<()> {
    let ledger = home.open().await?;
    for number in 0..5 {
        let mut story = Story::of(&format!("app-{number}"));
        story.deliver(&source("def567"), "on", &image('a'));
        story.record(&ledger).await?;
    }
    let all = ledger
        .lineage()
        .contains(Kind::Source, "def567", &Page::default())
        .await?;
    assert_eq!((all.items.len(), all.next), (15, None));
    let mut pieces = Vec::new();
    let mut page = Page::first(4);
    loop {
        let part = ledger
            .lineage()
            .contains(Kind::Source, "def567", &page)
            .await?;
        assert!(part.items.len() <= 4);
        pieces.extend(part.items);
        page.after = part.next;
        if page.after.is_none() {
            break;
        }
    }
    assert_eq!(pieces, all.items);
    page.after = Some("nonsense".to_owned());
    let refused = ledger
        .lineage()
        .contains(Kind::Source, "def567", &page)
        .await;
    assert!(matches!(refused, Err(Error::BadCursor(_))));
    let history = ledger
        .lineage()
        .history("uid-of-app-0", &Page::first(2))
        .await?;
    assert_eq!((history.items.len(), history.next.is_some()), (2, true));
    Ok(())
}
