//! Whether files of one commit are still there at another.

use gix::progress::Discard;
use gix::remote::{Direction, ref_map};
use gix::{ObjectId, Tree};

use super::Error;
use super::session::{Session, local};

const READING: &str = "read the history of a repository";

/// What became of files of a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kept {
    /// The other commit is that one or a later one, and the files are as they were written.
    All,
    /// The other commit does not build on that one.
    Elsewhere,
    /// Later commits changed these files.
    Changed(Vec<String>),
}

impl Session {
    /// Tells what became of files that `written` has, at the commit `later`.
    pub(super) fn kept(&self, written: &str, files: &[String], later: &str) -> Result<Kept, Error> {
        let [written, later] = [commit_id(written)?, commit_id(later)?];
        if written == later {
            return Ok(Kept::All);
        }
        self.fetch_history(later)?;
        if !self.repo.has_object(written) || !self.is_behind(written, later)? {
            return Ok(Kept::Elsewhere);
        }
        let [then, now] = [self.tree(written)?, self.tree(later)?];
        let mut changed = Vec::new();
        for path in files {
            if entry(&then, path)? != entry(&now, path)? {
                changed.push(path.clone());
            }
        }
        Ok(if changed.is_empty() {
            Kept::All
        } else {
            Kept::Changed(changed)
        })
    }

    /// Makes sure that a commit and everything before it is in the cached repository.
    fn fetch_history(&self, commit: ObjectId) -> Result<(), Error> {
        if self.repo.has_object(commit) {
            return Ok(());
        }
        let remote = self.gix_remote(&commit.to_string())?;
        let connection = remote
            .connect(Direction::Fetch)
            .map_err(|e| self.failed(&e))?;
        connection
            .with_credentials(|action| self.authenticate(action))
            .prepare_fetch(Discard, ref_map::Options::default())
            .and_then(|prepared| prepared.receive(Discard, &self.interrupt))
            .map_err(|e| self.failed(&e))?;
        self.repo.find_commit(commit).map_err(|e| self.failed(&e))?;
        Ok(())
    }

    fn is_behind(&self, written: ObjectId, later: ObjectId) -> Result<bool, Error> {
        let walk = self.repo.rev_walk([later]).all().map_err(local(READING))?;
        for found in walk {
            if found.map_err(local(READING))?.id == written {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn tree(&self, commit: ObjectId) -> Result<Tree<'_>, Error> {
        let found = self.repo.find_commit(commit).map_err(local(READING))?;
        found.tree().map_err(local(READING))
    }
}

fn entry(tree: &Tree<'_>, path: &str) -> Result<Option<(u16, ObjectId)>, Error> {
    let found = tree.lookup_entry_by_path(path).map_err(local(READING))?;
    Ok(found.map(|it| (it.mode().value(), it.object_id())))
}

fn commit_id(text: &str) -> Result<ObjectId, Error> {
    ObjectId::from_hex(text.as_bytes()).map_err(|_| Error::InvalidReference {
        kind: "commit",
        name: text.to_owned(),
    })
}
