//! The newest revisions of daemon sets.
//!
//! The status of a daemon set does not name its newest revision, and the watch that shows revisions may
//! be behind the one that showed the status. Before something is said to run they are read once more.

use std::collections::BTreeMap;

use pathline_lineage::rollout::{Below, Object};

/// The versions of the revisions of an object, by uid.
pub type Versions = BTreeMap<String, String>;

/// A daemon set as it was judged.
#[derive(Debug, Clone)]
pub struct DaemonSet {
    /// The daemon set.
    pub object: Object,
    /// The revisions that were known then.
    pub revisions: Versions,
}

impl DaemonSet {
    /// Returns the daemon sets among objects that are judged; `below` returns what is known of a namespace.
    pub fn among<'o, 'b>(
        judged: impl Iterator<Item = &'o Object>,
        below: impl Fn(&str) -> Option<&'b Below>,
    ) -> Vec<Self> {
        let sets = judged.filter(|it| it.group == "apps" && it.kind == "DaemonSet");
        sets.map(|object| {
            let below = below(&object.namespace).into_iter();
            let revisions = below.flat_map(|it| it.revisions_of(&object.uid));
            Self {
                object: object.clone(),
                revisions: revisions
                    .map(|it| (it.uid.clone(), it.version.clone()))
                    .collect(),
            }
        })
        .collect()
    }
}
