//! From a commit of the application through the one that a supply chain wrote to what runs.

use pathline_ledger::{Carrier, Crossing, Ledger, Page};
use pathline_lineage::{Artifact, Evidence, Kind};

use crate::home::Home;
use crate::story::{Story, image, source};

on_both!(
    point_16_commit_that_was_written_is_what_its_object_made,
    point_16_commits_are_recorded_once_however_often_they_are_told,
    point_16_application_is_followed_into_the_delivery_that_has_its_commit,
    point_16_revision_without_the_commit_is_not_claimed,
    point_16_older_commit_ends_when_the_delivery_has_the_next,
    point_16_delivery_that_goes_back_has_the_older_commit_again,
    commits_of_a_revision_are_told_when_it_was_found_before,
    point_16_same_files_of_another_source_belong_to_that_one,
    point_16_what_git_said_is_recorded_once_and_outlives_a_restart,
    point_16_repository_that_delivers_itself_is_followed_to_an_end,
);

const URL: &str = "https://git.example/manifests";

/// A commit of the manifest repository, as a supply chain has it.
fn written(commit: &str) -> Artifact {
    Artifact::source(URL, Some(&format!("main@sha1:{commit}")))
}

/// The same commit, as a delivery has it: with the address of what was fetched.
fn found(commit: &str) -> Artifact {
    let url = format!("file:///artifacts/{commit}.tar.gz");
    Artifact::source(&url, Some(&format!("main@sha1:{commit}")))
}

fn delivery() -> Story {
    let mut story = Story::of("delivery");
    story.owner.kind = "Deliverable".to_owned();
    story
}

async fn cross(
    ledger: &Ledger,
    delivery: &Story,
    found: &Artifact,
    written: &Artifact,
) -> anyhow::Result<()> {
    let crossing = Crossing {
        delivery: delivery.owner.uid.clone(),
        found: found.clone(),
        written: written.clone(),
        time: delivery.now(),
    };
    Ok(ledger.lineage().cross(crossing).await?)
}

/// Writes a commit of a source, and records that.
async fn write(
    ledger: &Ledger,
    workload: &mut Story,
    revision: &str,
    image: &Artifact,
    commit: &str,
) -> anyhow::Result<()> {
    workload.deliver(&source(revision), "on", image);
    workload.record(ledger).await?;
    workload.write("deploy", &written(commit));
    Ok(workload.record(ledger).await?)
}

/// Delivers a revision of the manifest repository, and records that.
async fn deliver(ledger: &Ledger, delivery: &mut Story, commit: &str) -> anyhow::Result<()> {
    delivery.deliver(&found(commit), "on", &image('d'));
    Ok(delivery.record(ledger).await?)
}

async fn carriers(ledger: &Ledger, revision: &str) -> anyhow::Result<Vec<Carrier>> {
    let page = Page::default();
    Ok(ledger
        .lineage()
        .contains(Kind::Source, revision, &page)
        .await?
        .items)
}

/// Returns the resources of the delivery that have a source, and whether they still do.
async fn delivered(ledger: &Ledger, revision: &str) -> anyhow::Result<Vec<(String, bool)>> {
    let carriers = carriers(ledger, revision).await?;
    assert!(carriers.iter().all(|it| it.proven), "{carriers:?}");
    let delivered = carriers
        .into_iter()
        .filter(|it| it.owner.name == "delivery");
    let mut told: Vec<_> = delivered.map(|it| (it.resource, it.current)).collect();
    told.sort_unstable();
    Ok(told)
}

fn all(current: bool) -> Vec<(String, bool)> {
    let resources = ["build", "deploy", "fetch"];
    resources.map(|it| (it.to_owned(), current)).to_vec()
}

async fn point_16_commit_that_was_written_is_what_its_object_made(
    home: &Home,
) -> anyhow::Result<()> {
    let ledger = home.open().await?;
    let mut workload = Story::of("app");
    write(&ledger, &mut workload, "def567", &image('a'), "cafe001").await?;
    let found = carriers(&ledger, "def567").await?;
    let objects: Vec<_> = found.iter().filter(|it| it.resource == "deploy").collect();
    let [object] = objects[..] else {
        panic!("the object was made once: {found:?}");
    };
    assert_eq!(object.artifact, Some(written("cafe001")));
    assert!(object.current && object.proven, "{object:?}");
    let entry = ledger
        .lineage()
        .artifact(written("cafe001").id())
        .await?
        .unwrap();
    assert_eq!(entry.made.items[0].from[0].artifact, image('a'));
    // Another commit of the same inputs is another one; the first was made all the same.
    workload.write("deploy", &written("cafe002"));
    workload.record(&ledger).await?;
    let found = carriers(&ledger, "def567").await?;
    let objects = found.iter().filter(|it| it.resource == "deploy");
    let objects: Vec<_> = objects
        .map(|it| (it.artifact.clone(), it.current))
        .collect();
    assert_eq!(
        objects,
        [
            (Some(written("cafe002")), true),
            (Some(written("cafe001")), false)
        ]
    );
    Ok(())
}

