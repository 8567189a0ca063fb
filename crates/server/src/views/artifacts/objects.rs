//! The objects of carriers in the cluster.

use std::collections::BTreeMap;

use pathline_client::api::{Carrier, OwnerRef, PathStep};

use crate::AppState;
use crate::views::owners;

/// The most owners whose objects are named in one answer.
const MAX_OWNERS: usize = 32;

/// Names the objects of those carriers that are current, as far as the cluster tells at once.
pub(super) async fn name(state: &AppState, carriers: &mut [Carrier]) {
    let mut paths: BTreeMap<OwnerRef, Vec<PathStep>> = BTreeMap::new();
    for carrier in carriers.iter_mut().filter(|it| it.current) {
        if !paths.contains_key(&carrier.owner) {
            if paths.len() >= MAX_OWNERS {
                continue;
            }
            // The answer of the ledger is worth telling without their names.
            let path = owners::path_of(state, &carrier.owner).await;
            let Ok(path) = path else {
                return;
            };
            paths.insert(carrier.owner.clone(), path);
        }
        let path = paths.get(&carrier.owner).into_iter().flatten();
        let mut steps = path.filter(|it| it.resource == carrier.resource);
        carrier.object = steps.next().and_then(|it| it.object.clone());
    }
}
