//! Constructors.

use jiff::{SignedDuration, Timestamp};
use pathline_release::label::Label;
use pathline_release::queue::{
    EntryState, Environment, Flow, Hold, Holds, Queues, Report, Transition,
};
use pathline_release::tracker::{
    Cycle, ImageAnswer, ImageQuery, RegistryRead, SourceRead, Tracker,
};
use pathline_release::{Cause, Configuration, Image, Release, Rollback, Vetos};

/// Returns an instant, in seconds.
pub(crate) fn second(second: i64) -> Timestamp {
    Timestamp::UNIX_EPOCH + SignedDuration::from_secs(second)
}

pub(crate) fn mk_configuration(hash: &str, label: &str) -> Configuration {
    Configuration {
        config_hash: hash.to_owned(),
        label: Label::parse(label).expect("a label"),
        repository: "registry.example/a/b".to_owned(),
        commit: format!("commit of {hash}"),
        blob: String::new(),
        vetos: Vetos::default(),
    }
}

pub(crate) fn mk_image(tag: &str, digest: &str) -> Image {
    Image {
        repository: "registry.example/a/b".to_owned(),
        tag: tag.to_owned(),
        digest: digest.to_owned(),
    }
}

pub(crate) fn mk_release(number: u64, tag: &str) -> Release {
    Release {
        number,
        configuration: mk_configuration("C1", tag),
        image: mk_image(tag, &format!("D{number}")),
        cause: Cause::Initial,
        previous: None,
        at: second(0),
        rollback: None,
    }
}

/// Returns the rollback of an environment to a release.
pub(crate) fn mk_rollback(number: u64, environment: &str, to: u64) -> Release {
    Release {
        number,
        cause: Cause::Rollback,
        rollback: Some(Rollback {
            environment: environment.to_owned(),
            to,
        }),
        ..mk_release(to, "1.0.0")
    }
}

/// Returns a cycle that is for the state of a tracker: the answers for configurations, and what the repository says.
pub(crate) fn mk_cycle(
    tracker: &Tracker,
    answers: &[(&Configuration, Option<Image>)],
    source: SourceRead,
) -> Cycle {
    let answers = answers.iter().map(|(configuration, selected)| ImageAnswer {
        query: ImageQuery::of(configuration),
        selected: selected.clone(),
    });
    Cycle {
        basis: tracker.basis(),
        registry: RegistryRead {
            answers: answers.collect(),
            problem: None,
        },
        source,
    }
}

pub(crate) fn mk_queues() -> Queues {
    Queues::new("a.b".parse().expect("a name"))
}

/// Returns environments, each with its position.
pub(crate) fn mk_flow(environments: &[(&str, u32)]) -> Flow {
    let environments = environments.iter();
    let environments = environments.map(|(name, position)| Environment::new(name, *position));
    Flow::new(environments.collect()).expect("names differ")
}

pub(crate) fn mk_hold(reason: &str, since: i64) -> Hold {
    Hold {
        reason: reason.to_owned(),
        by: "ann".to_owned(),
        since: second(since),
    }
}

/// Returns all entries, as the simulation writes them.
pub(crate) fn listed(queues: &Queues, flow: &Flow) -> String {
    let environments = flow.environments().iter();
    let entries = environments.flat_map(|environment| {
        let entries = queues.entries(&environment.name);
        entries.map(|(release, entry)| format!("{}.{release}={}", environment.name, entry.state))
    });
    entries.collect::<Vec<_>>().join(" ")
}

/// Lets environments take what is queued there; none of them is held.
pub(crate) fn tick(
    queues: &mut Queues,
    flow: &Flow,
    environments: &[&str],
    at: Timestamp,
) -> Vec<Transition> {
    queues.tick((flow, &Holds::default()), environments, at)
}

/// Reports about what is deploying in an environment.
pub(crate) fn report(
    queues: &mut Queues,
    flow: &Flow,
    environment: &str,
    report: Report,
    at: Timestamp,
) -> Vec<Transition> {
    let release = queues.newest(environment, EntryState::Deploying);
    let release = release.expect("it is deploying");
    let attempt = queues.entry(environment, release).map(|it| it.attempt);
    let attempt = attempt.expect("it is there");
    queues.report(flow, (environment, release), attempt, report, at)
}

/// Deploys what is queued in environments, one after the other.
pub(crate) fn deploy(queues: &mut Queues, flow: &Flow, environments: &[&str], at: Timestamp) {
    for environment in environments {
        tick(queues, flow, &[environment], at);
        report(queues, flow, environment, Report::Ready, at);
    }
}