/// Answers get lost, and then a change is told again with all that came before.
async fn point_16_commits_are_recorded_once_however_often_they_are_told(
    home: &Home,
) -> anyhow::Result<()> {
    let ledger = home.open().await?;
    let mut workload = Story::of("app");
    workload.deliver(&source("def567"), "on", &image('a'));
    workload.repeat(&ledger).await?;
    for commit in ["cafe001", "cafe002"] {
        workload.write("deploy", &written(commit));
        workload.repeat(&ledger).await?;
    }
    let told = carriers(&ledger, "def567").await?;
    for _ in 0..3 {
        workload.repeat(&ledger).await?;
    }
    assert_eq!(carriers(&ledger, "def567").await?, told);
    let commits = told.iter().filter(|it| it.resource == "deploy");
    let commits: Vec<_> = commits
        .map(|it| (it.artifact.clone(), it.current))
        .collect();
    assert_eq!(
        commits,
        [
            (Some(written("cafe002")), true),
            (Some(written("cafe001")), false)
        ]
    );
    assert_eq!(home.count("derivation").await, 4);
    Ok(())
}

async fn point_16_application_is_followed_into_the_delivery_that_has_its_commit(
    home: &Home,
) -> anyhow::Result<()> {
    let ledger = home.open().await?;
    let (mut workload, mut delivery) = (Story::of("app"), delivery());
    write(&ledger, &mut workload, "def567", &image('a'), "cafe001").await?;
    // Somebody else has committed since, and left the files alone.
    deliver(&ledger, &mut delivery, "cafe009").await?;
    cross(&ledger, &delivery, &found("cafe009"), &written("cafe001")).await?;
    assert_eq!(delivered(&ledger, "def567").await?, all(true));
    let digest = format!("sha256:{}", "a".repeat(64));
    let page = Page::default();
    let images = ledger
        .lineage()
        .contains(Kind::Image, &digest, &page)
        .await?
        .items;
    let is_delivered = |it: &&Carrier| it.owner.kind == "Deliverable";
    assert_eq!(images.iter().filter(is_delivered).count(), 3, "{images:?}");

    let entry = ledger
        .lineage()
        .artifact(written("cafe001").id())
        .await?
        .unwrap();
    assert_eq!(entry.made.items[0].owner.name, "app");
    let used = &entry.used.items[0];
    assert_eq!(
        (used.owner.name.as_str(), used.evidence),
        ("delivery", Evidence::Git)
    );
    assert_eq!(used.output, Some(found("cafe009")));
    let uid = &delivery.owner.uid;
    let commits = ledger
        .lineage()
        .commits_of(uid, found("cafe009").id())
        .await?;
    assert_eq!(commits, [written("cafe001")]);
    let nobody = ledger
        .lineage()
        .commits_of("another", found("cafe009").id())
        .await?;
    assert!(nobody.is_empty());
    Ok(())
}

async fn point_16_revision_without_the_commit_is_not_claimed(home: &Home) -> anyhow::Result<()> {
    let ledger = home.open().await?;
    let (mut workload, mut delivery) = (Story::of("app"), delivery());
    write(&ledger, &mut workload, "def567", &image('a'), "cafe001").await?;
    deliver(&ledger, &mut delivery, "cafe008").await?;
    deliver(&ledger, &mut delivery, "cafe009").await?;
    cross(&ledger, &delivery, &found("cafe008"), &written("cafe001")).await?;
    // Git has said nothing of the other one, however it is called and whenever it came.
    let found = delivered(&ledger, "def567").await?;
    assert!(found.contains(&("fetch".to_owned(), false)), "{found:?}");
    assert!(!found.contains(&("fetch".to_owned(), true)), "{found:?}");
    Ok(())
}

async fn point_16_older_commit_ends_when_the_delivery_has_the_next(
    home: &Home,
) -> anyhow::Result<()> {
    let ledger = home.open().await?;
    let (mut workload, mut delivery) = (Story::of("app"), delivery());
    for (revision, digit, commit) in [("def567", 'a', "cafe001"), ("abc123", 'b', "cafe002")] {
        write(&ledger, &mut workload, revision, &image(digit), commit).await?;
        delivery.deliver(&found(commit), "on", &image(digit));
        delivery.record(&ledger).await?;
        cross(&ledger, &delivery, &found(commit), &written(commit)).await?;
    }
    assert_eq!(delivered(&ledger, "def567").await?, all(false));
    assert_eq!(delivered(&ledger, "abc123").await?, all(true));
    Ok(())
}

