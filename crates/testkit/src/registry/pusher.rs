//! Pushing many small images: over HTTP, without a program for each of them.

use std::collections::BTreeSet;

use parking_lot::Mutex;

use crate::doubles::registry::{IMAGE, digest};
use crate::rest::{self, Answer};

/// The settings of all images: that they have none.
const SETTINGS: &str = "{}";

/// A client that pushes images without layers to a registry that everybody is let into.
#[derive(Debug)]
pub struct Pusher {
    host: String,
    /// The repositories that have the settings.
    prepared: Mutex<BTreeSet<String>>,
}

impl Pusher {
    /// Pushes to a host.
    pub fn new(host: &str) -> Self {
        Self {
            host: host.to_owned(),
            prepared: Mutex::default(),
        }
    }

    /// Pushes an image to a tag of a repository, and returns its digest. Images with the same content are the same.
    ///
    /// # Panics
    ///
    /// If the registry refuses it.
    pub fn push(&self, repository: &str, tag: &str, content: &str) -> String {
        if self.prepared.lock().insert(repository.to_owned()) {
            self.upload(repository);
        }
        let settings = serde_json::json!({
            "mediaType": "application/vnd.oci.image.config.v1+json",
            "digest": digest(SETTINGS.as_bytes()),
            "size": SETTINGS.len(),
        });
        let manifest = serde_json::json!({
            "schemaVersion": 2,
            "mediaType": IMAGE,
            "config": settings,
            "layers": [],
            "annotations": {"content": content},
        });
        let manifest = manifest.to_string();
        let put = format!("PUT /v2/{repository}/manifests/{tag}");
        let headers = [("Content-Type", IMAGE)];
        self.ask(&put, &headers, &manifest, 201);
        digest(manifest.as_bytes())
    }

    /// Uploads the settings to a repository.
    fn upload(&self, repository: &str) {
        let begun = self.ask(
            &format!("POST /v2/{repository}/blobs/uploads/"),
            &[],
            "",
            202,
        );
        let place = begun.header("location").expect("it says where to");
        let path = place.find("/v2/").expect("a path of a registry");
        let put = format!(
            "PUT {}&digest={}",
            &place[path..],
            digest(SETTINGS.as_bytes())
        );
        let headers = [("Content-Type", "application/octet-stream")];
        self.ask(&put, &headers, SETTINGS, 201);
    }

    fn ask(&self, request: &str, headers: &[(&str, &str)], body: &str, expected: u16) -> Answer {
        let answer = rest::ask(&self.host, request, headers, body).expect("the registry answers");
        assert_eq!(answer.status, expected, "{request}: {answer:?}");
        answer
    }
}
