//! Waits for releases, and the release that matters in an environment.

use pathline_release::queue::{Awaited, Environment, Flow, Holds, Promotion, Queues, Report};

use crate::support::{
    deploy, mk_flow, mk_hold, mk_queues, mk_release, mk_rollback, report, second, tick,
};

/// Returns what is said of releases in an environment, in short.
fn awaited(queues: &Queues, flow: &Flow, environment: &str, releases: &[u64]) -> String {
    let course = (flow, &Holds::default());
    match queues.awaited(course, (environment, releases), second(1000)) {
        None => "nothing".to_owned(),
        Some(Awaited::Deployed(release)) => format!("deployed {release}"),
        Some(Awaited::Waiting(why)) => format!("waiting in {}", why.environment),
        Some(Awaited::Failed(why)) => format!("failed in {}", why.environment),
        Some(Awaited::Superseded { by }) => format!("superseded by {by}"),
        Some(Awaited::Never(why)) => format!("never in {}", why.environment),
    }
}

fn mk_entered(flow: &Flow, releases: &[u64]) -> Queues {
    let mut queues = mk_queues();
    for number in releases {
        queues.enter(flow, &mk_release(*number, "1.0.0"), second(1));
    }
    queues
}

#[test]
fn release_is_waited_for_until_it_is_what_the_environment_has() {
    let flow = mk_flow(&[("dev", 0), ("prod", 1)]);
    let mut queues = mk_entered(&flow, &[1]);
    assert_eq!(awaited(&queues, &flow, "dev", &[1]), "waiting in dev");
    assert_eq!(awaited(&queues, &flow, "prod", &[1]), "waiting in prod");
    deploy(&mut queues, &flow, &["dev"], second(60));
    assert_eq!(awaited(&queues, &flow, "dev", &[1]), "deployed 1");
    assert_eq!(awaited(&queues, &flow, "prod", &[1]), "waiting in prod");
}

#[test]
fn newer_release_counts_only_if_it_is_one_of_those() {
    let flow = mk_flow(&[("dev", 0), ("prod", 1)]);
    let mut queues = mk_entered(&flow, &[1, 2]);
    assert_eq!(awaited(&queues, &flow, "dev", &[1]), "superseded by 2");
    assert_eq!(awaited(&queues, &flow, "dev", &[1, 2]), "waiting in dev");
    deploy(&mut queues, &flow, &["dev"], second(60));
    assert_eq!(awaited(&queues, &flow, "dev", &[1, 2]), "deployed 2");
    assert_eq!(awaited(&queues, &flow, "dev", &[1]), "superseded by 2");
    queues.enter(&flow, &mk_release(3, "1.0.0"), second(70));
    deploy(&mut queues, &flow, &["dev"], second(120));
    assert_eq!(awaited(&queues, &flow, "dev", &[1, 2]), "superseded by 3");
}

#[test]
fn failure_there_or_on_the_way_ends_it() {
    let flow = mk_flow(&[("dev", 0), ("twin", 0), ("prod", 1)]);
    let mut queues = mk_entered(&flow, &[1]);
    tick(&mut queues, &flow, &["dev"], second(60));
    let crash = Report::Failed("it crashes".to_owned());
    report(&mut queues, &flow, "dev", crash, second(70));
    assert_eq!(awaited(&queues, &flow, "dev", &[1]), "failed in dev");
    assert_eq!(awaited(&queues, &flow, "prod", &[1]), "failed in dev");
    let twin = awaited(&queues, &flow, "twin", &[1]);
    assert_eq!(twin, "waiting in twin", "a sibling is not on the way");
}

#[test]
fn what_keeps_out_never_gets_there_and_what_is_held_may() {
    let mut prod = Environment::new("prod", 1);
    prod.omits = vec!["a.b".to_owned()];
    let mut manual = Environment::new("manual", 2);
    manual.promotion = Promotion::Manual;
    let flow = Flow::new(vec![Environment::new("dev", 0), prod, manual]).expect("names differ");
    let mut queues = mk_entered(&flow, &[1]);
    deploy(&mut queues, &flow, &["dev"], second(60));
    assert_eq!(awaited(&queues, &flow, "prod", &[1]), "never in prod");
    assert_eq!(awaited(&queues, &flow, "manual", &[1]), "waiting in manual");
}

#[test]
fn nothing_is_said_of_what_is_not_known() {
    let flow = mk_flow(&[("dev", 0)]);
    let queues = mk_entered(&flow, &[1]);
    assert_eq!(awaited(&queues, &flow, "prod", &[1]), "nothing");
    assert_eq!(awaited(&queues, &flow, "dev", &[7]), "nothing");
    assert_eq!(awaited(&queues, &flow, "dev", &[]), "nothing");
}

#[test]
fn release_that_matters_is_the_one_under_way_else_the_one_that_waits_else_the_newest() {
    let flow = mk_flow(&[("dev", 0), ("prod", 1)]);
    assert_eq!(mk_queues().foremost("dev"), None);
    let mut queues = mk_entered(&flow, &[1]);
    assert_eq!(queues.foremost("dev"), Some(1));
    assert_eq!(queues.foremost("prod"), Some(1), "it is on its way");
    tick(&mut queues, &flow, &["dev"], second(60));
    queues.enter(&flow, &mk_release(2, "1.1.0"), second(61));
    assert_eq!(queues.foremost("dev"), Some(1), "it is being deployed");
    report(&mut queues, &flow, "dev", Report::Ready, second(70));
    assert_eq!(queues.foremost("dev"), Some(2), "it is queued");
    assert_eq!(queues.foremost("prod"), Some(1), "it is queued there");
    assert_eq!(queues.tag(2), Some("1.1.0"));
    assert_eq!(queues.tag(3), None);
}

#[test]
fn rollback_matters_where_it_is_for_and_nowhere_else() {
    let flow = mk_flow(&[("dev", 0), ("prod", 1)]);
    let mut queues = mk_queues();
    for number in [1, 2] {
        queues.enter(&flow, &mk_release(number, "1.0.0"), second(1));
        deploy(&mut queues, &flow, &["dev"], second(60));
        deploy(&mut queues, &flow, &["prod"], second(60));
    }
    let rollback = mk_rollback(3, "prod", 1);
    queues.roll_back(&flow, &rollback, mk_hold("broken", 100), second(100));
    assert_eq!(queues.newest_release(), Some(2));
    assert_eq!(queues.foremost("dev"), Some(2));
    assert_eq!(queues.foremost("prod"), Some(3));
    report(&mut queues, &flow, "prod", Report::Ready, second(110));
    assert_eq!(queues.foremost("prod"), Some(3), "it is deployed");
}

#[test]
fn rollback_of_another_environment_is_never_there_whatever_came_after_it() {
    let flow = mk_flow(&[("dev", 0), ("prod", 1)]);
    let mut queues = mk_entered(&flow, &[1]);
    deploy(&mut queues, &flow, &["dev", "prod"], second(60));
    let rollback = mk_rollback(2, "prod", 1);
    queues.roll_back(&flow, &rollback, mk_hold("broken", 70), second(70));
    queues.enter(&flow, &mk_release(3, "1.0.0"), second(80));
    deploy(&mut queues, &flow, &["dev"], second(120));
    assert_eq!(awaited(&queues, &flow, "dev", &[2]), "never in dev");
}
