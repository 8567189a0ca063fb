//! Artifacts: content that travels along a path, known by its hash.

use std::cell::OnceCell;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::canonical;

/// The longest value that is kept as it is, in bytes; a longer one is kept as digest and preview.
const SHOWN_BYTES: usize = 1024;
/// The longest value that is kept of what has been replaced, in bytes.
const BRIEF_BYTES: usize = 128;

/// The kind of an artifact.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Source code: an address and a revision.
    Source,
    /// A container image.
    Image,
    /// Configuration of any shape.
    Config,
    /// A source that a delivery has deployed.
    Deployment,
    /// A stamped object that has no output.
    Object,
    /// A param of the owner.
    Param,
    /// A field of the owner.
    Field,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Self; 7] = [
        Self::Source,
        Self::Image,
        Self::Config,
        Self::Deployment,
        Self::Object,
        Self::Param,
        Self::Field,
    ];

    /// Returns the word for it, as JSON has it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Source => "source",
            Self::Image => "image",
            Self::Config => "config",
            Self::Deployment => "deployment",
            Self::Object => "object",
            Self::Param => "param",
            Self::Field => "field",
        }
    }
}

/// Identifies content: the SHA-256 of the canonical JSON of `{type, name, value}`, where only
/// params and fields have a name.
#[derive(Clone, Copy, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(try_from = "String", into = "String")]
pub struct ArtifactId([u8; 32]);

/// A piece of content that something is made from, or that something made.
///
/// Two artifacts are equal exactly if their content is. The content itself is not kept, only what
/// is shown of it, so that an artifact is small however large the configuration it stands for.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Artifact {
    id: ArtifactId,
    kind: Kind,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    shown: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    url: Option<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    mutable: bool,
}

impl Artifact {
    /// Returns the source at an address; without a revision it is mutable.
    pub fn source(url: &str, revision: Option<&str>) -> Self {
        let content = json!({"url": url, "revision": revision});
        let mut source = Self::new(Kind::Source, None, &content);
        source.shown = shown(&Value::from(revision.unwrap_or(url)));
        source.url = Some(url.to_owned());
        source.mutable = revision.is_none_or(str::is_empty);
        source
    }

    /// Returns what is there once a source is deployed: the same address and revision.
    pub fn deployment(url: &str, revision: Option<&str>) -> Self {
        let source = Self::source(url, revision);
        let content = json!({"url": url, "revision": revision});
        Self {
            id: ArtifactId::of(Kind::Deployment, None, &content),
            kind: Kind::Deployment,
            ..source
        }
    }

    /// Tells whether this is another one, handed on: the same content, or a source that is
    /// deployed. A source whose address or revision is too long to be kept is not recognized.
    pub(crate) fn hands_on(&self, other: &Self) -> bool {
        let deployed = || {
            let url = other.url.as_deref()?;
            let revision = Some(other.shown.as_str()).filter(|_| !other.mutable);
            let sources = other.kind == Kind::Source && self.kind == Kind::Deployment;
            sources.then(|| *self == Self::deployment(url, revision))
        };
        self == other || deployed().unwrap_or_default()
    }

    /// Returns the image of a reference; without a digest it is mutable.
    pub fn image(reference: &str) -> Self {
        let mut image = Self::new(Kind::Image, None, &Value::from(reference));
        image.mutable = !has_digest(reference);
        image
    }

    /// Returns a param of the owner.
    pub fn param(name: &str, value: &Value) -> Self {
        Self::new(Kind::Param, Some(name), value)
    }

    /// Returns a field of the owner, by its path.
    pub fn field(path: &str, value: &Value) -> Self {
        Self::new(Kind::Field, Some(path), value)
    }

    /// Returns an artifact of any kind that is nothing but a value.
    pub fn value(kind: Kind, value: &Value) -> Self {
        Self::new(kind, None, value)
    }

    /// Returns the hash of the content.
    pub fn id(&self) -> ArtifactId {
        self.id
    }

