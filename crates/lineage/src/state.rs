//! The state of one owner: fed with what was stamped and seen, asked what things are made of.

mod retention;

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::artifact::{Artifact, ArtifactId};
use crate::chain::Chain;
use crate::clauses::Clauses;
use crate::derivation::Derivation;
use crate::former::Former;
use crate::origin::Origin;
use crate::resource_history::ResourceHistory;
use crate::snapshot::Snapshot;
use crate::stamp::{Inputs, Stamp};
use crate::written::Written;

/// The state of one owner: its path, its inputs, and the history of each resource.
///
/// Feed it in the order in which things happen: [`State::seen`] whenever an object was read, also
/// right before an apply, and [`State::stamped`] with the answer to the apply. It is bounded by the size of the chain, not by
/// the length of its history, and can be written as JSON and read back at any moment.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct State {
    chain: Chain,
    owner: BTreeMap<String, Artifact>,
    #[serde(default)]
    former: Former,
    #[serde(alias = "memories")]
    histories: BTreeMap<String, ResourceHistory>,
    #[serde(skip)]
    clauses: Clauses,
}

/// A resource is not on the path.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("resource `{0}` is not on the path")]
pub struct NotOnPath(pub String);

impl State {
    /// Starts without any history.
    pub fn new(chain: Chain) -> Self {
        Self {
            chain,
            ..Self::default()
        }
    }

    /// Follows another path from now on; resources that have left it are forgotten.
    pub fn follow(&mut self, chain: Chain) {
        self.chain = chain;
        let chain = &self.chain;
        self.histories.retain(|name, _| chain.get(name).is_some());
    }

    /// Takes the inputs the owner has now, by their names.
    pub fn own(&mut self, inputs: BTreeMap<String, Artifact>) {
        self.former.replace(&self.owner, &inputs);
        self.owner = inputs;
    }

    /// Tells whether an origin had a value before, and has it no more. Only values of the owner are
    /// remembered: what a branch had before may be what it has next.
    pub(crate) fn had(&self, origin: &Origin, wanted: impl Fn(&Artifact) -> bool) -> bool {
        match origin {
            Origin::Owner(name) => self.former.has(name, wanted),
            Origin::Resource(_) => false,
        }
    }

    /// Remembers an apply of a resource's object.
    pub fn stamped(&mut self, resource: &str, stamp: Stamp) -> Result<(), NotOnPath> {
        self.history_mut(resource)?.stamped(stamp);
        Ok(())
    }

    /// Takes a snapshot of a resource's object into account. Returns the derivation if something
    /// is known now that was not known before.
    pub fn seen(
        &mut self,
        resource: &str,
        snapshot: &Snapshot,
    ) -> Result<Option<&Derivation>, NotOnPath> {
        let clauses = self.clauses;
        let declared = self.chain.get(resource).cloned();
        let declared = declared.ok_or_else(|| NotOnPath(resource.to_owned()))?;
        let changed = self
            .history_mut(resource)?
            .seen(&declared, snapshot, clauses);
        Ok(self.news_of(resource, changed))
    }

    /// Hands an input of a resource on as its output: the chosen option passes it through.
    ///
    /// `inputs` are that input and whatever chose the option. Returns the derivation if it is new.
    pub fn passed_through(
        &mut self,
        resource: &str,
        passed: &Origin,
        inputs: Inputs,
        time: Timestamp,
    ) -> Result<Option<&Derivation>, NotOnPath> {
        let declared = self.chain.get(resource).cloned();
        let declared = declared.ok_or_else(|| NotOnPath(resource.to_owned()))?;
        let history = self.history_mut(resource)?;
        let changed = history.passed_through(&declared, passed, inputs, time);
        Ok(self.news_of(resource, changed))
    }

    /// Takes note of the commit that a resource's object wrote, after the snapshot that shows it was
    /// taken into account. Returns the derivation if the commit is new.
    pub fn wrote(
        &mut self,
        resource: &str,
        commit: &Written,
        time: Timestamp,
    ) -> Result<Option<&Derivation>, NotOnPath> {
        let changed = self.history_mut(resource)?.wrote(commit, time);
        Ok(self.news_of(resource, changed))
    }

