//! Tokens for service accounts (`TokenRequest`).

use std::time::Duration;

use serde_json::{Value, json};

use super::Api;
use super::call::{Call, Reply, rfc3339};
use crate::auth::Account;
use crate::schema::FieldError;
use crate::status::{Status, Subject};

/// The lifetime of a token if the request does not say, and what it may ask for, in seconds.
const DEFAULT_SECONDS: i64 = 3600;
const MIN_SECONDS: i64 = 600;
const MAX_SECONDS: i64 = 1 << 32;

impl Api {
    /// Answers a POST on `serviceaccounts/NAME/token`.
    pub(super) fn create_token(&self, call: &Call) -> Result<Reply, Status> {
        let mut request = call.payload.object("TokenRequest")?.value;
        let kind = request["kind"].as_str().unwrap_or("TokenRequest");
        if !request.is_object() || kind != "TokenRequest" {
            return Err(Status::bad_request("the body must be a TokenRequest"));
        }
        let stored = self
            .store
            .get(&call.key())
            .ok_or_else(|| call.not_found())?;
        let seconds = request["spec"]["expirationSeconds"]
            .as_i64()
            .unwrap_or(DEFAULT_SECONDS);
        check_lifetime(seconds)?;
        let audiences = request["spec"]["audiences"]
            .as_array()
            .into_iter()
            .flatten();
        let audiences: Vec<String> = audiences
            .filter_map(Value::as_str)
            .map(str::to_owned)
            .collect();
        let account = Account {
            namespace: &call.namespace,
            name: &call.name,
            uid: stored.uid(),
        };
        let lifetime = Duration::from_secs(seconds.unsigned_abs());
        let issued = self.auth.issue(account, &audiences, lifetime, call.now);
        request["kind"] = "TokenRequest".into();
        request["apiVersion"] = "authentication.k8s.io/v1".into();
        request["metadata"] = json!({
            "name": call.name,
            "namespace": call.namespace,
            "creationTimestamp": rfc3339(call.now),
        });
        request["spec"]["expirationSeconds"] = seconds.into();
        let expires = rfc3339(issued.expires);
        request["status"] = json!({"token": issued.token, "expirationTimestamp": expires});
        Ok(Reply::created(request))
    }
}

fn check_lifetime(seconds: i64) -> Result<(), Status> {
    let detail = match seconds {
        ..MIN_SECONDS => "may not specify a duration less than 10 minutes",
        MIN_SECONDS..=MAX_SECONDS => return Ok(()),
        _ => "may not specify a duration larger than 2^32 seconds",
    };
    let error = FieldError::invalid("spec.expirationSeconds", &seconds.into(), detail);
    let subject = Subject {
        group: "authentication.k8s.io",
        resource: "TokenRequest",
    };
    Err(Status::invalid(subject, "", &[error]))
}
