//! A double of a registry of images that misbehaves as it is told.

use std::collections::BTreeMap;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use parking_lot::Mutex;
use sha2::{Digest as _, Sha256};

use super::{Recorded, Reply, Server};

/// The media type of an index of images.
pub const INDEX: &str = "application/vnd.oci.image.index.v1+json";
/// The media type of an image.
pub const IMAGE: &str = "application/vnd.oci.image.manifest.v1+json";

/// The way in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Auth {
    /// Everybody is let in.
    #[default]
    Open,
    /// A user with a password.
    Basic(String, String),
    /// With a token of its own token service, which gives them to a user with a password, or to everybody.
    Bearer(Option<(String, String)>),
}

/// The link from a page of tags to the next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Links {
    /// A path and a query.
    #[default]
    Relative,
    /// A whole URL.
    Absolute,
    /// Back to the page itself.
    Loop,
    /// To another host.
    Elsewhere,
}

/// The ways in which it behaves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Behaviour {
    /// The way in.
    pub auth: Auth,
    /// Says whether `Basic` is offered beside `Bearer`, in the same header.
    pub offers_both: bool,
    /// The time that tokens are said to last, in seconds.
    pub expires_in: Option<u64>,
    /// Says whether all tokens are refused.
    pub refuses_tokens: bool,
    /// Says whether the header with the digest is left out.
    pub omits_digest: bool,
    /// The digest in the header, whatever the content is.
    pub claimed_digest: Option<String>,
    /// Says whether those who do not accept an index get the image in it.
    pub is_per_accept: bool,
    /// The number of tags in a page.
    pub page: Option<usize>,
    /// The links between pages.
    pub links: Links,
    /// The page that fails, from 1.
    pub failing_page: Option<usize>,
    /// The status for those who ask for pages of a certain size.
    pub refuses_n: Option<u16>,
    /// Says whether nobody gets an answer.
    pub hangs: bool,
    /// Says whether configurations of images cannot be had.
    pub breaks_blobs: bool,
    /// The base of the URL to which blobs and manifests are redirected.
    pub redirects_to: Option<String>,
    /// The requests that are left, of 100.
    pub remaining: Option<u64>,
}

#[derive(Debug, Default)]
struct State {
    behaviour: Behaviour,
    /// Digests by repository and tag.
    tags: BTreeMap<(String, String), String>,
    /// Media types and contents by digest.
    contents: BTreeMap<String, (String, Vec<u8>)>,
    tokens: Vec<String>,
    pages: usize,
    url: String,
}

/// A registry.
#[derive(Debug)]
pub struct Registry {
    /// The server, which knows all requests.
    pub server: Server,
    state: Arc<Mutex<State>>,
}

impl Registry {
    /// Starts one that has nothing.
    pub fn start(behaviour: Behaviour) -> Self {
        let state = State {
            behaviour,
            ..State::default()
        };
        let state = Arc::new(Mutex::new(state));
        let shared = state.clone();
        let server = Server::start(move |request| shared.lock().answer(request));
        state.lock().url = server.url();
        Self { server, state }
    }

    /// Returns its host and port.
    pub fn host(&self) -> String {
        self.server.address.to_string()
    }

    /// Changes the way in which it behaves.
    pub fn change(&self, change: impl FnOnce(&mut Behaviour)) {
        change(&mut self.state.lock().behaviour);
    }

    /// Makes all tokens that were given invalid.
    pub fn revoke(&self) {
        self.state.lock().tokens.clear();
    }

    /// Stores content and returns its digest.
    pub fn store(&self, media_type: &str, content: &[u8]) -> String {
        let digest = digest(content);
        let entry = (media_type.to_owned(), content.to_vec());
        self.state.lock().contents.insert(digest.clone(), entry);
        digest
    }

    /// Sets a tag of a repository.
    pub fn tag(&self, repository: &str, tag: &str, digest: &str) {
        let key = (repository.to_owned(), tag.to_owned());
        self.state.lock().tags.insert(key, digest.to_owned());
    }

    /// Removes a tag of a repository.
    pub fn untag(&self, repository: &str, tag: &str) {
        let key = (repository.to_owned(), tag.to_owned());
        self.state.lock().tags.remove(&key);
    }

