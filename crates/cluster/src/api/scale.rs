//! The `scale` subresource: the number of replicas, without the rest of the object.

use std::borrow::Cow;

use http::StatusCode;
use serde_json::{Value, json};

use super::Api;
use super::call::{Call, Reply, Verb};
use super::create::edit;
use super::edit::Replacement;
use super::options::WriteOptions;
use super::resource::Scale;
use super::update::patched;
use crate::schema::FieldError;
use crate::schema::strict::Document;
use crate::status::{Status, Subject};

/// The number of times that a change is computed anew when someone else was faster.
const ATTEMPTS: usize = 32;

impl Api {
    /// Answers a request on `scale`.
    pub(super) async fn scale(&self, call: &Call) -> Result<Reply, Status> {
        let scale = call
            .resource
            .scale
            .as_ref()
            .ok_or_else(Status::no_such_resource)?;
        let options = match call.verb {
            Verb::Get => {
                let stored = self
                    .store
                    .get(&call.key())
                    .ok_or_else(|| call.not_found())?;
                return Ok(Reply::ok(shown(scale, &call.resource.present(&stored))));
            }
            Verb::Update => WriteOptions::parse(&call.query, &call.headers, "UpdateOptions")?,
            Verb::Patch => WriteOptions::parse(&call.query, &call.headers, "PatchOptions")?,
            _ => return Err(Status::method_not_allowed()),
        };
        for _ in 0..ATTEMPTS {
            let current = self
                .store
                .get(&call.key())
                .ok_or_else(|| call.not_found())?;
            let old = call.resource.present(&current);
            let wanted = match call.verb {
                Verb::Update => call.payload.object("Scale")?.value,
                _ => patched(call, &shown(scale, &old))?,
            };
            let object = scaled(scale, &old, &wanted, &call.name)?;
            let document = Document {
                value: object,
                duplicates: Vec::new(),
            };
            let prepared = edit(call, &options).replace(&old, Replacement::Body(document))?;
            if options.dry_run {
                return Ok(Reply::ok(shown(scale, &prepared.object)));
            }
            let object = call.resource.to_stored(prepared.object);
            if let Some(stored) = self.replace(&call.resource, &current, object).await? {
                let body = shown(scale, &call.resource.present(&stored));
                return Ok(Reply {
                    code: StatusCode::OK,
                    body,
                    warnings: Vec::new(),
                });
            }
        }
        Err(Status::modified(call.resource.subject(), &call.name))
    }
}

/// Returns the object with the replicas that a Scale asks for.
fn scaled(scale: &Scale, old: &Value, wanted: &Value, name: &str) -> Result<Value, Status> {
    let subject = Subject {
        group: "autoscaling",
        resource: "Scale",
    };
    let replicas = &wanted["spec"]["replicas"];
    let replicas = if replicas.is_null() {
        json!(0)
    } else {
        replicas.clone()
    };
    if replicas.as_i64().is_none_or(|replicas| replicas < 0) {
        let detail = "must be greater than or equal to 0";
        let error = FieldError::invalid("spec.replicas", &replicas, detail);
        return Err(Status::invalid(subject, name, &[error]));
    }
    let mut object = old.clone();
    let mut place = &mut object;
    for step in &scale.spec_replicas {
        if !place.is_object() {
            *place = json!({});
        }
        place = &mut place[step.as_str()];
    }
    *place = replicas;
    let version = &wanted["metadata"]["resourceVersion"];
    if version.as_str().is_some_and(|version| !version.is_empty()) {
        object["metadata"]["resourceVersion"] = version.clone();
    }
    Ok(object)
}

fn shown(scale: &Scale, object: &Value) -> Value {
    let metadata = [
        "name",
        "namespace",
        "uid",
        "resourceVersion",
        "creationTimestamp",
    ];
    let metadata = metadata.iter().filter_map(|key| {
        let value = object["metadata"].get(key)?;
        Some(((*key).to_owned(), value.clone()))
    });
    let mut shown = json!({
        "kind": "Scale",
        "apiVersion": "autoscaling/v1",
        "metadata": Value::Object(metadata.collect()),
        "spec": {},
        "status": {"replicas": at(object, &scale.status_replicas).as_i64().unwrap_or(0)},
    });
    if let Some(replicas) = at(object, &scale.spec_replicas).as_i64() {
        shown["spec"]["replicas"] = replicas.into();
    }
    let selector = scale
        .selector
        .as_ref()
        .map(|path| selector_text(at(object, path)));
    if let Some(selector) = selector.filter(|text| !text.is_empty()) {
        shown["status"]["selector"] = selector.into_owned().into();
    }
    shown
}

/// Shows a selector, which custom resources keep as text and built-in kinds as an object.
fn selector_text(selector: &Value) -> Cow<'_, str> {
    if let Some(text) = selector.as_str() {
        return Cow::Borrowed(text);
    }
    let labels = selector["matchLabels"].as_object().into_iter().flatten();
    let labels: Vec<String> = labels
        .map(|(key, value)| format!("{key}={}", value.as_str().unwrap_or_default()))
        .collect();
    Cow::Owned(labels.join(","))
}

fn at<'v>(object: &'v Value, path: &[String]) -> &'v Value {
    path.iter()
        .fold(object, |value, step| &value[step.as_str()])
}