    /// Returns what the artifact is.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Returns the name of a param or the path of a field.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Returns the value for people: a revision, a reference, a text, or digest and preview.
    pub fn shown(&self) -> &str {
        &self.shown
    }

    /// Returns where a source is.
    pub fn url(&self) -> Option<&str> {
        self.url.as_deref()
    }

    /// Tells whether the same value may stand for another content tomorrow: an image without a
    /// digest, a source without a revision.
    pub fn is_mutable(&self) -> bool {
        self.mutable
    }

    /// Returns the same content with less to show: enough to recognize it, and short names.
    pub(crate) fn brief(&self) -> Self {
        let is_long = self.shown.len() > BRIEF_BYTES;
        Self {
            shown: if is_long {
                String::new()
            } else {
                self.shown.clone()
            },
            ..self.clone()
        }
    }

    /// Tells whether the value is too long to be kept, and a text is what is shown of it.
    pub(crate) fn is_cut_to(&self, text: &str) -> bool {
        let is_digest = text.starts_with("sha256:");
        is_digest && self.shown == text && !AwaitedValue::new(text.into()).is(self)
    }

    fn new(kind: Kind, name: Option<&str>, value: &Value) -> Self {
        Self {
            id: ArtifactId::of(kind, name, value),
            kind,
            name: name.map(str::to_owned),
            shown: shown(value),
            url: None,
            mutable: false,
        }
    }
}

/// A value by which artifacts are recognized.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct AwaitedValue {
    value: Value,
    /// The text that an artifact with the value shows.
    shown: String,
    /// The id of the artifact with the value, of the kind and name of the first one that was compared.
    id: OnceCell<(Kind, Option<String>, ArtifactId)>,
}

impl AwaitedValue {
    pub(crate) fn new(value: Value) -> Self {
        Self {
            shown: shown(&value),
            value,
            id: OnceCell::new(),
        }
    }

    pub(crate) fn value(&self) -> &Value {
        &self.value
    }

    /// Tells whether an artifact of whichever kind and name has the value: the text `true` is not the
    /// boolean. A source or a deployment is no value.
    pub(crate) fn is(&self, artifact: &Artifact) -> bool {
        // Values that differ mostly show it; what is brief may show nothing.
        let may_be = artifact.shown.is_empty() || artifact.shown == self.shown;
        may_be && artifact.id == self.id_like(artifact)
    }

    // Hashing is what takes time. Whoever waits compares one value with all that is around, mostly of one
    // input, so that the first id serves all of them.
    fn id_like(&self, artifact: &Artifact) -> ArtifactId {
        let of = |kind, name: Option<&str>| ArtifactId::of(kind, name, &self.value);
        let Artifact { kind, name, .. } = artifact;
        let first = || (*kind, name.clone(), of(*kind, name.as_deref()));
        match self.id.get_or_init(first) {
            (of_kind, of_name, id) if (of_kind, of_name) == (kind, name) => *id,
            _ => of(*kind, name.as_deref()),
        }
    }
}

impl PartialEq for Artifact {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl Eq for Artifact {}

impl ArtifactId {
    fn of(kind: Kind, name: Option<&str>, value: &Value) -> Self {
        let mut content = json!({"type": kind, "value": value});
        if let Some(name) = name {
            content["name"] = Value::from(name);
        }
        Self(Sha256::digest(canonical::json(&content)).into())
    }
}

impl fmt::Display for ArtifactId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

impl fmt::Debug for ArtifactId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", &self.to_string()[..12])
    }
}

/// A text is no artifact id.
#[derive(Debug, thiserror::Error)]
#[error("`{0}` is no artifact id: 64 hexadecimal digits are expected")]
pub struct NotAnId(String);

impl TryFrom<String> for ArtifactId {
    type Error = NotAnId;

    fn try_from(text: String) -> Result<Self, NotAnId> {
        let digits = text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !digits {
            return Err(NotAnId(text));
        }
        let byte = |index: usize| u8::from_str_radix(&text[2 * index..2 * index + 2], 16);
        let mut bytes = [0; 32];
        for (index, slot) in bytes.iter_mut().enumerate() {
            *slot = byte(index).expect("all are hexadecimal digits");
        }
        Ok(Self(bytes))
    }
}

