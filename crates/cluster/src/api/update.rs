//! Changing objects: replacing, patching and applying.

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::Value;

use super::Api;
use super::call::{Call, Reply};
use super::create::{NotStored, edit, refusal, refuse_while_terminating};
use super::edit::{Prepared, Replacement};
use super::identity;
use super::options::WriteOptions;
use super::resource::Resource;
use crate::deletion;
use crate::patch;
use crate::schema::FieldError;
use crate::schema::strict::Document;
use crate::status::Status;
use crate::store::{Change, Expect, Refused, Stored, Write};

/// The number of times that a change is computed anew when someone else was faster.
const ATTEMPTS: usize = 32;

/// The media types of patches.
const JSON_PATCH: &str = "application/json-patch+json";
const MERGE_PATCH: &str = "application/merge-patch+json";
const STRATEGIC_PATCH: &str = "application/strategic-merge-patch+json";
const APPLY_PATCH: &str = "application/apply-patch+yaml";

/// A change that can be computed from any current state.
enum Mutation {
    /// Replace the object with this one.
    Replace(Document),
    /// A JSON patch.
    Json(Value),
    /// A merge patch.
    Merge(Value),
    /// A strategic merge patch.
    Strategic(Value),
    /// A server-side apply.
    Apply(Document, bool),
}

impl Api {
    /// Answers a PUT.
    pub(super) async fn update(&self, call: &Call) -> Result<Reply, Status> {
        let options = WriteOptions::parse(&call.query, &call.headers, "UpdateOptions")?;
        let mut document = call.payload.object(&call.resource.kind)?;
        identity::check_type(&call.resource, &mut document.value)?;
        identity::check_namespace(&call.resource, &call.namespace, &document.value)?;
        identity::settle_name(&call.name, &mut document.value)?;
        let may_create = call.resource.rules.creates_on_update && call.subresource.is_none();
        if may_create && self.store.get(&call.key()).is_none() {
            let prepared = edit(call, &options).create(document)?;
            return Ok(self.store_new(call, &options, prepared).await?);
        }
        self.change(call, &options, &Mutation::Replace(document))
            .await
    }

    /// Answers a PATCH.
    pub(super) async fn patch(&self, call: &Call) -> Result<Reply, Status> {
        let options = WriteOptions::parse(&call.query, &call.headers, "PatchOptions")?;
        let change = read_patch(call)?;
        if let Mutation::Apply(document, _) = &change
            && call.subresource.is_none()
            && self.store.get(&call.key()).is_none()
        {
            refuse_while_terminating(&call.resource)?;
            let prepared = edit(call, &options).apply(None, document.clone(), false)?;
            match self.store_new(call, &options, prepared).await {
                // Someone else has made it in the meantime, so there is something to merge into.
                Err(NotStored::Taken { .. }) => {}
                made => return Ok(made?),
            }
        }
        self.change(call, &options, &change).await
    }

    /// Computes a change from the current state until the store takes it.
    async fn change(
        &self,
        call: &Call,
        options: &WriteOptions,
        change: &Mutation,
    ) -> Result<Reply, Status> {
        for _ in 0..ATTEMPTS {
            let current = self
                .store
                .get(&call.key())
                .ok_or_else(|| call.not_found())?;
            let mut prepared = self.prepare(call, options, change, &current)?;
            self.admit(call, Some(&call.resource.present(&current)), &mut prepared)?;
            if options.dry_run {
                let shown = call.view().object(Cow::Owned(prepared.object));
                return Ok(Reply::ok(shown).warning(prepared.warnings));
            }
            let object = call.resource.to_stored(prepared.object);
            if let Some(stored) = self.replace(&call.resource, &current, object).await? {
                let shown = call.view().object(call.resource.present(&stored));
                return Ok(Reply::ok(shown).warning(prepared.warnings));
            }
        }
        Err(Status::modified(call.resource.subject(), &call.name))
    }

