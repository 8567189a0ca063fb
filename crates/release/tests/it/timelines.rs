//! The table of timelines, both changes of the clocks in Berlin, and a search second by second as the oracle.

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp, ToSpan};
use pathline_release::timeline::{MISFIRE_GRACE, Rule, Timeline, time_zone};
use pathline_testkit::cases;
use proptest::prelude::*;
use serde_json::{Value, json};

fn at(text: &str) -> Timestamp {
    text.parse().expect("an instant")
}

fn utc(rule: &Value) -> Timeline {
    Timeline::new(Rule::from_json(rule).expect("a rule"), TimeZone::UTC)
}

fn berlin(rule: &Value) -> Timeline {
    let zone = time_zone("Europe/Berlin").expect("a time zone");
    Timeline::new(Rule::from_json(rule).expect("a rule"), zone)
}

#[test]
fn next_ticks_are_those_of_the_table() {
    let rows = [
        (
            json!({}),
            "2026-08-22T10:15:30Z",
            Some("2026-08-22T10:16:00Z"),
        ),
        (
            json!({"hour": 17, "minute": 0}),
            "2026-08-22T10:15:30Z",
            Some("2026-08-22T17:00:00Z"),
        ),
        (
            json!({"hour": 17, "minute": 0}),
            "2026-08-22T17:00:00Z",
            Some("2026-08-23T17:00:00Z"),
        ),
        (
            json!({"hour": 17}),
            "2026-08-22T17:00:00Z",
            Some("2026-08-22T17:01:00Z"),
        ),
        (
            json!({"hour": 17}),
            "2026-08-22T17:59:00Z",
            Some("2026-08-23T17:00:00Z"),
        ),
        (
            json!({"second": [0, 30]}),
            "2026-08-22T10:15:00Z",
            Some("2026-08-22T10:15:30Z"),
        ),
        (
            json!({"dayOfWeek": [0, "5-6"], "hour": 9, "minute": 30}),
            "2026-08-20T12:00:00Z",
            Some("2026-08-21T09:30:00Z"),
        ),
        (
            json!({"dayOfWeek": [0, "5-6"], "hour": 9, "minute": 30}),
            "2026-08-23T09:30:00Z",
            Some("2026-08-28T09:30:00Z"),
        ),
        (
            json!({"date": 31, "hour": 0, "minute": 0}),
            "2026-08-31T00:00:00Z",
            Some("2026-10-31T00:00:00Z"),
        ),
        (
            json!({"month": 1, "date": 29, "hour": 0, "minute": 0}),
            "2026-08-22T00:00:00Z",
            Some("2028-02-29T00:00:00Z"),
        ),
        (
            json!({"minute": "0-2"}),
            "2026-08-22T10:02:00Z",
            Some("2026-08-22T11:00:00Z"),
        ),
        (json!({"year": 2020}), "2026-08-22T00:00:00Z", None),
        (
            json!({"dayOfWeek": 1, "date": 1, "hour": 6, "minute": 0}),
            "2026-08-22T00:00:00Z",
            Some("2027-02-01T06:00:00Z"),
        ),
        (
            json!({"month": 1, "date": 30}),
            "2026-08-22T00:00:00Z",
            None,
        ),
    ];
    for (rule, after, expected) in rows {
        assert_eq!(
            utc(&rule).next_after(at(after)),
            expected.map(at),
            "{rule} after {after}"
        );
    }
}

#[test]
fn wrong_rules_are_refused_with_the_field_and_the_reason() {
    for (rule, expected) in [
        (
            json!({"hour": 24}),
            "hour: 24 is out of range; from 0 to 23 is",
        ),
        (
            json!({"minute": "50-10"}),
            "minute: 50-10 is a reversed range",
        ),
        (
            json!({"dayOfWeek": 7}),
            "dayOfWeek: 7 is out of range; from 0 to 6 is",
        ),
        (
            json!({"date": 0}),
            "date: 0 is out of range; from 1 to 31 is",
        ),
        (
            json!({"second": -1}),
            "second: -1 is out of range; from 0 to 59 is",
        ),
        (json!({"minute": []}), "minute: an empty list never ticks"),
        (json!({"minute": 1.5}), "minute: 1.5 is not a whole number"),
        (
            json!({"minute": "5"}),
            "minute: \"5\" is not a range such as \"5-6\"",
        ),
        (
            json!({"minute": [[1]]}),
            "minute: a number, a range such as \"5-6\", or a list of them is expected",
        ),
        (
            json!({"minute": null}),
            "minute: a number, a range such as \"5-6\", or a list of them is expected",
        ),
        (
            json!({"tz": "UTC"}),
            "tz: the time zone belongs to the environment",
        ),
        (
            json!({"minutes": 1}),
            "minutes: no such field; there are second, minute, hour, date, month, year and dayOfWeek",
        ),
        (
            json!([]),
            "releaseFrequency: an object with second, minute, hour, date, month, year and dayOfWeek is expected",
        ),
    ] {
        let refused = Rule::from_json(&rule).expect_err("it is wrong");
        assert_eq!(refused.to_string(), expected, "{rule}");
    }
    assert!(time_zone("Europe/Atlantis").is_err());
}

