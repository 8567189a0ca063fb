//! The agenda: which trackers are looked at next, and which of them together.
//!
//! A repository's answer counts for a cycle only if it was asked for after the registry had answered. Trackers that
//! read the same file can therefore share one answer only if they are looked at together: whoever is due takes along
//! the others that are nearly due, and all of them are due together from then on.

use std::collections::{BTreeSet, HashMap};

use jiff::{SignedDuration, Timestamp};

use super::jitter::Jitter;
use super::schedule::{Failure, Schedule};
use super::sharing::SourceKey;

/// The part of an interval by which a tracker is taken along before it is due.
const EARLY_PART: i32 = 4;

/// The trackers, by the time at which they are looked at next.
#[derive(Debug)]
pub struct Agenda {
    jitter: Jitter,
    interval: SignedDuration,
    members: HashMap<String, Member>,
    groups: HashMap<SourceKey, BTreeSet<String>>,
    /// Those that are not being looked at, the next one first.
    waiting: BTreeSet<(Timestamp, String)>,
}

/// The time at which a tracker is looked at first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begin {
    /// It is new, or was changed.
    AtOnce,
    /// It was there when Pathline started.
    Spread,
}

/// Trackers that read the same file, to be looked at together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Round {
    /// The file.
    pub key: SourceKey,
    /// The trackers, by their uid.
    pub members: Vec<String>,
    /// The time at which the first of them was due.
    pub due: Timestamp,
    /// Whether somebody says that something has changed, so that no older answer will do.
    pub is_hinted: bool,
}

/// The end of a round for one tracker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// All were asked, and answered.
    Succeeded {
        /// The time until the next poll.
        interval: SignedDuration,
    },
    /// Something failed.
    Failed {
        /// The kind of failure.
        failure: Failure,
        /// The time before which a host does not want to be asked.
        not_before: Option<Timestamp>,
    },
    /// It is to be looked at again at a time.
    Again(Timestamp),
    /// There is nothing to look at any more: a commit never changes.
    Done,
}

#[derive(Debug)]
struct Member {
    key: SourceKey,
    schedule: Schedule,
    state: State,
    /// Whether somebody has asked for the next look.
    is_hinted: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Waiting,
    /// It is being looked at; whether somebody has asked for another look since.
    Busy {
        hinted: bool,
    },
    /// It is not looked at unless somebody asks.
    Resting,
}

/// Queries
impl Agenda {
    /// Returns an agenda without trackers.
    pub fn new(jitter: Jitter, interval: SignedDuration) -> Self {
        Self {
            jitter,
            interval,
            members: HashMap::new(),
            groups: HashMap::new(),
            waiting: BTreeSet::new(),
        }
    }

    /// Returns the time at which somebody is due.
    pub fn next(&self) -> Option<Timestamp> {
        self.waiting.first().map(|(due, _)| *due)
    }

    /// Returns the schedule of a tracker.
    pub fn schedule(&self, uid: &str) -> Option<&Schedule> {
        self.members.get(uid).map(|it| &it.schedule)
    }

    /// Returns the number of trackers.
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Tells whether there are no trackers.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }
}

/// Transitions
impl Agenda {
    /// Adds a tracker, or replaces it: what a round that is under way finds out about the former one is not told to it.
    pub fn insert(&mut self, uid: &str, key: SourceKey, begin: Begin, now: Timestamp) {
        self.remove(uid);
        let schedule = match (begin, self.due_in(&key)) {
            (Begin::AtOnce, _) => Schedule::at_once(now),
            // With those that it can share an answer with.
            (Begin::Spread, Some(due)) => Schedule::at_once(due),
            (Begin::Spread, None) => Schedule::after_start(now, self.interval, self.jitter, uid),
        };
        self.waiting.insert((schedule.next, uid.to_owned()));
        self.groups
            .entry(key.clone())
            .or_default()
            .insert(uid.to_owned());
        let member = Member {
            key,
            schedule,
            state: State::Waiting,
            is_hinted: false,
        };
        self.members.insert(uid.to_owned(), member);
    }

    /// Removes a tracker.
    pub fn remove(&mut self, uid: &str) {
        let Some(member) = self.members.remove(uid) else {
            return;
        };
        self.waiting.remove(&(member.schedule.next, uid.to_owned()));
        if let Some(group) = self.groups.get_mut(&member.key) {
            group.remove(uid);
            if group.is_empty() {
                self.groups.remove(&member.key);
            }
        }
    }

