//! Flows that come to somebody's mind, and their timelines in seconds.

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use pathline_release::Level;
use pathline_release::queue::{Environment, Flow, Freeze, OnFailure, Promotion};
use pathline_release::timeline::{Rule, Timeline};
use pathline_testkit::Dice;
use serde_json::json;

/// The environments that there may be, each with its position.
pub(super) const ENVIRONMENTS: [(&str, u32); 6] = [
    ("dev", 0),
    ("ha", 1),
    ("ha-west", 1),
    ("preprod", 2),
    ("prod", 3),
    ("prod-west", 3),
];

/// The seconds between two ticks.
const PERIODS: [i64; 4] = [5, 10, 20, 30];

/// Returns the period of an environment's ticks, and the first second of a minute that is one.
fn period(name: &str) -> (i64, i64) {
    let place = ENVIRONMENTS.iter().position(|(it, _)| *it == name);
    let place = place.expect("one of them");
    let period = PERIODS[place % PERIODS.len()];
    (period, 3 * i64::try_from(place).expect("a few") % period)
}

/// Tells whether an instant is a tick, without asking the timeline.
pub(super) fn ticks(name: &str, at: Timestamp) -> bool {
    let (period, first) = period(name);
    at.as_second() % period == first
}

/// Returns a flow of four environments, and some beside them.
pub(super) fn mk_flow(dice: &mut Dice) -> Flow {
    let mut environments = Vec::new();
    for (name, position) in ENVIRONMENTS {
        if !name.ends_with("west") || dice.chance(25) {
            environments.push(mk_environment(name, position, dice));
        }
    }
    Flow::new(environments).expect("names differ")
}

/// Adds an environment, removes one, or changes one.
pub(super) fn rearranged(flow: &Flow, dice: &mut Dice) -> Flow {
    let (name, position) = dice.one_of(&ENVIRONMENTS);
    let mut environments = flow.environments().to_vec();
    let is_there = environments.iter().any(|it| it.name == name);
    environments.retain(|it| it.name != name);
    if !is_there || environments.is_empty() || dice.chance(60) {
        environments.push(mk_environment(name, position, dice));
    }
    Flow::new(environments).expect("names differ")
}

fn mk_environment(name: &str, position: u32, dice: &mut Dice) -> Environment {
    let (period, first) = period(name);
    let seconds: Vec<_> = (0..60 / period).map(|it| first + it * period).collect();
    let rule = Rule::from_json(&json!({"second": seconds})).expect("a rule");
    let mut environment = Environment {
        timeline: Timeline::new(rule, TimeZone::UTC),
        ready_timeout: SignedDuration::from_secs(40),
        ..Environment::new(name, position)
    };
    if dice.chance(25) {
        environment.accepts = Some(dice.one_of(&[Level::Digest, Level::Patch, Level::Minor]));
    }
    if dice.chance(10) {
        environment.promotion = Promotion::Manual;
    }
    if dice.chance(30) {
        environment.soak = SignedDuration::from_secs(dice.one_of(&[5, 15, 40]));
    }
    if dice.chance(40) {
        environment.on_failure = OnFailure::Restore;
    }
    while dice.chance(15) {
        environment.freezes.push(mk_freeze(dice));
    }
    environment
}

fn mk_freeze(dice: &mut Dice) -> Freeze {
    let second = |second: u64| {
        let second = i64::try_from(second).expect("a few");
        Timestamp::UNIX_EPOCH + SignedDuration::from_secs(second)
    };
    let from = dice.below(300);
    Freeze {
        from: second(from),
        until: second(from + 1 + dice.below(60)),
        reason: "holidays".to_owned(),
    }
}
