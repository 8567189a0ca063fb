//! The table of polling, as far as it is about times and sharing.

use std::collections::HashSet;

use jiff::{SignedDuration, Timestamp};
use pathline_release::label::Label;
use pathline_release::poll::{
    Budget, Failure, FingerprintKey, Floors, HostKey, INTERVAL, ImageKey, Jitter, Load,
    MIN_INTERVAL, Question, Quota, Requests, Schedule, SourceKey, may_pair, retry_after,
};
use pathline_release::request::{Body, Hosts, SourceLocation};

const JITTER: Jitter = Jitter::new(1);

fn at(text: &str) -> Timestamp {
    text.parse().expect("an instant")
}

fn now() -> Timestamp {
    at("2026-08-22T10:00:00Z")
}

fn seconds(seconds: i64) -> SignedDuration {
    SignedDuration::from_secs(seconds)
}

fn mk_source(repo: &str) -> SourceLocation {
    let body = format!(r#"{{"id": "a.b", "token": "", "repo": "{repo}", "sourcePath": ""}}"#);
    let body = Body::read(body.as_bytes()).expect("an object");
    body.create(&Hosts::default()).expect("a tracker").source
}

fn mk_host(host: &str, secret: &str) -> HostKey {
    HostKey {
        host: host.to_owned(),
        credentials: FingerprintKey::new([7; 32]).fingerprint(secret),
    }
}

#[test]
fn p07_a_quota_that_is_used_up_holds_every_poll_of_those_credentials() {
    let reset = now() + seconds(600);
    let quota =
        Quota::read(Some("5000"), "0", Some(&reset.as_second().to_string())).expect("a quota");
    let mut floors = Floors::default();
    floors.raise(
        mk_host("api.github.com", "one"),
        quota.floor(now()).expect("a floor"),
        JITTER,
    );
    let held = floors.not_before(&mk_host("api.github.com", "one"), now());
    assert!(held >= reset && held <= reset + seconds(10), "{held}");
    assert_eq!(
        floors.not_before(&mk_host("api.github.com", "two"), now()),
        now()
    );
    assert_eq!(floors.not_before(&mk_host("ghcr.io", "one"), now()), now());
    floors.raise(mk_host("api.github.com", "one"), now(), JITTER);
    assert_eq!(
        floors.not_before(&mk_host("api.github.com", "one"), now()),
        held,
        "never lower"
    );
    floors.forget_before(held);
    assert_eq!(floors, Floors::default());
}

#[test]
fn p08_retry_after_is_a_number_of_seconds_or_a_date() {
    assert_eq!(retry_after("30", now()), Some(now() + seconds(30)));
    let date = retry_after("Sat, 22 Aug 2026 10:05:00 GMT", now());
    assert_eq!(date, Some(at("2026-08-22T10:05:00Z")));
    assert_eq!(
        retry_after("99999999999999999999", now()),
        Some(now() + SignedDuration::from_hours(6)),
        "one answer does not silence a host for years"
    );
    assert_eq!(
        retry_after("Sat, 22 Aug 2093 10:05:00 GMT", now()),
        retry_after("99999999999999999999", now())
    );
    for bad in ["", "soon", "-1", "1.5"] {
        assert_eq!(retry_after(bad, now()), None, "{bad}");
    }
}

#[test]
fn p09_refusals_back_off_to_an_hour_and_a_change_resets_them() {
    let (least, most) = Failure::Refused.back_off(40);
    assert_eq!(
        (least, most),
        (SignedDuration::from_mins(30), SignedDuration::from_mins(60))
    );
    let mut schedule = Schedule::at_once(now());
    for _ in 0..20 {
        schedule.fail(now(), Failure::Refused, JITTER, "a.b");
    }
    assert!(schedule.next >= now() + SignedDuration::from_mins(30));
    let schedule = Schedule::at_once(now());
    assert_eq!((schedule.next, schedule.failures), (now(), 0));
}

#[test]
fn p10_delays_after_failures_double_up_to_half_an_hour() {
    let mut schedule = Schedule::at_once(now());
    for failures in 0..=10_u32 {
        let most = seconds((5 * 2_i64.pow(failures)).min(1800));
        schedule.fail(now(), Failure::Passing, JITTER, "a.b");
        let delay = schedule.next.duration_since(now());
        assert!(delay >= most / 2 && delay <= most, "{failures}: {delay}");
    }
    assert_eq!(schedule.failures, 11);
    schedule.succeed(now(), INTERVAL, JITTER, "a.b");
    assert_eq!(schedule.failures, 0);
}

#[test]
fn p11_first_polls_after_a_start_are_spread_over_one_interval() {
    let mut tenths = [0; 10];
    for index in 0..200 {
        let schedule = Schedule::after_start(now(), INTERVAL, JITTER, &format!("a.b{index}"));
        let delay = schedule.next.duration_since(now()).as_millis();
        let tenth = usize::try_from(delay * 10 / (INTERVAL.as_millis() + 1)).expect("within it");
        tenths[tenth] += 1;
    }
    assert!(
        tenths.iter().all(|count| (5..=35).contains(count)),
        "{tenths:?}"
    );
}

#[test]
fn p12_and_p13_the_same_question_is_asked_once_for_each_credential() {
    let key = FingerprintKey::new([7; 32]);
    let source = |repo: &str, secret: &str| SourceKey {
        source: mk_source(repo),
        credentials: key.fingerprint(secret),
    };
    let asked: HashSet<_> = (0..57).map(|_| source("o/r", "one")).collect();
    assert_eq!(asked.len(), 1, "P12");
    let asked: HashSet<_> = ["one", "two", ""].map(|it| source("o/r", it)).into();
    assert_eq!(asked.len(), 3, "P13");
    assert_ne!(source("o/r", "one"), source("o/other", "one"));
    let label = |text: &str| Label::parse(text).expect("a label");
    let image = |text: &str| ImageKey::new("registry.example/a", &label(text), None);
    assert_eq!(image("1.x"), image("1.x"));
    assert_ne!(image("1.x"), image("1.0.x"));
    let shown = format!("{:?} {key:?}", source("o/r", "tok-SENTINEL"));
    assert!(!shown.contains("SENTINEL"), "{shown}");
    let other = FingerprintKey::new([8; 32]);
    assert_ne!(
        key.fingerprint("one"),
        other.fingerprint("one"),
        "no plain hash"
    );
}

#[test]
fn shared_answer_of_a_repository_counts_only_if_it_was_asked_for_after_the_registry_answered() {
    assert!(may_pair(now(), now() + seconds(1)));
    assert!(!may_pair(now(), now()), "nobody knows which was first");
    assert!(!may_pair(now(), now() - seconds(1)));
}

#[test]
fn p24_a_hint_brings_the_next_poll_forward_within_ten_seconds() {
    let mut schedule = Schedule::at_once(now());
    schedule.succeed(now(), INTERVAL, JITTER, "a.b");
    schedule.hint(now(), JITTER, "a.b");
    assert!(schedule.next <= now() + seconds(10));
    let soon = Schedule::at_once(now() - seconds(1));
    let mut hinted = soon.clone();
    hinted.hint(now(), JITTER, "a.b");
    assert_eq!(hinted.next, soon.next, "a poll is never put off");
}

#[test]
fn delays_are_a_tenth_longer_or_shorter_and_the_same_for_the_same_seed() {
    let mut schedule = Schedule::at_once(now());
    let mut delays = HashSet::new();
    for _ in 0..100 {
        schedule.succeed(now(), INTERVAL, JITTER, "a.b");
        let delay = schedule.next.duration_since(now());
        assert!(delay >= seconds(108) && delay <= seconds(132), "{delay}");
        delays.insert(delay);
    }
    assert!(delays.len() > 50, "they differ");
    let again = |seed| {
        let mut schedule = Schedule::at_once(now());
        schedule.succeed(now(), INTERVAL, Jitter::new(seed), "a.b");
        schedule
    };
    assert_eq!(again(1), again(1));
    assert_ne!(again(1), again(2));
    schedule.succeed(now(), seconds(1), JITTER, "a.b");
    assert!(
        schedule.next >= now() + MIN_INTERVAL * 9 / 10,
        "not more often than allowed"
    );
}

#[test]
fn quota_that_runs_low_doubles_the_interval() {
    let quota =
        |remaining: &str| Quota::read(Some("100;w=21600"), remaining, None).expect("a quota");
    assert_eq!(quota("10;w=21600").slowed(INTERVAL), INTERVAL);
    assert_eq!(quota("9;w=21600").slowed(INTERVAL), INTERVAL * 2);
    assert_eq!(quota("0").floor(now()), None, "nobody says until when");
    assert_eq!(Quota::read(Some("many"), "1", None), None);
}

#[test]
fn budget_that_cannot_hold_the_interval_stretches_it_and_says_so() {
    let held = Budget::default().stretch(INTERVAL, 1_200);
    assert_eq!((held.interval, held.is_stretched), (INTERVAL, false));
    let stretched = Budget::default().stretch(INTERVAL, 20_000);
    assert_eq!(
        (stretched.interval, stretched.is_stretched),
        (seconds(2_000), true)
    );
    let raised = Budget {
        per_second: 200,
        in_flight: 4,
    };
    assert!(!raised.stretch(INTERVAL, 20_000).is_stretched);
}

fn mk_questions(repo: &str, label: &str) -> Vec<(Question, Requests)> {
    let source = SourceKey {
        source: mk_source(repo),
        credentials: None,
    };
    let label = Label::parse(label).expect("a label");
    let image = ImageKey::new("registry.example/shop/web", &label, None);
    vec![
        (Question::Source(source), mk_requests("github.com", 1)),
        (Question::Image(image), mk_requests("registry.example", 1)),
    ]
}

fn mk_requests(host: &str, count: u64) -> Requests {
    Requests::from([(host.to_owned(), count)])
}

#[test]
fn p12_load_counts_what_is_asked_together_once() {
    let mut load = Load::default();
    for index in 0..57 {
        load.ask(&format!("u{index}"), mk_questions("o/r", "latest"));
    }
    let count = |load: &Load| {
        (
            load.requests("github.com"),
            load.requests("registry.example"),
        )
    };
    assert_eq!(
        count(&load),
        (1, 1),
        "57 trackers of one file and one label"
    );
    load.ask("other", mk_questions("o/other", "latest"));
    assert_eq!(count(&load), (2, 1), "another file, the same label");
    load.ask("other", mk_questions("o/other", "1.x"));
    assert_eq!(count(&load), (2, 2), "it follows another label");
    let hosts: HashSet<&str> = load.hosts_of("other").collect();
    assert_eq!(hosts, HashSet::from(["github.com", "registry.example"]));
    for index in 0..57 {
        assert_eq!(count(&load), (2, 2), "{index} of 57 are gone");
        load.remove(&format!("u{index}"));
    }
    assert_eq!(count(&load), (1, 1));
    load.remove("other");
    load.remove("other");
    assert_eq!(load, Load::default(), "nothing is left behind");
}

#[test]
fn load_is_what_a_question_took_the_last_time() {
    let mut load = Load::default();
    let questions = mk_questions("o/r", "1.x");
    let (image, _) = questions[1].clone();
    load.ask("u0", questions.clone());
    // A list of seven pages, the image, and a token.
    let took = Requests::from([
        ("registry.example".to_owned(), 8),
        ("auth.example".to_owned(), 1),
    ]);
    load.learn(&image, took.clone());
    assert_eq!(load.requests("registry.example"), 8);
    assert_eq!(load.requests("auth.example"), 1);
    assert!(load.hosts_of("u0").any(|it| it == "auth.example"));
    load.ask("u1", questions.clone());
    load.ask("u0", questions);
    assert_eq!(load.requests("registry.example"), 8, "no estimate any more");
    load.learn(&image, mk_requests("registry.example", 2));
    assert_eq!(load.requests("registry.example"), 2);
    assert_eq!(load.requests("auth.example"), 0);
    load.remove("u0");
    load.remove("u1");
    load.learn(&image, took);
    assert_eq!(load, Load::default(), "nobody asks it");
}
