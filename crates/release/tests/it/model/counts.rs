//! Counts, so that a model in which nothing happens is noticed.

use std::ops::AddAssign;

/// Counts of what has happened.
#[derive(Debug, Default)]
pub(super) struct Counts {
    pub(super) releases: u64,
    pub(super) discarded: u64,
    pub(super) deployed: u64,
    pub(super) at_the_end: u64,
    pub(super) promoted: u64,
    pub(super) promoted_now: u64,
    pub(super) soaked: u64,
    pub(super) rolled_back: u64,
    pub(super) requested: u64,
    pub(super) restored: u64,
    pub(super) cancelled: u64,
    pub(super) entered_again: u64,
    pub(super) promises: u64,
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.releases += other.releases;
        self.discarded += other.discarded;
        self.deployed += other.deployed;
        self.at_the_end += other.at_the_end;
        self.promoted += other.promoted;
        self.promoted_now += other.promoted_now;
        self.soaked += other.soaked;
        self.rolled_back += other.rolled_back;
        self.requested += other.requested;
        self.restored += other.restored;
        self.cancelled += other.cancelled;
        self.entered_again += other.entered_again;
        self.promises += other.promises;
    }
}
