//! Messages of forges: what was pushed, and which packages are new.

use serde_json::Value;

use super::{Hint, location_in, pushed, text};

pub(super) fn github(event: &str, message: &Value) -> Vec<Hint> {
    match event {
        "push" => {
            let urls = ["/repository/html_url", "/repository/clone_url"];
            pushed(message, &urls).into_iter().collect()
        }
        "package" | "registry_package" => {
            let at = |field: &str| text(message, &format!("/{event}/{field}"));
            let is_container =
                at("package_type").is_some_and(|it| it.eq_ignore_ascii_case("container"));
            match (at("namespace"), at("name")) {
                (Some(owner), Some(name)) if is_container => vec![Hint::Image {
                    registry: Some("ghcr.io".to_owned()),
                    repository: format!("{owner}/{name}").to_ascii_lowercase(),
                }],
                _ => Vec::new(),
            }
        }
        _ => Vec::new(),
    }
}

/// Reads a message of GitLab, which says what it is in the message itself; the header has other words for it.
pub(super) fn gitlab(message: &Value) -> Vec<Hint> {
    match text(message, "/object_kind") {
        Some("push" | "tag_push") => {
            let urls = [
                "/project/git_http_url",
                "/project/web_url",
                "/repository/git_http_url",
            ];
            pushed(message, &urls).into_iter().collect()
        }
        _ => Vec::new(),
    }
}

pub(super) fn gitea(event: &str, message: &Value) -> Vec<Hint> {
    match event {
        "push" => {
            let urls = ["/repository/html_url", "/repository/clone_url"];
            pushed(message, &urls).into_iter().collect()
        }
        "package" => gitea_package(message).into_iter().collect(),
        _ => Vec::new(),
    }
}

/// Reads a package, which is in the registry of the forge itself.
fn gitea_package(message: &Value) -> Option<Hint> {
    let is_container = text(message, "/package/type") == Some("container");
    let name = text(message, "/package/name").filter(|_| is_container)?;
    let owner = text(message, "/package/owner/login")
        .or_else(|| text(message, "/package/owner/username"))?;
    // Older versions do not say where the package is; the repository is on the same host.
    let url = text(message, "/package/html_url").or_else(|| text(message, "/repository/html_url"));
    let location = url.and_then(location_in);
    let registry = location.and_then(|it| Some(it.split_once('/')?.0.to_owned()));
    Some(Hint::Image {
        registry,
        repository: format!("{owner}/{name}").to_ascii_lowercase(),
    })
}
