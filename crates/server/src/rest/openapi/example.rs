//! The examples of the OpenAPI document, as values, so that they cannot drift from the types.

use jiff::{SignedDuration, Timestamp};
use pathline_client::api::{
    Artifact, ArtifactEntry, Begin, Carrier, Change, Concerned, ConcernedOwner, ContainerPort,
    Contains, CreatedToken, Derivation, Edge, Made, MadeNow, Making, NewToken, ObjectLineage,
    ObjectName, Owner, OwnerInput, OwnerPage, OwnerRef, OwnerSummary, PathStep, Progress, Ready,
    RevisionState, RunningContainer, RunningObject, Scope, TemplateVersion, Token, TokenList, Use,
    WaitResult, WaitState,
};
use pathline_lineage as lineage;
use pathline_lineage::{Evidence, Kind, Origin};
use serde::Serialize;
use serde_json::json;

use super::tracker_example;

/// The repository that the workload writes to.
const MANIFESTS: &str = "https://git.example/web-manifests";

pub(crate) fn owner_page() -> OwnerPage {
    OwnerPage {
        items: vec![owner_summary()],
        next: None,
    }
}

/// The example of RFC 0014: an image that was built from a source.
pub(crate) fn owner() -> Owner {
    Owner {
        summary: owner_summary(),
        live: "True".to_owned(),
        live_generation: Some(2),
        nearest: None,
        lost_templates: Vec::new(),
        path: vec![
            step("source-cloner", "ClusterSourceTemplate", &[]),
            step("image-builder", "ClusterImageTemplate", &["source-cloner"]),
        ],
        inputs: vec![OwnerInput {
            name: "param:debug".to_owned(),
            artifact: Artifact::from(&lineage::Artifact::param("debug", &json!("on"))),
            arrived: true,
            mixed: false,
            unused: false,
            live: Some("True".to_owned()),
            missing: Vec::new(),
        }],
        outputs: vec![Made {
            artifact: image(),
            owner: None,
            evidence: None,
            offered: false,
            passed: vec!["image-builder".to_owned()],
            from: vec![Made {
                artifact: source(),
                owner: None,
                evidence: Some(Evidence::Generation),
                offered: false,
                passed: vec!["workload".to_owned(), "source-cloner".to_owned()],
                from: Vec::new(),
                cut: false,
            }],
            cut: false,
        }],
        lineage: vec![Derivation {
            resource: "image-builder".to_owned(),
            template: template(),
            uid: "6b0e6f3c-0a53-4d0e-9d0a-0b1f5b1f2a3c".to_owned(),
            generation: Some(3),
            output: Some(image()),
            commit: None,
            from: vec![edge()],
            time: time(),
        }],
    }
}

pub(crate) fn artifact_entry() -> ArtifactEntry {
    ArtifactEntry {
        artifact: image(),
        first_seen: time(),
        made: vec![Making {
            owner: owner_ref(),
            resource: "image-builder".to_owned(),
            template: template(),
            from: vec![edge()],
            current: true,
            since: time(),
            until: None,
        }],
        used: vec![Use {
            owner: owner_ref(),
            resource: "deployer".to_owned(),
            origin: Origin::resource("image-builder").to_string(),
            output: None,
            evidence: Evidence::Applied,
            current: true,
            since: time(),
            until: None,
        }],
        cut: false,
    }
}

pub(crate) fn contains() -> Contains {
    Contains {
        found: vec![source()],
        carriers: vec![
            Carrier {
                owner: delivery_ref(),
                resource: "run".to_owned(),
                artifact: Some(deployment()),
                object: Some(ObjectName {
                    kind: "Process".to_owned(),
                    api_version: Some("pathline.dev/v1alpha1".to_owned()),
                    namespace: Some("dev".to_owned()),
                    name: "web".to_owned(),
                }),
                ..carrier()
            },
            Carrier {
                resource: "manifest-writer".to_owned(),
                artifact: Some(commit()),
                ..carrier()
            },
            carrier(),
        ],
        next: None,
    }
}

fn carrier() -> Carrier {
    Carrier {
        owner: owner_ref(),
        resource: "image-builder".to_owned(),
        artifact: Some(image()),
        object: None,
        proven: true,
        current: true,
        since: time(),
        until: None,
    }
}

