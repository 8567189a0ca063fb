//! The source that a delivery is at, and whether that runs.

use crate::artifact::{Artifact, Kind};
use crate::origin::Origin;
use crate::track::{Live, Track};

/// The source that a delivery is at, and whether that runs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Delivered<'a> {
    /// The source: the one that the owner fixes, or that was found last.
    pub source: Option<&'a Artifact>,
    /// True if it runs, and nothing else does.
    pub live: Live,
}

impl Track {
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

    fn source(&self) -> Option<(Origin, &Artifact)> {
        let state = &self.state;
        if let Some(fixed) = state.owner().get("source") {
            return Some((Origin::owner("source"), fixed));
        }
        state.finders(Kind::Source).into_iter().find_map(|name| {
            let made = state.current(name)?;
            Some((Origin::resource(name), made.output.as_ref()?))
        })
    }
}
