//! Version 2 of the smart protocol without a repository: requests and answers for whoever only polls.
//!
//! Somebody else moves the bytes. Lists of references are read while they arrive, and nothing of them is kept but the one
//! that is looked for; objects are asked for one by one, and each is held against its id.

mod object;
mod references;
mod splitter;

use std::sync::Arc;

use gix::ObjectId;
use gix::objs::tree::EntryKind;
use gix::objs::{CommitRefIter, TreeRefIter};

pub(crate) use object::{read_commit, read_file, read_tree};
pub(crate) use references::{Discovery, Listing};

use super::wire::advertisement::Advertisement;
use super::wire::packet::{write_flush, write_line};

/// The abilities of a server, as it says itself; cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Capabilities(Arc<Advertisement>);

impl Capabilities {
    /// Tells whether references are listed on demand.
    pub(crate) fn is_v2(&self) -> bool {
        self.0.is_v2 && self.0.has("ls-refs")
    }

    /// Tells whether single objects can be asked for.
    pub(crate) fn can_filter(&self) -> bool {
        let features = self.0.value("fetch").unwrap_or_default();
        let has = |name| features.split(' ').any(|it| it == name);
        self.is_v2() && has("filter") && has("shallow")
    }

    /// Asks for one reference, by its full name.
    pub(crate) fn list_request(&self, name: &str) -> Vec<u8> {
        let mut request = self.0.command("ls-refs");
        write_line(&mut request, "peel");
        write_line(&mut request, &format!("ref-prefix {name}"));
        write_flush(&mut request);
        request
    }

    /// Asks for one object, and nothing that it refers to.
    pub(crate) fn object_request(&self, id: ObjectId, is_commit: bool) -> Vec<u8> {
        let mut request = self.0.command("fetch");
        write_line(&mut request, "no-progress");
        write_line(&mut request, &format!("want {id}"));
        if is_commit {
            write_line(&mut request, "deepen 1");
        }
        write_line(&mut request, "filter tree:0");
        write_line(&mut request, "done");
        write_flush(&mut request);
        request
    }
}

/// Reads the id of an object.
pub(crate) fn object_id(hex: &str) -> Option<ObjectId> {
    super::wire::advertisement::object_id(hex).ok()
}

/// Returns the id that git gives to the content of a file.
pub(crate) fn blob_id(content: &[u8]) -> Option<ObjectId> {
    let kind = gix::hash::Kind::Sha1;
    gix::objs::compute_hash(kind, gix::objs::Kind::Blob, content).ok()
}

/// Returns the tree of a commit.
pub(crate) fn tree_of(commit: &[u8]) -> Option<ObjectId> {
    CommitRefIter::from_bytes(commit, gix::hash::Kind::Sha1)
        .tree_id()
        .ok()
}

/// Returns the entry of a tree with that name; nothing if there is none, an error if it is no tree.
pub(crate) fn entry(tree: &[u8], name: &str) -> Result<Option<(EntryKind, ObjectId)>, ()> {
    for entry in TreeRefIter::from_bytes(tree, gix::hash::Kind::Sha1) {
        let entry = entry.map_err(drop)?;
        if entry.filename == name {
            return Ok(Some((entry.mode.kind(), entry.oid.to_owned())));
        }
    }
    Ok(None)
}
