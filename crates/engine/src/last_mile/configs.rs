//! Whether pods have read the ConfigMaps and Secrets that their owner stamps.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use pathline_lineage::rollout::{
    self, ConfigLook, ConfigRecord, Fed, FedBy, Object, PodsBelow, judge_fed,
};
use pathline_lineage::{Rollout, Stage};

use super::end::End;
use super::round::Round;
use super::seen::{Seen, Watched};
use super::selected::known;

/// Of how many resources that are not on the path any more it is remembered what they stamped.
const MAX_LEFT: usize = 64;

/// The ConfigMaps and Secrets that the resources of one owner stamp.
#[derive(Default)]
pub(crate) struct Configs<'m> {
    /// By resource.
    records: BTreeMap<String, ConfigRecord>,
    looks: BTreeMap<String, &'m ConfigLook>,
    /// The resources that are on the path.
    on_path: BTreeSet<String>,
}

impl<'m> Configs<'m> {
    /// Begins with what is remembered. A resource that comes back to the path finds what was known of it:
    /// pods may be left that read what it stamped then.
    pub(crate) fn new(
        mut records: BTreeMap<String, ConfigRecord>,
        is_on_path: impl Fn(&str) -> bool,
    ) -> Self {
        let on_path: BTreeSet<_> = records
            .keys()
            .filter(|it| is_on_path(it))
            .cloned()
            .collect();
        let left: Vec<_> = records
            .keys()
            .filter(|it| !on_path.contains(*it))
            .cloned()
            .collect();
        for resource in left.iter().skip(MAX_LEFT) {
            records.remove(resource);
        }
        Self {
            records,
            looks: BTreeMap::new(),
            on_path,
        }
    }

    /// Takes in what a resource has stamped.
    pub(crate) fn look(&mut self, resource: &str, look: &'m ConfigLook, now: Timestamp) {
        let known = self.records.get(resource);
        let record = ConfigRecord::after(known, look, now.as_second());
        self.records.insert(resource.to_owned(), record);
        self.looks.insert(resource.to_owned(), look);
        self.on_path.insert(resource.to_owned());
    }

    /// Returns what is to be remembered.
    pub(super) fn end(self) -> BTreeMap<String, ConfigRecord> {
        self.records
    }

    fn judge<'a>(&mut self, pods: impl IntoIterator<Item = PodsBelow<'a>>) -> Stage {
        let on_path = self.on_path.iter();
        let by = on_path.filter_map(|it| {
            let look = self.looks.get(it).copied();
            Some(FedBy::new(self.records.get(it)?, look))
        });
        let by: Vec<_> = by.collect();
        let Fed { stage, settled } = judge_fed(pods, &by);
        for record in self.records.values_mut() {
            if let Some(pods) = settled.get(&(record.kind, record.name.clone())) {
                record.settle(pods);
            }
        }
        stage
    }
}

impl Round<'_> {
    /// Judges whether pods that run have read the ConfigMaps and Secrets as they are.
    pub(super) fn judge_fed(&mut self, end: &End, rollout: Rollout) -> Rollout {
        if rollout.stage != Stage::Done {
            return rollout;
        }
        let seen = self.miles.seen.lock();
        let stage = match end {
            End::Known(value) => {
                let object = Object::read(value);
                self.configs.judge(pods_of(&object, &seen))
            }
            End::Selected(value, selected) => {
                let object = Object::read(value);
                let watched = Watched {
                    namespace: object.namespace.clone(),
                    gvk: selected.gvk.clone(),
                };
                let below = seen.place(&object.namespace);
                let pods = below.filter(|_| watched.is_pod());
                let pods = pods.map(|it| PodsBelow::labelled(&object, it, &selected.labels));
                let found = known(&seen, &watched, &selected.labels);
                let found = found.flat_map(|it| pods_of(it, &seen));
                self.configs.judge(pods.into_iter().chain(found))
            }
            // What runs there are jobs, or is judged where it was delivered.
            End::Run(_) | End::Commit(_) | End::Clear(_) => Stage::Done,
        };
        Rollout { stage, ..rollout }
    }
}

/// Returns the pods of an object, and of what its inventory names in the same namespace.
fn pods_of<'a>(object: &'a Object, seen: &'a Seen) -> Vec<PodsBelow<'a>> {
    let Some(below) = seen.place(&object.namespace) else {
        return Vec::new();
    };
    let named = rollout::all_named(object, |namespace| seen.place(namespace));
    let named = named.into_iter();
    let named = named.filter(|it| it.namespace == object.namespace);
    let named: Vec<_> = named.filter_map(|it| below.find(&it)).collect();
    let objects = named.into_iter().chain([object]);
    objects.map(|it| PodsBelow::of(it, below)).collect()
}
