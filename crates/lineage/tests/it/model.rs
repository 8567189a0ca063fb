//! The evidence rule against controllers that know the truth.
//!
//! A [`world`] holds random paths, objects and controllers, and remembers what every output was
//! really made from. Pathline sees only what it would see on a cluster. Nothing that it proves may
//! be wrong, ever; and what well-behaved controllers make is proven once everything has settled.
//!
//! Each clause of the rules is dropped alone, too, and has to be missed: that is what the feature `clauses`
//! of the crate is for.

mod check;
mod clients;
mod confirm;
mod controller;
mod history;
mod made_again;
mod object;
mod part;
mod releases;
mod running;
mod task;
mod under_way;
mod waits;
mod work;
mod world;

use pathline_lineage::clauses::Clause;
use pathline_testkit::Histories;

use self::history::Checks;

/// Every night they are run from each of twelve seeds.
const HISTORIES: Histories = Histories {
    always: 8_000,
    nightly: 84_000,
};

/// Every clause of the evidence rule.
const OF_EVIDENCE: [Clause; 16] = [
    Clause::ThatRun,
    Clause::AppliedValue,
    Clause::SameValue,
    Clause::RuleNames,
    Clause::Uid,
    Clause::Template,
    Clause::Generation,
    Clause::InputsId,
    Clause::Earlier,
    Clause::Observed,
    Clause::Healthy,
    Clause::HealthReads,
    Clause::Vouched,
    Clause::MetadataOnly,
    Clause::Held,
    Clause::Mutable,
];

/// Every clause of the rules for those who wait.
const OF_WAITING: [Clause; 25] = [
    Clause::Carried,
    Clause::Since,
    Clause::UpToDate,
    Clause::SeenSince,
    Clause::Shown,
    Clause::Untouched,
    Clause::Emitted,
    Clause::Matched,
    Clause::Well,
    Clause::Reported,
    Clause::Upstream,
    Clause::Believed,
    Clause::Passing,
    Clause::WasThere,
    Clause::Alone,
    Clause::InMetadata,
    Clause::StillMatches,
    Clause::RuleDated,
    Clause::Confirmed,
    Clause::Named,
    Clause::Metadata,
    Clause::NewerOwner,
    Clause::FinalObjects,
    Clause::Processes,
    Clause::Deliveries,
];

#[test]
fn nothing_proven_is_wrong_and_honest_controllers_are_believed() {
    let run = |seed| history::run(seed, None, Checks::All);
    let proven: check::Counts = HISTORIES.run("histories", run, history::tell);
    let histories = HISTORIES.count();
    // Histories that prove nothing would show nothing.
    assert!(proven.edges > histories, "{proven:?}");
    assert!(proven.settled > histories, "{proven:?}");
    assert!(proven.arrived > histories / 4, "{proven:?}");
    assert!(proven.awaited > histories / 4, "{proven:?}");
    assert!(proven.deployed > histories / 4, "{proven:?}");
}

#[test]
fn without_any_one_clause_something_proven_is_wrong() {
    for clause in OF_EVIDENCE {
        assert!(
            is_missed(clause, Checks::Proofs),
            "nobody notices that {clause:?} is missing"
        );
    }
}

#[test]
fn without_any_one_clause_somebody_who_waits_is_told_wrong() {
    for clause in OF_WAITING {
        assert!(
            is_missed(clause, Checks::Waits),
            "nobody notices that {clause:?} is missing"
        );
    }
}

/// Tells whether some answer is wrong without a clause.
fn is_missed(clause: Clause, checks: Checks) -> bool {
    HISTORIES.any_fails(|seed| history::run(seed, Some(clause), checks))
}
