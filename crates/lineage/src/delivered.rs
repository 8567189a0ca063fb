//! The source that a delivery is at, and whether that runs.

use jiff::Timestamp;

use crate::artifact::{Artifact, Kind};
use crate::origin::Origin;
use crate::owner_lineage::{Live, OwnerLineage};
use crate::revision;

/// The source that a delivery is at, and whether that runs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Delivered<'a> {
    /// The source: the one that the owner fixes, or that was found last.
    pub source: Option<&'a Artifact>,
    /// True if it runs, and nothing else does.
    pub live: Live,
}

impl OwnerLineage {
    /// Returns what the owner, a delivery, delivers now.
    pub fn delivered(&self) -> Delivered<'_> {
        let Some((origin, source)) = self.source() else {
            return Delivered::default();
        };
        let arrival = self.state.arrival(&origin, |it| it == source);
        let live = match self.live() {
            Live::False => Live::False,
            Live::True | Live::Unknown => self.live_of(&origin, &arrival),
        };
        Delivered {
            source: Some(source),
            live,
        }
    }

    /// Returns the sources that the owner, a delivery, has at a revision: those that its resources make, and the one
    /// that it fixes.
    pub fn sources_at(&self, revision: &str) -> Vec<&Artifact> {
        let state = &self.state;
        let resources = state.chain().resources().iter();
        let made = resources.filter_map(|it| state.current(&it.name)?.output.as_ref());
        made.chain(state.owner().get("source"))
            .filter(|it| {
                it.kind() == Kind::Source && revision::is_same_commit(revision, it.shown())
            })
            .collect()
    }

    /// Returns when a resource of the owner last made anything.
    pub fn last_made(&self) -> Option<Timestamp> {
        let state = &self.state;
        let resources = state.chain().resources().iter();
        let made = resources.filter_map(|it| state.current(&it.name));
        made.map(|it| it.time).max()
    }

    fn source(&self) -> Option<(Origin, &Artifact)> {
        let state = &self.state;
        if let Some(fixed) = state.owner().get("source") {
            return Some((Origin::owner("source"), fixed));
        }
        state
            .entry_points(Kind::Source)
            .into_iter()
            .find_map(|name| {
                let made = state.current(name)?;
                Some((Origin::resource(name), made.output.as_ref()?))
            })
    }
}
