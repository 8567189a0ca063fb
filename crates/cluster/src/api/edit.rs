//! The steps that an object takes between the request and the store.
//!
//! An [`Edit`] is one attempt at a write, from a state that was read: it decides the new state and
//! touches nothing, so that it can be repeated when the store refuses because someone was faster.

mod admit;
mod apply;
#[cfg(test)]
mod tests;

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::call::rfc3339;
use super::identity;
use super::metadata;
use super::options::{Validation, WriteOptions};
use super::resource::Resource;
use crate::managed::{self, Writer};
use crate::names::{self, NameRule};
use crate::schema::strict::Document;
use crate::schema::{ErrorKind, FieldError};
use crate::status::Status;

/// The metadata that the server alone writes.
const SYSTEM_METADATA: [&str; 6] = [
    "uid",
    "creationTimestamp",
    "generation",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "selfLink",
];

/// A write to one object.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Edit<'a> {
    /// The kind of the object.
    pub(crate) resource: &'a Resource,
    /// Its namespace, empty for none.
    pub(crate) namespace: &'a str,
    /// Its name, empty if the body has to say it.
    pub(crate) name: &'a str,
    /// The subresource that the write goes to, if it is not the object itself.
    pub(crate) subresource: Option<&'a str>,
    /// The options of the request.
    pub(crate) options: &'a WriteOptions,
    /// The time of the edit.
    pub(crate) now: Timestamp,
}

/// The object that an update puts in place of another, and how it was made.
#[derive(Debug, Clone)]
pub(crate) enum Replacement {
    /// A whole object from a body.
    Body(Document),
    /// A patched object.
    Patched(Value),
}

/// A new state that keeps all the rules.
#[derive(Debug)]
pub(crate) struct Prepared {
    /// The state.
    pub(crate) object: Value,
    /// The warnings for the client.
    pub(crate) warnings: Vec<String>,
}

impl Edit<'_> {
    /// Makes a new object from a body.
    pub(crate) fn create(self, document: Document) -> Result<Prepared, Status> {
        let Document {
            value: mut object,
            duplicates,
        } = document;
        identity::check_type(self.resource, &mut object)?;
        let warnings = self.prune(&mut object, &duplicates)?;
        identity::settle_namespace(self.resource, self.namespace, &mut object)?;
        if !self.name.is_empty() {
            identity::settle_name(self.name, &mut object)?;
        }
        self.generate_name(&mut object);
        self.start(&mut object)?;
        tidy_metadata(&mut object);
        self.resource.schema.fill_defaults(&mut object);
        let object = managed::update(&self.resource.schema, None, object, &self.writer());
        self.check(None, &object)?;
        Ok(Prepared { object, warnings })
    }

    /// Makes the new state of an object that exists.
    pub(crate) fn replace(self, old: &Value, new: Replacement) -> Result<Prepared, Status> {
        match new {
            Replacement::Body(document) => self.update(old, document, false),
            Replacement::Patched(value) => {
                let sent = value.to_string();
                let document = Document {
                    value,
                    duplicates: Vec::new(),
                };
                let updated = self.update(old, document, true);
                updated.map_err(|status| status.blame_patch(&sent))
            }
        }
    }

    fn update(self, old: &Value, document: Document, patched: bool) -> Result<Prepared, Status> {
        let Document {
            value: mut object,
            duplicates,
        } = document;
        identity::check_type(self.resource, &mut object)?;
        let warnings = self.prune(&mut object, &duplicates)?;
        identity::settle_namespace(self.resource, self.namespace, &mut object)?;
        identity::settle_name(self.name, &mut object)?;
        self.check_version(old, &object, patched)?;
        self.inherit(old, &mut object, patched);
        admit::on_update(self.resource, &mut object);
        tidy_metadata(&mut object);
        self.resource.schema.fill_defaults(&mut object);
        self.count_generation(old, &mut object);
        let mut object = managed::update(&self.resource.schema, Some(old), object, &self.writer());
        self.check(Some(old), &object)?;
        managed::keep_times_of_idle_write(old, &mut object);
        Ok(Prepared { object, warnings })
    }

    fn writer(self) -> Writer {
        Writer {
            manager: self.options.manager.clone(),
            subresource: self.subresource.map(str::to_owned),
            api_version: self.resource.api_version(),
            time: self.now,
            has_status: self.resource.has_status,
        }
    }

    fn is_status(self) -> bool {
        self.subresource == Some("status")
    }
}

