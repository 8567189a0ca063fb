//! How routes describe what they refuse, with the refusals themselves as examples.

use std::collections::BTreeMap;

use axum::http::StatusCode;
use pathline_ledger::Scope;
use utoipa::IntoResponses;
use utoipa::openapi::{ContentBuilder, Ref, RefOr, Response, ResponseBuilder};

use crate::refusal::Refusal;

type Responses = BTreeMap<String, RefOr<Response>>;

/// What every route answers that needs a token; each has the scope to read.
pub(crate) struct Guarded;

/// What a route answers that needs the admin's token.
pub(crate) struct ForAdmins;

/// What a route answers that reads parameters or a body.
pub(crate) struct Picky;

/// What a route answers to a cursor that is too old.
pub(crate) struct Outdated;

/// What a route answers where there is room for some only.
pub(crate) struct Crowded;

/// What a route answers that gives out names.
pub(crate) struct Taken;

/// What a route answers that reads a body.
pub(crate) struct Reading;

/// What a route answers about a thing that may not be there.
pub(crate) struct MayMiss;

/// What a route answers about things that the cluster may not show to Pathline.
pub(crate) struct Withheld;

impl IntoResponses for Guarded {
    fn responses() -> Responses {
        let unknown = Refusal::unauthorized("token-missing", "this needs a token");
        let away = Refusal::unavailable("the ledger does not answer");
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

impl IntoResponses for ForAdmins {
    fn responses() -> Responses {
        let forbidden = Refusal::forbidden("ci", Scope::Read, Scope::Admin);
        let mut all = Guarded::responses();
        all.extend(one("The token lacks the scope `admin`", &forbidden));
        all
    }
}

impl IntoResponses for Picky {
    fn responses() -> Responses {
        let refusal = Refusal::bad_request(
            "Failed to deserialize query string: limit: invalid digit found in string",
        );
        one("The request can't be understood", &refusal)
    }
}

impl IntoResponses for MayMiss {
    fn responses() -> Responses {
        let refusal = Refusal::not_found("there is no workload `web` in namespace `dev`");
        one("There is no such thing", &refusal)
    }
}

impl IntoResponses for Withheld {
    fn responses() -> Responses {
        let refusal = Refusal::withheld("pods in namespace `dev`");
        one("The cluster does not show it to Pathline", &refusal)
    }
}

impl IntoResponses for Outdated {
    fn responses() -> Responses {
        let refusal = Refusal::gone("The provided continue parameter is too old")
            .with_hint("begin again without `continue`");
        one("What the request goes on from is no longer kept", &refusal)
    }
}

impl IntoResponses for Crowded {
    fn responses() -> Responses {
        let refusal = Refusal::too_many("too many clients follow at once");
        one("There is no room for another client", &refusal)
    }
}

impl IntoResponses for Taken {
    fn responses() -> Responses {
        let refusal = Refusal::conflict("the name `ci` has been given to a token already");
        one(
            "The name was given before",
            &refusal.with_hint("choose another name"),
        )
    }
}

impl IntoResponses for Reading {
    fn responses() -> Responses {
        let large = StatusCode::PAYLOAD_TOO_LARGE;
        let large = Refusal::new(large, "too-large", "length limit exceeded");
        let other = StatusCode::UNSUPPORTED_MEDIA_TYPE;
        let other = Refusal::new(
            other,
            "not-json",
            "Expected request with `Content-Type: application/json`",
        );
        let mut all = one("The body is too large", &large);
        all.extend(one("The body is not said to be JSON", &other));
        all
    }
}

/// Describes one refusal.
pub(crate) fn one(description: &str, refusal: &Refusal) -> Responses {
    let content = ContentBuilder::new()
        .schema(Some(Ref::from_schema_name("Problem")))
        .example(Some(serde_json::json!(refusal.problem())))
        .build();
    let response = ResponseBuilder::new()
        .description(description)
        .content("application/json", content)
        .build();
    let status = refusal.status().as_str().to_owned();
    BTreeMap::from([(status, RefOr::T(response))])
}
