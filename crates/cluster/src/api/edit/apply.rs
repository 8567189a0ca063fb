//! Server-side apply: the declared fields of one manager, merged into the object.

use serde_json::Value;

use super::super::identity;
use super::{Edit, Prepared, admit, set_or_remove, tidy_metadata};
use crate::managed::{self, ApplyError};
use crate::schema::strict::Document;
use crate::status::Status;

impl Edit<'_> {
    /// Merges what the body declares into `live`, or makes a new object of it.
    pub(crate) fn apply(
        self,
        live: Option<&Value>,
        document: Document,
        force: bool,
    ) -> Result<Prepared, Status> {
        let applied = self.declared(document, live.is_none())?;
        let merged = managed::apply(&self.resource.schema, live, &applied, &self.writer(), force)
            .map_err(refused)?;
        match live {
            Some(live) => self.applied_update(live, merged, &applied),
            None => self.applied_create(merged),
        }
    }

    /// Checks the declared fields and leaves out those that this endpoint cannot write.
    fn declared(self, document: Document, is_new: bool) -> Result<Value, Status> {
        let mut applied = document.value;
        let text = |key: &str| applied[key].as_str().unwrap_or_default().to_owned();
        let (version, kind) = (text("apiVersion"), text("kind"));
        if version != self.resource.api_version() || kind != self.resource.kind {
            let version = if version.is_empty() {
                "/".to_owned()
            } else {
                version
            };
            return Err(Status::bad_request(format!(
                "invalid object type: {version}, Kind={kind}"
            )));
        }
        identity::check_type(self.resource, &mut applied)?;
        let named = applied["metadata"]["name"]
            .as_str()
            .is_some_and(|name| !name.is_empty());
        if is_new && !named && !self.resource.is_custom() {
            let message = format!(
                "the name of the object ({} based on URL) was undeterminable: name must be provided",
                self.name
            );
            return Err(Status::bad_request(message));
        }
        identity::check_namespace(self.resource, self.namespace, &applied)?;
        identity::settle_name(self.name, &mut applied)?;
        if let Some(fields) = applied.as_object_mut() {
            if self.is_status() {
                fields.retain(|key, _| {
                    matches!(key.as_str(), "apiVersion" | "kind" | "metadata" | "status")
                });
            } else if self.resource.has_status {
                fields.remove("status");
            }
        }
        Ok(applied)
    }

    fn applied_create(self, mut object: Value) -> Result<Prepared, Status> {
        // The version a new object was declared with cannot be stale, and a real server lets it be.
        set_or_remove(&mut object["metadata"], "resourceVersion", Value::Null);
        identity::settle_namespace(self.resource, self.namespace, &mut object)?;
        self.start(&mut object)?;
        tidy_metadata(&mut object);
        self.resource.schema.fill_defaults(&mut object);
        self.check(None, &object)?;
        Ok(Prepared {
            object,
            warnings: Vec::new(),
        })
    }

    fn applied_update(
        self,
        live: &Value,
        mut object: Value,
        applied: &Value,
    ) -> Result<Prepared, Status> {
        let version = applied["metadata"]["resourceVersion"]
            .as_str()
            .unwrap_or_default();
        if !version.is_empty() && version != live["metadata"]["resourceVersion"] {
            return Err(Status::modified(self.resource.subject(), self.name));
        }
        self.inherit(live, &mut object, true);
        admit::on_update(self.resource, &mut object);
        tidy_metadata(&mut object);
        self.resource.schema.fill_defaults(&mut object);
        self.count_generation(live, &mut object);
        self.check(Some(live), &object)?;
        managed::keep_times_of_idle_write(live, &mut object);
        Ok(Prepared {
            object,
            warnings: Vec::new(),
        })
    }
}

fn refused(error: ApplyError) -> Status {
    let message = error.to_string();
    match error {
        ApplyError::Conflicts(conflicts) => {
            let told = conflicts
                .iter()
                .map(|it| (it.manager.clone(), it.path.to_string()));
            Status::apply_conflict(message, told.collect())
        }
        ApplyError::Typed { .. } => Status::unclassified(message),
        ApplyError::ManagedFieldsSet => Status::bad_request(message),
    }
}
