//! Counting the requests to the cluster where they are sent.

use http::{Method, Request, Uri};
use kube::Client;
use kube::client::Body;
use tower::service_fn;

use super::{CallLabels, Metrics};

impl Metrics {
    /// Returns a client that does what the given one does, and is counted.
    pub fn count(&self, client: Client) -> Client {
        let namespace = client.default_namespace().to_owned();
        let calls = self.calls.clone();
        let counting = service_fn(move |request: Request<Body>| {
            let labels = labels(request.method(), request.uri());
            calls.get_or_create(&labels).inc();
            let client = client.clone();
            async move { client.send(request).await }
        });
        Client::new(counting, namespace)
    }

    /// Returns how many requests of a verb (`create`, `update`, `patch`, `delete`, `get`, `list` or
    /// `watch`) went to a resource, which is written `plural` or `plural/subresource`.
    pub fn calls(&self, verb: &'static str, resource: &str) -> u64 {
        let resource = resource.to_owned();
        let calls = self.calls.get_or_create(&CallLabels { verb, resource });
        calls.get()
    }
}

/// Reads verb and resource from a request, as the API server itself does.
fn labels(method: &Method, uri: &Uri) -> CallLabels {
    let (resource, has_name) = resource(uri.path());
    let is_watch = uri.query().is_some_and(|query| {
        query
            .split('&')
            .any(|pair| matches!(pair, "watch=true" | "watch=1"))
    });
    let verb = match *method {
        Method::POST => "create",
        Method::PUT => "update",
        Method::PATCH => "patch",
        Method::DELETE => "delete",
        Method::GET if is_watch => "watch",
        Method::GET if has_name => "get",
        Method::GET => "list",
        _ => "other",
    };
    CallLabels { verb, resource }
}

/// Returns `plural` or `plural/subresource`, and whether one object is named. No name becomes a label.
fn resource(path: &str) -> (String, bool) {
    let mut parts = path.split('/').filter(|part| !part.is_empty());
    let versions = match parts.next() {
        Some("api") => 1,
        Some("apis") => 2,
        _ => return ("other".to_owned(), false),
    };
    let mut parts = parts.skip(versions).peekable();
    let first = parts.next();
    let is_scoped = first == Some("namespaces");
    let (plural, name, subresource) = if is_scoped {
        let namespace = parts.next();
        match parts.next() {
            // These two belong to the Namespace itself.
            Some(sub @ ("status" | "finalize")) => (first, namespace, Some(sub)),
            Some(plural) => (Some(plural), parts.next(), parts.next()),
            None => (first, namespace, None),
        }
    } else {
        (first, parts.next(), parts.next())
    };
    let plural = plural.unwrap_or("discovery");
    let resource = match subresource {
        Some(subresource) => format!("{plural}/{subresource}"),
        None => plural.to_owned(),
    };
    (resource, name.is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_told_apart_as_the_api_server_does() {
        let rows = [
            ("GET", "/api/v1/configmaps", "list", "configmaps"),
            (
                "GET",
                "/api/v1/configmaps?watch=true&x=1",
                "watch",
                "configmaps",
            ),
            (
                "GET",
                "/api/v1/namespaces/dev/configmaps/a",
                "get",
                "configmaps",
            ),
            (
                "GET",
                "/api/v1/namespaces/dev/configmaps",
                "list",
                "configmaps",
            ),
            ("GET", "/api/v1/namespaces", "list", "namespaces"),
            ("GET", "/api/v1/namespaces/dev", "get", "namespaces"),
            (
                "POST",
                "/api/v1/namespaces/dev/serviceaccounts/robot/token",
                "create",
                "serviceaccounts/token",
            ),
            (
                "PUT",
                "/apis/carto.run/v1alpha1/namespaces/dev/workloads/a/status",
                "update",
                "workloads/status",
            ),
            (
                "PATCH",
                "/apis/apps/v1/namespaces/dev/deployments/a",
                "patch",
                "deployments",
            ),
            ("DELETE", "/api/v1/namespaces/dev/pods/a", "delete", "pods"),
            ("GET", "/apis/carto.run/v1alpha1", "list", "discovery"),
            ("GET", "/version", "list", "other"),
        ];
        for (method, uri, verb, resource) in rows {
            let method = method.parse().unwrap();
            let found = labels(&method, &uri.parse().unwrap());
            assert_eq!(
                (found.verb, found.resource.as_str()),
                (verb, resource),
                "{uri}"
            );
        }
    }
}
