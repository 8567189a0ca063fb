//! Judges whether pods have read the ConfigMaps and Secrets that their owner stamps.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use pathline_lineage::rollout::{
    self, Below, ConfigKind, ConfigObservation, ConfigRecord, Fed, FedBy, Object, PodsBelow,
    judge_fed,
};
use pathline_lineage::{Rollout, Stage};

use super::target::RolloutTarget;

/// The number of resources that are not on the path any more of which the stamped objects are remembered.
const MAX_LEFT: usize = 64;

/// The ConfigMaps and Secrets that the resources of one owner stamp.
#[derive(Debug, Default)]
pub struct Configs<'m> {
    /// By resource.
    records: BTreeMap<String, ConfigRecord>,
    observed: BTreeMap<String, &'m ConfigObservation>,
    /// The resources that are on the path.
    on_path: BTreeSet<String>,
    /// The stage of what reads them; `None` if something of it has not been judged yet.
    readers: BTreeMap<(ConfigKind, String), Option<Stage>>,
}

impl<'m> Configs<'m> {
    /// Begins with what is remembered. A resource that comes back to the path finds what was known of it:
    /// pods may be left that read what it stamped then.
    pub fn new(
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
    pub fn observe(&mut self, resource: &str, observed: &'m ConfigObservation, now: Timestamp) {
        let known = self.records.get(resource);
        let record = ConfigRecord::after(known, observed, now.as_second());
        self.records.insert(resource.to_owned(), record);
        self.observed.insert(resource.to_owned(), observed);
        self.on_path.insert(resource.to_owned());
    }

    /// Returns how far that is which reads what a resource stamps: nothing does if nothing is known of
    /// it. `None` if something of it has not been judged yet.
    pub fn stage(&self, resource: &str) -> Option<Stage> {
        let record = self.records.get(resource);
        let readers = record.and_then(|it| self.readers.get(&(it.kind, it.name.clone())));
        readers.cloned().unwrap_or(Some(Stage::None))
    }

    /// Judges whether pods that run for a target have read the ConfigMaps and Secrets as they are; `below`
    /// returns what is known of a namespace.
    pub fn judge_fed<'b>(
        &mut self,
        target: &RolloutTarget,
        rollout: Rollout,
        below: impl Fn(&str) -> Option<&'b Below>,
    ) -> Rollout {
        if rollout.stage != Stage::Done {
            return rollout;
        }
        let mut pods: Vec<_> = running(target, &below)
            .into_iter()
            .filter_map(|it| Some(PodsBelow::of(it, below(&it.namespace)?)))
            .collect();
        if let RolloutTarget::Selected(object, selected) = target
            && let Some(below) = below(&object.namespace).filter(|_| selected.is_pods())
        {
            pods.push(PodsBelow::labelled(object, below, &selected.labels));
        }
        let stage = self.judge(pods);
        Rollout { stage, ..rollout }
    }

    /// Takes note how far a target is, for the ConfigMaps and Secrets that it reads; `below` returns what
    /// is known of a namespace.
    pub fn note_reader<'b>(
        &mut self,
        target: &RolloutTarget,
        judged: Option<&Rollout>,
        below: impl Fn(&str) -> Option<&'b Below>,
    ) {
        let stage = judged.map(|it| &it.stage);
        for reader in running(target, &below) {
            for read in &reader.reads {
                let known = self.readers.remove(read).unwrap_or(Some(Stage::None));
                let both = known.zip(stage).map(|(one, two)| one.and(two.clone()));
                self.readers.insert(read.clone(), both);
            }
        }
    }

    /// Returns what is to be remembered.
    pub fn end(self) -> BTreeMap<String, ConfigRecord> {
        self.records
    }

    fn judge<'a>(&mut self, pods: impl IntoIterator<Item = PodsBelow<'a>>) -> Stage {
        let on_path = self.on_path.iter();
        let by = on_path.filter_map(|it| {
            let observed = self.observed.get(it).copied();
            Some(FedBy::new(self.records.get(it)?, observed))
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

/// Returns what runs for an object at the end of a path, in its namespace: itself, and what its
/// inventory names or its template selects. Runs of Runnables are jobs, and what is delivered across git
/// is judged there.
fn running<'a, 'b: 'a>(
    target: &'a RolloutTarget,
    place: impl Fn(&str) -> Option<&'b Below>,
) -> Vec<&'a Object> {
    let Some(object) = target.object() else {
        return Vec::new();
    };
    let below = place(&object.namespace);
    let found: Vec<&Object> = match target {
        RolloutTarget::Selected(_, selected) => selected.known(below).collect(),
        _ => vec![object],
    };
    let named = found
        .iter()
        .flat_map(|it| rollout::all_named(it, &place).into_iter());
    let named = named.filter(|it| it.namespace == object.namespace);
    let named: Vec<_> = named.filter_map(|it| below?.find(&it)).collect();
    found.into_iter().chain(named).collect()
}
