//! Binding a pod to a node, which is how schedulers speak.

use http::StatusCode;
use serde_json::json;

use super::Api;
use super::call::{Call, Reply};
use crate::schema::FieldError;
use crate::status::{Status, Subject};

/// The number of times that a binding is tried anew when someone else was faster.
const ATTEMPTS: usize = 32;

impl Api {
    /// Answers a POST on `pods/NAME/binding`.
    pub(super) async fn bind(&self, call: &Call) -> Result<Reply, Status> {
        let binding = call.payload.object("Binding")?.value;
        let Some(node) = binding["target"]["name"]
            .as_str()
            .filter(|name| !name.is_empty())
        else {
            let error = FieldError::required("target.name", "");
            return Err(Status::invalid(
                call.resource.kind_subject(),
                &call.name,
                &[error],
            ));
        };
        for _ in 0..ATTEMPTS {
            let current = self
                .store
                .get(&call.key())
                .ok_or_else(|| call.not_found())?;
            let bound = current.object()["spec"]["nodeName"]
                .as_str()
                .unwrap_or_default();
            if !bound.is_empty() {
                let why = format!("pod {} is already assigned to node {bound:?}", call.name);
                let subject = Subject {
                    group: "",
                    resource: "pods/binding",
                };
                return Err(Status::conflict(subject, &call.name, &why));
            }
            let mut object = current.object().clone();
            object["spec"]["nodeName"] = node.into();
            if self
                .replace(&call.resource, &current, object)
                .await?
                .is_some()
            {
                let body = json!({
                    "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success",
                    "code": 201,
                });
                return Ok(Reply {
                    code: StatusCode::CREATED,
                    body,
                    warnings: Vec::new(),
                });
            }
        }
        Err(Status::modified(call.resource.subject(), &call.name))
    }
}