    /// Stores an image with these labels, and tags it; returns its digest.
    pub fn push(&self, repository: &str, tag: &str, labels: &[(&str, &str)]) -> String {
        let labels: BTreeMap<_, _> = labels.iter().copied().collect();
        let config = serde_json::json!({"config": {"Labels": labels}, "tag": tag}).to_string();
        let config_type = "application/vnd.oci.image.config.v1+json";
        let config_digest = self.store(config_type, config.as_bytes());
        let manifest = serde_json::json!({
            "schemaVersion": 2,
            "mediaType": IMAGE,
            "config": {"mediaType": config_type, "digest": config_digest, "size": config.len()},
            "layers": [],
        });
        let pushed = self.store(IMAGE, manifest.to_string().as_bytes());
        self.tag(repository, tag, &pushed);
        pushed
    }

    /// Stores an index of images, and tags it; returns its digest. The first entry is an attestation.
    pub fn push_index(&self, repository: &str, tag: &str, images: &[&str]) -> String {
        let attestation = serde_json::json!({
            "mediaType": IMAGE, "digest": digest(b"nothing"), "size": 7,
            "platform": {"os": "unknown", "architecture": "unknown"},
            "annotations": {"vnd.docker.reference.type": "attestation-manifest"},
        });
        let images = images.iter().map(|image| {
            serde_json::json!({
                "mediaType": IMAGE, "digest": image, "size": 1,
                "platform": {"os": "linux", "architecture": "amd64"},
            })
        });
        let entries: Vec<_> = [attestation].into_iter().chain(images).collect();
        let index = serde_json::json!({
            "schemaVersion": 2, "mediaType": INDEX, "manifests": entries,
        });
        let pushed = self.store(INDEX, index.to_string().as_bytes());
        self.tag(repository, tag, &pushed);
        pushed
    }
}

/// Returns the digest of content.
pub fn digest(content: &[u8]) -> String {
    let hex = Sha256::digest(content);
    let hex: String = hex.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256:{hex}")
}

impl State {
    fn answer(&mut self, request: &Recorded) -> Reply {
        if self.behaviour.hangs {
            return Reply::never();
        }
        let reply = match request.path.as_str() {
            "/token" => self.token(request),
            _ => self.refusal(request).unwrap_or_else(|| self.route(request)),
        };
        match self.behaviour.remaining {
            Some(remaining) => reply
                .header("ratelimit-limit", "100;w=21600")
                .header("ratelimit-remaining", format!("{remaining};w=21600")),
            None => reply,
        }
    }

    fn token(&mut self, request: &Recorded) -> Reply {
        let sent = request.header("authorization");
        if let Auth::Bearer(Some((user, password))) = &self.behaviour.auth {
            let form = String::from_utf8_lossy(&request.body);
            let is_refresh = form.contains(&format!("refresh_token={password}"));
            if sent != Some(&*basic(user, password)) && !is_refresh {
                return problem(401, "UNAUTHORIZED");
            }
        }
        let scope = request.parameter("scope").unwrap_or_default();
        let token = format!("token-{}-{scope}", self.tokens.len());
        self.tokens.push(token.clone());
        let mut answer = serde_json::json!({"token": token});
        if let Some(seconds) = self.behaviour.expires_in {
            answer["expires_in"] = seconds.into();
        }
        Reply::new(200).body(answer.to_string())
    }

    /// Returns the answer to those who are not let in.
    fn refusal(&self, request: &Recorded) -> Option<Reply> {
        let sent = request.header("authorization").unwrap_or_default();
        let bearer = format!(
            "Bearer realm=\"{}/token\",service=\"double\",scope=\"repository:{}:pull\"",
            self.url,
            repository(&request.path).unwrap_or_default()
        );
        let (is_in, challenge) = match &self.behaviour.auth {
            Auth::Open => return None,
            Auth::Basic(user, password) => (
                sent == basic(user, password),
                "Basic realm=\"x\"".to_owned(),
            ),
            Auth::Bearer(_) => {
                let token = sent.strip_prefix("Bearer ").unwrap_or_default();
                let is_known = self.tokens.iter().any(|it| it == token);
                (is_known && !self.behaviour.refuses_tokens, bearer)
            }
        };
        let challenge = match self.behaviour.offers_both {
            true => format!("Basic realm=\"x\", {challenge}"),
            false => challenge,
        };
        let refused = || problem(401, "UNAUTHORIZED").header("www-authenticate", challenge);
        (!is_in).then(refused)
    }

