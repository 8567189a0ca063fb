//! The diff of two sets.

use std::ops::ControlFlow;

use super::{KeySet, ranges_below};
use crate::change::{ChangeSet, Record};
use crate::name::{Name, Namespace};
use crate::tree::{self, Pairs, Place, Range, Slot};

impl KeySet {
    /// Returns what leads from `old` to `new`, at and below a name if one is given, of all
    /// namespaces if that is cascading.
    ///
    /// Cascading keys are for look-up and never part of a change. The cost follows the number of
    /// nodes the two sets do not share: for `k` writes it is at most in the order of `k` times the
    /// height, whatever the size.
    ///
    /// ```
    /// use pathline_keys::{Key, KeySet};
    ///
    /// let mut set = KeySet::from_iter([Key::new("user:/app/port".parse()?).with_value("80")]);
    /// let before = set.clone();
    /// set.insert(Key::new("user:/app/host".parse()?).with_value("a"));
    /// set.insert(Key::new("user:/db/host".parse()?).with_value("b"));
    ///
    /// assert_eq!(KeySet::diff(&before, &set, None).len(), 2);
    /// let app = KeySet::diff(&before, &set, Some(&"user:/app".parse()?));
    /// let names: Vec<_> = app.added().map(|key| key.name().to_string()).collect();
    /// assert_eq!(names, ["user:/app/host"]);
    /// # Ok::<(), pathline_keys::name::Error>(())
    /// ```
    #[must_use]
    pub fn diff(old: &Self, new: &Self, below: Option<&Name>) -> ChangeSet {
        Self::diff_with_visits(old, new, below).0
    }

    /// Returns the same as [`KeySet::diff`], and how many nodes had to be looked into.
    #[must_use]
    pub fn diff_with_visits(old: &Self, new: &Self, below: Option<&Name>) -> (ChangeSet, usize) {
        let tracked = &Namespace::ALL[1..];
        let ranges = match below {
            Some(name) => ranges_below(name, tracked),
            None => vec![Range {
                from: vec![tracked[0].byte()],
                until: None,
            }],
        };
        let mut collect = Collect(Vec::new());
        let visits = ranges
            .iter()
            .map(|range| tree::compare(old.root.as_ref(), new.root.as_ref(), range, &mut collect))
            .sum();
        (ChangeSet::from_records(collect.0, below.cloned()), visits)
    }
}

struct Collect(Vec<Record>);

impl Pairs for Collect {
    fn differ(&mut self, a: Option<Place<'_>>, b: Option<Place<'_>>) -> ControlFlow<()> {
        let slot = |(node, _, index): Place<'_>| Slot::new(node, index);
        self.0.push(Record {
            old: a.map(slot),
            new: b.map(slot),
        });
        ControlFlow::Continue(())
    }
}
