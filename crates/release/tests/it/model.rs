//! The rules of trackers and queues against random histories.
//!
//! A [`world`] has a registry and a repository that change, fail and come back; Pathline sees of them what a poll sees,
//! is restarted, is told things twice and too late. After each step the invariants have to hold.
//!
//! Each clause of the rules is dropped alone, too, and has to be missed: that is what the feature `clauses` of the crate
//! is for.

mod check;
mod history;
mod world;

use pathline_release::clauses::Clause;
use pathline_testkit::Histories;

const HISTORIES: Histories = Histories {
    always: 5_000,
    nightly: 100_000,
};

const CLAUSES: [Clause; 17] = [
    Clause::Basis,
    Clause::SourceRead,
    Clause::RegistryRead,
    Clause::OwnLabel,
    Clause::ImageMoved,
    Clause::NoDowngrade,
    Clause::Reverted,
    Clause::Supersede,
    Clause::OneDeploying,
    Clause::Settled,
    Clause::DeployedFirst,
    Clause::Overtaken,
    Clause::Veto,
    Clause::Accepts,
    Clause::Deleted,
    Clause::PromoteNewest,
    Clause::Omit,
];

#[test]
fn invariants_hold_in_every_history_with_restarts() {
    let run = |seed| history::run(seed, None);
    let counts: check::Counts = HISTORIES.run("releases", run, history::tell);
    let histories = HISTORIES.count();
    // Histories in which nothing happens would show nothing.
    assert!(counts.releases > 2 * histories, "{counts:?}");
    assert!(counts.deployed > histories, "{counts:?}");
    assert!(counts.at_the_end > histories / 20, "{counts:?}");
    assert!(counts.promoted > histories / 5, "{counts:?}");
    assert!(counts.discarded > histories / 4, "{counts:?}");
}

#[test]
fn without_any_one_clause_an_invariant_breaks() {
    for clause in CLAUSES {
        let is_missed = HISTORIES.any_fails(|seed| history::run(seed, Some(clause)));
        assert!(is_missed, "nobody notices that {clause:?} is missing");
    }
}
