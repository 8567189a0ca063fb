//! Knative services.
//!
//! A revision that is ready has run; while nobody calls it there may be no pod, and the next call
//! starts one of exactly that revision.

use std::collections::BTreeMap;

use serde_json::Value;

use super::Stage;
use super::below::Below;
use super::images;
use super::object::Object;
use super::pod::Container;
use super::pods::Group;
use super::uses::Uses;

pub(super) fn service(object: &Object, below: &Below, wanted: &[String]) -> Stage {
    if !object.has_observed() {
        return Stage::progressing("its generation has not been observed yet");
    }
    let ready = object.condition("Ready");
    match ready.map(|it| it.status) {
        Some("True") => {}
        // Knative says Unknown while it works on it; what is False takes a change.
        Some("False") => return Stage::failed(ready.map(|it| it.message_of()).unwrap_or_default()),
        _ => return Stage::progressing("it is not ready yet"),
    }
    let newest = object.text("/latestCreatedRevisionName");
    if newest.is_empty() || object.text("/latestReadyRevisionName") != newest {
        return Stage::progressing(format!("revision `{newest}` is not ready yet"));
    }
    let traffic = object.status("/traffic").and_then(Value::as_array);
    let elsewhere = traffic.into_iter().flatten().find(|it| {
        let percent = it["percent"].as_i64().unwrap_or_default();
        percent > 0 && it["revisionName"] != newest
    });
    if let Some(elsewhere) = elsewhere {
        let revision = elsewhere["revisionName"].as_str().unwrap_or_default();
        return Stage::progressing(format!("revision `{revision}` still gets calls"));
    }
    let revisions = below
        .controlled_by(&object.uid)
        .flat_map(|it| below.controlled_by(&it.uid));
    let revisions = revisions.filter(|it| it.kind == "Revision");
    let (new, old): (Vec<_>, Vec<_>) = revisions.partition(|it| it.name == newest);
    let left: usize = old
        .iter()
        .flat_map(|it| below.pods_below(&it.uid))
        .map(|it| it.total)
        .sum();
    if left > 0 {
        return Stage::progressing(format!("{left} old pods are still there"));
    }
    let Some(new) = new.first() else {
        return Stage::progressing(format!("revision `{newest}` has not been seen yet"));
    };
    let crash = below.pods_below(&new.uid);
    if let Some(reason) = crash.iter().find_map(|it| below.pods().crash(it)) {
        return Stage::failed(reason);
    }
    let missing = images::missing(wanted, &object.images, &resolved(new));
    missing.map_or(Stage::Done, Stage::progressing)
}

/// Returns what a revision says that its containers run.
fn resolved(revision: &Object) -> Group {
    let statuses = revision
        .status("/containerStatuses")
        .and_then(Value::as_array);
    let digests = statuses.into_iter().flatten();
    let digests = digests.filter_map(|it| it["imageDigest"].as_str());
    let containers = digests.map(|digest| Container {
        image: digest.to_owned(),
        image_id: digest.to_owned(),
    });
    Group {
        controller: revision.uid.clone(),
        revision: revision.name.clone(),
        labels: BTreeMap::new(),
        containers: containers.collect(),
        uses: Uses::default(),
        total: 0,
        ready: 0,
        crashing: 0,
    }
}