impl From<ArtifactId> for String {
    fn from(id: ArtifactId) -> Self {
        id.to_string()
    }
}

fn has_digest(reference: &str) -> bool {
    let digest = reference.rsplit_once("@sha256:").map(|(_, digest)| digest);
    digest.is_some_and(|digest| digest.len() == 64 && digest.bytes().all(|b| b.is_ascii_hexdigit()))
}

fn shown(value: &Value) -> String {
    let text = match value {
        Value::String(text) => text.clone(),
        other => canonical::json(other),
    };
    if text.len() <= SHOWN_BYTES {
        return text;
    }
    let digest = hex(&Sha256::digest(&text));
    let preview = &text[..text.floor_char_boundary(SHOWN_BYTES / 4)];
    format!("sha256:{digest} {preview}…")
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn id_is_the_hash_of_the_canonical_json() {
        // printf '{"name":"debug","type":"param","value":"on"}' | sha256sum
        let param = Artifact::param("debug", &json!("on"));
        let hash = hex(&Sha256::digest(
            r#"{"name":"debug","type":"param","value":"on"}"#,
        ));
        assert_eq!(param.id().to_string(), hash);
        let image = Artifact::image("app:1");
        let hash = hex(&Sha256::digest(r#"{"type":"image","value":"app:1"}"#));
        assert_eq!(image.id().to_string(), hash);
    }

    #[test]
    fn name_counts_for_params_and_fields() {
        let on = json!("on");
        assert_ne!(Artifact::param("a", &on), Artifact::param("b", &on));
        assert_ne!(Artifact::param("a", &on), Artifact::field("a", &on));
        assert_eq!(
            Artifact::param("a", &json!({"x": 1, "y": 2})),
            Artifact::param("a", &json!({"y": 2, "x": 1}))
        );
    }

    #[test]
    fn image_without_digest_and_source_without_revision_are_mutable() {
        let digest = "0".repeat(64);
        assert!(Artifact::image("app:1").is_mutable());
        assert!(!Artifact::image(&format!("app:1@sha256:{digest}")).is_mutable());
        assert!(Artifact::image("app@sha256:123").is_mutable());
        assert!(Artifact::source("https://git/app", None).is_mutable());
        assert!(!Artifact::source("https://git/app", Some("def567")).is_mutable());
    }

    #[test]
    fn source_shows_its_revision_with_the_url_beside_it() {
        let source = Artifact::source("https://git/app", Some("def567"));
        assert_eq!(source.shown(), "def567");
        assert_eq!(source.url(), Some("https://git/app"));
    }

    #[test]
    fn deployment_hands_its_source_on() {
        let source = |revision| Artifact::source("https://git/app", revision);
        let deployment = |revision| Artifact::deployment("https://git/app", revision);
        assert!(deployment(Some("def567")).hands_on(&source(Some("def567"))));
        assert!(deployment(Some("def567")).hands_on(&deployment(Some("def567"))));
        assert!(!deployment(Some("def567")).hands_on(&source(Some("abc123"))));
        assert!(!source(Some("def567")).hands_on(&deployment(Some("def567"))));
        assert!(deployment(None).hands_on(&source(None)) && deployment(None).is_mutable());
    }

    #[test]
    fn large_value_is_kept_as_digest_and_preview() {
        let large = Artifact::param("text", &json!("é".repeat(1_000_000)));
        assert!(large.shown().starts_with("sha256:"));
        assert!(large.shown().len() < SHOWN_BYTES);
    }

    #[test]
    fn ids_survive_json() {
        let id = Artifact::image("app:1").id();
        let text = serde_json::to_string(&id).unwrap();
        assert_eq!(serde_json::from_str::<ArtifactId>(&text).unwrap(), id);
        assert!(serde_json::from_str::<ArtifactId>("\"xyz\"").is_err());
    }
}
