//! Recording: all or nothing, never twice, and for ever.

use jiff::Timestamp;
use pathline_ledger::{ArrivedNow, Error, Page};
use pathline_lineage::{Artifact, Chain, Evidence, Origin, Template};
use serde_json::json;

use crate::home::Home;
use crate::story::{Story, given, image, made_by, source};

on_both!(
    lineage_is_read_back_as_it_was_recorded,
    what_was_made_is_told_with_what_it_was_made_from,
    repeated_record_writes_nothing_twice,
    lost_answers_are_made_up_for_by_the_next_change,
    derivation_nobody_handed_over_is_recorded_from_the_lineage,
    coming_back_to_the_old_value_is_a_new_entry,
    clock_that_is_set_back_does_not_turn_things_around,
    better_evidence_is_taken_over_in_place,
    what_leaves_the_path_ends,
    history_survives_the_owner,
    owner_of_the_same_name_is_another_one,
    arrivals_are_kept_with_their_times,
    everything_is_there_after_a_restart,
    huge_and_odd_values_are_kept_short,
    closed_ledger_says_so,
);

async fn lineage_is_read_back_as_it_was_recorded(home: &Home) -> anyhow::Result<()> {
    let ledger = home.open().await?;
    let mut story = Story::of("app");
    assert_eq!(ledger.lineage().get(&story.owner.uid).await?, None);
    story.deliver(&source("def567"), "on", &image('a'));
    story.record(&ledger).await?;
    assert_eq!(
        ledger.lineage().get(&story.owner.uid).await?.as_ref(),
        Some(&story.lineage)
    );
    let found = ledger.lineage().find("Workload", "default", "app").await?;
    assert_eq!(found.as_ref(), Some(&story.lineage));
    assert_eq!(
        ledger
            .lineage()
            .find("Deliverable", "default", "app")
            .await?,
        None
    );
    assert_eq!(ledger.lineage().owners("Workload").await?, [story.owner]);
    Ok(())
}

async fn what_was_made_is_told_with_what_it_was_made_from(home: &Home) -> anyhow::Result<()> {
    let ledger = home.open().await?;
    let mut story = Story::of("app");
    let (revision, app) = (source("def567"), image('a'));
    story.deliver(&revision, "on", &app);
    story.record(&ledger).await?;

    let entry = ledger.lineage().artifact(app.id()).await?.unwrap();
    assert_eq!(entry.artifact, app);
    assert_eq!(entry.artifact.shown(), app.shown());
    assert_eq!(entry.first_seen, story.now());
    let [made] = &entry.made.items[..] else {
        panic!("one way: {:?}", entry.made);
    };
    assert_eq!(made.owner, story.owner);
    assert_eq!(made.resource, "build");
    let name = "ClusterTemplate/build".to_owned();
    let generation = Some(1);
    assert_eq!(made.template, Template { name, generation });
    assert!(made.is_current());
    let from: Vec<_> = made
        .from
        .iter()
        .map(|it| (&it.origin, it.artifact.shown(), it.evidence))
        .collect();
    let (debug, fetch) = (Origin::owner("param:debug"), Origin::resource("fetch"));
    let expected = [
        (&debug, "on", Evidence::Generation),
        (&fetch, "def567", Evidence::Generation),
    ];
    assert_eq!(from, expected);
    let [used] = &entry.used.items[..] else {
        panic!("one use: {:?}", entry.used);
    };
    assert_eq!((used.resource.as_str(), &used.output), ("deploy", &None));
    assert_eq!(used.origin, Origin::resource("build"));

    let unknown = ledger.lineage().artifact(image('f').id()).await?;
    assert_eq!(unknown, None);
    Ok(())
}