#[test]
fn tick_in_the_hour_that_spring_skips_happens_when_the_clocks_have_changed() {
    let half_past_two = json!({"hour": 2, "minute": 30});
    let before = at("2026-03-29T00:00:00Z");
    assert_eq!(
        berlin(&half_past_two).next_after(before),
        Some(at("2026-03-29T01:00:00Z"))
    );
    let after = at("2026-03-29T01:00:00Z");
    assert_eq!(
        berlin(&half_past_two).next_after(after),
        Some(at("2026-03-30T00:30:00Z"))
    );
    let every_minute_of_two = json!({"hour": 2});
    let first = berlin(&every_minute_of_two).next_after(before);
    assert_eq!(
        first,
        Some(at("2026-03-29T01:00:00Z")),
        "sixty ticks are one"
    );
    let next = berlin(&every_minute_of_two).next_after(at("2026-03-29T01:00:00Z"));
    assert_eq!(next, Some(at("2026-03-30T00:00:00Z")));
    let two_and_three = berlin(&json!({"hour": [2, 3], "minute": 0}));
    assert_eq!(
        two_and_three.next_after(before),
        Some(at("2026-03-29T01:00:00Z"))
    );
    assert_eq!(
        two_and_three.next_after(after),
        Some(at("2026-03-30T00:00:00Z")),
        "not twice"
    );
}

#[test]
fn tick_in_the_hour_that_autumn_repeats_happens_once_and_at_the_first() {
    let half_past_two = berlin(&json!({"hour": 2, "minute": 30}));
    let first = half_past_two.next_after(at("2026-10-24T12:00:00Z"));
    assert_eq!(first, Some(at("2026-10-25T00:30:00Z")));
    let next = half_past_two.next_after(at("2026-10-25T00:30:00Z"));
    assert_eq!(next, Some(at("2026-10-26T01:30:00Z")), "not an hour later");
    let every_minute = berlin(&json!({}));
    let last = every_minute.next_after(at("2026-10-25T00:59:00Z"));
    assert_eq!(
        last,
        Some(at("2026-10-25T02:00:00Z")),
        "the second pass has no ticks"
    );
    let within = every_minute.next_after(at("2026-10-25T01:30:00Z"));
    assert_eq!(within, Some(at("2026-10-25T02:00:00Z")));
}

#[test]
fn day_that_a_zone_skips_ticks_when_the_next_one_begins() {
    let apia = time_zone("Pacific/Apia").expect("a time zone");
    let noon = Rule::from_json(&json!({"hour": 12, "minute": 0})).expect("a rule");
    let noon = Timeline::new(noon, apia);
    let friday = noon.next_after(at("2011-12-29T23:00:00Z"));
    assert_eq!(
        friday,
        Some(at("2011-12-30T10:00:00Z")),
        "there was no 30 December 2011"
    );
    assert_eq!(
        noon.next_after(at("2011-12-30T10:00:00Z")),
        Some(at("2011-12-30T22:00:00Z"))
    );
}

#[test]
fn search_ends_after_a_hundred_years_and_takes_no_time() {
    let rule = json!({"year": 2126, "month": 7, "date": 22, "hour": 0, "minute": 0});
    assert_eq!(
        utc(&rule).next_after(at("2026-08-22T00:00:00Z")),
        Some(at("2126-08-22T00:00:00Z"))
    );
    assert_eq!(utc(&rule).next_after(at("2026-08-21T23:59:59Z")), None);
    let never = utc(&json!({"month": 1, "date": 30, "second": "0-59"}));
    for _ in 0..20 {
        assert_eq!(never.next_after(at("2026-08-22T00:00:00Z")), None);
    }
    assert_eq!(utc(&json!({})).next_after(Timestamp::MAX), None);
    assert!(utc(&json!({})).next_after(Timestamp::MIN).is_some());
}

#[test]
fn missed_tick_happens_once_if_it_is_young_enough() {
    let five = utc(&json!({"hour": 17, "minute": 0}));
    let down = at("2026-08-22T16:50:00Z");
    let due = |now| five.due(down, at(now), MISFIRE_GRACE);
    let tick = Some(at("2026-08-22T17:00:00Z"));
    assert_eq!(due("2026-08-22T17:04:00Z"), tick);
    assert_eq!(
        due("2026-08-22T17:05:00Z"),
        tick,
        "five minutes are not too many"
    );
    assert_eq!(due("2026-08-22T17:06:00Z"), None, "none until tomorrow");
    let minutely = utc(&json!({}));
    let due = minutely.due(down, at("2026-08-22T17:02:30Z"), MISFIRE_GRACE);
    assert_eq!(due, Some(at("2026-08-22T17:02:00Z")), "one of twelve");
    let handled = at("2026-08-22T17:02:00Z");
    let again = minutely.due(handled, at("2026-08-22T17:02:00.9Z"), MISFIRE_GRACE);
    assert_eq!(again, None, "a tick that was handled does not happen again");
    let back = minutely.due(handled, at("2026-08-22T16:00:00Z"), MISFIRE_GRACE);
    assert_eq!(back, None, "nor if the clock goes back");
}

