//! Discovery: which groups, versions and resources there are, plain and aggregated.

use http::header::{CONTENT_TYPE, ETAG, HeaderValue, IF_NONE_MATCH, VARY};
use http::{HeaderMap, Response, StatusCode};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::accept::wants_aggregated_discovery;
use super::registry::Kinds;
use super::resource::{Resource, group_version};
use super::respond::{self, ResponseBody};
use crate::status::Status;

/// The version of Kubernetes whose API this server speaks.
const MINOR: &str = "36";

const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
const READ_WRITE: [&str; 3] = ["get", "patch", "update"];
const ALL_VERBS: [&str; 8] = [
    "create",
    "delete",
    "deletecollection",
    "get",
    "list",
    "patch",
    "update",
    "watch",
];

/// The same for custom resources, in the order in which a real server tells them.
const CUSTOM_VERBS: [&str; 8] = [
    "delete",
    "deletecollection",
    "get",
    "list",
    "patch",
    "create",
    "update",
    "watch",
];

/// A part of a resource's objects with a path of its own.
struct Subresource {
    name: &'static str,
    group: String,
    version: String,
    kind: String,
    verbs: &'static [&'static str],
}

/// Answers `/version`.
pub(crate) fn version() -> Value {
    json!({
        "major": "1",
        "minor": MINOR,
        "gitVersion": format!("v1.{MINOR}.3+pathline.{}", env!("CARGO_PKG_VERSION")),
        "gitCommit": "",
        "gitTreeState": "",
        "buildDate": "1970-01-01T00:00:00Z",
        "goVersion": "",
        "compiler": "rustc",
        "platform": format!("{}/{}", std::env::consts::OS, platform()),
    })
}

fn platform() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    }
}

/// Answers `/api`.
pub(crate) fn core_versions(kinds: &Kinds, headers: &HeaderMap) -> Response<ResponseBody> {
    if wants_aggregated_discovery(headers) {
        return aggregated(kinds, headers, |group| group.is_empty());
    }
    let body = json!({
        "kind": "APIVersions",
        "versions": ["v1"],
        "serverAddressByClientCIDRs": [],
    });
    respond::json(StatusCode::OK, &body)
}

/// Answers `/apis`.
pub(crate) fn groups(kinds: &Kinds, headers: &HeaderMap) -> Response<ResponseBody> {
    if wants_aggregated_discovery(headers) {
        return aggregated(kinds, headers, |group| !group.is_empty());
    }
    let groups = kinds
        .groups()
        .into_iter()
        .filter(|(name, _)| !name.is_empty());
    let groups: Vec<Value> = groups
        .map(|(name, versions)| group_body(name, &versions))
        .collect();
    let body = json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": groups});
    respond::json(StatusCode::OK, &body)
}

/// Answers `/apis/GROUP`.
pub(crate) fn group(kinds: &Kinds, name: &str) -> Result<Value, Status> {
    let (name, versions) = kinds
        .groups()
        .into_iter()
        .find(|(group, _)| *group == name && !name.is_empty())
        .ok_or_else(Status::no_such_resource)?;
    let mut body = group_body(name, &versions);
    body["kind"] = "APIGroup".into();
    body["apiVersion"] = "v1".into();
    Ok(body)
}

fn group_body(name: &str, versions: &[&str]) -> Value {
    let entry =
        |version: &str| json!({"groupVersion": group_version(name, version), "version": version});
    json!({
        "name": name,
        "versions": versions.iter().map(|version| entry(version)).collect::<Vec<Value>>(),
        "preferredVersion": entry(versions.first().copied().unwrap_or_default()),
    })
}

/// Answers `/api/v1` and `/apis/GROUP/VERSION`.
pub(crate) fn resources(kinds: &Kinds, group: &str, version: &str) -> Result<Value, Status> {
    let resources: Vec<Value> = kinds
        .of_version(group, version)
        .flat_map(|it| entries(it))
        .collect();
    if resources.is_empty() {
        return Err(Status::no_such_resource());
    }
    Ok(json!({
        "kind": "APIResourceList",
        "apiVersion": "v1",
        "groupVersion": group_version(group, version),
        "resources": resources,
    }))
}

fn entries(resource: &Resource) -> Vec<Value> {
    let mut own = json!({
        "name": resource.plural,
        "singularName": resource.singular,
        "namespaced": resource.namespaced,
        "kind": resource.kind,
        "verbs": verbs(resource),
    });
    add_names(&mut own, resource);
    let subresources = subresources(resource).into_iter().map(|it| {
        let mut entry = json!({
            "name": format!("{}/{}", resource.plural, it.name),
            "singularName": "",
            "namespaced": resource.namespaced,
            "kind": it.kind,
            "verbs": it.verbs,
        });
        if (it.group.as_str(), it.version.as_str()) != (&resource.group, &resource.version) {
            entry["group"] = it.group.into();
            entry["version"] = it.version.into();
        }
        entry
    });
    std::iter::once(own).chain(subresources).collect()
}

