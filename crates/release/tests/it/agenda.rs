//! The agenda: who is looked at when, and with whom.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use pathline_release::poll::{
    Agenda, Begin, Ending, Failure, FingerprintKey, INTERVAL, Jitter, Round, SourceKey,
};
use pathline_release::request::{Body, Hosts};
use proptest::prelude::*;

fn now() -> Timestamp {
    "2026-08-22T10:00:00Z".parse().expect("an instant")
}

fn after(seconds: i64) -> Timestamp {
    now() + SignedDuration::from_secs(seconds)
}

fn mk_key(repo: &str) -> SourceKey {
    let body = format!(r#"{{"id": "a.b", "token": "", "repo": "o/{repo}", "sourcePath": ""}}"#);
    let body = Body::read(body.as_bytes()).expect("an object");
    SourceKey {
        source: body.create(&Hosts::default()).expect("a tracker").source,
        credentials: FingerprintKey::new([7; 32]).fingerprint("secret"),
    }
}

fn mk_agenda() -> Agenda {
    Agenda::new(Jitter::new(1), INTERVAL)
}

const SUCCEEDED: Ending = Ending::Succeeded { interval: INTERVAL };
const FAILED: Ending = Ending::Failed {
    failure: Failure::Passing,
    not_before: None,
};

fn finish(agenda: &mut Agenda, round: &Round, ending: Ending, at: Timestamp) {
    let endings: Vec<_> = round
        .members
        .iter()
        .map(|it| (it.clone(), ending))
        .collect();
    agenda.finish(round, &endings, at);
}

#[test]
fn p12_trackers_of_one_file_are_looked_at_together_interval_after_interval() {
    let mut agenda = mk_agenda();
    for index in 0..57 {
        agenda.insert(&format!("u{index}"), mk_key("r"), Begin::Spread, now());
    }
    let mut rounds = 0;
    let end = after(1200);
    while let Some(due) = agenda.next().filter(|due| *due < end) {
        let round = agenda.take(due).expect("somebody is due");
        assert_eq!(round.members.len(), 57, "round {rounds}");
        finish(&mut agenda, &round, SUCCEEDED, due);
        rounds += 1;
    }
    assert!((9..=11).contains(&rounds), "{rounds} in ten intervals");
}

#[test]
fn trackers_that_were_made_at_different_times_meet_after_an_interval() {
    let mut agenda = mk_agenda();
    for (uid, at) in [("u0", 0), ("u1", 10), ("u2", 20)] {
        agenda.insert(uid, mk_key("r"), Begin::AtOnce, after(at));
        let round = agenda.take(after(at)).expect("it is due");
        assert_eq!(round.members, [uid]);
        finish(&mut agenda, &round, SUCCEEDED, after(at));
    }
    let due = agenda.next().expect("they are");
    let round = agenda.take(due).expect("somebody is due");
    assert_eq!(round.members, ["u0", "u1", "u2"]);
}

#[test]
fn other_files_and_other_credentials_are_looked_at_alone() {
    let mut agenda = mk_agenda();
    agenda.insert("u0", mk_key("r"), Begin::AtOnce, now());
    agenda.insert("u1", mk_key("other"), Begin::AtOnce, now());
    let anonymous = SourceKey {
        credentials: None,
        ..mk_key("r")
    };
    agenda.insert("u2", anonymous, Begin::AtOnce, now());
    let mut taken = Vec::new();
    while let Some(round) = agenda.take(now()) {
        assert_eq!(round.members.len(), 1);
        taken.extend(round.members);
    }
    taken.sort();
    assert_eq!(taken, ["u0", "u1", "u2"]);
    assert_eq!(agenda.next(), None, "they are being looked at");
}

#[test]
fn failure_of_one_does_not_slow_the_others_down() {
    let mut agenda = mk_agenda();
    for uid in ["u0", "u1"] {
        agenda.insert(uid, mk_key("r"), Begin::AtOnce, now());
    }
    let mut at = now();
    for _ in 0..6 {
        let round = agenda.take(at).expect("somebody is due");
        let ending = |uid: &String| (uid.clone(), if uid == "u0" { FAILED } else { SUCCEEDED });
        let endings: Vec<_> = round.members.iter().map(ending).collect();
        agenda.finish(&round, &endings, at);
        at = agenda.next().expect("they are");
    }
    let failures = |uid| agenda.schedule(uid).expect("it is there").failures;
    assert!(failures("u0") >= 4, "{}", failures("u0"));
    assert_eq!(failures("u1"), 0);
    assert!(at <= after(6 * 132));
}

#[test]
fn trackers_of_one_file_that_fail_together_stay_together() {
    let mut agenda = mk_agenda();
    for index in 0..57 {
        agenda.insert(&format!("u{index}"), mk_key("r"), Begin::AtOnce, now());
    }
    for failures in 1..=5 {
        let due = agenda.next().expect("they wait");
        let round = agenda.take(due).expect("they are due");
        assert_eq!(round.members.len(), 57, "failure {failures}");
        finish(&mut agenda, &round, FAILED, due);
        let (least, most) = Failure::Passing.back_off(failures - 1);
        let wait = agenda.next().expect("they wait").duration_since(due);
        assert!(wait >= least && wait <= most, "{wait}");
    }
}

#[test]
fn p08_time_that_a_host_asks_for_is_waited() {
    let mut agenda = mk_agenda();
    agenda.insert("u0", mk_key("r"), Begin::AtOnce, now());
    let round = agenda.take(now()).expect("it is due");
    let held = Ending::Failed {
        failure: Failure::Passing,
        not_before: Some(after(600)),
    };
    finish(&mut agenda, &round, held, now());
    assert_eq!(agenda.next(), Some(after(600)));
}

#[test]
fn hint_during_a_look_is_followed_by_another_look() {
    let mut agenda = mk_agenda();
    agenda.insert("u0", mk_key("r"), Begin::AtOnce, now());
    let round = agenda.take(now()).expect("it is due");
    agenda.hint("u0", now());
    assert!(!round.is_hinted);
    finish(&mut agenda, &round, SUCCEEDED, now());
    let due = agenda.next().expect("it waits");
    assert!(due <= after(10));
    assert!(agenda.take(due).expect("it is due").is_hinted);
}

#[test]
fn commit_is_looked_at_again_only_if_somebody_asks() {
    let mut agenda = mk_agenda();
    agenda.insert("u0", mk_key("r"), Begin::AtOnce, now());
    let round = agenda.take(now()).expect("it is due");
    finish(&mut agenda, &round, Ending::Done, now());
    assert_eq!(agenda.next(), None);
    agenda.poll_now("u0", after(5));
    assert_eq!(agenda.next(), Some(after(5)));
}

#[test]
fn what_is_replaced_during_a_look_is_looked_at_at_once() {
    let mut agenda = mk_agenda();
    agenda.insert("u0", mk_key("r"), Begin::AtOnce, now());
    let round = agenda.take(now()).expect("it is due");
    agenda.insert("u0", mk_key("other"), Begin::AtOnce, after(1));
    finish(&mut agenda, &round, SUCCEEDED, after(2));
    assert_eq!(agenda.next(), Some(after(1)));
    agenda.remove("u0");
    assert!(agenda.is_empty());
    assert_eq!(agenda.next(), None);
}

#[derive(Clone, Debug)]
enum Act {
    Insert(u8, u8, bool),
    Remove(u8),
    Hint(u8),
    PollNow(u8),
    Take,
    Finish(u8),
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let act = prop_oneof![
        (0..8_u8, 0..3_u8, any::<bool>()).prop_map(|(who, what, new)| Act::Insert(who, what, new)),
        (0..8_u8).prop_map(Act::Remove),
        (0..8_u8).prop_map(Act::Hint),
        (0..8_u8).prop_map(Act::PollNow),
        Just(Act::Take),
        Just(Act::Take),
        (0..4_u8).prop_map(Act::Finish),
        (0..4_u8).prop_map(Act::Finish),
    ];
    proptest::collection::vec(act, 0..120)
}

proptest! {
    /// Whoever is there is either being looked at or has a time, and is in one round at a time unless it was replaced.
    #[test]
    fn nobody_is_forgotten_and_nobody_is_looked_at_twice(acts in acts()) {
        let mut agenda = mk_agenda();
        let mut present: BTreeMap<String, u8> = BTreeMap::new();
        let mut open: Vec<Round> = Vec::new();
        let mut at = now();
        for act in acts {
            match act {
                Act::Insert(who, what, is_new) => {
                    let uid = format!("u{who}");
                    let begin = if is_new { Begin::AtOnce } else { Begin::Spread };
                    agenda.insert(&uid, mk_key(&format!("r{what}")), begin, at);
                    for round in &mut open {
                        round.members.retain(|it| *it != uid);
                    }
                    present.insert(uid, what);
                }
                Act::Remove(who) => {
                    let uid = format!("u{who}");
                    agenda.remove(&uid);
                    for round in &mut open {
                        round.members.retain(|it| *it != uid);
                    }
                    present.remove(&uid);
                }
                Act::Hint(who) => agenda.hint(&format!("u{who}"), at),
                Act::PollNow(who) => agenda.poll_now(&format!("u{who}"), at),
                Act::Take => {
                    at = at.max(agenda.next().unwrap_or(at));
                    if let Some(round) = agenda.take(at) {
                        prop_assert!(!round.members.is_empty());
                        prop_assert!(round.due <= at);
                        for uid in &round.members {
                            prop_assert!(open.iter().all(|it| !it.members.contains(uid)));
                            prop_assert_eq!(mk_key(&format!("r{}", present[uid])), round.key.clone());
                        }
                        open.push(round);
                    }
                }
                Act::Finish(which) => {
                    if !open.is_empty() {
                        let round = open.remove(usize::from(which) % open.len());
                        let ending = if which % 2 == 0 { SUCCEEDED } else { FAILED };
                        finish(&mut agenda, &round, ending, at);
                    }
                }
            }
            prop_assert_eq!(agenda.len(), present.len());
            let busy: usize = open.iter().map(|it| it.members.len()).sum();
            prop_assert_eq!(agenda.next().is_some(), busy < present.len());
        }
        // Everybody's turn comes.
        for round in std::mem::take(&mut open) {
            finish(&mut agenda, &round, SUCCEEDED, at);
        }
        let mut seen = 0;
        while let Some(due) = agenda.next() {
            let round = agenda.take(due.max(at)).expect("somebody is due");
            seen += round.members.len();
        }
        prop_assert_eq!(seen, present.len());
    }
}
