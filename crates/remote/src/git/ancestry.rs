//! Ancestry: files of one commit that are still there at another.

use gix::ObjectId;

use super::Error;
use super::session::{Session, local};
use super::wire::Service;

const READING: &str = "read the history of a repository";

/// The name under which the last commit of a history is noted.
const LATEST: &str = "history";
/// The most commits that are looked at to find one: all of them are in memory.
const MAX_COMMITS: usize = 500_000;
/// The most commits that are offered to a remote as `have` lines.
const MAX_WALKED_BACK: usize = 1 << 16;

/// The state of files of a commit at another one.
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
        let [then, now] = [self.tree_of(written)?, self.tree_of(later)?];
        let mut changed = Vec::new();
        for path in files {
            if self.look_up(then, path)?.entry != self.look_up(now, path)?.entry {
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
    pub(super) fn fetch_history(&self, commit: ObjectId) -> Result<(), Error> {
        if self.repo.has_object(commit) {
            return Ok(());
        }
        let (mut connection, known) = self.connect(Service::UploadPack, "HEAD")?;
        let haves = self.known_history()?;
        self.receive(&mut connection, &known, commit, &haves, false)?;
        connection.finish();
        self.tree_of(commit)?;
        self.record_tip(LATEST, commit)
    }

    /// Returns some commits of the history that is there: close to each other where it ends, so that
    /// little is fetched again after a forced push.
    fn known_history(&self) -> Result<Vec<ObjectId>, Error> {
        let tips = self.known_tips()?;
        let mut known = Vec::new();
        let walk = self.repo.rev_walk(tips).first_parent_only();
        for (place, found) in walk.all().map_err(local(READING))?.enumerate() {
            if place > MAX_WALKED_BACK {
                break;
            }
            if place < 16 || place.is_power_of_two() {
                known.push(found.map_err(local(READING))?.id);
            }
        }
        Ok(known)
    }

    fn is_behind(&self, written: ObjectId, later: ObjectId) -> Result<bool, Error> {
        let walk = self.repo.rev_walk([later]).all().map_err(local(READING))?;
        for (place, found) in walk.enumerate() {
            self.check_time()?;
            if place >= MAX_COMMITS {
                return Err(Error::Local {
                    action: READING,
                    detail: format!("it has more than {MAX_COMMITS} commits"),
                });
            }
            if found.map_err(local(READING))?.id == written {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

pub(super) fn commit_id(text: &str) -> Result<ObjectId, Error> {
    ObjectId::from_hex(text.as_bytes()).map_err(|_| Error::InvalidReference {
        kind: "commit",
        name: text.to_owned(),
    })
}