async fn repeated_record_writes_nothing_twice(home: &Home) -> anyhow::Result<()> {
    let ledger = home.open().await?;
    let mut story = Story::of("app");
    story.deliver(&source("def567"), "on", &image('a'));
    story.deliver(&source("abc123"), "on", &image('b'));
    story.arrive("source", &source("def567"), false);
    let tables = [
        "artifact",
        "owner",
        "derivation",
        "edge",
        "arrival",
        "change",
    ];
    story.repeat(&ledger).await?;
    let mut once = Vec::new();
    for table in tables {
        once.push(home.count(table).await);
    }
    story.repeat(&ledger).await?;
    ledger.close().await;
    story.repeat(&home.open().await?).await?;
    for (table, count) in tables.into_iter().zip(once) {
        assert_eq!(home.count(table).await, count, "{table}");
    }
    Ok(())
}

async fn lost_answers_are_made_up_for_by_the_next_change(home: &Home) -> anyhow::Result<()> {
    let ledger = home.open().await?;
    let mut story = Story::of("app");
    story.guess(
        "fetch",
        &[given("source", &source("def567"))],
        Some(&source("def567")),
    );
    story.prove("fetch", Some(&source("def567")));
    story.make(
        "fetch",
        &[given("source", &source("abc123"))],
        Some(&source("abc123")),
    );
    // The answer gets lost, so the same derivations come again, with more.
    story.repeat(&ledger).await?;
    story.make(
        "fetch",
        &[given("source", &source("def567"))],
        Some(&source("def567")),
    );
    story.record(&ledger).await?;
    let history = ledger
        .lineage()
        .history(&story.owner.uid, &Page::default())
        .await?;
    let revisions: Vec<_> = history
        .items
        .iter()
        .map(|it| it.output.as_ref().unwrap().shown())
        .collect();
    assert_eq!(revisions, ["def567", "abc123", "def567"]);
    Ok(())
}

async fn derivation_nobody_handed_over_is_recorded_from_the_lineage(
    home: &Home,
) -> anyhow::Result<()> {
    let ledger = home.open().await?;
    let mut story = Story::of("app");
    story.deliver(&source("def567"), "on", &image('a'));
    story.derivations.clear();
    story.record(&ledger).await?;
    assert!(ledger.lineage().artifact(image('a').id()).await?.is_some());
    Ok(())
}

async fn coming_back_to_the_old_value_is_a_new_entry(home: &Home) -> anyhow::Result<()> {
    let ledger = home.open().await?;
    let mut story = Story::of("app");
    for (revision, digit) in [("def567", 'a'), ("abc123", 'b'), ("def567", 'a')] {
        story.deliver(&source(revision), "on", &image(digit));
        story.record(&ledger).await?;
    }
    let made = ledger
        .lineage()
        .makings(image('a').id(), &Page::default())
        .await?
        .items;
    let current: Vec<bool> = made.iter().map(|it| it.is_current()).collect();
    assert_eq!(current, [true, false], "the newest first: {made:?}");
    assert!(made[1].until < Some(made[0].since));
    let made = ledger
        .lineage()
        .makings(image('b').id(), &Page::default())
        .await?
        .items;
    assert_eq!(
        made[0].until,
        Some(
            ledger
                .lineage()
                .makings(image('a').id(), &Page::first(1))
                .await?
                .items[0]
                .since
        )
    );
    Ok(())
}

async fn clock_that_is_set_back_does_not_turn_things_around(home: &Home) -> anyhow::Result<()> {
    let ledger = home.open().await?;
    let mut story = Story::of("app");
    story.set_clock(1000);
    story.deliver(&source("def567"), "on", &image('a'));
    story.set_clock(100);
    story.deliver(&source("abc123"), "on", &image('b'));
    story.record(&ledger).await?;
    story.deliver(&source("fff000"), "on", &image('c'));
    story.record(&ledger).await?;
    for (digit, is_current) in [('a', false), ('b', false), ('c', true)] {
        let page = Page::default();
        let made = ledger
            .lineage()
            .makings(image(digit).id(), &page)
            .await?
            .items;
        assert_eq!(made.len(), 1);
        assert_eq!(made[0].is_current(), is_current, "{made:?}");
        assert!(made[0].until.is_none_or(|until| until >= made[0].since));
    }
    Ok(())
}