    fn prepare(
        &self,
        call: &Call,
        options: &WriteOptions,
        change: &Mutation,
        current: &Stored,
    ) -> Result<Prepared, Status> {
        let old = call.resource.present(current);
        let edit = edit(call, options);
        let patched = match change {
            Mutation::Replace(document) => {
                return edit.replace(&old, Replacement::Body(document.clone()));
            }
            Mutation::Apply(document, force) => {
                return edit.apply(Some(&old), document.clone(), *force);
            }
            Mutation::Json(patch) => patch::json(&old, patch),
            Mutation::Merge(patch) => Ok(patch::merge(old.clone().into_owned(), patch)),
            Mutation::Strategic(patch) => {
                patch::strategic(&call.resource.schema, old.clone().into_owned(), patch)
            }
        };
        edit.replace(
            &old,
            Replacement::Patched(patched.map_err(|error| unfit(&error))?),
        )
    }

    /// Stores the new state of an object that is at `current`; `None` if it no longer is.
    pub(super) async fn replace(
        &self,
        resource: &Resource,
        current: &Arc<Stored>,
        object: Value,
    ) -> Result<Option<Arc<Stored>>, Status> {
        let change = deletion::settle(object);
        self.write_over(resource, current, change).await
    }

    /// Writes a change of an object that is at `current`; `None` if it no longer is.
    pub(super) async fn write_over(
        &self,
        resource: &Resource,
        current: &Arc<Stored>,
        change: Change,
    ) -> Result<Option<Arc<Stored>>, Status> {
        let key = current.key.clone();
        let expect = Expect::Revision(current.revision);
        let write = Write {
            key,
            expect,
            change,
            needs_namespace: false,
        };
        match self.store.write(write).await {
            Ok(stored) => {
                self.note_change(resource);
                Ok(Some(stored))
            }
            Err(Refused::Conflict { .. }) => Ok(None),
            Err(refused) => {
                let key = &current.key;
                Err(refusal(
                    &refused,
                    resource.subject(),
                    &key.namespace,
                    &key.name,
                ))
            }
        }
    }
}

/// Returns `object` with the patch in the body of a call applied; server-side apply is not for
/// objects that are computed.
pub(super) fn patched(call: &Call, object: &Value) -> Result<Value, Status> {
    match read_patch(call)? {
        Mutation::Json(patch) => patch::json(object, &patch).map_err(|error| unfit(&error)),
        Mutation::Merge(patch) | Mutation::Strategic(patch) => {
            Ok(patch::merge(object.clone(), &patch))
        }
        Mutation::Replace(_) | Mutation::Apply(..) => Err(unsupported(!call.resource.is_custom())),
    }
}

fn read_patch(call: &Call) -> Result<Mutation, Status> {
    let media_type = call.payload.media_type.as_str();
    let force = call.query.get("force").is_some();
    if force && media_type != APPLY_PATCH {
        let error = FieldError::forbidden("force", "may not be specified for non-apply patch");
        return Err(Status::invalid_options("PatchOptions", &[error]));
    }
    let strategic = !call.resource.is_custom();
    match media_type {
        JSON_PATCH => Ok(Mutation::Json(call.payload.patch()?)),
        MERGE_PATCH => Ok(Mutation::Merge(object_patch(call)?)),
        STRATEGIC_PATCH if strategic => Ok(Mutation::Strategic(object_patch(call)?)),
        APPLY_PATCH => {
            if call.query.text("fieldManager").is_none() {
                let error = FieldError::required("fieldManager", "is required for apply patch");
                return Err(Status::invalid_options("PatchOptions", &[error]));
            }
            Ok(Mutation::Apply(
                call.payload.applied()?,
                call.query.flag("force"),
            ))
        }
        _ => Err(unsupported(strategic)),
    }
}

fn object_patch(call: &Call) -> Result<Value, Status> {
    let patch = call.payload.patch()?;
    if patch.is_object() {
        Ok(patch)
    } else {
        Err(Status::bad_request(
            "error decoding patch: a merge patch must be an object",
        ))
    }
}

fn unsupported(strategic: bool) -> Status {
    let mut types = vec![JSON_PATCH, MERGE_PATCH];
    if strategic {
        types.push(STRATEGIC_PATCH);
    }
    types.push(APPLY_PATCH);
    Status::unsupported_media_type(&types.join(", "))
}

fn unfit(error: &patch::Error) -> Status {
    match error {
        patch::Error::Malformed(_) => Status::bad_request(format!("error decoding patch: {error}")),
        patch::Error::TooManyOperations { .. } => Status::patch_too_large(error.to_string()),
        patch::Error::Inapplicable(why) => Status::unprocessable_patch(why),
    }
}