/// The delivery that runs what the workload wrote, and how that is known.
pub(crate) fn delivery() -> Owner {
    let mut workload = owner();
    let written = Made {
        artifact: commit(),
        owner: Some(owner_ref()),
        evidence: Some(Evidence::Git),
        offered: false,
        passed: vec!["manifest-writer".to_owned()],
        from: vec![Made {
            evidence: Some(Evidence::Applied),
            ..workload.outputs.remove(0)
        }],
        cut: false,
    };
    Owner {
        summary: OwnerSummary {
            owner: delivery_ref(),
            ..owner_summary()
        },
        path: vec![
            step("manifests", "ClusterSourceTemplate", &[]),
            step("run", "ClusterDeploymentTemplate", &["manifests"]),
        ],
        inputs: Vec::new(),
        outputs: vec![Made {
            artifact: deployment(),
            owner: None,
            evidence: None,
            offered: false,
            passed: vec!["run".to_owned()],
            from: vec![Made {
                artifact: manifests(),
                owner: None,
                evidence: Some(Evidence::Same),
                offered: false,
                passed: vec!["manifests".to_owned()],
                from: vec![written],
                cut: false,
            }],
            cut: false,
        }],
        lineage: Vec::new(),
        ..workload
    }
}

pub(crate) fn new_token() -> NewToken {
    NewToken {
        name: "ci".to_owned(),
        scope: Scope::Read,
        expires_in_seconds: Some(7_776_000),
    }
}

pub(crate) fn created_token() -> CreatedToken {
    CreatedToken {
        token: token(),
        secret: format!("pathline_{}", "0123456789abcdef".repeat(4)),
    }
}

pub(crate) fn token_list() -> TokenList {
    TokenList {
        items: vec![token(), revoked_token()],
    }
}

pub(crate) fn revoked_token() -> Token {
    Token {
        name: "laptop".to_owned(),
        revoked: Some(time()),
        ..token()
    }
}

/// The text of a stream, as it comes over the wire.
pub(crate) fn stream() -> String {
    let change = Change {
        sequence: 42,
        time: time(),
        owner: owner_ref(),
        made: vec![MadeNow {
            resource: "image-builder".to_owned(),
            artifact: Some(image().id),
        }],
        arrived: Vec::new(),
        gone: false,
    };
    let begin = Begin { sequence: 41 };
    [
        event("begin", begin.sequence, &begin),
        event("change", change.sequence, &change),
        event("tracker", 43, &tracker_example::tracker_event(43)),
        event("release", 44, &tracker_example::release_event(44)),
        event("move", 45, &tracker_example::move_event(45)),
        event("hold", 46, &tracker_example::hold_event(46)),
    ]
    .concat()
}

fn event(name: &str, id: i64, data: &impl Serialize) -> String {
    let data = serde_json::to_string(data).expect("the types of the API are JSON");
    format!("event: {name}\nid: {id}\ndata: {data}\n\n")
}

fn owner_summary() -> OwnerSummary {
    OwnerSummary {
        owner: owner_ref(),
        generation: 2,
        created: Some(time()),
        blueprint: Some(ObjectName {
            kind: "ClusterSupplyChain".to_owned(),
            api_version: Some("carto.run/v1alpha1".to_owned()),
            namespace: None,
            name: "source-to-image".to_owned(),
        }),
        ready: Some(ready()),
    }
}

fn owner_ref() -> OwnerRef {
    OwnerRef {
        kind: "Workload".to_owned(),
        namespace: "dev".to_owned(),
        name: "web".to_owned(),
        uid: "0f5e1b9c-5d38-4a5f-8b8e-3c9d7a1e2f40".to_owned(),
    }
}

fn delivery_ref() -> OwnerRef {
    OwnerRef {
        kind: "Deliverable".to_owned(),
        uid: "8a6d1f0e-93b2-4f3c-9a0c-52c5f3f1b7d1".to_owned(),
        ..owner_ref()
    }
}

fn step(resource: &str, template_kind: &str, inputs: &[&str]) -> PathStep {
    PathStep {
        resource: resource.to_owned(),
        state: "selected".to_owned(),
        option: None,
        template: Some(ObjectName {
            kind: template_kind.to_owned(),
            api_version: Some("carto.run/v1alpha1".to_owned()),
            namespace: None,
            name: resource.to_owned(),
        }),
        object: None,
        inputs: inputs.iter().map(|&name| name.to_owned()).collect(),
        reason: None,
        ready: Some(ready()),
    }
}

fn ready() -> Ready {
    Ready {
        status: "True".to_owned(),
        reason: "Ready".to_owned(),
        message: String::new(),
    }
}

