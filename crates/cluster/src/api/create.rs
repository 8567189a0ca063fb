//! Making objects.

use super::Api;
use super::call::{Call, Reply};
use super::edit::{Edit, Prepared};
use super::options::WriteOptions;
use super::resource::{Origin, Resource};
use crate::deletion::is_deleting;
use crate::schema::strict::Document;
use crate::status::{Status, Subject};
use crate::store::{Change, Collection, Expect, Key, Refused, Stored, Write};

/// The number of times that a generated name is tried anew when it is taken.
const NAME_ATTEMPTS: usize = 8;

impl Api {
    /// Answers a POST on a collection.
    pub(super) async fn create(&self, call: &Call) -> Result<Reply, Status> {
        let options = WriteOptions::parse(&call.query, &call.headers, "CreateOptions")?;
        refuse_while_terminating(&call.resource)?;
        let document = call.payload.object(&call.resource.kind)?;
        let attempts = if is_generated(&document) {
            NAME_ATTEMPTS
        } else {
            1
        };
        let mut taken = String::new();
        for _ in 0..attempts {
            let prepared = edit(call, &options).create(document.clone())?;
            match self.store_new(call, &options, prepared).await {
                Ok(reply) => return Ok(reply),
                Err(NotStored::Taken { name, .. }) if attempts > 1 => taken = name,
                Err(not_stored) => return Err(not_stored.into()),
            }
        }
        Err(Status::name_collision(call.resource.subject(), &taken))
    }

    /// Stores a new object, or shows what would be stored.
    pub(super) async fn store_new(
        &self,
        call: &Call,
        options: &WriteOptions,
        mut prepared: Prepared,
    ) -> Result<Reply, NotStored> {
        self.admit(call, None, &mut prepared)
            .map_err(NotStored::Refused)?;
        let Prepared { object, warnings } = prepared;
        let resource = &call.resource;
        let name = object["metadata"]["name"]
            .as_str()
            .unwrap_or_default()
            .to_owned();
        let key = resource.key(&call.namespace, &name);
        if options.dry_run {
            self.check_room(resource, &key)?;
            let shown = call.view().object(std::borrow::Cow::Owned(object));
            return Ok(Reply::created(shown).warning(warnings));
        }
        let write = Write {
            key,
            expect: Expect::Absent,
            change: Change::Put(resource.to_stored(object)),
            needs_namespace: resource.namespaced,
        };
        let stored = self
            .store
            .write(write)
            .await
            .map_err(|refused| not_stored(refused, resource, &call.namespace, &name))?;
        self.note_change(resource);
        let shown = call.view().object(resource.present(&stored));
        Ok(Reply::created(shown).warning(warnings))
    }

    /// Checks what the writer would check, for a dry run.
    fn check_room(&self, resource: &Resource, key: &Key) -> Result<(), NotStored> {
        let refused = |refused| not_stored(refused, resource, &key.namespace, &key.name);
        if resource.namespaced {
            let namespaces = Collection::new("", "namespaces");
            let namespace = self.store.get(&Key::new(&namespaces, "", &key.namespace));
            let namespace = namespace.ok_or_else(|| refused(Refused::NamespaceMissing))?;
            if is_deleting(namespace.object()) {
                return Err(refused(Refused::NamespaceTerminating));
            }
        }
        match self.store.get(key) {
            None => Ok(()),
            current => Err(refused(Refused::Conflict { current })),
        }
    }
}

/// The reason for which a new object was not stored.
pub(super) enum NotStored {
    /// Its name is taken.
    Taken {
        /// The name.
        name: String,
        /// The answer, unless another name is tried.
        status: Status,
    },
    /// Anything else.
    Refused(Status),
}

impl From<NotStored> for Status {
    fn from(reason: NotStored) -> Self {
        match reason {
            NotStored::Taken { status, .. } | NotStored::Refused(status) => status,
        }
    }
}

/// Returns the edit that a call makes now.
pub(super) fn edit<'a>(call: &'a Call, options: &'a WriteOptions) -> Edit<'a> {
    Edit {
        resource: &call.resource,
        namespace: &call.namespace,
        name: &call.name,
        subresource: call.subresource.as_deref(),
        options,
        now: call.now,
    }
}

/// Refuses new objects of a kind that is going away.
pub(super) fn refuse_while_terminating(resource: &Resource) -> Result<(), Status> {
    match resource.origin {
        Origin::Custom {
            terminating: true, ..
        } => Err(Status::method_not_allowed()),
        Origin::Custom { .. } | Origin::BuiltIn => Ok(()),
    }
}

fn is_generated(document: &Document) -> bool {
    let text = |key: &str| {
        let metadata = document.value.get("metadata");
        metadata
            .and_then(|it| it.get(key)?.as_str())
            .is_some_and(|text| !text.is_empty())
    };
    text("generateName") && !text("name")
}

fn not_stored(refused: Refused, resource: &Resource, namespace: &str, name: &str) -> NotStored {
    let subject = resource.subject();
    match refused {
        Refused::Conflict { current } => {
            let leaving = |stored: &std::sync::Arc<Stored>| is_deleting(stored.object());
            let status = if current.as_ref().is_some_and(leaving) {
                Status::being_deleted(subject, name)
            } else {
                Status::already_exists(subject, name)
            };
            NotStored::Taken {
                name: name.to_owned(),
                status,
            }
        }
        other => NotStored::Refused(refusal(&other, subject, namespace, name)),
    }
}

/// Tells a client why the store refused a write.
pub(super) fn refusal(
    refused: &Refused,
    subject: Subject<'_>,
    namespace: &str,
    name: &str,
) -> Status {
    match refused {
        Refused::Conflict { .. } => Status::modified(subject, name),
        Refused::NamespaceMissing => Status::not_found(
            Subject {
                group: "",
                resource: "namespaces",
            },
            namespace,
        ),
        Refused::NamespaceTerminating => Status::namespace_terminating(subject, name, namespace),
        Refused::TooLarge => Status::unclassified(refused.to_string()),
        Refused::Storage(_) => Status::internal(format!("Internal error occurred: {refused}")),
    }
}
