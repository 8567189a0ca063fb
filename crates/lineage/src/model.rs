//! The evidence rule against controllers that know the truth.
//!
//! A [`world`] holds random paths, objects and controllers, and remembers what every output was
//! really made from. Pathline sees only what it would see on a cluster. Nothing that it proves may
//! be wrong, ever; and what well-behaved controllers make is proven once everything has settled.

mod check;
mod clients;
mod controller;
mod dice;
mod history;
mod made_again;
mod object;
mod part;
mod under_way;
mod waits;
mod work;
mod world;

use self::history::Checks;
use crate::clauses::Clause;

/// How many histories are always run, and how many every night from each of twelve seeds.
const HISTORIES: (u64, u64) = (5_000, 84_000);

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
const OF_WAITING: [Clause; 18] = [
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
    Clause::StillMatches,
    Clause::RuleDated,
    Clause::Confirmed,
];

#[test]
fn nothing_proven_is_wrong_and_honest_controllers_are_believed() {
    let (always, nightly) = HISTORIES;
    let histories = if pathline_testkit::is_nightly() {
        nightly
    } else {
        always
    };
    let first = pathline_testkit::seed("histories");
    let mut proven = check::Counts::default();
    for seed in (0..histories).map(|it| first.wrapping_add(it)) {
        match history::run(seed, None, Checks::All) {
            Ok(counts) => proven += counts,
            Err(fault) => panic!("history {seed}: {fault}\n{}", history::tell(seed)),
        }
    }
    // Histories that prove nothing would show nothing.
    assert!(proven.edges > histories, "{proven:?}");
    assert!(proven.settled > histories, "{proven:?}");
    assert!(proven.arrived > histories / 4, "{proven:?}");
    assert!(proven.awaited > histories / 4, "{proven:?}");
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
    (0..HISTORIES.0).any(|seed| history::run(seed, Some(clause), checks).is_err())
}
