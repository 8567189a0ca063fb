//! A request, read from its method, path and query alone.
//!
//! Nothing here looks at the registry or the store, so that any bytes can be thrown at it.

use http::{Method, Uri};
use percent_encoding::percent_decode_str;

use super::query::Query;
use crate::status::Status;

/// The longest path and query that is looked at.
const MAX_URI_BYTES: usize = 32 * 1024;

/// One request, without its body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Request {
    /// The HTTP method.
    pub(crate) method: Method,
    /// The target that the path names.
    pub(crate) target: Target,
    /// The decoded query parameters.
    pub(crate) query: Query,
}

/// The target of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Target {
    /// `/healthz`, `/livez` and `/readyz`, by their names.
    Health(&'static str),
    /// `/version`.
    Version,
    /// `/openapi/v2`.
    OpenApiV2,
    /// `/openapi/v3`, or with a path below it the document of one group and version.
    OpenApi(Option<String>),
    /// `/api`: the versions of the core group.
    CoreVersions,
    /// `/apis`: every other group.
    Groups,
    /// `/apis/GROUP`.
    Group(String),
    /// `/api/v1` or `/apis/GROUP/VERSION`: the resources of one version.
    GroupVersion {
        /// The group, empty for the core group.
        group: String,
        /// The version.
        version: String,
    },
    /// A resource, or something in it.
    Resource(ResourcePath),
}

/// The parts of a resource's path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ResourcePath {
    /// The group, empty for the core group.
    pub(crate) group: String,
    /// The version.
    pub(crate) version: String,
    /// The plural name.
    pub(crate) resource: String,
    /// The namespace, if the path has one.
    pub(crate) namespace: Option<String>,
    /// The object's name, if the path has one.
    pub(crate) name: Option<String>,
    /// The part of the object that is meant, such as `status`.
    pub(crate) subresource: Option<String>,
}

/// Reads a request line.
pub(crate) fn parse(method: &Method, uri: &Uri) -> Result<Request, Status> {
    let length = uri.path().len() + uri.query().map_or(0, str::len);
    if length > MAX_URI_BYTES {
        return Err(Status::bad_request(format!(
            "the URL is longer than {MAX_URI_BYTES} bytes"
        )));
    }
    let segments = decode_path(uri.path())?;
    let target = parse_target(&segments)?;
    let query = Query::parse(uri.query().unwrap_or_default())?;
    Ok(Request {
        method: method.clone(),
        target,
        query,
    })
}

fn decode_path(path: &str) -> Result<Vec<String>, Status> {
    path.split('/')
        .filter(|segment| !segment.is_empty())
        .map(decode_segment)
        .collect()
}

fn decode_segment(segment: &str) -> Result<String, Status> {
    let decoded = percent_decode_str(segment)
        .decode_utf8()
        .map_err(|_| Status::bad_request("the path of the URL is not valid UTF-8"))?;
    // A name is one path segment; anything that would not survive another round of path cleaning
    // could name a different object to a proxy than to this server.
    if matches!(&*decoded, "." | "..") || decoded.contains(['/', '%']) {
        return Err(Status::no_such_resource());
    }
    Ok(decoded.into_owned())
}

fn parse_target(segments: &[String]) -> Result<Target, Status> {
    let words: Vec<&str> = segments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["healthz", ..] => Ok(Target::Health("healthz")),
        ["livez", ..] => Ok(Target::Health("livez")),
        ["readyz", ..] => Ok(Target::Health("readyz")),
        ["version"] => Ok(Target::Version),
        ["openapi", "v2"] => Ok(Target::OpenApiV2),
        ["openapi", "v3"] => Ok(Target::OpenApi(None)),
        ["openapi", "v3", rest @ ..] => Ok(Target::OpenApi(Some(rest.join("/")))),
        ["api"] => Ok(Target::CoreVersions),
        ["api", version, rest @ ..] => below_version("", version, rest),
        ["apis"] => Ok(Target::Groups),
        ["apis", group] => Ok(Target::Group((*group).to_owned())),
        ["apis", group, version, rest @ ..] => below_version(group, version, rest),
        _ => Err(Status::no_such_resource()),
    }
}

