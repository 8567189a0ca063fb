//! The objects that are read before an answer is given.

use pathline_lineage::rollout::{DeliveredBy, ObjectName};
use pathline_lineage::used::Used;
use pathline_lineage::wait::confirmation::DeliveryVersion;
use pathline_lineage::wait::{Confirmation, Impossible, Options, Verdict, Waiter};
use pathline_lineage::{Live, OwnerLineage, Stage};

use crate::story::{Story, source};

const TEMPLATE: &str = "ClusterTemplate/run";

/// The story, with a template that was used, and a process and a delivery at its end.
fn running() -> OwnerLineage {
    let mut lineage = Story::running().lineage;
    lineage.used = Used::from([(TEMPLATE.to_owned(), 2)]);
    let rollout = lineage.rollouts.get_mut("deploy").expect("it runs");
    rollout.object = ObjectName {
        kind: "Process".into(),
        name: "web".into(),
        ..ObjectName::default()
    };
    rollout.deliveries = vec![delivery("1111111")];
    lineage
}

fn delivery(revision: &str) -> DeliveredBy {
    DeliveredBy {
        namespace: "prod".into(),
        name: "app".into(),
        generation: 3,
        metadata_digest: "labels".into(),
        used: Used::from([(TEMPLATE.to_owned(), 2)]),
        revision: Some(source(revision).shown().to_owned()),
    }
}

fn waiter(live: bool) -> Waiter {
    let options = Options {
        live,
        ..Options::default()
    };
    Waiter::new(Vec::new(), options)
}

fn holds() -> Verdict {
    Verdict::Holds(Vec::new())
}

/// Returns how many objects of each sort are read.
fn counts(confirmation: &Confirmation<'_>) -> [usize; 5] {
    let Confirmation {
        owner,
        used,
        processes,
        deliveries,
        finals,
    } = confirmation;
    let owner = usize::from(owner.is_some());
    let [used, finals] = [used.len(), finals.len()];
    [owner, used, processes.len(), deliveries.len(), finals]
}

#[test]
fn nothing_is_read_for_an_answer_that_leaves_it_open() {
    let (lineage, open) = (running(), Verdict::Waiting(Vec::new()));
    let confirmation = waiter(true).confirmation(&lineage, &open);
    assert_eq!(counts(&confirmation), [0; 5]);
}

#[test]
fn superseded_is_confirmed_by_the_owner_alone() {
    let lineage = running();
    let superseded = Verdict::Impossible(Impossible::Superseded {
        input: "param:debug".into(),
        wanted: "on".into(),
        now: Some("off".into()),
    });
    let confirmation = waiter(true).confirmation(&lineage, &superseded);
    assert_eq!(counts(&confirmation), [1, 0, 0, 0, 0]);
    let owner = confirmation.owner.expect("the owner is read");
    let now = lineage.generation;
    assert_eq!(owner.difference(Some(now)), None);
    assert_eq!(owner.difference(None), None, "it says nothing again");
    assert!(owner.difference(Some(now + 1)).is_some());
}

#[test]
fn only_what_holds_is_confirmed_by_final_objects() {
    let (lineage, unproven) = (running(), Verdict::Unproven(Vec::new()));
    let confirmation = waiter(false).confirmation(&lineage, &unproven);
    assert_eq!(counts(&confirmation), [0, 1, 0, 0, 0]);
    let confirmation = waiter(false).confirmation(&lineage, &holds());
    assert_eq!(counts(&confirmation), [0, 1, 0, 0, 1]);
    assert_eq!(confirmation.finals[0].resource, "deploy");
}

#[test]
fn processes_and_deliveries_are_read_if_it_has_to_run() {
    let lineage = running();
    let confirmation = waiter(true).confirmation(&lineage, &holds());
    assert_eq!(counts(&confirmation), [0, 1, 1, 1, 1]);
}

#[test]
fn delivery_that_was_changed_or_deleted_differs() {
    let lineage = running();
    let confirmation = waiter(true).confirmation(&lineage, &holds());
    let delivery = &confirmation.deliveries[0];
    assert_eq!((delivery.namespace(), delivery.name()), ("prod", "app"));
    let difference = |generation, metadata_digest| {
        delivery.difference(Some(DeliveryVersion {
            generation,
            metadata_digest,
        }))
    };
    assert_eq!(difference(3, "labels"), None);
    for changed in [difference(4, "labels"), difference(3, "other labels")] {
        let changed = changed.expect("it was changed");
        assert!(changed.starts_with("deliverable `prod/app` has been changed"));
    }
    let gone = delivery.difference(None);
    assert_eq!(gone.as_deref(), Some("deliverable `prod/app` is gone"));
}

#[test]
fn delivery_is_confirmed_by_what_it_uses_and_runs_itself() {
    let lineage = running();
    let confirmation = waiter(true).confirmation(&lineage, &holds());
    let delivery = &confirmation.deliveries[0];
    assert_eq!(counts(&delivery.confirmation(None)), [0, 1, 0, 0, 0]);
    let own = running();
    let of_delivery = delivery.confirmation(Some(&own));
    assert_eq!(counts(&of_delivery), [0, 1, 1, 0, 0]);
}

#[test]
fn delivery_that_was_reconciled_since_and_runs_something_else_differs() {
    let lineage = running();
    let confirmation = waiter(true).confirmation(&lineage, &holds());
    let delivery = &confirmation.deliveries[0];
    let mut own = Story::running();
    assert_eq!(own.lineage.delivered().live, Live::True);
    assert_eq!(delivery.difference_of_source(&own.lineage), None);
    let other = Story::running_at("2222222").lineage;
    assert_eq!(
        delivery.difference_of_source(&other).as_deref(),
        Some("deliverable `prod/app` does not run what it did")
    );
    own.rollout(Stage::Progressing { why: String::new() });
    assert!(
        delivery.difference_of_source(&own.lineage).is_some(),
        "it has stopped to run"
    );
}