async fn point_16_delivery_that_goes_back_has_the_older_commit_again(
    home: &Home,
) -> anyhow::Result<()> {
    let ledger = home.open().await?;
    let (mut workload, mut delivery) = (Story::of("app"), delivery());
    write(&ledger, &mut workload, "def567", &image('a'), "cafe001").await?;
    deliver(&ledger, &mut delivery, "cafe001").await?;
    cross(&ledger, &delivery, &found("cafe001"), &written("cafe001")).await?;
    deliver(&ledger, &mut delivery, "cafe002").await?;
    deliver(&ledger, &mut delivery, "cafe001").await?;
    cross(&ledger, &delivery, &found("cafe001"), &written("cafe001")).await?;
    let found = delivered(&ledger, "def567").await?;
    assert!(found.contains(&("fetch".to_owned(), true)), "{found:?}");
    assert!(found.contains(&("deploy".to_owned(), true)), "{found:?}");
    Ok(())
}

async fn commits_of_a_revision_are_told_when_it_was_found_before(
    home: &Home,
) -> anyhow::Result<()> {
    let ledger = home.open().await?;
    let (mut workload, mut delivery) = (Story::of("app"), delivery());
    write(&ledger, &mut workload, "def567", &image('a'), "cafe001").await?;
    deliver(&ledger, &mut delivery, "cafe001").await?;
    cross(&ledger, &delivery, &found("cafe001"), &written("cafe001")).await?;
    deliver(&ledger, &mut delivery, "cafe002").await?;
    let before = async |uid: &str, commit: &str| {
        let lineage = ledger.lineage();
        lineage.commits_found_before(uid, commit).await
    };
    let uid = delivery.owner.uid.as_str();
    assert_eq!(before(uid, "cafe001").await?, [written("cafe001")]);
    assert_eq!(before(uid, "cafe002").await?, []);
    assert_eq!(before(&workload.owner.uid, "cafe001").await?, []);
    Ok(())
}

/// The second source renders the same files, so that there is nothing to commit.
async fn point_16_same_files_of_another_source_belong_to_that_one(
    home: &Home,
) -> anyhow::Result<()> {
    let ledger = home.open().await?;
    let (mut workload, mut delivery) = (Story::of("app"), delivery());
    write(&ledger, &mut workload, "def567", &image('a'), "cafe001").await?;
    deliver(&ledger, &mut delivery, "cafe001").await?;
    cross(&ledger, &delivery, &found("cafe001"), &written("cafe001")).await?;
    write(&ledger, &mut workload, "abc123", &image('b'), "cafe001").await?;
    assert_eq!(delivered(&ledger, "abc123").await?, all(true));
    assert_eq!(delivered(&ledger, "def567").await?, all(false));
    Ok(())
}

async fn point_16_what_git_said_is_recorded_once_and_outlives_a_restart(
    home: &Home,
) -> anyhow::Result<()> {
    let ledger = home.open().await?;
    let (mut workload, mut delivery) = (Story::of("app"), delivery());
    write(&ledger, &mut workload, "def567", &image('a'), "cafe001").await?;
    deliver(&ledger, &mut delivery, "cafe001").await?;
    let edges = home.count("edge").await;
    for _ in 0..3 {
        cross(&ledger, &delivery, &found("cafe001"), &written("cafe001")).await?;
    }
    assert_eq!(home.count("edge").await, edges + 1);
    // Of a delivery that nobody knows nothing can be said.
    let unknown = Story::of("unknown");
    cross(&ledger, &unknown, &found("cafe001"), &written("cafe001")).await?;
    assert_eq!(home.count("edge").await, edges + 1);
    ledger.close().await;
    let ledger = home.open().await?;
    workload.repeat(&ledger).await?;
    delivery.repeat(&ledger).await?;
    assert_eq!(delivered(&ledger, "def567").await?, all(true));
    Ok(())
}

/// The application and its manifests are in one repository: each commit that is written is a new source.
async fn point_16_repository_that_delivers_itself_is_followed_to_an_end(
    home: &Home,
) -> anyhow::Result<()> {
    let ledger = home.open().await?;
    let (mut workload, mut delivery) = (Story::of("app"), delivery());
    for (revision, commit) in [
        ("cafe001", "cafe002"),
        ("cafe002", "cafe003"),
        ("cafe003", "cafe001"),
    ] {
        workload.deliver(&written(revision), "on", &image('a'));
        workload.write("deploy", &written(commit));
        workload.record(&ledger).await?;
        delivery.deliver(&written(commit), "on", &image('d'));
        delivery.record(&ledger).await?;
        cross(&ledger, &delivery, &written(commit), &written(commit)).await?;
    }
    for revision in ["cafe001", "cafe002", "cafe003"] {
        let carriers = carriers(&ledger, revision).await?;
        assert!(carriers.len() <= 18, "{carriers:?}");
        let owners = carriers.iter().map(|it| it.owner.name.as_str());
        let owners: std::collections::BTreeSet<_> = owners.collect();
        assert_eq!(owners, ["app", "delivery"].into());
    }
    Ok(())
}
