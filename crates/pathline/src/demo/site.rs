//! The sample application: a built site, read from its archive and served from memory.

mod archive;
mod manifest;

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{Request, State};
use axum::http::{HeaderName, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;

pub(crate) use self::archive::ArchiveError;
pub(crate) use self::manifest::Manifest;

const COMMIT_HEADER: HeaderName = HeaderName::from_static("x-pathline-commit");

/// A site in memory. Nothing is unpacked to disk, so an archive can neither write outside of a
/// directory nor leave files behind.
#[derive(Clone, Debug)]
pub(crate) struct Site {
    commit: HeaderValue,
    files: Arc<BTreeMap<String, Bytes>>,
}

impl Site {
    /// Reads the archive the manifest names.
    pub(crate) fn open(manifest: &Manifest) -> Result<Self, ArchiveError> {
        let commit = HeaderValue::from_str(manifest.commit()).expect("a manifest's commit is hex");
        Ok(Self {
            commit,
            files: Arc::new(archive::read(manifest.archive(), manifest.digest())?),
        })
    }

    /// Makes a site of one text.
    pub(crate) fn of_text(text: &str) -> Self {
        let page = Bytes::from(format!("{text}\n"));
        Self {
            commit: HeaderValue::from_static(""),
            files: Arc::new(BTreeMap::from([("index.txt".to_owned(), page)])),
        }
    }

    /// Returns the commit this site was built from.
    pub(crate) fn commit(&self) -> &str {
        self.commit.to_str().expect("a manifest's commit is hex")
    }

    /// Returns how many files the site has.
    pub(crate) fn len(&self) -> usize {
        self.files.len()
    }

    /// Returns a router that serves the site, and `/healthz` beside it.
    pub(crate) fn router(self) -> Router {
        Router::new()
            .route("/healthz", get(healthz))
            .fallback(serve_file)
            .with_state(self)
    }

    fn find(&self, path: &str) -> Option<(&str, &Bytes)> {
        let path = path.trim_start_matches('/');
        let index = format!(
            "{path}{}index.html",
            if path.is_empty() || path.ends_with('/') {
                ""
            } else {
                "/"
            }
        );
        let text = path.is_empty().then_some("index.txt");
        [path, index.as_str()]
            .into_iter()
            .chain(text)
            .find_map(|name| self.files.get_key_value(name))
            .map(|(name, content)| (name.as_str(), content))
    }
}

async fn healthz(State(site): State<Site>) -> Response {
    ([(COMMIT_HEADER, site.commit)], "ok\n").into_response()
}

async fn serve_file(State(site): State<Site>, request: Request) -> Response {
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return StatusCode::METHOD_NOT_ALLOWED.into_response();
    }
    let (status, content_type, content) = match site.find(request.uri().path()) {
        Some((name, content)) => (StatusCode::OK, content_type(name), content.clone()),
        None => (
            StatusCode::NOT_FOUND,
            "text/plain; charset=utf-8",
            Bytes::from("not found\n"),
        ),
    };
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(content_type)),
        // The next commit may replace every file.
        (header::CACHE_CONTROL, HeaderValue::from_static("no-cache")),
        (
            header::X_CONTENT_TYPE_OPTIONS,
            HeaderValue::from_static("nosniff"),
        ),
        (COMMIT_HEADER, site.commit.clone()),
    ];
    (status, headers, content).into_response()
}

fn content_type(name: &str) -> &'static str {
    match name.rsplit_once('.').map(|(_, extension)| extension) {
        Some("html") => "text/html; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("json") => "application/json",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        Some("txt") => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use http_body_util::BodyExt;
    use tower::ServiceExt;

    use super::*;

    fn mk_site() -> Site {
        let files = [
            ("index.html", "home"),
            ("docs/index.html", "docs"),
            ("a.css", "body{}"),
        ];
        let files = files.map(|(name, text)| (name.to_owned(), Bytes::from(text)));
        Site {
            commit: HeaderValue::from_static("abc123"),
            files: Arc::new(BTreeMap::from(files)),
        }
    }

    async fn ask(method: Method, path: &str) -> (StatusCode, axum::http::HeaderMap, String) {
        let request = Request::builder()
            .method(method)
            .uri(path)
            .body(Body::empty())
            .unwrap();
        let response = mk_site().router().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        (
            parts.status,
            parts.headers,
            String::from_utf8(body.to_vec()).unwrap(),
        )
    }

    #[tokio::test]
    async fn directories_are_served_by_their_index() {
        assert_eq!(ask(Method::GET, "/").await.2, "home");
        assert_eq!(ask(Method::GET, "/docs").await.2, "docs");
        assert_eq!(ask(Method::GET, "/docs/").await.2, "docs");
    }

    #[tokio::test]
    async fn every_answer_carries_the_commit() {
        for path in ["/", "/a.css", "/healthz", "/missing"] {
            assert_eq!(
                ask(Method::GET, path).await.1[&COMMIT_HEADER],
                "abc123",
                "{path}"
            );
        }
    }

    #[tokio::test]
    async fn files_have_their_type_and_missing_ones_are_missing() {
        assert_eq!(
            ask(Method::GET, "/a.css").await.1[header::CONTENT_TYPE],
            "text/css; charset=utf-8"
        );
        assert_eq!(ask(Method::GET, "/b.css").await.0, StatusCode::NOT_FOUND);
        assert_eq!(
            ask(Method::POST, "/").await.0,
            StatusCode::METHOD_NOT_ALLOWED
        );
    }
}
