//! Queues that are restored from what is stored go on as if nothing had happened.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use pathline_release::queue::{
    Entry, EntryState, Environment, Flow, Holds, Queues, Report, Transition,
};
use pathline_release::{Level, Release, TrackerName};
use pathline_testkit::{Dice, cases};
use proptest::prelude::*;

use crate::support::{mk_release, second, tick};

const ENVIRONMENTS: [&str; 4] = ["dev", "east", "west", "prod"];

fn mk_name() -> TrackerName {
    "a.b".parse().expect("a name")
}

fn mk_flow() -> Flow {
    let positions = [0, 1, 1, 2];
    let environments = ENVIRONMENTS.into_iter().zip(positions);
    let environments = environments.map(|(name, position)| Environment::new(name, position));
    let mut environments: Vec<_> = environments.collect();
    environments[3].accepts = Some(Level::Patch);
    environments[2].omits = vec!["*.c".to_owned()];
    Flow::new(environments).expect("names differ")
}

/// Returns the releases that have to be restored, each with all of its entries.
fn needed(queues: &Queues, releases: &[Release]) -> Vec<(Release, BTreeMap<String, Entry>)> {
    let mut numbers: BTreeSet<u64> = releases.last().map(|it| it.number).into_iter().collect();
    for environment in ENVIRONMENTS {
        let open = queues.entries(environment);
        let open = open.filter(|(_, entry)| !entry.state.is_terminal());
        numbers.extend(open.map(|(release, _)| release));
        numbers.extend(queues.newest(environment, EntryState::Deployed));
        numbers.extend(queues.newest(environment, EntryState::Failed));
    }
    let needed = releases.iter().filter(|it| numbers.contains(&it.number));
    let with_entries = needed.map(|release| {
        let entries = ENVIRONMENTS.into_iter().filter_map(|environment| {
            let entry = queues.entry(environment, release.number)?;
            Some((environment.to_owned(), entry.clone()))
        });
        (release.clone(), entries.collect())
    });
    with_entries.collect()
}

#[derive(Clone, Debug)]
enum Step {
    Enter(Box<Release>),
    Tick(Vec<&'static str>),
    Report(&'static str, u64, u32, Report),
    Promote(&'static str),
    Expire,
    Delete,
}

fn play(queues: &mut Queues, flow: &Flow, step: &Step, at: Timestamp) -> Vec<Transition> {
    match step {
        Step::Enter(release) => queues.enter(flow, release, at),
        Step::Tick(environments) => tick(queues, flow, environments, at),
        Step::Report(environment, release, attempt, report) => {
            queues.report(flow, (environment, *release), *attempt, report.clone(), at)
        }
        Step::Promote(environment) => queues
            .promote(flow, (environment, None), at)
            .unwrap_or_default(),
        Step::Expire => queues.expire(flow, at),
        Step::Delete => queues.delete(at),
    }
}

fn draw(dice: &mut Dice, queues: &Queues, releases: &mut Vec<Release>) -> Step {
    let environment = dice.one_of(&ENVIRONMENTS);
    match dice.below(20) {
        0..=5 => {
            let tag = dice.one_of(&["1.0.0", "1.0.1", "1.1.0", "2.0.0", "main"]);
            let mut release = mk_release(releases.len() as u64 + 1, tag);
            release.configuration.vetos.auto_deploy = dice.chance(80);
            if dice.chance(10) {
                release.configuration.vetos.omit_from_namespaces = vec![environment.to_owned()];
            }
            releases.push(release.clone());
            Step::Enter(Box::new(release))
        }
        6..=11 => Step::Tick(
            ENVIRONMENTS
                .into_iter()
                .filter(|_| dice.chance(60))
                .collect(),
        ),
        12..=16 => {
            let release = queues.newest(environment, EntryState::Deploying);
            let release = release.unwrap_or_else(|| 1 + dice.below(5));
            let entry = queues.entry(environment, release);
            let report = match dice.chance(75) {
                true => Report::Ready,
                false => Report::Failed("why".to_owned()),
            };
            Step::Report(
                environment,
                release,
                entry.map_or(0, |it| it.attempt),
                report,
            )
        }
        17 => Step::Promote(environment),
        18 => Step::Expire,
        _ if dice.chance(10) => Step::Delete,
        _ => Step::Expire,
    }
}

proptest! {
    #![proptest_config(cases(200))]

    #[test]
    fn restored_queues_go_on_as_all_of_them_would(seed in any::<u64>()) {
        let (flow, mut dice) = (mk_flow(), Dice::new(seed));
        let mut queues = Queues::new(mk_name());
        let (mut releases, mut is_deleted) = (Vec::new(), false);
        for step in 0..80 {
            let stored = needed(&queues, &releases);
            let mut restored = Queues::restored(mk_name(), stored, Holds::default(), is_deleted);
            let at = second(60 * step);
            let step = draw(&mut dice, &queues, &mut releases);
            let expected = play(&mut queues, &flow, &step, at);
            let found = play(&mut restored, &flow, &step, at);
            prop_assert_eq!(&found, &expected, "{:?}", step);
            for Transition { environment, release, .. } in &found {
                prop_assert_eq!(
                    restored.entry(environment, *release),
                    queues.entry(environment, *release)
                );
            }
            is_deleted |= matches!(step, Step::Delete);
        }
    }
}

#[test]
fn queues_without_releases_are_new_ones() {
    assert_eq!(
        Queues::restored(mk_name(), [], Holds::default(), false),
        Queues::new(mk_name())
    );
}

#[test]
fn release_that_was_restored_is_not_queued_again() {
    let (flow, release) = (mk_flow(), mk_release(3, "1.0.0"));
    let stored = [(release.clone(), BTreeMap::new())];
    let mut queues = Queues::restored(mk_name(), stored, Holds::default(), false);
    assert_eq!(queues.enter(&flow, &release, second(1)), []);
    assert_ne!(queues.enter(&flow, &mk_release(4, "1.0.0"), second(1)), []);
}
