//! Whether pods have read the ConfigMaps and Secrets that their owner stamps.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use pathline_lineage::rollout::{
    self, ConfigKind, ConfigLook, ConfigRecord, Fed, FedBy, Object, PodsBelow, judge_fed,
};
use pathline_lineage::{Rollout, Stage};

use super::end::End;
use super::round::Round;
use super::seen::Seen;
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
    /// The stage of what reads them; `None` if something of it has not been judged yet.
    readers: BTreeMap<(ConfigKind, String), Option<Stage>>,
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
            on_path,
            ..Self::default()
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

    /// Returns how far that is which reads what a resource stamps: nothing does if nothing is known of
    /// it. `None` if something of it has not been judged yet.
    pub(super) fn stage(&self, resource: &str) -> Option<Stage> {
        let record = self.records.get(resource);
        let readers = record.and_then(|it| self.readers.get(&(it.kind, it.name.clone())));
        readers.cloned().unwrap_or(Some(Stage::None))
    }

    /// Takes note how far something is that reads ConfigMaps and Secrets.
    fn note_reader(&mut self, reads: &Object, stage: Option<&Stage>) {
        for read in &reads.reads {
            let known = self.readers.remove(read).unwrap_or(Some(Stage::None));
            let both = known.zip(stage).map(|(one, two)| one.and(two.clone()));
            self.readers.insert(read.clone(), both);
        }
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
        let object = end.object();
        let mut pods: Vec<_> = running(end, object.as_ref(), &seen)
            .into_iter()
            .filter_map(|it| Some(PodsBelow::of(it, seen.place(&it.namespace)?)))
            .collect();
        if let (End::Selected(_, selected), Some(object)) = (end, &object)
            && let Some(below) = seen.place(&object.namespace).filter(|_| selected.is_pods())
        {
            pods.push(PodsBelow::labelled(object, below, &selected.labels));
        }
        let stage = self.configs.judge(pods);
        Rollout { stage, ..rollout }
    }

    /// Takes note how far something is, for the ConfigMaps and Secrets that it reads.
    pub(super) fn note_reader(&mut self, end: &End, judged: Option<&Rollout>) {
        let seen = self.miles.seen.lock();
        let object = end.object();
        for reader in running(end, object.as_ref(), &seen) {
            let stage = judged.map(|it| &it.stage);
            self.configs.note_reader(reader, stage);
        }
    }
}

/// Returns what runs for an object at the end of a path, in its namespace: itself, and what its
/// inventory names or its template selects. Runs of Runnables are jobs, and what is delivered across git
/// is judged there.
fn running<'a>(end: &End, object: Option<&'a Object>, seen: &'a Seen) -> Vec<&'a Object> {
    let Some(object) = object else {
        return Vec::new();
    };
    let below = seen.place(&object.namespace);
    let found = match end {
        End::Selected(_, selected) => {
            let watched = selected.watched(object);
            known(seen, &watched, &selected.labels).collect()
        }
        _ => vec![object],
    };
    let named = found.iter().flat_map(|it| {
        let named = rollout::all_named(it, |namespace| seen.place(namespace));
        named.into_iter()
    });
    let named = named.filter(|it| it.namespace == object.namespace);
    let named: Vec<_> = named.filter_map(|it| below?.find(&it)).collect();
    found.into_iter().chain(named).collect()
}