async fn better_evidence_is_taken_over_in_place(home: &Home) -> anyhow::Result<()> {
    let ledger = home.open().await?;
    let mut story = Story::of("app");
    story.guess(
        "fetch",
        &[given("source", &source("def567"))],
        Some(&source("def567")),
    );
    story.record(&ledger).await?;
    let evidence = async || -> anyhow::Result<Vec<Evidence>> {
        let history = ledger
            .lineage()
            .history("uid-of-app", &Page::default())
            .await?;
        Ok(history.items.iter().map(|it| it.from[0].evidence).collect())
    };
    let first = evidence().await?;
    assert_eq!(first.len(), 1);
    story.make(
        "fetch",
        &[given("source", &source("abc123"))],
        Some(&image('a')),
    );
    story.guess(
        "fetch",
        &[given("source", &source("def567"))],
        Some(&image('b')),
    );
    story.record(&ledger).await?;
    assert_eq!(evidence().await?[0], Evidence::Assumed);
    story.prove("fetch", Some(&image('b')));
    story.record(&ledger).await?;
    assert_eq!(evidence().await?[0], Evidence::Generation);
    assert_eq!(evidence().await?.len(), 3);
    Ok(())
}

async fn what_leaves_the_path_ends(home: &Home) -> anyhow::Result<()> {
    let ledger = home.open().await?;
    let mut story = Story::of("app");
    story.deliver(&source("def567"), "on", &image('a'));
    story.record(&ledger).await?;
    let resources = story.lineage.state.chain().resources();
    let shorter = Chain::new(vec![resources[0].clone()])?;
    story.lineage.state.follow(shorter);
    story.record(&ledger).await?;
    let made = ledger
        .lineage()
        .makings(image('a').id(), &Page::default())
        .await?
        .items;
    assert_eq!(made[0].until, Some(story.now()));
    let made = ledger
        .lineage()
        .makings(source("def567").id(), &Page::default())
        .await?
        .items;
    assert!(made[0].is_current());
    Ok(())
}

async fn history_survives_the_owner(home: &Home) -> anyhow::Result<()> {
    let ledger = home.open().await?;
    let mut story = Story::of("app");
    ledger.lineage().gone(&story.owner, story.now()).await?;
    story.deliver(&source("def567"), "on", &image('a'));
    story.record(&ledger).await?;
    ledger.lineage().gone(&story.owner, story.now()).await?;
    ledger.lineage().gone(&story.owner, story.now()).await?;
    assert_eq!(
        ledger
            .lineage()
            .find_owner("Workload", "default", "app")
            .await?,
        None
    );
    assert!(ledger.lineage().owners("Workload").await?.is_empty());
    let history = ledger
        .lineage()
        .history(&story.owner.uid, &Page::default())
        .await?;
    assert_eq!(history.items.len(), 3);
    assert!(history.items.iter().all(|it| it.until == Some(story.now())));
    let changes = ledger.lineage().changes(0, 10).await?;
    assert_eq!(changes.len(), 2, "gone is told once: {changes:?}");
    assert!(changes[1].what.gone && changes[1].owner == story.owner);
    Ok(())
}

async fn owner_of_the_same_name_is_another_one(home: &Home) -> anyhow::Result<()> {
    let ledger = home.open().await?;
    let mut first = Story::of("app");
    first.deliver(&source("def567"), "on", &image('a'));
    first.record(&ledger).await?;
    ledger.lineage().gone(&first.owner, first.now()).await?;
    let mut second = Story::of("app");
    second.owner.uid = "another-uid".to_owned();
    second.lineage.uid = "another-uid".to_owned();
    second.deliver(&source("abc123"), "on", &image('b'));
    second.record(&ledger).await?;
    let found = ledger
        .lineage()
        .find_owner("Workload", "default", "app")
        .await?;
    assert_eq!(found.unwrap().uid, "another-uid");
    let history = ledger
        .lineage()
        .history(&first.owner.uid, &Page::default())
        .await?;
    assert_eq!(history.items.len(), 3);
    Ok(())
}

