//! Deleting objects, one or many.

use std::borrow::Cow;
use std::sync::Arc;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::Api;
use super::call::{Call, Reply};
use super::definition;
use super::options::{ListOptions, parse_dry_run};
use super::read::Filter;
use super::registry::DEFINITIONS_GROUP;
use super::resource::Resource;
use crate::deletion::{self, Deletion, Outcome, Propagation};
use crate::schema::FieldError;
use crate::status::{self, Status, Subject};
use crate::store::{Change, Stored};

/// The number of times that a delete is decided anew when someone else was faster.
const ATTEMPTS: usize = 32;

/// The namespaces that a cluster cannot do without.
const PERMANENT: [&str; 3] = ["default", "kube-public", "kube-system"];

/// The options that a delete is asked for with.
#[derive(Debug, Clone, Default)]
struct Options {
    how: Deletion,
    dry_run: bool,
    uid: Option<String>,
    resource_version: Option<String>,
}

/// The result of a delete.
struct Deleted {
    object: Value,
    gone: bool,
}

impl Api {
    /// Answers a DELETE of one object.
    pub(super) async fn delete(&self, call: &Call) -> Result<Reply, Status> {
        let options = Options::parse(call)?;
        let resource = &call.resource;
        if resource.is_built_in("", "Namespace") && PERMANENT.contains(&call.name.as_str()) {
            let why = "this namespace may not be deleted";
            return Err(Status::forbidden(resource.subject(), &call.name, why));
        }
        let current = self
            .store
            .get(&call.key())
            .ok_or_else(|| call.not_found())?;
        let deleted = self.delete_stored(resource, current, &options).await?;
        let deleted = deleted.ok_or_else(|| call.not_found())?;
        if deleted.gone && !resource.rules.answers_deletes_with_object {
            let uid = deleted.object["metadata"]["uid"]
                .as_str()
                .unwrap_or_default();
            return Ok(Reply::ok(status::deleted(
                resource.subject(),
                &call.name,
                uid,
            )));
        }
        Ok(Reply::ok(call.view().object(Cow::Owned(deleted.object))))
    }

    /// Answers a DELETE of a collection.
    pub(super) async fn delete_collection(&self, call: &Call) -> Result<Reply, Status> {
        let options = Options::parse(call)?;
        let list = ListOptions::parse(&call.query)?;
        let filter = Filter::new(&call.resource, &list)?;
        let snapshot = self
            .store
            .list(&call.resource.collection, call.listed_namespace());
        let mut deleted = Vec::new();
        for stored in snapshot
            .items
            .into_iter()
            .filter(|stored| filter.matches(stored))
        {
            if let Some(one) = self.delete_stored(&call.resource, stored, &options).await? {
                deleted.push(Cow::Owned(one.object));
            }
        }
        let revision = self.store.revision().to_string();
        Ok(Reply::ok(
            call.view()
                .list(&deleted, &json!({"resourceVersion": revision})),
        ))
    }

    /// Deletes an object that was seen at `current`; `None` if it has gone in the meantime.
    async fn delete_stored(
        &self,
        resource: &Resource,
        mut current: Arc<Stored>,
        options: &Options,
    ) -> Result<Option<Deleted>, Status> {
        for _ in 0..ATTEMPTS {
            options.check_preconditions(resource, &current)?;
            let outcome = decide(resource, current.object(), options.how, self.clock.now());
            let gone = matches!(outcome, Outcome::Remove(_));
            let Some(change) = outcome.into_change() else {
                let object = resource.present(&current).into_owned();
                return Ok(Some(Deleted {
                    object,
                    gone: false,
                }));
            };
            if options.dry_run {
                let (Change::Put(object) | Change::Remove(object)) = change;
                return Ok(Some(Deleted { object, gone }));
            }
            if let Some(stored) = self.write_over(resource, &current, change).await? {
                let object = resource.present(&stored).into_owned();
                return Ok(Some(Deleted { object, gone }));
            }
            match self.store.get(&current.key) {
                Some(newer) => current = newer,
                None => return Ok(None),
            }
        }
        Err(Status::modified(resource.subject(), &current.key.name))
    }

    /// Deletes every object of a kind, or marks it where a finalizer holds it.
    pub(super) async fn delete_all(&self, resource: &Resource) -> Result<(), Status> {
        for stored in self.store.list(&resource.collection, None).items {
            self.delete_stored(resource, stored, &Options::default())
                .await?;
        }
        Ok(())
    }
}

