//! The example of RFC 0014, as the ledger gets it: a source, an image built from it, and what
//! deploys the image.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use pathline_ledger::{Arrived, Change, Ledger, OwnerRef};
use pathline_lineage::chain::{Chain, Resource};
use pathline_lineage::{
    Applied, Artifact, Derivation, Health, Kind, Origin, OwnerLineage, Snapshot, Stamp, State,
    Template, Tracing, Trust,
};
use serde_json::json;

/// The workload whose story it is.
pub(crate) fn owner(uid: &str) -> OwnerRef {
    OwnerRef {
        kind: "Workload".to_owned(),
        namespace: "dev".to_owned(),
        name: "web".to_owned(),
        uid: uid.to_owned(),
    }
}

/// The image of the story.
pub(crate) fn image() -> Artifact {
    Artifact::value(Kind::Image, &json!("abc123"))
}

/// The source of the story.
pub(crate) fn source() -> Artifact {
    Artifact::source("https://git.example/web", Some("def567"))
}

/// Records it for the owner with this uid; returns what was recorded of it.
pub(crate) async fn record(ledger: &Ledger, uid: &str) -> OwnerLineage {
    record_from(ledger, uid, &source(), "").await
}

/// Records it with another source, for an owner with these labels and annotations, in short.
pub(crate) async fn record_from(
    ledger: &Ledger,
    uid: &str,
    source: &Artifact,
    metadata_digest: &str,
) -> OwnerLineage {
    let (state, derivations) = tell(source);
    let lineage = OwnerLineage {
        uid: uid.to_owned(),
        generation: 1,
        metadata_digest: metadata_digest.to_owned(),
        state,
        ..OwnerLineage::default()
    };
    let debug = Artifact::param("debug", &json!("on"));
    let change = Change {
        owner: &owner(uid),
        lineage: &lineage,
        derivations: &derivations,
        arrivals: &[Arrived {
            input: "param:debug".to_owned(),
            artifact: debug,
            live: false,
            generation: 1,
        }],
        time: now(),
    };
    ledger
        .lineage()
        .record(&change)
        .await
        .expect("it is recorded");
    lineage
}

fn tell(source: &Artifact) -> (State, Vec<Derivation>) {
    let resource = |name: &str, upstream: &[&str], reads: &[&str]| Resource {
        name: name.to_owned(),
        upstream: names(upstream),
        reads: names(reads),
        tracing: Tracing {
            trust: Trust::Declared,
            ..Tracing::default()
        },
        ..Resource::default()
    };
    let chain = Chain::new(vec![
        resource("source-cloner", &[], &[]),
        resource("image-builder", &["source-cloner"], &["param:debug"]),
    ]);
    let mut state = State::new(chain.expect("a chain"));
    let debug = Artifact::param("debug", &json!("on"));
    state.own(BTreeMap::from([("param:debug".to_owned(), debug.clone())]));
    let from = BTreeMap::from([
        (Origin::resource("source-cloner"), source.clone()),
        (Origin::owner("param:debug"), debug),
    ]);
    let made = [
        make(&mut state, "source-cloner", BTreeMap::new(), source),
        make(&mut state, "image-builder", from, &image()),
    ];
    (state, made.into())
}

fn make(
    state: &mut State,
    resource: &str,
    inputs: BTreeMap<Origin, Artifact>,
    output: &Artifact,
) -> Derivation {
    let template = Template {
        name: format!("ClusterTemplate/{resource}"),
        generation: Some(1),
    };
    let stamp = Stamp {
        template: template.clone(),
        uid: format!("uid-of-{resource}"),
        generation: Some(1),
        inputs,
        offered: BTreeSet::new(),
        applied: Applied::Elsewhere,
        rendered: None,
        time: now(),
    };
    let snapshot = Snapshot {
        template,
        uid: stamp.uid.clone(),
        generation: Some(1),
        observed: Some(1),
        condition_observed: None,
        health: Health::True,
        held: Some(true),
        matched: Some(BTreeSet::new()),
        failed: None,
        inputs_id: None,
        earlier: Vec::new(),
        output: Some(output.clone()),
        time: now(),
    };
    state.stamped(resource, stamp).expect("it is on the path");
    let made = state.seen(resource, &snapshot);
    let made = made.expect("it is on the path");
    made.expect("it is news").clone()
}

fn names(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

fn now() -> Timestamp {
    Timestamp::from_second(1_800_000_000).expect("a time")
}
