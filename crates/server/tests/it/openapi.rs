mod schema;

use axum::body::Body;
use axum::http::{Method, Request, StatusCode};
use serde_json::Value;

use self::schema::violation;
use crate::world::World;

async fn document(world: &World) -> Value {
    let request = Request::get("/openapi.json");
    world.send(request, None, Body::empty()).await.body
}

/// Returns every operation with its method and path.
fn operations(document: &Value) -> Vec<(String, &str, &Value)> {
    let paths = document["paths"].as_object().expect("paths");
    let operations = paths.iter().flat_map(|(path, item)| {
        let methods = item.as_object().expect("methods").iter();
        methods.map(move |(method, it)| (method.to_uppercase(), path.as_str(), it))
    });
    operations.collect()
}

/// Returns a path with something in every place that stands for something.
fn filled(path: &str) -> String {
    let id = "0".repeat(64);
    let places = [
        ("{namespace}", "dev"),
        ("{name}", "web"),
        ("{env}", "prod"),
        ("{id}", &id),
    ];
    places.iter().fold(path.to_owned(), |path, (place, value)| {
        path.replace(place, value)
    })
}

#[tokio::test]
async fn document_lists_every_route_with_its_scope_parameters_and_answers() {
    let world = World::without_cluster().await;
    let document = document(&world).await;
    let line = |(method, path, operation): (String, &str, &Value)| {
        let scope = operation["security"][0]["token"][0]
            .as_str()
            .unwrap_or("open");
        let parameters = operation["parameters"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        let parameters: Vec<_> = parameters
            .iter()
            .filter_map(|it| it["name"].as_str())
            .collect();
        let answers = operation["responses"]
            .as_object()
            .expect("responses")
            .keys();
        let answers: Vec<_> = answers.map(String::as_str).collect();
        format!(
            "{method} {path} ({scope}) {parameters:?} -> {}",
            answers.join(" ")
        )
    };
    let lines: Vec<_> = operations(&document).into_iter().map(line).collect();
    insta::assert_snapshot!(lines.join("\n"), @r#"
    GET /artifacts (read) ["contains", "limit", "continue"] -> 200 400 401 503
    GET /artifacts/{id} (read) ["id"] -> 200 400 401 404 503
    GET /concerned (read) ["seen", "timeout"] -> 200 400 401 404 429 503
    GET /deliverables (read) ["namespace", "limit", "continue"] -> 200 400 401 410 503
    GET /deliverables/{namespace}/{name} (read) ["namespace", "name"] -> 200 400 401 404 503
    GET /deliverables/{namespace}/{name}/wait (read) ["namespace", "name", "for", "applied", "removed", "generation", "uid", "seen", "live", "acceptAssumed", "timeout", "Last-Event-ID"] -> 200 400 401 429 503
    GET /environments (read) [] -> 200 401 403 503
    POST /environments/{env}/hold (write) ["env"] -> 200 400 401 403 404 409 413 415 422 503
    POST /environments/{env}/promote (write) ["env"] -> 200 400 401 403 404 409 413 415 422 503
    POST /environments/{env}/resume (write) ["env"] -> 200 400 401 403 404 409 413 415 422 503
    POST /environments/{env}/rollback (write) ["env"] -> 201 400 401 403 404 409 413 415 422 503
    GET /healthz (open) [] -> 200
    POST /ingest/{name} (open) ["name", "key"] -> 202 400 401 404 413 503
    GET /metrics (open) [] -> 200
    GET /objects/{namespace}/{kind}/{name}/lineage (read) ["namespace", "kind", "name"] -> 200 400 401 403 404 503
    GET /openapi.json (open) [] -> 200
    GET /readyz (open) [] -> 200 503
    GET /releases (read) ["tracker", "commit", "environment", "limit", "continue"] -> 200 400 401 503
    GET /releases/board (read) ["tracker", "environment", "limit", "continue"] -> 200 400 401 403 404 503
    GET /releases/{id} (read) ["id"] -> 200 400 401 404 503
    GET /releases/{id}/objects (read) ["id", "environment"] -> 200 400 401 403 404 409 410 503
    GET /stream (read) ["after", "Last-Event-ID"] -> 200 400 401 410 429 503
    GET /tokens (admin) [] -> 200 401 403 503
    POST /tokens (admin) [] -> 201 400 401 403 409 413 415 503
    DELETE /tokens/{name} (admin) ["name"] -> 200 400 401 403 404 503
    GET /trackers (read) ["limit", "continue"] -> 200 400 401 503
    POST /trackers (write) [] -> 201 400 401 403 409 413 415 422 503
    DELETE /trackers/{id} (write) ["id", "If-Match"] -> 204 400 401 403 404 412 503
    GET /trackers/{id} (read) ["id"] -> 200 400 401 404 503
    PUT /trackers/{id} (write) ["id", "If-Match"] -> 200 400 401 403 404 412 413 415 422 503
    POST /trackers/{id}/poll (write) ["id"] -> 202 400 401 403 404 503
    POST /trackers/{id}/release (write) ["id"] -> 201 400 401 403 404 409 413 415 422 503
    GET /trackers/{id}/wait (read) ["id", "release", "commit", "environment", "timeout"] -> 200 400 401 403 404 429 503
    GET /trackers/{id}/why (read) ["id", "release", "commit", "environment"] -> 200 400 401 403 404 503
    GET /workloads (read) ["namespace", "limit", "continue"] -> 200 400 401 410 503
    GET /workloads/{namespace}/{name} (read) ["namespace", "name"] -> 200 400 401 404 503
    GET /workloads/{namespace}/{name}/wait (read) ["namespace", "name", "for", "applied", "removed", "generation", "uid", "seen", "live", "acceptAssumed", "timeout", "Last-Event-ID"] -> 200 400 401 429 503
    "#);
}

#[tokio::test]
async fn every_documented_operation_is_answered_and_no_other() {
    let world = World::without_cluster().await;
    let document = document(&world).await;
    for (path, item) in document["paths"].as_object().unwrap() {
        for method in ["GET", "POST", "PUT", "PATCH", "DELETE"] {
            let documented = item.get(method.to_lowercase()).is_some();
            let request = Request::builder().method(method).uri(filled(path));
            let answer = world.send(request, None, Body::empty()).await;
            let answered = answer.status != StatusCode::METHOD_NOT_ALLOWED;
            assert_eq!(answered, documented, "{method} {path}");
            // What is not there may be a thing, such as a sender; the route is.
            let is_nowhere = answer.message().starts_with("there is nothing at");
            assert!(!is_nowhere, "{method} {path}");
        }
    }
}

#[tokio::test]
async fn every_example_is_what_the_schema_says() {
    let world = World::without_cluster().await;
    let document = document(&world).await;
    for (method, path, operation) in operations(&document) {
        let bodies = operation["responses"].as_object().unwrap().iter();
        let bodies = bodies.map(|(status, answer)| (status.as_str(), &answer["content"]));
        let sent = [("the request", &operation["requestBody"]["content"])];
        for (what, content) in bodies.chain(sent.into_iter().filter(|(_, it)| it.is_object())) {
            if matches!(what, "202" | "204") && content.is_null() {
                continue;
            }
            let content = content.as_object();
            let content =
                content.unwrap_or_else(|| panic!("{method} {path} {what} has no content"));
            for (media, content) in content {
                let wrong = violation(&document, &content["schema"], &content["example"]);
                assert_eq!(wrong, None, "{method} {path} {what} {media}");
                assert!(
                    !content["example"].is_null(),
                    "{method} {path} {what} {media}"
                );
            }
        }
    }
}

#[tokio::test]
async fn every_operation_explains_itself() {
    let world = World::without_cluster().await;
    let document = document(&world).await;
    let mut ids = std::collections::BTreeSet::new();
    for (method, path, operation) in operations(&document) {
        let told = |value: &Value| value.as_str().is_some_and(|text| !text.is_empty());
        assert!(told(&operation["summary"]), "{method} {path}");
        assert!(
            ids.insert(operation["operationId"].to_string()),
            "{method} {path}"
        );
        assert_eq!(
            operation["tags"].as_array().map(Vec::len),
            Some(1),
            "{method} {path}"
        );
        for parameter in operation["parameters"].as_array().into_iter().flatten() {
            assert!(
                told(&parameter["description"]),
                "{method} {path} {parameter}"
            );
        }
        for (status, answer) in operation["responses"].as_object().unwrap() {
            assert!(told(&answer["description"]), "{method} {path} {status}");
        }
    }
    let scheme = &document["components"]["securitySchemes"]["token"];
    assert_eq!(
        (&scheme["type"], &scheme["scheme"]),
        (&"http".into(), &"bearer".into())
    );
}

#[tokio::test]
async fn document_says_that_a_token_is_needed_exactly_where_one_is() {
    let world = World::without_cluster().await;
    let document = document(&world).await;
    for (method, path, operation) in operations(&document) {
        let method = Method::from_bytes(method.as_bytes()).unwrap();
        let request = Request::builder().method(method.clone()).uri(filled(path));
        let answer = world.open(request, None, Body::empty()).await;
        let needed = answer.status() == StatusCode::UNAUTHORIZED;
        assert_eq!(operation["security"].is_array(), needed, "{method} {path}");
    }
}
