//! A path with a diamond, and what happens on it.

use std::collections::BTreeMap;

use jiff::Timestamp;
use pathline_lineage::chain::Resource;
use pathline_lineage::{
    Applied, Artifact, Chain, Health, Kind, Origin, Snapshot, Stamp, State, Template, Tracing,
    Trust,
};
use serde_json::json;

/// Name and upstreams; the first one reads the owner's revision.
pub(crate) const PATH: [(&str, &[&str]); 6] = [
    ("fetch", &[]),
    ("test", &["fetch"]),
    ("build", &["test"]),
    ("scan", &["fetch"]),
    ("config", &["build", "scan"]),
    ("deploy", &["config"]),
];

pub(crate) fn path() -> Chain {
    let resources = PATH.iter().map(|(name, upstream)| Resource {
        name: (*name).to_owned(),
        upstream: upstream.iter().map(|name| (*name).to_owned()).collect(),
        reads: upstream
            .is_empty()
            .then(|| "field:revision".to_owned())
            .into_iter()
            .collect(),
        tracing: Tracing {
            trust: Trust::Declared,
            ..Tracing::default()
        },
        emits: true,
        makes: None,
    });
    Chain::new(resources.collect()).expect("a path")
}

pub(crate) fn value(revision: usize) -> Artifact {
    Artifact::field("revision", &json!(revision))
}

/// Takes one revision through the whole path; returns how many events that were.
pub(crate) fn pass(state: &mut State, revision: usize) -> usize {
    state.own(BTreeMap::from([(
        "field:revision".to_owned(),
        value(revision),
    )]));
    let generation = i64::try_from(revision + 1).ok();
    for (name, upstream) in PATH {
        let of = |name: &str| Artifact::value(Kind::Image, &json!(format!("{name}-{revision}")));
        let mut inputs: BTreeMap<_, _> = upstream
            .iter()
            .map(|name| (Origin::resource(*name), of(name)))
            .collect();
        if upstream.is_empty() {
            inputs.insert(Origin::owner("field:revision"), value(revision));
        }
        let stamp = Stamp {
            template: Template::default(),
            uid: name.to_owned(),
            generation,
            inputs,
            offered: std::collections::BTreeSet::new(),
            applied: Applied::Elsewhere,
            rendered: None,
            time: Timestamp::UNIX_EPOCH,
        };
        state.stamped(name, stamp).expect("it is on the path");
        let snapshot = Snapshot {
            template: Template::default(),
            uid: name.to_owned(),
            generation,
            observed: generation,
            condition_observed: None,
            health: Health::True,
            held: None,
            matched: None,
            failed: None,
            inputs_id: None,
            earlier: Vec::new(),
            output: Some(of(name)),
            time: Timestamp::UNIX_EPOCH,
        };
        state.seen(name, &snapshot).expect("it is on the path");
    }
    2 * PATH.len()
}
