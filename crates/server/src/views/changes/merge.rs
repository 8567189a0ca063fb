//! The changes of several topics, in the order of their sequences.

use std::collections::VecDeque;

use jiff::Timestamp;
use pathline_client::api::{HoldEvent, MoveEvent, ReleaseEvent, TrackerEvent};
use pathline_ledger::releases::{HoldChange, ReleaseChange, What};
use pathline_ledger::trackers::{TrackerChange, WhatHappened};
use pathline_ledger::{Error, Ledger};

use super::Item;
use crate::views::convert;

/// The changes of each topic that are read at once.
const PAGE_SIZE: u32 = 64;

/// Changes of all topics that are told.
pub(super) struct Merged {
    /// The changes, in their order.
    pub(super) items: VecDeque<Item>,
    /// The change up to which they are all there are.
    pub(super) complete: i64,
}

/// Reads the changes after a sequence.
///
/// Topics are read one after the other, and something may be written between: of what the later ones have, the earlier
/// ones may lack what came before. So nothing is taken that is newer than the newest change before the reading, nor
/// newer than the end of a page that is full.
///
/// # Errors
/// If some of them are no longer kept, or there has not been that many yet.
pub(super) async fn read(ledger: &Ledger, after: i64) -> Result<Merged, Error> {
    let newest = ledger.trackers().newest_change().await?;
    let owners = ledger.lineage().changes(after, PAGE_SIZE).await?;
    let owners = owners.into_iter().map(convert::change).map(Box::new);
    let trackers = ledger.trackers().changes(after, PAGE_SIZE).await?;
    let trackers = trackers.into_iter().map(tracker_event).map(Box::new);
    let releases = ledger.releases().changes(after, PAGE_SIZE).await?;
    let releases = releases.into_iter().map(release_item);
    let pages = [
        owners.map(Item::Change).collect(),
        trackers.map(Item::Tracker).collect(),
        releases.collect(),
    ];
    Ok(merge(pages, newest.max(after)))
}

fn merge(pages: [Vec<Item>; 3], newest: i64) -> Merged {
    let full = |page: &&Vec<Item>| page.len() >= PAGE_SIZE as usize;
    let ends = pages.iter().filter(full).filter_map(|page| page.last());
    let complete = ends.map(Item::sequence).fold(newest, i64::min);
    let mut items: Vec<Item> = pages
        .into_iter()
        .flatten()
        .filter(|it| it.sequence() <= complete)
        .collect();
    items.sort_by_key(Item::sequence);
    Merged {
        items: items.into(),
        complete,
    }
}

fn tracker_event(change: TrackerChange) -> TrackerEvent {
    let (what, by) = match change.what {
        WhatHappened::Created { by } => ("created", Some(by)),
        WhatHappened::Replaced { by, .. } => ("replaced", Some(by)),
        WhatHappened::Deleted { by } => ("deleted", Some(by)),
        WhatHappened::Released { by, .. } => ("released", Some(by)),
        WhatHappened::Hinted { by } => ("hinted", Some(by)),
        WhatHappened::Wanted { by } => ("wanted", Some(by)),
        WhatHappened::Observed { .. } => ("observed", None),
    };
    TrackerEvent {
        sequence: change.sequence,
        time: change.time,
        tracker: change.name.to_string(),
        uid: change.uid,
        what: what.to_owned(),
        by,
    }
}

fn release_item(change: ReleaseChange) -> Item {
    let (sequence, time) = (change.sequence, change.time);
    match change.what {
        What::Formed(formed) => Item::Release(Box::new(ReleaseEvent {
            sequence,
            time,
            id: change.subject,
            tracker: formed.tracker.to_string(),
            number: formed.number,
            cause: formed.cause.to_string(),
            image: format!("{}@{}", formed.repository, formed.digest),
            by: formed.by,
        })),
        What::Moved(moved) => Item::Move(Box::new(MoveEvent {
            sequence,
            time,
            id: change.subject,
            tracker: moved.tracker.to_string(),
            number: moved.number,
            environment: moved.environment,
            from: moved.from.map(|it| it.to_string()),
            to: moved.to.to_string(),
            by: moved.by,
            reason: moved.reason,
        })),
        What::Held(hold) => hold_item((sequence, time), "held", hold),
        What::Resumed(hold) => hold_item((sequence, time), "resumed", hold),
    }
}

fn hold_item((sequence, time): (i64, Timestamp), what: &str, hold: HoldChange) -> Item {
    Item::Hold(Box::new(HoldEvent {
        sequence,
        time,
        environment: hold.environment,
        tracker: hold.tracker.map(|it| it.to_string()),
        what: what.to_owned(),
        by: hold.by,
        reason: hold.reason,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mk_tracker(sequence: i64) -> Item {
        Item::Tracker(Box::new(TrackerEvent {
            sequence,
            time: Timestamp::UNIX_EPOCH,
            tracker: "a.b".to_owned(),
            uid: "uid".to_owned(),
            what: "observed".to_owned(),
            by: None,
        }))
    }

    fn mk_release(sequence: i64) -> Item {
        Item::Release(Box::new(ReleaseEvent {
            sequence,
            time: Timestamp::UNIX_EPOCH,
            id: "id".to_owned(),
            tracker: "a.b".to_owned(),
            number: 1,
            cause: "initial".to_owned(),
            image: "registry.example/a/b@sha256:1".to_owned(),
            by: None,
        }))
    }

    fn sequences(merged: &Merged) -> Vec<i64> {
        merged.items.iter().map(Item::sequence).collect()
    }

    #[test]
    fn pages_are_merged_in_the_order_of_their_sequences() {
        let trackers = [1, 4, 5].map(mk_tracker).into();
        let releases = [2, 3, 6].map(mk_release).into();
        let merged = merge([Vec::new(), trackers, releases], 7);
        assert_eq!(sequences(&merged), [1, 2, 3, 4, 5, 6]);
        assert_eq!(merged.complete, 7);
    }

    #[test]
    fn change_that_came_during_the_reading_is_left_for_the_next_one() {
        // The change 3 may be of the topic that was read first, before it was there.
        let merged = merge([Vec::new(), vec![mk_tracker(2)], vec![mk_release(4)]], 2);
        assert_eq!((sequences(&merged), merged.complete), (vec![2], 2));
    }

    #[test]
    fn nothing_is_told_that_comes_after_the_end_of_a_full_page() {
        let full: Vec<_> = (1..=64).map(mk_tracker).collect();
        let merged = merge([Vec::new(), full, vec![mk_release(100)]], 100);
        assert_eq!(merged.complete, 64);
        assert_eq!(sequences(&merged).last(), Some(&64));
    }
}
