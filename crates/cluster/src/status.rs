//! Kubernetes `Status`: how every refusal is told to a client.
//!
//! Clients decide by `code` and `reason` and show `message`, so all three are those of a real API
//! server.

use std::fmt;

use serde_json::{Map, Value, json};

use crate::schema::FieldError;

/// Says why a request failed. Boxed, since it travels in nearly every `Result` of the API.
#[derive(Debug, Clone)]
pub(crate) struct Status(Box<Failure>);

#[derive(Debug, Clone, Default)]
struct Failure {
    code: u16,
    reason: &'static str,
    message: String,
    details: Option<Details>,
    undecodable: Option<String>,
}

/// Names the object and the fields that a failure is about.
#[derive(Debug, Clone, Default)]
struct Details {
    name: String,
    group: String,
    kind: String,
    causes: Vec<Cause>,
    retry_after_seconds: u32,
}

#[derive(Debug, Clone)]
struct Cause {
    reason: &'static str,
    message: String,
    field: String,
}

/// Names a resource, or a kind, in a message: `configmaps`, `Widget.example.com`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Subject<'a> {
    /// The API group, empty for the core group.
    pub(crate) group: &'a str,
    /// The plural name, or the kind where Kubernetes shows that instead.
    pub(crate) resource: &'a str,
}

impl fmt::Display for Subject<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.resource)?;
        if self.group.is_empty() {
            Ok(())
        } else {
            write!(f, ".{}", self.group)
        }
    }
}

impl Status {
    fn new(code: u16, reason: &'static str, message: impl Into<String>) -> Self {
        let message = message.into();
        Self(Box::new(Failure {
            code,
            reason,
            message,
            ..Failure::default()
        }))
    }

    fn about(mut self, subject: Subject<'_>, name: &str) -> Self {
        let details = self.0.details.get_or_insert_default();
        details.name = name.to_owned();
        details.group = subject.group.to_owned();
        details.kind = subject.resource.to_owned();
        self
    }

    fn with_cause(mut self, reason: &'static str, message: String, field: String) -> Self {
        let details = self.0.details.get_or_insert_default();
        details.causes.push(Cause {
            reason,
            message,
            field,
        });
        self
    }

    /// Reports a request that cannot be understood (400).
    pub(crate) fn bad_request(message: impl Into<String>) -> Self {
        Self::new(400, "BadRequest", message)
    }

    /// Reports a body that says to be a `kind` of `version`, and is no `expected` (400).
    pub(crate) fn undecodable(kind: &str, version: &str, expected: &str, why: &str) -> Self {
        let message =
            format!("{kind} in version {version:?} cannot be handled as a {expected}: {why}");
        let mut status = Self::bad_request(message);
        status.0.undecodable = Some(why.to_owned());
        status
    }

    /// Turns [`Self::undecodable`] into what it means for a patch that made such a body (422).
    pub(crate) fn blame_patch(self, patched: &str) -> Self {
        let Some(why) = &self.0.undecodable else {
            return self;
        };
        let error = FieldError::invalid("patch", &patched.into(), why);
        Self::invalid(
            Subject {
                group: "",
                resource: "",
            },
            "",
            &[error],
        )
    }

    /// Reports missing or unknown credentials (401).
    pub(crate) fn unauthorized() -> Self {
        Self::new(401, "Unauthorized", "Unauthorized")
    }

    /// Reports that new objects may not enter `namespace`, as it is being deleted (403).
    pub(crate) fn namespace_terminating(subject: Subject<'_>, name: &str, namespace: &str) -> Self {
        let why = format!(
            "unable to create new content in namespace {namespace} because it is being terminated"
        );
        let cause = format!("namespace {namespace} is being terminated");
        Self::new(
            403,
            "Forbidden",
            format!("{subject} {name:?} is forbidden: {why}"),
        )
        .about(subject, name)
        .with_cause(
            "NamespaceTerminating",
            cause,
            "metadata.namespace".to_owned(),
        )
    }

    /// Reports an action that may never be taken on this object (403).
    pub(crate) fn forbidden(subject: Subject<'_>, name: &str, why: &str) -> Self {
        Self::new(
            403,
            "Forbidden",
            format!("{subject} {name:?} is forbidden: {why}"),
        )
        .about(subject, name)
    }

    /// Reports a write that `webhook` refuses (403).
    pub(crate) fn denied(webhook: &str, why: &str) -> Self {
        let message = format!("admission webhook {webhook:?} denied the request: {why}");
        Self::new(403, "Forbidden", message)
    }

    /// Reports an object that does not exist (404).
    pub(crate) fn not_found(subject: Subject<'_>, name: &str) -> Self {
        Self::new(404, "NotFound", format!("{subject} {name:?} not found")).about(subject, name)
    }

    /// Reports a path that names no resource (404).
    pub(crate) fn no_such_resource() -> Self {
        let mut status = Self::new(
            404,
            "NotFound",
            "the server could not find the requested resource",
        );
        status.0.details = Some(Details::default());
        status
    }

