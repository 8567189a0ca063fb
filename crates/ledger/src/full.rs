//! A ledger that has no room left.

use jiff::{SignedDuration, Timestamp};
use pathline_lineage::OwnerLineage;
use pathline_release::Image;
use pathline_release::application::Application;
use pathline_release::queue::{Environment, Flow};
use pathline_release::request::{Body, Hosts};
use pathline_release::tracker::{Cycle, ImageAnswer, ImageQuery, RegistryRead, SourceRead};

use crate::database::sql;
use crate::error::Error;
use crate::ledger::Ledger;
use crate::lineage::{Change, OwnerRef};
use crate::location::Location;
use crate::page::Page;
use crate::releases::ReleaseFilter;
use crate::trackers::{ApplyOutcome, CreateOutcome, CycleResult, StoredTracker};

async fn record(ledger: &Ledger, number: usize) -> Result<(), Error> {
    let owner = OwnerRef {
        kind: "Workload".to_owned(),
        namespace: "default".to_owned(),
        name: format!("app-{number}"),
        uid: format!("uid-{number}"),
    };
    let lineage = OwnerLineage {
        uid: owner.uid.clone(),
        failure: Some("why ".repeat(2000)),
        ..OwnerLineage::default()
    };
    let change = Change {
        owner: &owner,
        lineage: &lineage,
        derivations: &[],
        arrivals: &[],
        time: Timestamp::UNIX_EPOCH,
    };
    ledger.lineage().record(&change).await
}

/// Records owners until one is refused; returns how many were acknowledged, and why not the next.
async fn fill(ledger: &Ledger, from: usize) -> (usize, Error) {
    for number in from..from + 100_000 {
        if let Err(error) = record(ledger, number).await {
            return (number, error);
        }
    }
    panic!("there is more room than expected");
}

#[tokio::test]
async fn full_ledger_refuses_keeps_what_it_acknowledged_and_goes_on_when_there_is_room() {
    let directory = tempfile::tempdir().unwrap();
    let location = Location::File(directory.path().join("ledger.db"));
    let ledger = Ledger::open(&location).await.unwrap();
    let limit = async |text: &'static str| {
        // The writer has one connection, to which the limit belongs.
        let mut session = ledger.database().writer().await.unwrap();
        session.only::<(i64,)>(sql(text)).await.unwrap();
    };
    limit("pragma max_page_count = 200").await;
    let (acknowledged, error) = fill(&ledger, 0).await;
    assert!(acknowledged > 10, "{acknowledged}: {error}");
    assert!(matches!(error, Error::Full { .. }), "{error:?}");
    assert!(error.is_temporary());
    let message = error.to_string();
    assert!(message.contains("make room"), "{message}");

    // All that was acknowledged can be read, also by those who open it now, and nothing half done.
    let other = Ledger::open(&location).await.unwrap();
    for ledger in [&ledger, &other] {
        let owners = ledger.lineage().owners("Workload").await.unwrap();
        assert_eq!(owners.len(), acknowledged);
        let changes = ledger.lineage().changes(0, 1000).await.unwrap();
        assert_eq!(changes.len(), acknowledged);
    }
    assert!(!*ledger.writable().borrow(), "it says that it is full");
    limit("pragma max_page_count = 4294967294").await;
    let mut writable = ledger.writable();
    writable.wait_for(|it| *it).await.expect("it notices");
    record(&ledger, acknowledged).await.unwrap();
    assert!(
        other
            .lineage()
            .get(&format!("uid-{acknowledged}"))
            .await
            .unwrap()
            .is_some()
    );
}

async fn create(ledger: &Ledger) -> StoredTracker {
    let body = br#"{"id": "shop.web", "token": "", "repo": "acme/shop", "sourcePath": ""}"#;
    let new = Body::read(body).unwrap().create(&Hosts::default()).unwrap();
    let (settle, at) = (SignedDuration::ZERO, Timestamp::UNIX_EPOCH);
    match ledger
        .trackers()
        .create(new, settle, "ci", at)
        .await
        .unwrap()
    {
        CreateOutcome::Created(tracker) => *tracker,
        refused => panic!("it is new: {refused:?}"),
    }
}

/// Releases another image, with a configuration of its own.
async fn release(ledger: &Ledger, number: usize) -> Result<ApplyOutcome, Error> {
    let tracker = ledger.trackers().all_active().await?.remove(0);
    let text = format!(
        "shop: {{web: {{version: main, number: {number}, more: {}}}}}",
        "x".repeat(2000)
    );
    let application = Application::read(&text, &tracker.name).unwrap();
    let configuration = application.configuration("c0ffee", "b10b");
    let mut state = tracker.state.clone();
    let query = ImageQuery::of(&configuration);
    let selected = Some(Image {
        repository: query.repository.clone(),
        tag: "main".to_owned(),
        digest: format!("sha256:{number}"),
    });
    let cycle = Cycle {
        basis: state.basis(),
        registry: RegistryRead {
            answers: vec![ImageAnswer { query, selected }],
            problem: None,
        },
        source: SourceRead::Read(configuration),
    };
    let outcome = state.observe(cycle, Timestamp::UNIX_EPOCH);
    let result = CycleResult {
        uid: tracker.uid,
        basis: tracker.state.basis(),
        state,
        known_source: None,
        configuration: Some((&application).into()),
        release: outcome.release,
        flow: Flow::new(vec![Environment::new("dev", 0)]).unwrap(),
        at: Timestamp::UNIX_EPOCH,
    };
    ledger.trackers().apply(result).await
}

/// C10.
#[tokio::test]
async fn full_ledger_applies_no_cycle_in_part_and_is_still_read() {
    let directory = tempfile::tempdir().unwrap();
    let location = Location::File(directory.path().join("ledger.db"));
    let ledger = Ledger::open(&location).await.unwrap();
    create(&ledger).await;
    let limit = async |text: &'static str| {
        let mut session = ledger.database().writer().await.unwrap();
        session.only::<(i64,)>(sql(text)).await.unwrap();
    };
    limit("pragma max_page_count = 200").await;
    let mut acknowledged = 0;
    let error = loop {
        match release(&ledger, acknowledged).await {
            Ok(ApplyOutcome::Applied { release }) => assert!(release.is_some()),
            Ok(ApplyOutcome::Discarded) => panic!("nobody else is there"),
            Err(error) => break error,
        }
        acknowledged += 1;
    };
    assert!(acknowledged > 5, "{acknowledged}: {error}");
    assert!(matches!(error, Error::Full { .. }), "{error:?}");
    assert!(error.is_temporary());

    let other = Ledger::open(&location).await.unwrap();
    let check = async |ledger: &Ledger, count: usize| {
        let tracker = ledger.trackers().all_active().await.unwrap().remove(0);
        let last = tracker.state.last_release().map(|it| it.number);
        assert_eq!(last, u64::try_from(count).ok());
        let (filter, page) = (ReleaseFilter::default(), Page::first(1000));
        let releases = ledger.releases().list(&filter, &page).await.unwrap();
        assert_eq!(releases.items.len(), count);
        assert!(releases.items.iter().all(|it| it.entries.len() == 1));
    };
    for ledger in [&ledger, &other] {
        check(ledger, acknowledged).await;
    }
    limit("pragma max_page_count = 4294967294").await;
    release(&ledger, acknowledged).await.unwrap();
    check(&other, acknowledged + 1).await;
}
