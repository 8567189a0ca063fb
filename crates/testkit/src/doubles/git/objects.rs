//! A repository with one commit, and packs of its objects.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::ZlibEncoder;

/// The one who has made all commits.
const AUTHOR: &str = "Double <double@example.org> 1700000000 +0000";

/// A repository: a commit, its tree, and the file in it.
#[derive(Debug)]
pub(super) struct Repository {
    objects: [Object; 3],
}

#[derive(Debug)]
struct Object {
    kind: Kind,
    id: String,
    content: Vec<u8>,
}

/// The kinds of objects, by their numbers in a pack.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Commit = 1,
    Tree = 2,
    Blob = 3,
}

impl Repository {
    pub(super) fn new(file: &str, content: &[u8]) -> Self {
        let blob = Object::new(Kind::Blob, content.to_vec());
        let mut entry = format!("100644 {file}\0").into_bytes();
        entry.extend_from_slice(&blob.digest());
        let tree = Object::new(Kind::Tree, entry);
        let text = format!(
            "tree {}\nauthor {AUTHOR}\ncommitter {AUTHOR}\n\nadd {file}\n",
            tree.id
        );
        let commit = Object::new(Kind::Commit, text.into_bytes());
        Self {
            objects: [commit, tree, blob],
        }
    }

    /// Returns the id of the commit.
    pub(super) fn commit(&self) -> &str {
        &self.objects[0].id
    }

    /// Packs the objects with these ids, alone or with all others; nothing if one is missing.
    pub(super) fn pack(&self, wanted: &[&str], is_alone: bool) -> Option<Vec<u8>> {
        let find = |id: &&str| self.objects.iter().find(|it| it.id == *id);
        let mut found: Vec<_> = wanted.iter().map(find).collect::<Option<_>>()?;
        // Two references to one commit are wanted twice.
        found.dedup_by_key(|it| &it.id);
        Some(match is_alone {
            true => pack(&found),
            false => pack(&self.objects.iter().collect::<Vec<_>>()),
        })
    }
}

impl Object {
    fn new(kind: Kind, content: Vec<u8>) -> Self {
        let mut object = Self {
            kind,
            id: String::new(),
            content,
        };
        object.id = object
            .digest()
            .iter()
            .map(|it| format!("{it:02x}"))
            .collect();
        object
    }

    fn digest(&self) -> [u8; 20] {
        let name = match self.kind {
            Kind::Commit => "commit",
            Kind::Tree => "tree",
            Kind::Blob => "blob",
        };
        let mut text = format!("{name} {}\0", self.content.len()).into_bytes();
        text.extend_from_slice(&self.content);
        sha1(&text)
    }

    /// Writes the kind and the size, in groups of bits from the lowest, and then the content.
    fn write(&self, pack: &mut Vec<u8>) {
        let size = self.content.len();
        let (mut byte, mut rest) = ((self.kind as u8) << 4 | (size & 0x0f) as u8, size >> 4);
        while rest > 0 {
            pack.push(byte | 0x80);
            (byte, rest) = ((rest & 0x7f) as u8, rest >> 7);
        }
        pack.push(byte);
        let mut encoder = ZlibEncoder::new(pack, Compression::fast());
        let written = encoder.write_all(&self.content);
        written
            .and_then(|()| encoder.finish().map(drop))
            .expect("memory takes it");
    }
}

fn pack(objects: &[&Object]) -> Vec<u8> {
    let count = u32::try_from(objects.len()).expect("there are three at most");
    let mut pack = b"PACK\0\0\0\x02".to_vec();
    pack.extend_from_slice(&count.to_be_bytes());
    for object in objects {
        object.write(&mut pack);
    }
    let digest = sha1(&pack);
    pack.extend_from_slice(&digest);
    pack
}

fn sha1(bytes: &[u8]) -> [u8; 20] {
    let digest = sha1dc::digest(bytes).expect("a double forges no collisions");
    digest.into()
}