    /// Takes the trackers that are to be looked at together now, if somebody is due.
    pub fn take(&mut self, now: Timestamp) -> Option<Round> {
        let (due, first) = self.waiting.first().filter(|(due, _)| *due <= now)?.clone();
        let key = self.members.get(&first)?.key.clone();
        let soon = now
            .checked_add(self.interval / EARLY_PART)
            .unwrap_or(Timestamp::MAX);
        let group = self.groups.get(&key).into_iter().flatten();
        let joins = |uid: &&String| {
            self.members.get(*uid).is_some_and(|it| {
                let is_near = it.schedule.failures == 0 && it.schedule.next <= soon;
                it.state == State::Waiting && (it.schedule.next <= now || is_near)
            })
        };
        let members: Vec<String> = group.filter(joins).cloned().collect();
        let mut is_hinted = false;
        for uid in &members {
            if let Some(member) = self.members.get_mut(uid) {
                self.waiting.remove(&(member.schedule.next, uid.clone()));
                member.state = State::Busy { hinted: false };
                is_hinted |= std::mem::take(&mut member.is_hinted);
            }
        }
        Some(Round {
            key,
            members,
            due,
            is_hinted,
        })
    }

    /// Ends a round. Whoever was removed or replaced meanwhile is left alone.
    pub fn finish(&mut self, round: &Round, endings: &[(String, Ending)], now: Timestamp) {
        // Those that were answered together stay together, and so do those that failed together, as often as each other.
        let mut together: Vec<(Ending, u32, Timestamp)> = Vec::new();
        for (uid, ending) in endings {
            let jitter = self.jitter;
            let Some(member) = self.members.get_mut(uid) else {
                continue;
            };
            let State::Busy { hinted } = member.state else {
                continue;
            };
            if member.key != round.key {
                continue;
            }
            let schedule = &mut member.schedule;
            member.state = State::Waiting;
            match *ending {
                Ending::Succeeded { interval } => schedule.succeed(now, interval, jitter, uid),
                Ending::Failed {
                    failure,
                    not_before,
                } => {
                    schedule.fail(now, failure, jitter, uid);
                    schedule.next = schedule.next.max(not_before.unwrap_or(schedule.next));
                }
                Ending::Again(at) => schedule.next = at,
                Ending::Done if hinted => {}
                Ending::Done => member.state = State::Resting,
            }
            let is_same =
                |it: &&(Ending, u32, Timestamp)| (it.0, it.1) == (*ending, schedule.failures);
            match together.iter().find(is_same) {
                Some((_, _, next)) => schedule.next = *next,
                None => together.push((*ending, schedule.failures, schedule.next)),
            }
            if hinted {
                schedule.hint(now, jitter, uid);
                member.is_hinted = true;
            }
            if member.state == State::Waiting {
                self.waiting.insert((member.schedule.next, uid.clone()));
            }
        }
    }

    /// Brings the next look at a tracker forward by some seconds more or less, because a host says that something has
    /// changed. A look that is under way may have missed it, and is followed by another one.
    pub fn hint(&mut self, uid: &str, now: Timestamp) {
        let jitter = self.jitter;
        self.bring_forward(uid, |schedule| schedule.hint(now, jitter, uid));
    }

    /// Looks at a tracker at once, because somebody wants it. A look that is under way is followed by another one.
    pub fn poll_now(&mut self, uid: &str, now: Timestamp) {
        self.bring_forward(uid, |schedule| schedule.next = schedule.next.min(now));
    }

    fn bring_forward(&mut self, uid: &str, change: impl FnOnce(&mut Schedule)) {
        let Some(member) = self.members.get_mut(uid) else {
            return;
        };
        if let State::Busy { hinted } = &mut member.state {
            *hinted = true;
            return;
        }
        self.waiting.remove(&(member.schedule.next, uid.to_owned()));
        if member.state == State::Resting {
            member.schedule.next = Timestamp::MAX;
        }
        member.state = State::Waiting;
        member.is_hinted = true;
        change(&mut member.schedule);
        self.waiting.insert((member.schedule.next, uid.to_owned()));
    }

    /// Returns the time at which those who read a file are due, unless it is open.
    fn due_in(&self, key: &SourceKey) -> Option<Timestamp> {
        let first = self.groups.get(key)?.first()?;
        let member = self.members.get(first)?;
        (member.state == State::Waiting).then_some(member.schedule.next)
    }
}
