//! A ledger that has no room left.

use jiff::Timestamp;
use pathline_lineage::OwnerLineage;

use crate::database::sql;
use crate::error::Error;
use crate::ledger::Ledger;
use crate::lineage::{Change, OwnerRef};
use crate::location::Location;

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
