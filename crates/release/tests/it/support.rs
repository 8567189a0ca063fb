//! Constructors.

use jiff::{SignedDuration, Timestamp};
use pathline_release::label::Label;
use pathline_release::tracker::{
    Cycle, ImageAnswer, ImageQuery, RegistryRead, SourceRead, Tracker,
};
use pathline_release::{Cause, Configuration, Image, Release, Vetos};

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