/// Fields that the schema does not know
impl Edit<'_> {
    fn prune(self, object: &mut Value, duplicates: &[String]) -> Result<Vec<String>, Status> {
        let unknown = self.unknown_fields(object, duplicates);
        self.judge_unknown(unknown)
    }

    fn unknown_fields(self, object: &mut Value, duplicates: &[String]) -> Vec<String> {
        let twice = duplicates
            .iter()
            .map(|path| format!("duplicate field {path:?}"));
        let unknown = self.resource.schema.prune(object);
        let unknown = unknown.iter().map(|path| format!("unknown field {path:?}"));
        let mut found: Vec<String> = unknown.chain(twice).collect();
        // A real server decodes the metadata before it looks at the rest.
        found.sort_by_key(|problem| !problem.contains("\"metadata."));
        found
    }

    fn judge_unknown(self, found: Vec<String>) -> Result<Vec<String>, Status> {
        match self.options.validation {
            Validation::Ignore => Ok(Vec::new()),
            Validation::Warn => Ok(found),
            Validation::Strict if found.is_empty() => Ok(found),
            Validation::Strict => {
                let why = format!("strict decoding error: {}", found.join(", "));
                Err(self.unreadable(&why))
            }
        }
    }

    fn unreadable(self, why: &str) -> Status {
        let (kind, version) = (&self.resource.kind, &self.resource.version);
        Status::undecodable(kind, version, kind, why)
    }
}

/// Writes of the server itself
impl Edit<'_> {
    fn generate_name(self, object: &mut Value) {
        let metadata = &mut object["metadata"];
        let has_name = metadata["name"]
            .as_str()
            .is_some_and(|name| !name.is_empty());
        if let (false, Some(prefix)) = (has_name, metadata["generateName"].as_str())
            && !prefix.is_empty()
        {
            let entropy = uuid::Uuid::new_v4().as_u64_pair().0;
            metadata["name"] = names::generate(prefix, entropy).into();
        }
    }

    /// Gives a new object the metadata and status it starts with.
    fn start(self, object: &mut Value) -> Result<(), Status> {
        let metadata = metadata_mut(object);
        let version = metadata.remove("resourceVersion");
        if version.is_some_and(|version| !matches!(version.as_str(), Some("" | "0"))) {
            let message = "resourceVersion should not be set on objects to be created";
            return Err(Status::unclassified(message));
        }
        for key in SYSTEM_METADATA {
            metadata.remove(key);
        }
        metadata.insert("uid".to_owned(), uuid::Uuid::new_v4().to_string().into());
        metadata.insert("creationTimestamp".to_owned(), rfc3339(self.now).into());
        if self.resource.has_generation {
            metadata.insert("generation".to_owned(), 1.into());
        }
        if self.resource.has_status
            && let Some(fields) = object.as_object_mut()
        {
            fields.remove("status");
        }
        admit::on_create(self.resource, object);
        Ok(())
    }

    /// Gives an updated object what this endpoint cannot change.
    fn inherit(self, old: &Value, object: &mut Value, patched: bool) {
        if self.is_status() {
            let status = object["status"].take();
            let managed = object["metadata"]["managedFields"].take();
            let mut whole = old.clone();
            set_or_remove(&mut whole, "status", status);
            set_or_remove(&mut whole["metadata"], "managedFields", managed);
            *object = whole;
            return;
        }
        if self.resource.has_status {
            set_or_remove(object, "status", old["status"].clone());
        }
        if self.resource.is_built_in("", "Namespace") && self.subresource != Some("finalize") {
            set_or_remove(object, "spec", old["spec"].clone());
        }
        // A patch that changes the uid is told so; a replaced object takes the one that is there.
        let kept = SYSTEM_METADATA
            .iter()
            .filter(|key| !patched || **key != "uid");
        for key in kept {
            set_or_remove(&mut object["metadata"], key, old["metadata"][key].clone());
        }
        let version = old["metadata"]["resourceVersion"].clone();
        set_or_remove(&mut object["metadata"], "resourceVersion", version);
    }

    fn count_generation(self, old: &Value, object: &mut Value) {
        if !self.resource.has_generation || self.is_status() {
            return;
        }
        if self.wanted(old) != self.wanted(object) {
            let generation = old["metadata"]["generation"].as_i64().unwrap_or(0);
            object["metadata"]["generation"] = (generation + 1).into();
        }
    }

    /// Returns the part of an object that says what is wanted.
    fn wanted(self, object: &Value) -> Vec<(&String, &Value)> {
        let not_wanted = |key: &str| {
            matches!(key, "metadata" | "apiVersion" | "kind")
                || (key == "status" && self.resource.has_status)
        };
        let fields = object.as_object().into_iter().flatten();
        let mut wanted: Vec<_> = fields.filter(|(key, _)| !not_wanted(key)).collect();
        wanted.sort_by_key(|(key, _)| key.as_str());
        wanted
    }
}

