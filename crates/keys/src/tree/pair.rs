//! Two trees side by side: what differs, without opening what they share.

use std::cmp::Ordering;
use std::ops::ControlFlow;
use std::sync::Arc;

use super::walk::Open;
use super::{Leaf, Node, Range, Walk};

/// Told of every key that differs, in order: in the first tree only, in the second only, or in both
/// with different content. A key is a node (a leaf) and an index.
pub(crate) trait Pairs {
    /// Takes one difference.
    fn differ(&mut self, a: Option<Place<'_>>, b: Option<Place<'_>>) -> ControlFlow<()>;
}

/// The position of a key: its node, which is a leaf, and its index.
pub(crate) type Place<'a> = (&'a Arc<Node>, &'a Leaf, usize);

/// Compares a range of two trees and returns how many nodes it had to open.
///
/// Nodes at the positions are skipped where they are the same node; otherwise the taller one is
/// opened, or both. A cursor that has already entered a node which the other one only now arrives at
/// is taken back to its beginning, so trees whose nodes do not line up share as much as others.
pub(crate) fn compare(
    a: Option<&Arc<Node>>,
    b: Option<&Arc<Node>>,
    range: &Range,
    pairs: &mut impl Pairs,
) -> usize {
    let same = match (a, b) {
        (Some(a), Some(b)) => Arc::ptr_eq(a, b),
        (a, b) => a.is_none() && b.is_none(),
    };
    if same {
        return 0;
    }
    let (mut a, mut b) = (Walk::new(a, range), Walk::new(b, range));
    let mut flow = ControlFlow::Continue(());
    while flow.is_continue() && !(a.is_done() || b.is_done()) {
        flow = step(&mut a, &mut b, pairs);
    }
    while flow.is_continue()
        && let Some(place) = a.next_key()
    {
        flow = pairs.differ(Some(place), None);
    }
    while flow.is_continue()
        && let Some(place) = b.next_key()
    {
        flow = pairs.differ(None, Some(place));
    }
    a.opened() + b.opened()
}

fn step<'a>(a: &mut Walk<'a>, b: &mut Walk<'a>, pairs: &mut impl Pairs) -> ControlFlow<()> {
    let (level, other_level) = (a.level(), b.level());
    let top = level.max(other_level);
    if let (Some(own), Some(theirs)) = (a.starting(top), b.starting(top))
        && Arc::ptr_eq(own, theirs)
    {
        a.skip_common(b, top);
        return ControlFlow::Continue(());
    }
    match level.cmp(&other_level) {
        Ordering::Greater => a.open(),
        Ordering::Less => b.open(),
        Ordering::Equal => match (a.leaf(), b.leaf()) {
            (Some(own), Some(theirs)) => return merge(a, b, own, theirs, pairs),
            (own, theirs) => {
                if own.is_none() {
                    a.open();
                }
                if theirs.is_none() {
                    b.open();
                }
            }
        },
    }
    ControlFlow::Continue(())
}

/// Compares two open leaves until one of them ends.
fn merge(
    a: &mut Walk<'_>,
    b: &mut Walk<'_>,
    own: Open<'_>,
    theirs: Open<'_>,
    pairs: &mut impl Pairs,
) -> ControlFlow<()> {
    let (mut i, mut j) = (own.index, theirs.index);
    let mut flow = ControlFlow::Continue(());
    if Arc::ptr_eq(own.node, theirs.node) && i == j {
        (i, j) = (own.end, theirs.end);
    }
    let aligned = own.leaf.packed().prefix() == theirs.leaf.packed().prefix();
    let plain = aligned && own.leaf.is_plain() && theirs.leaf.is_plain();
    while flow.is_continue() && i < own.end && j < theirs.end {
        if plain && own.leaf.packed().same_record(i, theirs.leaf.packed(), j) {
            (i, j) = (i + 1, j + 1);
            continue;
        }
        let order = if aligned {
            own.leaf
                .packed()
                .suffix(i)
                .cmp(theirs.leaf.packed().suffix(j))
        } else {
            own.leaf.cmp_names(i, theirs.leaf, j)
        };
        let place = (own.node, own.leaf, i);
        let other_place = (theirs.node, theirs.leaf, j);
        flow = match order {
            Ordering::Less => pairs.differ(Some(place), None),
            Ordering::Greater => pairs.differ(None, Some(other_place)),
            Ordering::Equal if own.leaf.same_content(i, theirs.leaf, j) => flow,
            Ordering::Equal => pairs.differ(Some(place), Some(other_place)),
        };
        i += usize::from(order != Ordering::Greater);
        j += usize::from(order != Ordering::Less);
    }
    a.move_to(i);
    b.move_to(j);
    flow
}