    fn route(&mut self, request: &Recorded) -> Reply {
        // By this clients find out whether they are let in.
        if request.path == "/v2/" {
            return Reply::new(200);
        }
        let Some(name) = repository(&request.path) else {
            return problem(404, "NAME_UNKNOWN");
        };
        if let Some(base) = &self.behaviour.redirects_to {
            return Reply::new(307).header("location", format!("{base}{}", request.path));
        }
        let rest = &request.path["/v2/".len() + name.len()..];
        if rest == "/tags/list" {
            return self.list(name, request);
        }
        if let Some(reference) = rest.strip_prefix("/manifests/") {
            return self.manifest(name, reference, request);
        }
        if self.behaviour.breaks_blobs {
            return problem(500, "UNKNOWN");
        }
        let found = rest.strip_prefix("/blobs/");
        match found.and_then(|it| self.contents.get(it)) {
            Some((_, content)) => Reply::new(200).body(content.clone()),
            None => problem(404, "BLOB_UNKNOWN"),
        }
    }

    fn manifest(&self, name: &str, reference: &str, request: &Recorded) -> Reply {
        let key = (name.to_owned(), reference.to_owned());
        let tagged = self.tags.get(&key).map(String::as_str);
        let mut found = tagged.unwrap_or(reference).to_owned();
        let accept = request.header("accept").unwrap_or_default();
        if self.behaviour.is_per_accept && !accept.contains(INDEX) {
            found = self.image_of(&found).unwrap_or(found);
        }
        let Some((media_type, content)) = self.contents.get(&found) else {
            return problem(404, "MANIFEST_UNKNOWN");
        };
        let condition = request.header("if-none-match");
        let is_known = condition == Some(&*format!("\"{found}\"")) && !self.behaviour.omits_digest;
        let reply = match is_known {
            true => Reply::new(304),
            false => Reply::new(200).body(content.clone()),
        };
        let reply = reply.header("content-type", media_type);
        let claimed = self.behaviour.claimed_digest.as_ref().unwrap_or(&found);
        match self.behaviour.omits_digest {
            true => reply,
            false => reply.header("docker-content-digest", claimed),
        }
    }

    /// Returns the last image of an index.
    fn image_of(&self, index: &str) -> Option<String> {
        let (_, content) = self.contents.get(index)?;
        let index: serde_json::Value = serde_json::from_slice(content).ok()?;
        let image = index.get("manifests")?.as_array()?.last()?;
        Some(image.get("digest")?.as_str()?.to_owned())
    }

    fn list(&mut self, name: &str, request: &Recorded) -> Reply {
        let wants_n = request.parameter("n").is_some();
        if let Some(status) = self.behaviour.refuses_n.filter(|_| wants_n) {
            return problem(status, "UNSUPPORTED");
        }
        let last = request.parameter("last");
        self.pages = if last.is_some() { self.pages + 1 } else { 1 };
        if self.behaviour.failing_page == Some(self.pages) {
            return problem(500, "UNKNOWN");
        }
        let tags = self
            .tags
            .range((name.to_owned(), String::new())..)
            .take_while(|((repository, _), _)| repository == name);
        let tags = tags.map(|((_, tag), _)| tag.as_str());
        let mut tags: Vec<_> = tags
            .filter(|tag| last.as_deref().is_none_or(|last| *tag > last))
            .collect();
        if tags.is_empty() && last.is_none() {
            return problem(404, "NAME_UNKNOWN");
        }
        let all = tags.len();
        tags.truncate(self.behaviour.page.unwrap_or(all));
        let body = serde_json::json!({"name": name, "tags": tags}).to_string();
        let reply = Reply::new(200).body(body);
        if tags.len() == all {
            return reply;
        }
        let last = tags.last().copied().unwrap_or_default();
        let query = match self.behaviour.links {
            Links::Loop => request.query.clone(),
            _ => format!("last={last}&n=1000"),
        };
        let base = match self.behaviour.links {
            Links::Relative | Links::Loop => "",
            Links::Absolute => &self.url,
            Links::Elsewhere => "http://127.0.0.1:1",
        };
        let link = format!("<{base}{}?{query}>; rel=\"next\"", request.path);
        reply.header("link", link)
    }
}

/// Returns the name of the repository in a path.
fn repository(path: &str) -> Option<&str> {
    let rest = path.strip_prefix("/v2/")?;
    let end = ["/manifests/", "/tags/", "/blobs/"];
    let end = end.iter().find_map(|it| rest.find(it))?;
    Some(&rest[..end])
}

fn basic(user: &str, password: &str) -> String {
    let pair = STANDARD.encode(format!("{user}:{password}"));
    format!("Basic {pair}")
}

fn problem(status: u16, code: &str) -> Reply {
    let body = serde_json::json!({"errors": [{"code": code, "message": code}]});
    Reply::new(status)
        .header("content-type", "application/json")
        .body(body.to_string())
}
