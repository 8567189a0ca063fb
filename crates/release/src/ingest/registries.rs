//! Messages of registries: which images are new, or gone.

use serde_json::Value;

use super::{Hint, MAX_HINTS, image_in, text};

pub(super) fn distribution(message: &Value) -> Vec<Hint> {
    let events = message.get("events").and_then(Value::as_array);
    let events = events.into_iter().flatten().take(MAX_HINTS);
    let hint = |event: &Value| {
        // Pulls are told too.
        let is_change = matches!(text(event, "/action"), Some("push" | "delete"));
        let repository = text(event, "/target/repository").filter(|_| is_change)?;
        // Behind a proxy the registry does not know by which name it is asked for.
        Some(Hint::Image {
            registry: None,
            repository: repository.to_owned(),
        })
    };
    let mut hints: Vec<Hint> = events.filter_map(hint).collect();
    // A push of an image is told once for every layer of it.
    hints.dedup();
    hints
}

/// Reads a message of Docker Hub, which tells nothing but pushes.
pub(super) fn docker_hub(message: &Value) -> Vec<Hint> {
    let is_push = message.get("push_data").is_some();
    let name = text(message, "/repository/repo_name").filter(|_| is_push);
    let hint = |name: &str| Hint::Image {
        registry: Some("docker.io".to_owned()),
        repository: match name.contains('/') {
            true => name.to_ascii_lowercase(),
            false => format!("library/{}", name.to_ascii_lowercase()),
        },
    };
    name.map(hint).into_iter().collect()
}

pub(super) fn harbor(message: &Value) -> Vec<Hint> {
    // Both formats have the same below different keys.
    let name = match text(message, "/type") {
        Some("PUSH_ARTIFACT" | "DELETE_ARTIFACT") => "/event_data/repository/repo_full_name",
        Some("harbor.artifact.pushed" | "harbor.artifact.deleted") => {
            "/data/repository/repo_full_name"
        }
        _ => return Vec::new(),
    };
    // It may have another name from outside than the one it is configured with.
    let hint = |name: &str| Hint::Image {
        registry: None,
        repository: name.to_owned(),
    };
    text(message, name).map(hint).into_iter().collect()
}

/// Reads a notification of Quay, of which only the one about a push has tags that were updated.
pub(super) fn quay(message: &Value) -> Vec<Hint> {
    let is_push = message.get("updated_tags").is_some();
    let name = text(message, "/docker_url").filter(|_| is_push);
    name.and_then(image_in).into_iter().collect()
}
