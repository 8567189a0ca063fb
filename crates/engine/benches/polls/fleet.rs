//! The trackers of a load, and what each of them reads: a repository and an image of its own.

use anyhow::{Result, anyhow};
use pathline_release::request::{Body, Hosts, NewTracker};
use serde::{Deserialize, Serialize};
use serde_json::json;

/// The hosts of each side.
pub(crate) const HOSTS: usize = 2;
/// One of so many trackers follows a range of versions.
const EACH_RANGE: usize = 10;
/// The tags of an image that is followed by a range: one page of a list.
const TAGS: usize = 100;
/// The owner of all repositories and images, and the group of all trackers.
const OWNER: &str = "load";

/// The addresses of the doubles.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Addresses {
    pub(crate) git: Vec<String>,
    pub(crate) registries: Vec<String>,
}

/// One tracker of the load, by its number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Member(pub(crate) usize);

impl Member {
    pub(crate) fn all(size: usize) -> impl Iterator<Item = Self> {
        (0..size).map(Self)
    }

    pub(crate) fn is_range(self) -> bool {
        self.0.is_multiple_of(EACH_RANGE)
    }

    /// Returns the number of its hosts among those of each side.
    pub(crate) fn host(self) -> usize {
        self.0 / EACH_RANGE % HOSTS
    }

    /// Returns the name of its repository, and that of its image.
    pub(crate) fn repository(self) -> String {
        let kind = if self.is_range() { "range" } else { "tag" };
        format!("{OWNER}/{kind}-{:05}", self.0)
    }

    /// Returns the tags of its image.
    pub(crate) fn tags(self) -> Vec<String> {
        match self.is_range() {
            true => (0..TAGS).map(|minor| format!("1.{minor}.0")).collect(),
            false => vec!["main".to_owned()],
        }
    }

    pub(crate) fn application_file(self, addresses: &Addresses) -> String {
        let repository = self.repository();
        let name = repository.trim_start_matches(OWNER).trim_start_matches('/');
        let version = if self.is_range() { "1.x" } else { "main" };
        let domain = &addresses.registries[self.host()];
        format!(
            "{OWNER}:\n  {name}:\n    version: '{version}'\n    \
             repository: {{image: {{domain: '{domain}', owner: {OWNER}, name: {name}}}}}\n    \
             environment: {{variable: {{LOG: info}}}}\n"
        )
    }

    pub(crate) fn url(self, addresses: &Addresses) -> String {
        let host = &addresses.git[self.host()];
        format!("http://{host}/{}", self.repository())
    }

    /// Returns the reference of the image that is released.
    pub(crate) fn image(self, addresses: &Addresses) -> String {
        let (host, tags) = (&addresses.registries[self.host()], self.tags());
        format!("{host}/{}:{}", self.repository(), tags[tags.len() - 1])
    }

    pub(crate) fn tracker(self, addresses: &Addresses, hosts: &Hosts) -> Result<NewTracker> {
        let body = json!({
            "id": self.repository().replace('/', "."),
            "token": "the-token-of-the-load",
            "repo": self.url(addresses),
            "sourcePath": "",
        });
        let body = Body::read(body.to_string().as_bytes())?;
        let new = body.create(hosts);
        new.map_err(|problems| anyhow!("the tracker is refused: {problems:?}"))
    }
}
