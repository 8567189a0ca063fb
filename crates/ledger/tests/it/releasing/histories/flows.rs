//! Flows that come to somebody's mind.

use jiff::{SignedDuration, Timestamp};
use pathline_release::queue::{Environment, Flow, Freeze, OnFailure, Promotion};
use pathline_testkit::Dice;

pub(super) const ENVIRONMENTS: [(&str, u32); 5] = [
    ("dev", 0),
    ("ha", 1),
    ("ha-west", 1),
    ("preprod", 2),
    ("prod", 3),
];

/// Returns a flow of most of the environments; freezes begin after an instant.
pub(super) fn mk_flow(dice: &mut Dice, now: Timestamp) -> Flow {
    let mut environments = Vec::new();
    for (name, position) in ENVIRONMENTS {
        if position == 0 || dice.chance(80) {
            environments.push(mk_environment(name, position, dice, now));
        }
    }
    Flow::new(environments).expect("names differ")
}

fn mk_environment(name: &str, position: u32, dice: &mut Dice, now: Timestamp) -> Environment {
    let mut environment = Environment {
        ready_timeout: SignedDuration::from_secs(40),
        ..Environment::new(name, position)
    };
    if dice.chance(15) {
        environment.promotion = Promotion::Manual;
    }
    if dice.chance(30) {
        environment.soak = SignedDuration::from_secs(dice.one_of(&[5, 15]));
    }
    if dice.chance(50) {
        environment.on_failure = OnFailure::Restore;
    }
    if dice.chance(15) {
        environment.omits = vec!["shop".to_owned()];
    }
    if dice.chance(20) {
        let from = now + SignedDuration::from_secs(dice.one_of(&[1, 20, 60]));
        environment.freezes = vec![Freeze {
            from,
            until: from + SignedDuration::from_secs(20),
            reason: "holidays".to_owned(),
        }];
    }
    environment
}
