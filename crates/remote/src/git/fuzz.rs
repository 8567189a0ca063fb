//! The part of [`crate::fuzz`] that is about git.

use std::io::{self, Read, Write as _};
use std::time::Duration;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use gix::ObjectId;
use gix::objs::{Kind, Write as _};
use pathline_clock::instant;
use tempfile::TempDir;

use super::cache::CachePolicy;
use super::pack::receive;
use super::push::Report;
use super::session::Session;
use super::smart::{Discovery, Listing, blob_id, read_file};
use super::wire::Answer;
use super::wire::advertisement::{Advertisement, read_list};
use super::wire::fetch::{read_head, read_head_v0};
use super::wire::packet::Packets;
use super::{Remote, wire};
use crate::archive::unpack;
use crate::fuzz::{LIMITS, Recipe, scratch};

/// Opens a cached repository of nobody.
fn session(directory: &TempDir) -> Session {
    let remote = Remote::new("file:///nowhere").expect("it is a good URL");
    let deadline = instant() + Duration::from_secs(600);
    let cache = directory.path().join("cache");
    Session::open(&cache, CachePolicy::AsIs, remote, "fuzz", deadline).expect("there is room")
}

/// Takes a pack: each object of one that is taken can be read and is what its id says.
pub fn pack(bytes: &[u8]) {
    let Some((mode, rest)) = bytes.split_first() else {
        return;
    };
    let mut pack = match mode % 2 {
        0 => rest.to_vec(),
        _ => forge_pack(Recipe(rest)).expect("a Vec takes it"),
    };
    let mut hasher = gix::hash::hasher(gix::hash::Kind::Sha1);
    hasher.update(&pack);
    if let Ok(digest) = hasher.try_finalize() {
        pack.extend_from_slice(digest.as_slice());
    }
    let directory = scratch();
    let session = session(&directory);
    let base = "what others build on\n".repeat(10);
    let written = session.repo.objects.write_buf(Kind::Blob, base.as_bytes());
    written.expect("the repository is writable");
    let git_dir = session.repo.git_dir();
    let taken = receive(&mut pack.as_slice(), git_dir, &session, &session.guard);
    assert!(!git_dir.join("incoming").exists(), "nothing is left");
    if taken.is_err() {
        return;
    }
    let objects = session.repo.objects.iter().expect("it can be listed");
    for id in objects {
        let id = id.expect("it can be listed");
        let object = session.repo.find_object(id).expect("it can be read");
        let found = gix::objs::compute_hash(gix::hash::Kind::Sha1, object.kind, &object.data);
        assert_eq!(found.expect("it is no collision"), id);
    }
}

/// Makes a pack whose objects can be inflated.
fn forge_pack(mut recipe: Recipe<'_>) -> io::Result<Vec<u8>> {
    let mut pack = b"PACK\0\0\0\x02\0\0\0\0".to_vec();
    let mut count = 0_u32;
    while let Some(first) = recipe.byte() {
        let content = recipe.bytes();
        let size = content.len();
        let header = [
            (first & 0x70) | 0x80 | (size & 0x0f) as u8,
            (size >> 4) as u8,
        ];
        pack.extend_from_slice(&header);
        // How far the base is, or which one it is.
        let base = recipe.bytes();
        match (first >> 4) & 7 {
            6 => pack.extend_from_slice(base),
            7 => {
                let mut id = [0; 20];
                let most = base.len().min(20);
                id[..most].copy_from_slice(&base[..most]);
                pack.extend_from_slice(&id);
            }
            _ => {}
        }
        let mut out = ZlibEncoder::new(&mut pack, Compression::fast());
        out.write_all(content)?;
        out.finish()?;
        count += 1;
    }
    pack[8..12].copy_from_slice(&count.to_be_bytes());
    Ok(pack)
}