/// A field's value: a number, a range, or a list of both.
fn field(least: i64, most: i64) -> impl Strategy<Value = Value> {
    let number = (least..=most).prop_map(Value::from);
    let range = (least..=most, least..=most)
        .prop_map(|(one, other)| Value::from(format!("{}-{}", one.min(other), one.max(other))));
    let one = prop_oneof![number, range];
    prop_oneof![
        one.clone(),
        proptest::collection::vec(one, 1..4).prop_map(Value::from)
    ]
}

fn rule() -> impl Strategy<Value = Value> {
    let maybe = proptest::option::of::<proptest::strategy::BoxedStrategy<Value>>;
    let fields = (
        maybe(field(0, 59).boxed()),
        maybe(field(0, 59).boxed()),
        maybe(field(0, 23).boxed()),
        maybe(field(24, 31).boxed()),
        maybe(field(2, 2).boxed()),
        maybe(field(0, 6).boxed()),
    );
    fields.prop_map(|(second, minute, hour, date, month, day)| {
        let names = ["second", "minute", "hour", "date", "month", "dayOfWeek"];
        let fields = names
            .into_iter()
            .zip([second, minute, hour, date, month, day]);
        let fields = fields.filter_map(|(name, value)| Some((name.to_owned(), value?)));
        Value::Object(fields.collect())
    })
}

/// Tells whether a field of a rule has a value, as plainly as can be.
fn has(rule: &Value, name: &str, value: i64) -> bool {
    let one = |it: &Value| match it {
        Value::String(text) => {
            let (first, last) = text.split_once('-').expect("a range");
            (first.parse().expect("a number")..=last.parse().expect("a number")).contains(&value)
        }
        it => it.as_i64() == Some(value),
    };
    match rule.get(name) {
        None => name != "second" || value == 0,
        Some(Value::Array(values)) => values.iter().any(one),
        Some(it) => one(it),
    }
}

/// Finds the first tick after an instant by looking at every second of a day around the change of the clocks.
fn naive(rule: &Value, zone: &TimeZone, after: Timestamp, last: Timestamp) -> Option<Timestamp> {
    let mut found = None;
    // Civil seconds, from before `after`: a time that was skipped belongs to an instant that comes later.
    let mut civil = zone
        .to_datetime(after)
        .checked_sub(4.hours())
        .expect("in range");
    let end = zone.to_datetime(last);
    while civil <= end && found.is_none() {
        let matches = has(rule, "second", civil.second().into())
            && has(rule, "minute", civil.minute().into())
            && has(rule, "hour", civil.hour().into())
            && has(rule, "date", civil.day().into())
            && has(rule, "month", i64::from(civil.month()) - 1)
            && has(
                rule,
                "dayOfWeek",
                civil.weekday().to_sunday_zero_offset().into(),
            );
        if matches {
            found = Some(earliest(zone, civil)).filter(|tick| *tick > after);
        }
        civil = civil.checked_add(1.second()).expect("in range");
    }
    found.filter(|tick| *tick <= last)
}

/// Finds the first instant at which the clocks of a zone show a time, or a later one.
fn earliest(zone: &TimeZone, civil: jiff::civil::DateTime) -> Timestamp {
    let whole = civil.with().subsec_nanosecond(0).build().expect("in range");
    let zoned = zone.to_ambiguous_zoned(whole);
    if zoned.is_ambiguous()
        && zone.to_datetime(zoned.clone().earlier().expect("in range").timestamp()) != whole
    {
        // Skipped: walk to the moment at which the clocks jump.
        let mut instant = zoned.earlier().expect("in range").timestamp();
        while zone.to_datetime(instant) < whole {
            instant += SignedDuration::from_secs(1);
        }
        return instant;
    }
    zoned.earlier().expect("in range").timestamp()
}

proptest! {
    #![proptest_config(cases(60))]

    #[test]
    fn next_tick_is_the_one_that_a_search_of_every_second_finds(
        rule in rule(),
        zone in prop_oneof![Just("Europe/Berlin"), Just("UTC"), Just("Australia/Lord_Howe"), Just("America/New_York")],
        start in prop_oneof![
            Just("2026-03-28T22:00:00Z"), Just("2026-10-24T22:00:00Z"),
            Just("2026-04-04T12:00:00Z"), Just("2026-03-08T03:00:00Z"),
        ],
        offset in 0..20_000_i64,
    ) {
        let zone = time_zone(zone).expect("a time zone");
        let after = at(start) + SignedDuration::from_secs(offset);
        let last = after + SignedDuration::from_hours(8);
        let timeline = Timeline::new(Rule::from_json(&rule).expect("a rule"), zone.clone());
        let next = timeline.next_after(after).filter(|tick| *tick <= last);
        prop_assert_eq!(next, naive(&rule, &zone, after, last), "{} after {}", rule, after);
    }
}