    /// Takes note that an object is gone; tells whether it was a current one.
    pub fn gone(&mut self, resource: &str, uid: &str) -> bool {
        self.histories
            .get_mut(resource)
            .is_some_and(|history| history.gone(uid))
    }

    /// Takes note that a resource has no object any more, whichever it was: nothing is made now.
    pub fn lose(&mut self, resource: &str) {
        if let Some(history) = self.histories.get_mut(resource) {
            history.lose();
        }
    }

    /// Tells whether what a resource makes now is made by an object.
    pub fn has_object(&self, resource: &str) -> bool {
        self.current(resource).is_some_and(|it| !it.uid.is_empty())
    }

    /// Returns the uid and the generation of the object of a resource that was looked at last, unless
    /// each set of inputs has an object of its own.
    pub fn looked_at(&self, resource: &str) -> Option<(&str, Option<i64>)> {
        let declared = self.chain.get(resource)?;
        let history = self.history_of(resource)?;
        history.looked_at().filter(|_| !declared.tracing.immutable)
    }

    /// Takes note that there were applies that nobody remembers: what is made now counts as history
    /// until it is proven anew.
    pub fn missed(&mut self) {
        self.histories
            .values_mut()
            .for_each(ResourceHistory::missed);
    }

    /// Tells whether two know the same, whenever each of them looked last: one of them need not be
    /// written down if the other is.
    pub fn concludes_the_same(&self, other: &Self) -> bool {
        let mut pairs = self.histories.iter().zip(&other.histories);
        self.chain == other.chain
            && (&self.owner, &self.former) == (&other.owner, &other.former)
            && self.histories.len() == other.histories.len()
            && pairs.all(|(one, two)| one.0 == two.0 && one.1.concludes_the_same(two.1))
            && self.promises_the_same(other)
    }

    /// Returns the path that is followed.
    pub fn chain(&self) -> &Chain {
        &self.chain
    }

    /// Returns the inputs the owner has now, by their names.
    pub fn owner(&self) -> &BTreeMap<String, Artifact> {
        &self.owner
    }

    /// Returns how that came to be which a resource makes now.
    pub fn current(&self, resource: &str) -> Option<&Derivation> {
        self.histories.get(resource)?.current()
    }

    /// Returns how an output of a resource came to be last, if it is made now or still in use.
    pub fn derivation(&self, resource: &str, output: ArtifactId) -> Option<&Derivation> {
        self.histories.get(resource)?.derivation(output)
    }

    /// Returns the resource whose object this is, or was, and what is remembered of it.
    pub(crate) fn whose(&self, uid: &str) -> Option<(&str, &ResourceHistory)> {
        let mut histories = self.histories.iter();
        let found = histories.find(|(_, history)| history.knows(uid))?;
        Some((found.0, found.1))
    }

    /// Returns the inputs of the applies of a resource since the one that what it makes now is of.
    pub(crate) fn since_current(&self, resource: &str) -> impl Iterator<Item = &Inputs> {
        let history = self.histories.get(resource).into_iter();
        history.flat_map(ResourceHistory::since_current)
    }

    pub(crate) fn history_of(&self, resource: &str) -> Option<&ResourceHistory> {
        self.histories.get(resource)
    }

    pub(crate) fn clauses(&self) -> Clauses {
        self.clauses
    }

    #[cfg(feature = "clauses")]
    pub(crate) fn clauses_mut(&mut self) -> &mut Clauses {
        &mut self.clauses
    }

    fn history_mut(&mut self, resource: &str) -> Result<&mut ResourceHistory, NotOnPath> {
        if self.chain.get(resource).is_none() {
            return Err(NotOnPath(resource.to_owned()));
        }
        Ok(self.histories.entry(resource.to_owned()).or_default())
    }

    fn news_of(&mut self, resource: &str, changed: bool) -> Option<&Derivation> {
        if !changed {
            return None;
        }
        retention::forget_unused(&self.chain, &mut self.histories);
        self.histories.get(resource)?.current()
    }
}
