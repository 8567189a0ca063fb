//! Changes of a branch: an edit of what it has, as a commit that is pushed.

mod build;

use std::collections::BTreeSet;
use std::fmt;
use std::time::Duration;

use backon::{BackoffBuilder, ExponentialBuilder};
use gix::ObjectId;

use super::push::Pushed;
use super::session::Session;
use super::{BaseTree, Edits, Error, Reference, Revision};

/// The most commits that are built because another writer was faster.
const MAX_ATTEMPTS: usize = 40;
/// The most times that the remote may decline on top of one commit.
const MAX_REJECTIONS: usize = 4;

type Edit<E> = dyn FnMut(&BaseTree<'_>) -> Result<Edits, E> + Send;

/// An edit of a branch, as a function of what the branch has.
///
/// The function is run anew on every commit that it may have to build on: whoever writes at the same time
/// does so before or after, and no edit is lost.
pub struct Change<E = Error> {
    branch: String,
    edit: Box<Edit<E>>,
}

impl<E> Change<E> {
    /// Makes a change of the branch with this short name; `edit` runs on a thread that may block.
    ///
    /// ```
    /// use pathline_remote::git::{Change, Edits, Error};
    ///
    /// let change = Change::new("main", |base| {
    ///     let old = base.read("replicas", 100)?.unwrap_or_default();
    ///     let count = String::from_utf8_lossy(&old).trim().parse().unwrap_or(0);
    ///     let new = format!("{}\n", count + 1);
    ///     Ok::<_, Error>(Edits::new("scale up").write("replicas", new))
    /// });
    /// # drop(change);
    /// ```
    pub fn new(
        branch: impl Into<String>,
        edit: impl FnMut(&BaseTree<'_>) -> Result<Edits, E> + Send + 'static,
    ) -> Self {
        Self {
            branch: branch.into(),
            edit: Box::new(edit),
        }
    }

    /// Checks the name of the branch.
    pub(super) fn check(&self) -> Result<(), Error> {
        Reference::branch(&self.branch).full_name().map(drop)
    }
}

impl Change<Error> {
    /// Makes a change that writes the same whatever the branch has: over the edits of others, too.
    ///
    /// # Errors
    ///
    /// Fails when no remote could take it: [`Error::InvalidReference`], [`Error::InvalidPath`] or
    /// [`Error::InvalidMessage`].
    pub fn fixed(branch: impl Into<String>, edits: Edits) -> Result<Self, Error> {
        let branch = branch.into();
        Reference::branch(&branch).full_name()?;
        edits.check()?;
        Ok(Self::new(branch, move |_| Ok(edits.clone())))
    }
}

impl<E> fmt::Debug for Change<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let branch = &self.branch;
        f.debug_struct("Change")
            .field("branch", branch)
            .finish_non_exhaustive()
    }
}

/// The outcome of a [`Change`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// The tip of the branch, which has the content.
    pub tip: Revision,
    /// The commit that carries the change.
    pub carrier: Carrier,
}

/// The commit that carries a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Carrier {
    /// The tip of the branch, which was made and pushed for this change.
    Pushed,
    /// A commit of the branch that was there before: it brought the content, which its parents lack.
    Existing(Revision),
    /// The tip of the branch or a commit before it: the history that was fetched does not tell which.
    Unknown,
}

impl Written {
    /// Tells whether a commit was made; else the branch had the content already.
    pub fn is_changed(&self) -> bool {
        self.carrier == Carrier::Pushed
    }

    /// Returns the commit that carries the change: the tip, unless an earlier one is known to.
    pub fn revision(&self) -> &Revision {
        match &self.carrier {
            Carrier::Existing(revision) => revision,
            Carrier::Pushed | Carrier::Unknown => &self.tip,
        }
    }
}

impl Session {
    /// Builds the commit on the tip of the branch and pushes it, until that works or is hopeless.
    pub(super) fn commit<E: From<Error>>(&self, change: &mut Change<E>) -> Result<Written, E> {
        let reference = Reference::branch(&change.branch);
        let mut rejections = Rejections::default();
        for pause in pauses() {
            let base = match self.fetch(&reference) {
                Ok(revision) => ObjectId::from_hex(revision.commit.as_bytes()).ok(),
                Err(Error::UnknownReference { .. }) => None,
                Err(failed) => return Err(failed.into()),
            };
            let tree = BaseTree::new(self, base);
            let edits = (change.edit)(&tree)?;
            let Some(update) = self.build(&change.branch, &edits, base)? else {
                let read = tree.into_read();
                return Ok(self.unchanged(&reference, base, &edits, read)?);
            };
            match self.push(&update)? {
                Pushed::Done => {
                    return Ok(Written {
                        tip: reference.at(update.new),
                        carrier: Carrier::Pushed,
                    });
                }
                Pushed::Moved => {}
                Pushed::Rejected(reason) if rejections.is_final(base) => {
                    let (url, branch) = (self.remote.url().clone(), change.branch.clone());
                    return Err(E::from(Error::Rejected {
                        url,
                        branch,
                        reason,
                    }));
                }
                Pushed::Rejected(_) => {}
            }
            std::thread::sleep(pause);
        }
        Err(E::from(Error::Contended {
            url: self.remote.url().clone(),
            branch: change.branch.clone(),
            attempts: MAX_ATTEMPTS,
        }))
    }

    /// Returns the outcome of an edit that changes nothing. The change is what the edit would write; if it
    /// names no files, it is what the edit has read.
    fn unchanged(
        &self,
        reference: &Reference,
        base: Option<ObjectId>,
        edits: &Edits,
        read: BTreeSet<String>,
    ) -> Result<Written, Error> {
        let tip = base.ok_or_else(|| self.unknown(reference))?;
        let paths = match edits.files.is_empty() {
            true => read,
            false => edits.files.keys().cloned().collect(),
        };
        let carrier = match self.carrier(tip, &paths) {
            Some(commit) => Carrier::Existing(reference.at(commit)),
            None => Carrier::Unknown,
        };
        Ok(Written {
            tip: reference.at(tip),
            carrier,
        })
    }
}

/// Counts how often the remote declined on top of the same commit.
#[derive(Default)]
struct Rejections {
    base: Option<Option<ObjectId>>,
    count: usize,
}

impl Rejections {
    /// Counts one, and tells whether to give up. Two pushes that meet look like a rejection too, so it
    /// counts only if nobody else wrote.
    fn is_final(&mut self, base: Option<ObjectId>) -> bool {
        if self.base.replace(base) != Some(base) {
            self.count = 0;
        }
        self.count += 1;
        self.count >= MAX_REJECTIONS
    }
}

/// Jittered, so that writers that met once do not meet again.
fn pauses() -> impl Iterator<Item = Duration> {
    ExponentialBuilder::new()
        .with_jitter()
        .with_min_delay(Duration::from_millis(20))
        .with_max_delay(Duration::from_secs(1))
        .with_max_times(MAX_ATTEMPTS)
        .build()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remote_may_decline_as_often_again_once_somebody_else_wrote() {
        let [one, two] = [b"1", b"2"].map(|it| ObjectId::from_hex(&it.repeat(40)).ok());
        let mut rejections = Rejections::default();
        let mut on = |base| rejections.is_final(base);
        let answers = [one, one, one, two, two, two, two].map(&mut on);
        assert_eq!(answers, [false, false, false, false, false, false, true]);
        let mut rejections = Rejections::default();
        let on_nothing: Vec<_> = (0..4).map(|_| rejections.is_final(None)).collect();
        assert_eq!(on_nothing, [false, false, false, true]);
    }
}