/// Packs a tree into an archive: what can be packed can be unpacked.
pub fn tree(bytes: &[u8]) {
    let Some((mode, rest)) = bytes.split_first() else {
        return;
    };
    let directory = scratch();
    let session = session(&directory);
    let write = |kind, content: &[u8]| {
        let written = session.repo.objects.write_buf(kind, content);
        written.expect("the repository is writable")
    };
    write(Kind::Blob, b"x");
    write(Kind::Tree, b"");
    let tree = match mode % 2 {
        0 => write(Kind::Tree, rest),
        _ => forge_tree(Recipe(rest), &write),
    };
    let who = "A <a@example.org> 0 +0000";
    let commit = format!("tree {tree}\nauthor {who}\ncommitter {who}\n\nfuzz\n");
    let commit = write(Kind::Commit, commit.as_bytes()).to_string();
    let into = directory.path().join("archives");
    if let Ok(archive) = session.archive(&commit, &into, LIMITS) {
        let content = directory.path().join("content");
        unpack(&archive.path, &content, LIMITS).expect("what was packed can be unpacked");
    }
}

/// Makes a tree whose objects are there.
fn forge_tree(mut recipe: Recipe<'_>, write: &dyn Fn(Kind, &[u8]) -> ObjectId) -> ObjectId {
    let mut content = Vec::new();
    while let Some(kind) = recipe.byte() {
        let modes = ["100644", "100755", "120000", "40000", "160000"];
        let mode = modes[usize::from(kind) % modes.len()];
        let name = recipe.bytes();
        // A directory has everything so far in it.
        let id = match mode {
            "40000" => write(Kind::Tree, &std::mem::take(&mut content)),
            _ => write(Kind::Blob, recipe.bytes()),
        };
        content.extend_from_slice(mode.as_bytes());
        content.push(b' ');
        content.extend_from_slice(name);
        content.push(0);
        content.extend_from_slice(id.as_slice());
    }
    write(Kind::Tree, &content)
}

/// Reads the answers of a server: what is found is what was looked for.
pub fn protocol(bytes: &[u8]) {
    let name = "refs/heads/main";
    let answer = || -> Answer<'_> { Packets::new(Box::new(bytes)) };
    if let Ok(found) = Advertisement::read(&mut answer(), name) {
        let known = found.has("agent");
        assert!(
            known || found.value("agent").is_none(),
            "it has what it says"
        );
    }
    let has_name = bytes.windows(name.len()).any(|it| it == name.as_bytes());
    if let Ok(Some(_)) = read_list(&mut answer(), name) {
        assert!(has_name, "it was in the list");
    }
    in_pieces(bytes, name);
    // An answer goes on after each of its parts.
    let mut rest = answer();
    let _ = read_head(&mut rest);
    drain(&mut rest);
    let mut rest = answer();
    let _ = read_head_v0(&mut rest);
    drain(&mut rest);
    let _ = Report::read_lines(&mut answer());
    let _ = Report::read_side_band(&mut answer());
}

/// Reads the same answers piece by piece: whoever does that finds the same.
fn in_pieces(bytes: &[u8], name: &str) {
    let size = bytes.last().map_or(1, |it| usize::from(*it) % 16 + 1);
    let mut discovery = Discovery::new(name);
    let pushed: io::Result<Vec<_>> = bytes.chunks(size).map(|it| discovery.push(it)).collect();
    let whole = Advertisement::read(&mut Packets::new(Box::new(bytes)), name);
    if let (Ok(_), Ok((capabilities, commit)), Ok(whole)) = (pushed, discovery.finish(), whole) {
        assert_eq!(commit, whole.tip().map(|it| it.commit()));
        assert_eq!(capabilities.is_v2(), whole.is_v2 && whole.has("ls-refs"));
    }
    let mut listing = Listing::new(name);
    let pushed: io::Result<Vec<_>> = bytes.chunks(size).map(|it| listing.push(it)).collect();
    let whole = read_list(&mut Packets::new(Box::new(bytes)), name);
    if let (Ok(_), Ok(commit), Ok(whole)) = (pushed, listing.finish(), whole)
        && whole.is_some()
    {
        assert!(commit.is_some(), "it is in the list");
    }
    let empty = blob_id(b"").expect("it is no collision");
    if let Ok(Some(content)) = read_file(bytes, empty, 1 << 20) {
        assert!(content.is_empty(), "it is what its id says");
    }
}

fn drain(answer: &mut wire::Answer<'_>) {
    let mut content = Vec::new();
    // Whether it ends well is of no interest here.
    let _ = answer.band().read_to_end(&mut content);
}