async fn arrivals_are_kept_with_their_times(home: &Home) -> anyhow::Result<()> {
    let ledger = home.open().await?;
    let mut story = Story::of("app");
    story.deliver(&source("def567"), "on", &image('a'));
    story.arrive("source", &source("def567"), false);
    story.record(&ledger).await?;
    let first: Timestamp = story.now();
    story.deliver(&source("def567"), "off", &image('b'));
    story.arrive("source", &source("def567"), true);
    story.record(&ledger).await?;
    let arrivals = ledger.lineage().arrivals(&story.owner.uid, 10).await?;
    let times: Vec<_> = arrivals
        .iter()
        .map(|it| (it.arrived.live, it.time))
        .collect();
    assert_eq!(times, [(true, story.now()), (false, first)]);
    assert_eq!(arrivals[0].arrived.artifact, source("def567"));
    let changes = ledger.lineage().changes(0, 10).await?;
    let input = "source".to_owned();
    let artifact = source("def567").id();
    let live = true;
    assert_eq!(
        changes[1].what.arrived,
        [ArrivedNow {
            input,
            artifact,
            live
        }]
    );
    Ok(())
}

async fn everything_is_there_after_a_restart(home: &Home) -> anyhow::Result<()> {
    let mut story = Story::of("app");
    let ledger = home.open().await?;
    story.deliver(&source("def567"), "on", &image('a'));
    story.record(&ledger).await?;
    let before = ledger
        .lineage()
        .history(&story.owner.uid, &Page::default())
        .await?;
    ledger.close().await;
    let ledger = home.open().await?;
    assert_eq!(
        ledger
            .lineage()
            .history(&story.owner.uid, &Page::default())
            .await?,
        before
    );
    story.lineage = ledger.lineage().get(&story.owner.uid).await?.unwrap();
    story.deliver(&source("abc123"), "on", &image('b'));
    story.record(&ledger).await?;
    let made = ledger
        .lineage()
        .makings(image('a').id(), &Page::default())
        .await?
        .items;
    assert!(!made[0].is_current());
    Ok(())
}

async fn huge_and_odd_values_are_kept_short(home: &Home) -> anyhow::Result<()> {
    let ledger = home.open().await?;
    let mut story = Story::of("app");
    let output = Artifact::value(pathline_lineage::Kind::Config, &json!("x".repeat(10 << 20)));
    let params = [
        Artifact::param("text", &json!("é".repeat(1_000_000))),
        Artifact::param("zero", &json!("a\0b")),
        Artifact::param("quote", &json!("'; drop table artifact; --")),
    ];
    let inputs: Vec<_> = params
        .iter()
        .map(|it| given(it.name().unwrap(), it))
        .collect();
    story.make("fetch", &inputs, Some(&output));
    story.make("build", &[made_by("fetch", &output)], Some(&image('a')));
    story.record(&ledger).await?;
    assert_eq!(
        ledger.lineage().get(&story.owner.uid).await?.as_ref(),
        Some(&story.lineage)
    );
    let made = ledger
        .lineage()
        .makings(output.id(), &Page::default())
        .await?
        .items;
    assert_eq!(made[0].from.len(), 3);
    for ingredient in &made[0].from {
        assert!(ingredient.artifact.shown().len() <= 1024);
    }
    let digest = output.shown().split(' ').next().unwrap();
    let carriers = ledger
        .lineage()
        .contains(output.kind(), digest, &Page::default())
        .await?;
    assert_eq!(carriers.items.len(), 2);
    Ok(())
}

async fn closed_ledger_says_so(home: &Home) -> anyhow::Result<()> {
    let ledger = home.open().await?;
    let mut story = Story::of("app");
    ledger.close().await;
    ledger.close().await;
    assert!(matches!(story.record(&ledger).await, Err(Error::Closed)));
    assert!(matches!(
        ledger.lineage().get("x").await,
        Err(Error::Closed)
    ));
    Ok(())
}