fn token() -> Token {
    Token {
        name: "ci".to_owned(),
        scope: Scope::Read.to_string(),
        created: time(),
        expires: Some(time() + SignedDuration::from_hours(24 * 90)),
        last_used: None,
        revoked: None,
    }
}

fn image() -> Artifact {
    Artifact::from(&lineage::Artifact::value(Kind::Image, &json!("abc123")))
}

fn source() -> Artifact {
    let source = lineage::Artifact::source("https://git.example/web", Some("def567"));
    Artifact::from(&source)
}

/// A commit of the manifest repository, as the workload wrote it.
fn commit() -> Artifact {
    let commit = lineage::Artifact::source(MANIFESTS, Some("main@sha1:fed987"));
    Artifact::from(&commit)
}

/// The same commit, as it was fetched.
fn manifests() -> Artifact {
    let fetched = "http://source.example/web-manifests/fed987.tar.gz";
    let source = lineage::Artifact::source(fetched, Some("main@sha1:fed987"));
    Artifact::from(&source)
}

fn deployment() -> Artifact {
    let fetched = "http://source.example/web-manifests/fed987.tar.gz";
    let deployment = lineage::Artifact::deployment(fetched, Some("main@sha1:fed987"));
    Artifact::from(&deployment)
}

fn edge() -> Edge {
    Edge {
        origin: Origin::resource("source-cloner").to_string(),
        artifact: source(),
        evidence: Evidence::Generation,
        offered: false,
    }
}

fn template() -> TemplateVersion {
    TemplateVersion {
        name: "ClusterImageTemplate/image-builder".to_owned(),
        generation: Some(1),
    }
}

fn time() -> Timestamp {
    Timestamp::from_second(1_800_000_000).expect("a time in 2027")
}

/// A pod of a revision that is on its way out.
pub(crate) fn object_lineage() -> ObjectLineage {
    let object = |kind: &str, name: &str| ObjectName {
        kind: kind.to_owned(),
        api_version: Some(if kind == "Pod" { "v1" } else { "apps/v1" }.to_owned()),
        namespace: Some("dev".to_owned()),
        name: name.to_owned(),
    };
    ObjectLineage {
        object: object("Pod", "web-6b7f9c-x2xql"),
        above: vec![
            object("ReplicaSet", "web-6b7f9c"),
            object("Deployment", "web"),
        ],
        owner: owner_ref(),
        resource: "deployer".to_owned(),
        revision: RevisionState::Older,
        why: None,
        made: owner().outputs.pop(),
        rollout: Some("1 of 2 pods are ready".to_owned()),
    }
}

/// Somebody has waited for debug, and it runs.
pub(crate) fn waited() -> WaitResult {
    WaitResult {
        state: WaitState::Holds,
        generation: 2,
        id: "2-1".to_owned(),
        progress: vec![Progress {
            wait_for: "param:debug=on".to_owned(),
            input: "param:debug".to_owned(),
            value: "on".to_owned(),
            reached: vec!["image-builder".to_owned(), "deployer".to_owned()],
            at_work: None,
            deliverables: Vec::new(),
            missing: Vec::new(),
        }],
        impossible: None,
        missing_proof: Vec::new(),
        notes: Vec::new(),
        running: vec![running_pod()],
    }
}

fn running_pod() -> RunningObject {
    RunningObject {
        kind: "Pod".to_owned(),
        namespace: "dev".to_owned(),
        name: "web-6b7f9c-x2xql".to_owned(),
        containers: vec![RunningContainer {
            name: "web".to_owned(),
            image: "registry.example/web@sha256:5f70bf18".to_owned(),
            ports: vec![ContainerPort {
                port: 8080,
                protocol: "TCP".to_owned(),
                name: Some("http".to_owned()),
            }],
        }],
        node: Some("node-1".to_owned()),
        pod_ip: Some("10.0.0.7".to_owned()),
        ..RunningObject::default()
    }
}

/// A template concerns two workloads, of which one has been reconciled with it.
pub(crate) fn concerned() -> Concerned {
    let owner = |name: &str, missing: &[&str]| ConcernedOwner {
        kind: "workload".to_owned(),
        namespace: "dev".to_owned(),
        name: name.to_owned(),
        missing: missing.iter().map(|&it| it.to_owned()).collect(),
        failed: Vec::new(),
    };
    let missing = "generation 2 of ClusterTemplate/run has not been observed yet, only 1";
    Concerned::of(vec![owner("shop", &[missing]), owner("web", &[])])
}