    /// Reports a verb that the resource does not have (405).
    pub(crate) fn method_not_allowed() -> Self {
        let message = "the server does not allow this method on the requested resource";
        let mut status = Self::new(405, "MethodNotAllowed", message);
        status.0.details = Some(Details::default());
        status
    }

    /// Reports that no representation the client accepts can be made (406).
    pub(crate) fn not_acceptable() -> Self {
        let message = "406: Not Acceptable\n\nAvailable representations: application/json, \
                       application/yaml";
        let mut status = Self::new(406, "NotAcceptable", message);
        status.0.details = Some(Details::default());
        status
    }

    /// Reports that the name is taken (409).
    pub(crate) fn already_exists(subject: Subject<'_>, name: &str) -> Self {
        Self::new(
            409,
            "AlreadyExists",
            format!("{subject} {name:?} already exists"),
        )
        .about(subject, name)
    }

    /// Reports that the name is taken by an object that is on its way out (409).
    pub(crate) fn being_deleted(subject: Subject<'_>, name: &str) -> Self {
        let message = format!("object is being deleted: {subject} {name:?} already exists");
        Self::new(409, "AlreadyExists", message).about(subject, name)
    }

    /// Reports that the request was made from a state that is no longer current (409).
    pub(crate) fn conflict(subject: Subject<'_>, name: &str, why: &str) -> Self {
        let message = format!("Operation cannot be fulfilled on {subject} {name:?}: {why}");
        Self::new(409, "Conflict", message).about(subject, name)
    }

    /// Reports a stale resourceVersion (409).
    pub(crate) fn modified(subject: Subject<'_>, name: &str) -> Self {
        let why = "the object has been modified; please apply your changes to the latest version \
                   and try again";
        Self::conflict(subject, name, why)
    }

    /// Reports the fields that a server-side apply may not take from their managers (409).
    /// Each conflict is the manager, as shown to people, and the field.
    pub(crate) fn apply_conflict(message: String, conflicts: Vec<(String, String)>) -> Self {
        let status = Self::new(409, "Conflict", message);
        conflicts
            .into_iter()
            .fold(status, |status, (manager, field)| {
                let message = format!("conflict with {manager}");
                status.with_cause("FieldManagerConflict", message, field)
            })
    }

    /// Reports that history before `resourceVersion` is gone (410).
    pub(crate) fn expired(message: impl Into<String>) -> Self {
        Self::new(410, "Expired", message)
    }

    /// Reports a body over the limit (413).
    pub(crate) fn too_large(limit: usize) -> Self {
        let message = format!("Request entity too large: limit is {limit}");
        Self::new(413, "RequestEntityTooLarge", message)
    }

    /// Reports a patch of more operations than are done at once (413).
    pub(crate) fn patch_too_large(message: impl Into<String>) -> Self {
        let message = format!("Request entity too large: {}", message.into());
        Self::new(413, "RequestEntityTooLarge", message)
    }

    /// Reports a body in a format that the verb does not take (415).
    pub(crate) fn unsupported_media_type(accepted: &str) -> Self {
        let message = format!(
            "the body of the request was in an unknown format - accepted media types include: \
             {accepted}"
        );
        Self::new(415, "UnsupportedMediaType", message)
    }

    /// Reports an object that breaks the rules of its kind (422).
    pub(crate) fn invalid(kind: Subject<'_>, name: &str, errors: &[FieldError]) -> Self {
        let mut told: Vec<String> = Vec::new();
        for error in errors.iter().map(FieldError::to_string) {
            if !told.contains(&error) {
                told.push(error);
            }
        }
        let listed = if let [only] = told.as_slice() {
            only.clone()
        } else {
            format!("[{}]", told.join(", "))
        };
        let message = format!("{kind} {name:?} is invalid: {listed}");
        let status = Self::new(422, "Invalid", message).about(kind, name);
        errors.iter().fold(status, |status, error| {
            status.with_cause(
                error.kind.reason(),
                error.message.clone(),
                error.path.clone(),
            )
        })
    }

    /// Reports query parameters that make no sense (422); `options` is such as `ListOptions`.
    pub(crate) fn invalid_options(options: &str, errors: &[FieldError]) -> Self {
        Self::invalid(
            Subject {
                group: "meta.k8s.io",
                resource: options,
            },
            "",
            errors,
        )
    }

    /// Reports a patch that is well formed and does not fit the object (422).
    pub(crate) fn unprocessable_patch(why: &str) -> Self {
        let message = "the server rejected our request due to an error in our request";
        let mut status = Self::new(422, "Invalid", message);
        status.0.details = Some(Details::default());
        tracing::debug!(why, "a patch does not fit its object");
        status
    }

    /// Reports that the server gave up on one request (500).
    pub(crate) fn internal(message: impl Into<String>) -> Self {
        Self::new(500, "InternalError", message)
    }

    /// Reports a failure that a real server answers with 500 and no reason.
    pub(crate) fn unclassified(message: impl Into<String>) -> Self {
        Self::new(500, "", message)
    }