/// Rules
impl Edit<'_> {
    /// Refuses an update made from another state, or of another object, than the current one.
    fn check_version(self, old: &Value, object: &Value, patched: bool) -> Result<(), Status> {
        let subject = self.resource.subject();
        let version = object["metadata"]["resourceVersion"]
            .as_str()
            .unwrap_or_default();
        if matches!(version, "" | "0") {
            if !patched && !self.resource.rules.unconditional_update {
                let detail = "must be specified for an update";
                let error = FieldError::invalid("metadata.resourceVersion", &json!(0), detail);
                return Err(Status::invalid(subject, self.name, &[error]));
            }
        } else if version.parse::<u64>().is_err() {
            let message = format!("strconv.ParseUint: parsing {version:?}: invalid syntax");
            return Err(Status::unclassified(message));
        } else if version != old["metadata"]["resourceVersion"] {
            return Err(Status::modified(subject, self.name));
        }
        let uid = object["metadata"]["uid"].as_str().unwrap_or_default();
        let old_uid = old["metadata"]["uid"].as_str().unwrap_or_default();
        if !patched && !uid.is_empty() && uid != old_uid {
            let why = format!(
                "Precondition failed: UID in precondition: {uid}, UID in object meta: {old_uid}"
            );
            return Err(Status::conflict(subject, self.name, &why));
        }
        Ok(())
    }

    /// Refuses an object that breaks a rule of all objects, of its schema, or of its kind.
    fn check(self, old: Option<&Value>, object: &Value) -> Result<(), Status> {
        let resource = self.resource;
        let rule = NameRule::of(&resource.group, &resource.kind);
        let of_schema = resource.schema.validate(object);
        if let Some(error) = of_schema.iter().find(|error| self.is_unreadable(error)) {
            return Err(self.unreadable(&error.to_string()));
        }
        let mut errors = names::validate_metadata(&object["metadata"], resource.namespaced, rule);
        errors.extend(
            old.into_iter()
                .flat_map(|old| metadata::check_update(old, object)),
        );
        errors.extend(admit::check(resource, old, object));
        errors.extend(self.new_schema_errors(old, of_schema));
        if errors.is_empty() {
            return Ok(());
        }
        let name = object["metadata"]["name"].as_str().unwrap_or_default();
        Err(Status::invalid(resource.kind_subject(), name, &errors))
    }

    /// Leaves out what other rules tell better, and what was wrong before: a schema may become
    /// stricter, and must not lock out the objects that are there.
    fn new_schema_errors(self, old: Option<&Value>, found: Vec<FieldError>) -> Vec<FieldError> {
        let ratchets = self.resource.is_custom() && !found.is_empty();
        let known = old
            .filter(|_| ratchets)
            .map(|old| self.resource.schema.validate(old));
        let known = known.unwrap_or_default();
        let told_better = |error: &FieldError| {
            error.path.starts_with("metadata") || admit::checks_required_fields(self.resource)
        };
        let found = found.into_iter().filter(|error| {
            !(known.contains(error) || error.kind == ErrorKind::Required && told_better(error))
        });
        found.collect()
    }

    /// A value of the wrong type where a real server decodes into Go types is no object of the
    /// kind at all, rather than an invalid one.
    fn is_unreadable(self, error: &FieldError) -> bool {
        error.kind == ErrorKind::TypeInvalid
            && (!self.resource.is_custom() || error.path.starts_with("metadata"))
    }
}

fn metadata_mut(object: &mut Value) -> &mut Map<String, Value> {
    object["metadata"]
        .as_object_mut()
        .expect("check_type has made it an object")
}

/// Drops empty maps and lists, which metadata does not have on a real server.
fn tidy_metadata(object: &mut Value) {
    const COLLECTIONS: [&str; 4] = ["labels", "annotations", "finalizers", "ownerReferences"];
    metadata_mut(object).retain(|key, value| {
        let is_empty = match value {
            Value::Object(fields) => fields.is_empty(),
            Value::Array(items) => items.is_empty(),
            Value::Null => true,
            Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
        };
        !(is_empty && COLLECTIONS.contains(&key.as_str()))
    });
}

fn set_or_remove(object: &mut Value, key: &str, value: Value) {
    let Some(fields) = object.as_object_mut() else {
        return;
    };
    if value.is_null() {
        fields.remove(key);
    } else {
        fields.insert(key.to_owned(), value);
    }
}
