//! The way from a commit to a file, object by object.

use std::io;

use gix::ObjectId;
use gix::objs::tree::EntryKind;
use reqwest::Method;

use super::asking::{Trouble, UPLOAD_PACK, ask, checked, nonsense, nothing};
use super::cached::{missing, too_large};
use super::{
    Known, MAX_FILE_BYTES, SourceAnswer, SourceClient, SourceError, SourceErrorKind, SourceRequest,
    known_blob,
};
use crate::git::smart::{Capabilities, entry, read_commit, read_file, read_tree, tree_of};
use crate::http::{FailureKind, Signs};

/// The largest answer with one object: a tree of some ten thousand files, or a file.
const MAX_OBJECT_BYTES: u64 = 4 << 20;

/// The way from a commit to a file, object by object.
pub(super) struct Walk<'a> {
    pub(super) client: &'a SourceClient,
    pub(super) request: &'a SourceRequest,
    pub(super) base: &'a str,
    pub(super) capabilities: &'a Capabilities,
}

impl Walk<'_> {
    pub(super) async fn read(
        &self,
        id: ObjectId,
        known: Option<&Known>,
    ) -> Result<(SourceAnswer, Signs), Trouble> {
        let commit = id.to_string();
        let (content, mut signs) = self.object(id, true, read_commit).await?;
        let no_tree = || Trouble::Protocol(nothing("the commit has no tree"));
        let mut here = tree_of(&content).ok_or_else(no_tree)?;
        let mut names = self.request.path.split('/').peekable();
        let blob = loop {
            let name = names.next().unwrap_or_default();
            let (tree, later) = self.object(here, false, read_tree).await?;
            signs = signs.then(later);
            let found = entry(&tree, name).map_err(|()| no_tree())?;
            match (found, names.peek()) {
                (Some((EntryKind::Tree, id)), Some(_)) => here = id,
                (Some((EntryKind::Blob | EntryKind::BlobExecutable, id)), None) => break id,
                _ => return Err(Trouble::Final(missing(self.request, commit).at(signs))),
            }
        };
        let id = blob;
        let blob = blob.to_string();
        if known_blob(known) == Some(&*blob) {
            return Ok((SourceAnswer::Moved { commit, blob }, signs));
        }
        let read = |answer: &[u8], id| read_file(answer, id, MAX_FILE_BYTES);
        let (content, later) = match self.object(id, false, read).await {
            Err(Trouble::Protocol(error)) if error.kind == exceeded() => (None, *error.signs),
            read => read?,
        };
        let signs = signs.then(later);
        match content {
            Some(content) => Ok((
                SourceAnswer::Read {
                    commit,
                    blob,
                    content,
                },
                signs,
            )),
            None => Err(Trouble::Final(too_large(self.request, commit).at(signs))),
        }
    }

    /// Asks for one object by its id.
    async fn object<T>(
        &self,
        id: ObjectId,
        is_commit: bool,
        read: impl FnOnce(&[u8], ObjectId) -> io::Result<T>,
    ) -> Result<(T, Signs), Trouble> {
        let asked = ask(self.request, Method::POST, self.base, UPLOAD_PACK);
        let asked = asked
            .map_err(Trouble::Final)?
            .body(self.capabilities.object_request(id, is_commit))
            .cap(MAX_OBJECT_BYTES);
        let answer = match self.client.http.send(asked).await {
            Err(failure) if failure.kind == FailureKind::TooLarge => {
                return Err(Trouble::Protocol(SourceError::of(exceeded(), failure)));
            }
            answer => answer.map_err(|e| Trouble::Final(e.into()))?,
        };
        let answer = checked(answer, "result").map_err(Trouble::of)?;
        match read(&answer.body, id) {
            Ok(content) => Ok((content, answer.signs)),
            Err(e) => Err(Trouble::Protocol(nonsense(answer, &e))),
        }
    }
}

/// The kind of an answer that has more than is read.
fn exceeded() -> SourceErrorKind {
    SourceErrorKind::TooLarge {
        commit: String::new(),
    }
}
