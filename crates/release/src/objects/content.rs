//! Contents of ConfigMaps and Secrets.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

use super::effective::Effective;
use super::names::{key, slug, tracker_label};
use super::{Deployed, InvalidObjects, MAX_OBJECT, RELEASE_OBJECTS, SecretObject, TRACKER};
use crate::owner_name::owner_name;
use crate::release::hex;

/// The number of digits of a content's hash in the name of its object.
const DIGITS: usize = 10;

/// The files of a configuration, by name.
pub(super) struct Files {
    pub(super) configs: Vec<Content>,
    pub(super) secrets: Vec<Content>,
}

/// The content of one ConfigMap or Secret.
pub(super) struct Content {
    /// The name of the file that it is of.
    pub(super) file: String,
    /// The directory in which it is to be found.
    pub(super) mount_path: Option<String>,
    /// The bytes, by the names of files in the directory.
    pub(super) parts: BTreeMap<String, Zeroizing<Vec<u8>>>,
}

impl Files {
    /// Reads the files that hold in an environment. A file of the configuration with the name of a secret is one.
    pub(super) fn of(effective: &Effective) -> Result<Self, InvalidObjects> {
        let (mut configs, mut secrets) = (Vec::new(), Vec::new());
        for (name, file, is_secret) in effective.members("/environment/file/config") {
            let content = Content::of_file(name, file, |_, text| Ok(text.into_bytes()))?;
            content.check("config")?;
            match is_secret {
                true => secrets.push(content),
                false => configs.push(content),
            }
        }
        for (name, file, _) in effective.members("/environment/file/secret") {
            let content = Content::of_file(name, file, |part, text| {
                let text = Zeroizing::new(text);
                decoded(&text).ok_or_else(|| InvalidObjects::NotBase64 {
                    file: name.to_owned(),
                    name: part.to_owned(),
                })
            })?;
            content.check("secret")?;
            secrets.push(content);
        }
        Ok(Self { configs, secrets })
    }
}

impl Content {
    fn of_file(
        name: &str,
        file: &Value,
        bytes: impl Fn(&str, String) -> Result<Vec<u8>, InvalidObjects>,
    ) -> Result<Self, InvalidObjects> {
        let mut parts = BTreeMap::new();
        let items = file.get("data").and_then(Value::as_array);
        for item in items.into_iter().flatten() {
            let Some(part) = item.get("name").and_then(Value::as_str) else {
                continue;
            };
            let text = item.get("value").map(text_of).unwrap_or_default();
            parts.insert(part.to_owned(), Zeroizing::new(bytes(part, text)?));
        }
        let mount_path = file.get("mountPath").and_then(Value::as_str);
        Ok(Self {
            file: name.to_owned(),
            mount_path: mount_path.map(str::to_owned),
            parts,
        })
    }

    /// Returns how many bytes it holds, as API servers count them.
    pub(super) fn size(&self) -> usize {
        self.parts.values().map(|it| it.len()).sum()
    }

    fn check(&self, kind: &'static str) -> Result<(), InvalidObjects> {
        match self.size() {
            size if size > MAX_OBJECT => Err(InvalidObjects::FileTooLarge {
                kind,
                file: self.file.clone(),
                size,
            }),
            _ => Ok(()),
        }
    }

    /// Returns the ConfigMap of it.
    pub(super) fn config_map(&self, of: &Deployed<'_>) -> Value {
        let parts = self.parts.iter();
        let data: BTreeMap<String, String> = parts
            .map(|(name, bytes)| (key(name), String::from_utf8_lossy(bytes).into_owned()))
            .collect();
        json!({
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": self.metadata(of, &self.name(of, &self.hash(of))),
            "immutable": true,
            "data": data,
        })
    }

    /// Returns the Secret of it, and the keyed digest of what is in it.
    pub(super) fn secret(
        &self,
        of: &Deployed<'_>,
        keyed: &dyn Fn(&[u8]) -> String,
    ) -> (SecretObject, String) {
        let digest = keyed(&self.canonical(of));
        let parts = self.parts.iter();
        let data = parts.map(|(name, bytes)| (key(name), Zeroizing::new(STANDARD.encode(bytes))));
        let metadata = self.metadata(of, &self.name(of, &digest));
        (SecretObject::new(metadata, data.collect()), digest)
    }

    /// Returns what an owner says about it: the object, and where its files belong. `digest` is that of a Secret.
    pub(super) fn mounted(&self, of: &Deployed<'_>, digest: Option<&str>) -> Value {
        let hash = digest.map_or_else(|| self.hash(of), str::to_owned);
        let items = self
            .parts
            .keys()
            .map(|it| json!({"key": key(it), "path": it}));
        let mount_path = match &self.mount_path {
            Some(path) => path.clone(),
            None => format!("/config/{}", slug(&self.file)),
        };
        let mut mounted = json!({
            "name": self.name(of, &hash),
            "file": self.file,
            "mountPath": mount_path,
            "secret": digest.is_some(),
            "files": self.parts.keys().collect::<Vec<_>>(),
            "items": items.collect::<Vec<_>>(),
        });
        if let Some(digest) = digest {
            mounted["digest"] = digest.into();
        }
        mounted
    }

    fn metadata(&self, of: &Deployed<'_>, name: &str) -> Value {
        json!({
            "name": name,
            "namespace": of.environment.namespace,
            "labels": {TRACKER: tracker_label(of.tracker), RELEASE_OBJECTS: "true"},
        })
    }

    /// Returns the name of its object, which is another one for any other content.
    fn name(&self, of: &Deployed<'_>, hash: &str) -> String {
        let digits = &hash[..hash.len().min(DIGITS)];
        format!("{}-{}-{digits}", owner_name(of.tracker), slug(&self.file))
    }

    fn hash(&self, of: &Deployed<'_>) -> String {
        hex(&Sha256::digest(&*self.canonical(of)))
    }

    /// Writes it so that different contents never write the same. The tracker is part of it: the objects of two are never
    /// one, whatever they are called, since one of them may be removed.
    fn canonical(&self, of: &Deployed<'_>) -> Zeroizing<Vec<u8>> {
        let mut written = Zeroizing::new(Vec::with_capacity(self.size() + 1024));
        let mut part = |bytes: &[u8]| {
            written.extend((bytes.len() as u64).to_be_bytes());
            written.extend(bytes);
        };
        part(of.tracker.key().as_bytes());
        part(self.file.as_bytes());
        for (name, bytes) in &self.parts {
            part(name.as_bytes());
            part(bytes);
        }
        written
    }
}

/// Returns the text of a scalar.
pub(super) fn text_of(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        value => value.to_string(),
    }
}

/// Decodes base64 as people write it: in lines, with or without padding.
fn decoded(text: &str) -> Option<Vec<u8>> {
    let digits = text.bytes().filter(|it| !it.is_ascii_whitespace());
    let digits = Zeroizing::new(digits.collect::<Vec<u8>>());
    let padded = STANDARD.decode(&*digits);
    padded.or_else(|_| STANDARD_NO_PAD.decode(&*digits)).ok()
}
