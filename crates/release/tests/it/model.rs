//! The rules of trackers and queues against random histories.
//!
//! A [`world`] has a registry and a repository that change, fail and come back; Pathline sees of them what a poll sees,
//! is restarted, is told things twice and too late. Environments come and go, people hold, resume, promote, roll back and
//! request. After each step the [invariants of trackers](check) and [of queues](moves) have to hold; what a [`ledger`]
//! restores has to do what all of it does; no release goes on before it was live for as long as the [`truth`] says; and
//! what `why` says has to be kept as a [`promise`].
//!
//! Each clause of the rules is dropped alone, too, and has to be missed: that is what the feature `clauses` of the crate
//! is for.

mod check;
mod counts;
mod event;
mod flows;
mod history;
mod ledger;
mod moves;
mod promise;
mod truth;
mod world;

use pathline_release::clauses::Clause;
use pathline_testkit::Histories;

const HISTORIES: Histories = Histories {
    always: 5_000,
    nightly: 100_000,
};

const CLAUSES: [Clause; 38] = [
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
    Clause::StillThrough,
    Clause::Hold,
    Clause::Halt,
    Clause::Freeze,
    Clause::Manual,
    Clause::Soak,
    Clause::OnlyLive,
    Clause::Watched,
    Clause::Replaced,
    Clause::Siblings,
    Clause::Current,
    Clause::Removed,
    Clause::Again,
    Clause::NowStopped,
    Clause::NowAlone,
    Clause::Alone,
    Clause::RollbackHolds,
    Clause::Numbers,
    Clause::Measure,
    Clause::Present,
    Clause::RestoreEnds,
];

#[test]
fn invariants_hold_in_every_history_with_restarts() {
    let run = |seed| history::run(seed, None);
    let counts: counts::Counts = HISTORIES.run("releases", run, history::tell);
    let histories = HISTORIES.count();
    // Histories in which nothing happens would show nothing.
    for (count, least) in [
        (counts.releases, 2 * histories),
        (counts.discarded, histories),
        (counts.deployed, histories),
        (counts.at_the_end, histories / 20),
        (counts.promoted, histories / 5),
        (counts.promoted_now, histories / 10),
        (counts.soaked, histories / 5),
        (counts.rolled_back, histories / 10),
        (counts.requested, histories / 10),
        (counts.restored, histories / 100),
        (counts.cancelled, histories / 10),
        (counts.entered_again, histories / 200),
        (counts.promises, histories),
    ] {
        assert!(count > least, "{counts:?}");
    }
}

#[test]
fn without_any_one_clause_an_invariant_breaks() {
    for clause in CLAUSES {
        let is_missed = HISTORIES.any_fails(|seed| history::run(seed, Some(clause)));
        assert!(is_missed, "nobody notices that {clause:?} is missing");
    }
}
