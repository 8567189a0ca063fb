//! The entry points of a path: resources that find what the owner does not name, such as the revision of
//! a branch or a built image.

use crate::artifact::{Artifact, Kind};
use crate::chain::Resource;
use crate::origin::Origin;
use crate::state::State;

impl State {
    /// Returns the resources that put artifacts of a kind on the path, in path order: they make
    /// one, and take none.
    ///
    /// A source that the owner fixes is found by nobody: who makes a source from it hands it on.
    pub fn entry_points(&self, kind: Kind) -> Vec<&str> {
        let makes = |name: &str| self.made_kind(name) == Some(kind);
        let takes = |resource: &Resource| {
            let given = resource.reads.iter().filter_map(|it| self.owner().get(it));
            let mut given = given.map(Artifact::kind);
            given.any(|it| it == kind) || resource.upstream.iter().any(|it| makes(it))
        };
        let path = self.chain().in_path_order();
        path.filter(|it| makes(&it.name) && !takes(it))
            .map(|it| it.name.as_str())
            .collect()
    }

    /// Returns the final resources that an origin flows into; a resource that nobody consumes is
    /// its own.
    pub(crate) fn targets_of(&self, origin: &Origin) -> Vec<&Resource> {
        let mut targets = self.chain().targets(origin);
        if let Origin::Resource(name) = origin
            && targets.is_empty()
        {
            targets.extend(self.chain().get(name));
        }
        targets
    }

    /// Returns what a resource makes, or will make once it was stamped.
    fn made_kind(&self, resource: &str) -> Option<Kind> {
        let made = self.current(resource).and_then(|it| it.output.as_ref());
        made.map(Artifact::kind).or_else(|| {
            self.history_of(resource)?.last_apply()?;
            self.chain().get(resource)?.makes
        })
    }
}