/// Decides what deleting `object` does. A definition waits for its objects.
fn decide(resource: &Resource, object: &Value, how: Deletion, now: Timestamp) -> Outcome {
    let how = match how.propagation {
        None if resource.rules.orphans_by_default => Deletion {
            propagation: Some(Propagation::Orphan),
            ..how
        },
        _ => how,
    };
    if !resource.is_built_in(DEFINITIONS_GROUP, "CustomResourceDefinition") {
        return deletion::delete(object, how, now);
    }
    let held = definition::hold_for_cleanup(object, now);
    match deletion::delete(&held, how, now) {
        Outcome::Mark(mut marked) => {
            // The end of a definition is no new generation of it, and has no period of grace.
            if let Some(metadata) = marked["metadata"].as_object_mut() {
                metadata.remove("deletionGracePeriodSeconds");
                metadata.insert(
                    "generation".to_owned(),
                    object["metadata"]["generation"].clone(),
                );
            }
            Outcome::Mark(marked)
        }
        other => other,
    }
}

impl Options {
    /// Reads the options from the body, or from the query where there is no body.
    fn parse(call: &Call) -> Result<Self, Status> {
        let body = call.payload.delete_options()?;
        let text = |key: &str| {
            let in_body = body[key].as_str().filter(|text| !text.is_empty());
            in_body.or_else(|| call.query.text(key)).map(str::to_owned)
        };
        let mut errors = Vec::new();
        let in_body = body["dryRun"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str);
        let dry_run = parse_dry_run(in_body.chain(call.query.all("dryRun")), &mut errors);
        let policy = text("propagationPolicy");
        let orphan = body["orphanDependents"].as_bool();
        let propagation = parse_policy(policy.as_deref(), orphan, &mut errors);
        if !errors.is_empty() {
            return Err(Status::invalid_options("DeleteOptions", &errors));
        }
        let grace = body["gracePeriodSeconds"].as_i64();
        let grace_seconds = grace.or(call.query.number("gracePeriodSeconds")?);
        let expected = |key: &str| body["preconditions"][key].as_str().map(str::to_owned);
        Ok(Self {
            how: Deletion {
                propagation,
                grace_seconds,
            },
            dry_run,
            uid: expected("uid"),
            resource_version: expected("resourceVersion"),
        })
    }

    fn check_preconditions(&self, resource: &Resource, current: &Stored) -> Result<(), Status> {
        let subject = Subject {
            group: &resource.group,
            resource: &resource.kind,
        };
        let name = &current.key.name;
        if let Some(uid) = self.uid.as_deref().filter(|uid| *uid != current.uid()) {
            let why = format!(
                "the UID in the precondition ({uid}) does not match the UID in record ({}). The \
                 object might have been deleted and then recreated",
                current.uid()
            );
            return Err(Status::conflict(subject, name, &why));
        }
        let revision = current.revision.to_string();
        if let Some(version) = self
            .resource_version
            .as_deref()
            .filter(|it| **it != revision)
        {
            let why = format!(
                "the ResourceVersion in the precondition ({version}) does not match the \
                 ResourceVersion in record ({revision}). The object might have been modified"
            );
            return Err(Status::conflict(subject, name, &why));
        }
        Ok(())
    }
}

fn parse_policy(
    policy: Option<&str>,
    orphan: Option<bool>,
    errors: &mut Vec<FieldError>,
) -> Option<Propagation> {
    let field = "propagationPolicy";
    if let (Some(policy), Some(_)) = (policy, orphan) {
        let detail = "orphanDependents and deletionPropagation cannot be both set";
        errors.push(FieldError::invalid(field, &policy.into(), detail));
    }
    match (policy, orphan) {
        (Some("Background"), _) | (None, Some(false)) => Some(Propagation::Background),
        (Some("Foreground"), _) => Some(Propagation::Foreground),
        (Some("Orphan"), _) | (None, Some(true)) => Some(Propagation::Orphan),
        (None, None) => None,
        (Some(other), _) => {
            let allowed = ["Foreground", "Background", "Orphan", "nil"].map(Value::from);
            errors.push(FieldError::not_supported(field, &other.into(), &allowed));
            None
        }
    }
}
