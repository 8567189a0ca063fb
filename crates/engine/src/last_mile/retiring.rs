//! Objects that nothing stamps any more, until they and what runs below them are gone.
//!
//! An object is deleted first, and its pods run on for as long as their grace period lasts. By then
//! nothing in the cluster says any more that they belonged to the owner; so what controlled them is
//! remembered from the time when the object was there.

use std::collections::{BTreeMap, BTreeSet};

use pathline_lineage::Retiring;
use pathline_lineage::rollout::{Below, kinds_below};

use super::round::{Round, Unready};
use super::seen::{Mark, Needs};

impl Round<'_> {
    /// Returns which objects are still retiring: `left` are those that are still there, `has_run` all
    /// that ran something before; `stamped` are the uids of what is stamped now.
    pub(crate) async fn retiring(
        &mut self,
        left: Vec<Retiring>,
        has_run: Vec<Retiring>,
        stamped: &BTreeSet<String>,
    ) -> Vec<Retiring> {
        let mut all: BTreeMap<String, Retiring> = BTreeMap::new();
        for it in has_run.into_iter().filter(|it| !stamped.contains(&it.uid)) {
            let known = all.entry(it.uid.clone()).or_insert_with(|| it.clone());
            known.controllers.extend(it.controllers);
        }
        let is_left: BTreeSet<String> = left.iter().map(|it| it.uid.clone()).collect();
        for it in left {
            let known = all.entry(it.uid.clone()).or_insert_with(|| it.clone());
            known.pods = None;
        }
        let mut retiring = Vec::new();
        for it in all.into_values() {
            let is_left = is_left.contains(&it.uid);
            retiring.extend(self.retire(it, is_left).await);
        }
        retiring
    }

    /// Judges one object; `None` once it and all below it are gone.
    async fn retire(&mut self, mut it: Retiring, is_left: bool) -> Option<Retiring> {
        let ready = self.prepare(needs_of(&it)).await;
        let seen = self.miles.seen.lock();
        let below = seen.place(&it.object.namespace);
        if is_left {
            let below = below.map(|below| below.controllers_below(&it.uid));
            it.controllers.extend(below.unwrap_or_default());
            return Some(it);
        }
        if it.controllers.is_empty() {
            return None;
        }
        match ready {
            Ok(()) => {}
            // Nobody knows yet whether something is left; the owner is woken when that is known.
            Err(Unready::Listing | Unready::Told(_)) => {
                it.pods = Some(it.pods.unwrap_or(1));
                return Some(it);
            }
        }
        let pods = below.map_or(0, |below| count(below, &it));
        it.pods = Some(pods);
        (pods > 0).then_some(it)
    }
}

fn count(below: &Below, it: &Retiring) -> usize {
    let mut controllers = it.controllers.clone();
    controllers.insert(it.uid.clone());
    controllers.extend(below.controllers_below(&it.uid));
    below.count_pods(&controllers)
}

/// Returns what must be known to tell whether something is left below an object.
fn needs_of(it: &Retiring) -> Needs {
    let mut needs = Needs::default();
    let uids = it.controllers.iter().chain([&it.uid]);
    needs.marks.extend(uids.map(|uid| Mark::Uid(uid.clone())));
    let group = it
        .object
        .api_version
        .rsplit_once('/')
        .map(|(group, _)| group);
    let kinds = kinds_below(group.unwrap_or_default(), &it.object.kind);
    needs.below(&it.object.namespace, kinds.unwrap_or_default());
    needs
}
