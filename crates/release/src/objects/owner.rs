//! The owner: the Workload or Deliverable of an application in an environment.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::effective::Effective;
use super::names::tracker_label;
use super::volumes::Volumes;
use super::{Deployed, InvalidObjects, MAX_OBJECT, RELEASE, RELEASE_ID, TRACKER};
use crate::environment::OwnerKind;
use crate::owner_name::owner_name;

/// Returns the owner, with variables and with what is mounted.
pub(super) fn owner(
    of: &Deployed<'_>,
    effective: &Effective,
    env: Vec<Value>,
    mounted: Vec<Value>,
) -> Result<Value, InvalidObjects> {
    let settings = &of.environment.owner;
    let image = &of.release.image;
    let image = format!("{}@{}", image.repository, image.digest);
    let mut spec = Map::new();
    let mut params = Vec::new();
    let mut param = |name: &str, value: Value| params.push(json!({"name": name, "value": value}));
    match settings.kind {
        OwnerKind::Workload => {
            spec.insert("image".to_owned(), image.into());
            // Also without any: a template cannot read what is not there.
            spec.insert("env".to_owned(), env.into());
            let resources = resources(&effective.public);
            spec.extend(resources.map(|it| ("resources".to_owned(), it)));
        }
        OwnerKind::Deliverable => {
            param("image", image.into());
            // It has no field for them, and a secret is not part of `config`.
            param("env", env.into());
        }
    }
    param("config", effective.public.clone());
    param("release", release(of));
    let Volumes { volumes, mounts } = Volumes::of(&mounted);
    param("configMaps", mounted.into());
    param("volumes", volumes.into());
    param("volumeMounts", mounts.into());
    if let Some(port) = port(&effective.public) {
        param("port", port.into());
    }
    spec.insert("params".to_owned(), params.into());
    let account = settings.service_account_name.as_deref();
    spec.extend(account.map(|it| ("serviceAccountName".to_owned(), it.into())));
    let owner = json!({
        "apiVersion": "carto.run/v1alpha1",
        "kind": settings.kind.as_str(),
        "metadata": metadata(of),
        "spec": spec,
    });
    match owner.to_string().len() {
        size if size > MAX_OBJECT => Err(InvalidObjects::OwnerTooLarge {
            kind: settings.kind.as_str(),
            size,
        }),
        _ => Ok(owner),
    }
}

fn metadata(of: &Deployed<'_>) -> Value {
    let mut labels = of.environment.owner.labels.clone();
    labels.extend([
        (
            "app.kubernetes.io/name".to_owned(),
            of.tracker.name().to_owned(),
        ),
        (TRACKER.to_owned(), tracker_label(of.tracker)),
    ]);
    let annotations: BTreeMap<&str, String> = BTreeMap::from([
        (TRACKER, of.tracker.to_string()),
        ("pathline.dev/tracker-uid", of.tracker_uid.to_owned()),
        (RELEASE, of.release.number.to_string()),
        (RELEASE_ID, of.id.to_owned()),
        (
            "pathline.dev/commit",
            of.release.configuration.commit.clone(),
        ),
        (
            "pathline.dev/environment",
            of.environment.environment.name.clone(),
        ),
    ]);
    json!({
        "name": owner_name(of.tracker),
        "namespace": of.environment.namespace,
        "labels": labels,
        "annotations": annotations,
    })
}

fn release(of: &Deployed<'_>) -> Value {
    let mut release = json!({
        "number": of.release.number,
        "id": of.id,
        "tag": of.release.image.tag,
        "commit": of.release.configuration.commit,
    });
    if let Some(revision) = of.revision {
        release["revision"] = revision.into();
    }
    // Another value than before, so that what has failed is started again.
    if of.attempt > 0 {
        release["attempt"] = of.attempt.into();
    }
    release
}

/// Returns the port that the application says it listens on. Where a port is wanted, Kubernetes takes numbers alone, and
/// variables are texts.
fn port(config: &Value) -> Option<u16> {
    let port = config.pointer("/environment/variable/PORT")?;
    let port = super::content::text_of(port).parse().ok();
    port.filter(|it| *it > 0)
}

/// Returns the resources as Kubernetes has them.
fn resources(config: &Value) -> Option<Value> {
    let mut resources = Map::new();
    for (bound, name) in [("min", "requests"), ("max", "limits")] {
        let amounts = config.pointer(&format!("/resource/{bound}"));
        let amount = |key: &str| {
            amounts
                .and_then(|it| it.get(key))
                .filter(|it| !it.is_null())
        };
        let mut of_bound = Map::new();
        if let Some(cpu) = amount("cpu") {
            let cpu = match cpu.as_u64() {
                Some(thousandths) => format!("{thousandths}m"),
                None => super::content::text_of(cpu),
            };
            of_bound.insert("cpu".to_owned(), cpu.into());
        }
        if let Some(memory) = amount("memory") {
            let memory = super::content::text_of(memory);
            of_bound.insert("memory".to_owned(), memory.into());
        }
        if !of_bound.is_empty() {
            resources.insert(name.to_owned(), of_bound.into());
        }
    }
    (!resources.is_empty()).then(|| resources.into())
}