fn add_names(entry: &mut Value, resource: &Resource) {
    if !resource.short_names.is_empty() {
        entry["shortNames"] = json!(resource.short_names);
    }
    if !resource.categories.is_empty() {
        entry["categories"] = json!(resource.categories);
    }
}

fn verbs(resource: &Resource) -> Vec<&'static str> {
    if resource.is_custom() {
        return CUSTOM_VERBS.to_vec();
    }
    let is_namespace = resource.is_built_in("", "Namespace");
    ALL_VERBS
        .into_iter()
        .filter(|verb| !(is_namespace && *verb == "deletecollection"))
        .collect()
}

fn subresources(resource: &Resource) -> Vec<Subresource> {
    let own = |name, verbs| Subresource {
        name,
        group: resource.group.clone(),
        version: resource.version.clone(),
        kind: resource.kind.clone(),
        verbs,
    };
    let foreign = |name, group: &str, kind: &str, verbs| Subresource {
        name,
        group: group.to_owned(),
        version: "v1".to_owned(),
        kind: kind.to_owned(),
        verbs,
    };
    let mut found = Vec::new();
    if resource.is_built_in("", "Namespace") {
        found.push(own("finalize", &["update"]));
    }
    if resource.is_built_in("", "Pod") {
        found.push(foreign("binding", "", "Binding", &["create"]));
    }
    if resource.has_status {
        found.push(own("status", &READ_WRITE));
    }
    if resource.scale.is_some() {
        found.push(foreign("scale", "autoscaling", "Scale", &READ_WRITE));
    }
    if resource.is_built_in("", "ServiceAccount") {
        found.push(foreign(
            "token",
            "authentication.k8s.io",
            "TokenRequest",
            &["create"],
        ));
    }
    found
}

fn aggregated(
    kinds: &Kinds,
    headers: &HeaderMap,
    wanted: impl Fn(&str) -> bool,
) -> Response<ResponseBody> {
    let groups = kinds.groups().into_iter().filter(|(name, _)| wanted(name));
    let items: Vec<Value> = groups
        .map(|(name, versions)| discovered(kinds, name, &versions))
        .collect();
    let body = json!({
        "kind": "APIGroupDiscoveryList",
        "apiVersion": "apidiscovery.k8s.io/v2",
        "metadata": {},
        "items": items,
    });
    let text = serde_json::to_vec(&body).expect("JSON values have only string keys");
    let mut response = tagged(headers, text);
    response
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static(AGGREGATED));
    response
        .headers_mut()
        .insert(VARY, HeaderValue::from_static("Accept"));
    response
}

fn discovered(kinds: &Kinds, group: &str, versions: &[&str]) -> Value {
    let versions: Vec<Value> = versions
        .iter()
        .map(|version| {
            let resources: Vec<Value> = kinds
                .of_version(group, version)
                .map(|it| discovered_resource(it))
                .collect();
            json!({"version": version, "resources": resources, "freshness": "Current"})
        })
        .collect();
    let metadata = if group.is_empty() {
        json!({})
    } else {
        json!({"name": group})
    };
    json!({"metadata": metadata, "versions": versions})
}

fn discovered_resource(resource: &Resource) -> Value {
    let kind = |group: &str, version: &str, kind: &str| json!({"group": group, "version": version, "kind": kind});
    let mut entry = json!({
        "resource": resource.plural,
        "responseKind": kind(&resource.group, &resource.version, &resource.kind),
        "scope": if resource.namespaced { "Namespaced" } else { "Cluster" },
        "singularResource": resource.singular,
        "verbs": verbs(resource),
    });
    add_names(&mut entry, resource);
    let subresources: Vec<Value> = subresources(resource)
        .iter()
        .map(|it| {
            json!({
                "subresource": it.name,
                "responseKind": kind(&it.group, &it.version, &it.kind),
                "verbs": it.verbs,
            })
        })
        .collect();
    if !subresources.is_empty() {
        entry["subresources"] = subresources.into();
    }
    entry
}

/// Answers with a body that clients keep by its tag, or tells them that theirs is still good.
pub(crate) fn tagged(headers: &HeaderMap, body: Vec<u8>) -> Response<ResponseBody> {
    let tag = format!("\"{}\"", fingerprint(&body));
    let known = headers
        .get(IF_NONE_MATCH)
        .is_some_and(|known| known.as_bytes() == tag.as_bytes());
    let (code, body) = if known {
        (StatusCode::NOT_MODIFIED, Vec::new())
    } else {
        (StatusCode::OK, body)
    };
    let mut response = respond::bytes(code, "application/json", body.into());
    let tag = HeaderValue::from_str(&tag).expect("a tag is hexadecimal");
    response.headers_mut().insert(ETAG, tag);
    response
}

/// Returns a text that stands for a body.
pub(crate) fn fingerprint(body: &[u8]) -> String {
    Sha256::digest(body)
        .iter()
        .map(|byte| format!("{byte:02X}"))
        .collect()
}