    /// Reports a generated name that was taken every time it was tried (409).
    pub(crate) fn name_collision(subject: Subject<'_>, name: &str) -> Self {
        let message = format!(
            "{subject} {name:?} already exists, the server was not able to generate a unique name \
             for the object"
        );
        Self::new(409, "AlreadyExists", message).about(subject, name)
    }

    /// Reports a resourceVersion that has not been reached yet (504).
    pub(crate) fn too_large_resource_version(asked: u64, current: u64) -> Self {
        let message = format!("Timeout: Too large resource version: {asked}, current: {current}");
        let mut status = Self::new(504, "Timeout", message).with_cause(
            "ResourceVersionTooLarge",
            "Too large resource version".to_owned(),
            String::new(),
        );
        status.0.details.get_or_insert_default().retry_after_seconds = 1;
        status
    }

    /// Returns the HTTP status code.
    pub(crate) fn code(&self) -> http::StatusCode {
        http::StatusCode::from_u16(self.0.code).unwrap_or(http::StatusCode::INTERNAL_SERVER_ERROR)
    }

    /// Returns when the client may try again, in seconds.
    pub(crate) fn retry_after(&self) -> Option<u32> {
        self.0
            .details
            .as_ref()
            .map(|details| details.retry_after_seconds)
            .filter(|it| *it > 0)
    }

    /// Returns the body to answer with.
    pub(crate) fn to_json(&self) -> Value {
        let mut body = json!({
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": self.0.message,
            "code": self.0.code,
        });
        if !self.0.reason.is_empty() {
            body["reason"] = self.0.reason.into();
        }
        if let Some(details) = &self.0.details {
            body["details"] = details.to_json();
        }
        body
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl std::error::Error for Status {}

impl Details {
    fn to_json(&self) -> Value {
        let mut details = Map::new();
        let texts = [
            ("name", &self.name),
            ("group", &self.group),
            ("kind", &self.kind),
        ];
        for (key, text) in texts {
            if !text.is_empty() {
                details.insert(key.to_owned(), text.as_str().into());
            }
        }
        if !self.causes.is_empty() {
            let causes = self.causes.iter().map(Cause::to_json).collect();
            details.insert("causes".to_owned(), Value::Array(causes));
        }
        if self.retry_after_seconds > 0 {
            details.insert(
                "retryAfterSeconds".to_owned(),
                self.retry_after_seconds.into(),
            );
        }
        Value::Object(details)
    }
}

impl Cause {
    fn to_json(&self) -> Value {
        let mut cause = json!({"reason": self.reason, "message": self.message});
        if !self.field.is_empty() {
            cause["field"] = self.field.as_str().into();
        }
        cause
    }
}

/// Returns the body that tells of a finished deletion.
pub(crate) fn deleted(subject: Subject<'_>, name: &str, uid: &str) -> Value {
    let mut details = json!({"name": name, "kind": subject.resource, "uid": uid});
    if !subject.group.is_empty() {
        details["group"] = subject.group.into();
    }
    json!({
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Success",
        "details": details,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONFIG_MAPS: Subject<'_> = Subject {
        group: "",
        resource: "configmaps",
    };
    const WIDGETS: Subject<'_> = Subject {
        group: "probe.dev",
        resource: "widgets",
    };

    #[test]
    fn not_found_names_the_resource_and_the_object() {
        let body = Status::not_found(WIDGETS, "w1").to_json();
        assert_eq!(body["message"], "widgets.probe.dev \"w1\" not found");
        assert_eq!(
            body["details"],
            json!({"name": "w1", "group": "probe.dev", "kind": "widgets"})
        );
        assert_eq!(
            (&body["code"], &body["reason"]),
            (&json!(404), &json!("NotFound"))
        );
    }

    #[test]
    fn the_core_group_is_left_out_of_messages_and_details() {
        let body = Status::already_exists(CONFIG_MAPS, "a1").to_json();
        assert_eq!(body["message"], "configmaps \"a1\" already exists");
        assert_eq!(body["details"], json!({"name": "a1", "kind": "configmaps"}));
    }

    #[test]
    fn one_error_is_told_bare_and_several_in_brackets() {
        let kind = Subject {
            group: "",
            resource: "ConfigMap",
        };
        let missing = FieldError::required("metadata.name", "name or generateName is required");
        let one = Status::invalid(kind, "", std::slice::from_ref(&missing)).to_json();
        assert_eq!(
            one["message"],
            "ConfigMap \"\" is invalid: metadata.name: Required value: name or generateName is \
             required"
        );
        let other = FieldError::required("data", "");
        let two = Status::invalid(kind, "x", &[missing, other]).to_json();
        assert!(
            two["message"]
                .as_str()
                .unwrap()
                .contains(": [metadata.name: "),
            "{two}"
        );
        assert_eq!(two["details"]["causes"].as_array().unwrap().len(), 2);
    }

    #[test]
    fn an_error_without_a_reason_has_no_such_field() {
        let body = Status::unclassified("x").to_json();
        assert_eq!(body.get("reason"), None);
    }
}