fn below_version(group: &str, version: &str, rest: &[&str]) -> Result<Target, Status> {
    let path = |resource: &str, namespace: Option<&str>, tail: &[&str]| {
        let [name, subresource] = match tail {
            [] => [None, None],
            [name] => [Some(*name), None],
            [name, subresource] => [Some(*name), Some(*subresource)],
            _ => return Err(Status::no_such_resource()),
        };
        Ok(Target::Resource(ResourcePath {
            group: group.to_owned(),
            version: version.to_owned(),
            resource: resource.to_owned(),
            namespace: namespace.map(str::to_owned),
            name: name.map(str::to_owned),
            subresource: subresource.map(str::to_owned),
        }))
    };
    match rest {
        [] => Ok(Target::GroupVersion {
            group: group.to_owned(),
            version: version.to_owned(),
        }),
        ["namespaces", _, "status" | "finalize"] => path("namespaces", None, &rest[1..]),
        ["namespaces", namespace, resource, tail @ ..] => path(resource, Some(namespace), tail),
        [resource, tail @ ..] => path(resource, None, tail),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(path: &str) -> Result<Target, Status> {
        parse(&Method::GET, &path.parse().unwrap()).map(|request| request.target)
    }

    fn resource(path: &str) -> [Option<String>; 6] {
        match target(path).unwrap() {
            Target::Resource(path) => [
                Some(path.group),
                Some(path.version),
                Some(path.resource),
                path.namespace,
                path.name,
                path.subresource,
            ],
            other => panic!("{other:?} is no resource"),
        }
    }

    fn some(texts: [&str; 6]) -> [Option<String>; 6] {
        texts.map(|text| {
            if text == "-" {
                None
            } else {
                Some(text.to_owned())
            }
        })
    }

    #[test]
    fn paths_of_resources_are_taken_apart() {
        let cases = [
            ("/api/v1/pods", ["", "v1", "pods", "-", "-", "-"]),
            (
                "/api/v1/namespaces",
                ["", "v1", "namespaces", "-", "-", "-"],
            ),
            (
                "/api/v1/namespaces/a",
                ["", "v1", "namespaces", "-", "a", "-"],
            ),
            (
                "/api/v1/namespaces/a/finalize",
                ["", "v1", "namespaces", "-", "a", "finalize"],
            ),
            (
                "/api/v1/namespaces/a/pods",
                ["", "v1", "pods", "a", "-", "-"],
            ),
            (
                "/apis/apps/v1/namespaces/a/deployments/d/scale",
                ["apps", "v1", "deployments", "a", "d", "scale"],
            ),
            (
                "/apis/x.io/v1/things/t",
                ["x.io", "v1", "things", "-", "t", "-"],
            ),
            ("/api/v1/pods/", ["", "v1", "pods", "-", "-", "-"]),
            (
                "/api/v1/namespaces/a%2db/pods",
                ["", "v1", "pods", "a-b", "-", "-"],
            ),
        ];
        for (path, expected) in cases {
            assert_eq!(resource(path), some(expected), "{path}");
        }
    }

    #[test]
    fn paths_that_are_no_resource_are_told_apart() {
        assert_eq!(target("/api").unwrap(), Target::CoreVersions);
        assert_eq!(target("/apis").unwrap(), Target::Groups);
        assert_eq!(
            target("/apis/apps").unwrap(),
            Target::Group("apps".to_owned())
        );
        assert_eq!(target("/readyz").unwrap(), Target::Health("readyz"));
        assert_eq!(
            target("/openapi/v3/apis/apps/v1").unwrap(),
            Target::OpenApi(Some("apis/apps/v1".to_owned()))
        );
        let core = Target::GroupVersion {
            group: String::new(),
            version: "v1".to_owned(),
        };
        assert_eq!(target("/api/v1").unwrap(), core);
    }

    #[test]
    fn segments_that_hide_a_path_are_refused() {
        for path in ["/api/v1/pods/..", "/api/v1/pods/%2e%2e", "/api/v1/a%2Fb"] {
            assert_eq!(target(path).unwrap_err().code(), 404, "{path}");
        }
        assert_eq!(target("/api/v1/pods/%ff").unwrap_err().code(), 400);
    }

    #[test]
    fn unknown_paths_and_too_deep_ones_are_not_found() {
        for path in ["/", "/foo", "/api/v1/namespaces/a/pods/p/log/more"] {
            assert_eq!(target(path).unwrap_err().code(), 404, "{path}");
        }
    }

    #[test]
    fn an_endless_url_is_refused() {
        let path = format!("/api/v1/{}", "x".repeat(30_000));
        assert!(target(&path).is_ok(), "30 kB are read");
        let query = format!("{path}?a={}", "y".repeat(5_000));
        assert!(target(&query).is_err(), "35 kB are not");
    }
}
