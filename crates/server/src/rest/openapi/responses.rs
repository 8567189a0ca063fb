//! Error responses in the OpenAPI document, with the errors themselves as examples.

use std::collections::BTreeMap;

use pathline_ledger::{Permission, Permissions};
use pathline_release::request::Problem;
use utoipa::IntoResponses;
use utoipa::openapi::{ContentBuilder, Ref, RefOr, Response, ResponseBuilder};

use crate::error::{ApiError, ErrorKind};

type Responses = BTreeMap<String, RefOr<Response>>;

/// 401 and 503, of every route that needs a token; each has the scope to read.
pub(crate) struct Unauthorized;

/// 403 besides, of a route that needs the admin's token.
pub(crate) struct Forbidden;

/// 400, of a route that reads parameters or a body.
pub(crate) struct BadRequest;

/// 410, of a route whose cursors get too old.
pub(crate) struct Gone;

/// 429, of a route that serves a limited number of clients at once.
pub(crate) struct TooManyRequests;

/// 409, of a route that gives out names.
pub(crate) struct Conflict;

/// 409, of a route about releases that may not go where they should.
pub(crate) struct Refused;

/// 413 and 415, of a route that reads a body.
pub(crate) struct InvalidBody;

/// 413, of a route that reads a body whatever it is said to be.
pub(crate) struct TooLarge;

/// 401, 403 and 503, of a route that changes something.
pub(crate) struct Writing;

/// 401, of a route whose callers show a secret of their own.
pub(crate) struct IngestUnauthorized;

/// 412, of a route that takes `If-Match`.
pub(crate) struct Stale;

/// 422, of a route that reads fields.
pub(crate) struct InvalidFields;

/// 404, of a route about a thing that may not be there.
pub(crate) struct NotFound;

/// 403, of a route about things that the cluster may not show to Pathline.
pub(crate) struct ClusterForbidden;

impl IntoResponses for Unauthorized {
    fn responses() -> Responses {
        let unknown = ApiError::unauthorized("token-missing", "this needs a token");
        let away = ApiError::unavailable("the ledger does not answer");
        let mut all = one(
            "There is no token, or nobody knows it, or it has ended",
            &unknown,
        );
        all.extend(one(
            "The ledger or the cluster can't be reached, or took too long",
            &away,
        ));
        all
    }
}

impl IntoResponses for Forbidden {
    fn responses() -> Responses {
        let forbidden = ApiError::forbidden("ci", Permissions::READ, Permission::Admin);
        let mut all = Unauthorized::responses();
        all.extend(one("The token lacks the scope `admin`", &forbidden));
        all
    }
}

impl IntoResponses for BadRequest {
    fn responses() -> Responses {
        let error = ApiError::bad_request(
            "Failed to deserialize query string: limit: invalid digit found in string",
        );
        one("The request can't be understood", &error)
    }
}

impl IntoResponses for NotFound {
    fn responses() -> Responses {
        let error = ApiError::not_found("there is no workload `web` in namespace `dev`");
        one("There is no such thing", &error)
    }
}

impl IntoResponses for ClusterForbidden {
    fn responses() -> Responses {
        let error = ApiError::cluster_forbidden("pods in namespace `dev`");
        one("The cluster does not show it to Pathline", &error)
    }
}

impl IntoResponses for Gone {
    fn responses() -> Responses {
        let error = ApiError::gone("The provided continue parameter is too old")
            .with_hint("begin again without `continue`");
        one("What the request goes on from is no longer kept", &error)
    }
}

impl IntoResponses for TooManyRequests {
    fn responses() -> Responses {
        let error = ApiError::too_many("too many clients follow at once");
        one("There is no room for another client", &error)
    }
}

impl IntoResponses for Conflict {
    fn responses() -> Responses {
        let error = ApiError::conflict("the name `ci` has been given to a token already");
        one(
            "The name was given before",
            &error.with_hint("choose another name"),
        )
    }
}

impl IntoResponses for Refused {
    fn responses() -> Responses {
        let error = ApiError::conflict("no release waits to be promoted in `prod`");
        let hint = "`pathline release why shop.web` says where its releases are";
        one(
            "It is refused, for the reason that is told",
            &error.with_hint(hint),
        )
    }
}

impl IntoResponses for InvalidBody {
    fn responses() -> Responses {
        let other = ErrorKind::UnsupportedMediaType;
        let other = ApiError::new(
            other,
            "not-json",
            "Expected request with `Content-Type: application/json`",
        );
        let mut all = TooLarge::responses();
        all.extend(one("The body is not said to be JSON", &other));
        all
    }
}

impl IntoResponses for TooLarge {
    fn responses() -> Responses {
        let large = ErrorKind::PayloadTooLarge;
        let large = ApiError::new(large, "too-large", "length limit exceeded");
        one("The body is too large", &large)
    }
}

impl IntoResponses for Writing {
    fn responses() -> Responses {
        let forbidden = ApiError::forbidden("ide", Permissions::READ, Permission::Write);
        let mut all = Unauthorized::responses();
        all.extend(one("The token lacks the scope `write`", &forbidden));
        all
    }
}

impl IntoResponses for IngestUnauthorized {
    fn responses() -> Responses {
        let away = ApiError::unavailable("the ledger does not answer");
        let mut all = one(
            "The message does not show the secret of its sender",
            &ApiError::ingest_unauthorized(),
        );
        all.extend(one("The ledger can't be reached", &away));
        all
    }
}

impl IntoResponses for Stale {
    fn responses() -> Responses {
        let message = "the tracker `shop.web` has changed since it was read";
        let error = ApiError::new(ErrorKind::PreconditionFailed, "stale", message);
        one("It has changed since it was read", &error)
    }
}

impl IntoResponses for InvalidFields {
    fn responses() -> Responses {
        let error = ApiError::invalid(vec![Problem {
            field: "repo".to_owned(),
            code: "required",
            message: "this field is required".to_owned(),
        }]);
        one("Fields are missing or wrong", &error)
    }
}

/// Describes one error response.
pub(crate) fn one(description: &str, error: &ApiError) -> Responses {
    let content = ContentBuilder::new()
        .schema(Some(Ref::from_schema_name("Problem")))
        .example(Some(serde_json::json!(error.problem())))
        .build();
    let response = ResponseBuilder::new()
        .description(description)
        .content("application/json", content)
        .build();
    let status = error.kind().status().as_str().to_owned();
    BTreeMap::from([(status, RefOr::T(response))])
}
