//! Has everything watched that tells whether objects which nothing stamps any more are gone.

use std::collections::BTreeSet;

use pathline_kinds::split_api_version;
use pathline_lineage::Retiring;
use pathline_lineage::rollout::kinds_below;
use pathline_observe::rollout::candidates;

use super::check::RolloutCheck;
use super::index::{FollowedBy, Needs};

impl RolloutCheck<'_> {
    /// Returns which objects are still retiring: `left` are those that are still there, `has_run` all
    /// that ran something before; `stamped` are the uids of what is stamped now.
    pub(crate) async fn retiring(
        &mut self,
        left: Vec<Retiring>,
        has_run: Vec<Retiring>,
        stamped: &BTreeSet<String>,
    ) -> Vec<Retiring> {
        let mut retiring = Vec::new();
        for candidate in candidates(left, has_run, stamped) {
            let is_known = self.prepare(needs_of(&candidate.retiring)).await.is_ok();
            let index = self.watcher.index.lock();
            let below = index.below(&candidate.retiring.object.namespace);
            retiring.extend(candidate.judge(is_known, below));
        }
        retiring
    }
}

/// Returns what must be known to tell whether something is left below an object.
fn needs_of(it: &Retiring) -> Needs {
    let mut needs = Needs::default();
    let uids = it.controllers.iter().chain([&it.uid]);
    needs
        .followed
        .extend(uids.map(|uid| FollowedBy::Uid(uid.clone())));
    let (group, _) = split_api_version(&it.object.api_version);
    let kinds = kinds_below(group, &it.object.kind);
    needs.below(&it.object.namespace, kinds.unwrap_or_default());
    needs
}
