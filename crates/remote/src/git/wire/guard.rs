//! Limits of one operation: its deadline, and the bytes that a remote may still send.

use std::cell::Cell;
use std::io;
use std::time::Duration;

use pathline_clock::instant;
use tokio::time::Instant;

/// Something that is larger than what is taken from a remote.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(in crate::git) struct Exceeded(String);

impl Exceeded {
    /// Says what has more than it may have.
    pub(in crate::git) fn more(what: &str, limit: u64, unit: &str) -> io::Error {
        io::Error::other(Self(format!("{what} has more than {limit} {unit}")))
    }

    /// Says how much something has, and how much it may have.
    pub(in crate::git) fn size(what: &str, size: u64, limit: u64, unit: &str) -> io::Error {
        io::Error::other(Self(format!(
            "{what} has {size} {unit}, and at most {limit} are taken"
        )))
    }

    /// Passes on a size that is within the limit.
    pub(in crate::git) fn check(what: &str, size: u64, limit: u64, unit: &str) -> io::Result<u64> {
        if size > limit {
            return Err(Self::size(what, size, limit, unit));
        }
        Ok(size)
    }
}

/// The remote wants credentials, or other ones.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(in crate::git) struct Unauthenticated(pub(in crate::git) &'static str);

/// Ends an operation at its deadline, and an answer when it has been given too much.
#[derive(Debug)]
pub(in crate::git) struct Guard {
    deadline: Instant,
    answer: Cell<Answer>,
}

/// The answer that is being read.
#[derive(Clone, Copy, Debug)]
struct Answer {
    what: &'static str,
    limit: u64,
    left: u64,
}

impl Guard {
    pub(in crate::git) fn new(deadline: Instant) -> Self {
        let answer = Answer {
            what: "the answer",
            limit: 0,
            left: 0,
        };
        Self {
            deadline,
            answer: Cell::new(answer),
        }
    }

    /// Names the answer that comes next, and how many bytes it may have.
    pub(in crate::git) fn expect(&self, what: &'static str, limit: u64) {
        self.answer.set(Answer {
            what,
            limit,
            left: limit,
        });
    }

    /// Counts bytes that have arrived.
    pub(in crate::git) fn spend(&self, bytes: usize) -> io::Result<()> {
        let answer = self.answer.get();
        let left = answer.left.checked_sub(bytes as u64);
        let left = left.ok_or_else(|| Exceeded::more(answer.what, answer.limit, "bytes"))?;
        self.answer.set(Answer { left, ..answer });
        Ok(())
    }

    /// Returns the time that is left, or the error of an operation that took too long.
    pub(in crate::git) fn remaining(&self) -> io::Result<Duration> {
        let left = self.deadline.checked_duration_since(instant());
        left.filter(|it| !it.is_zero()).ok_or_else(timed_out)
    }

    pub(in crate::git) fn deadline(&self) -> Instant {
        self.deadline
    }
}

pub(in crate::git) fn timed_out() -> io::Error {
    io::Error::new(io::ErrorKind::TimedOut, "it took too long")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answer_that_is_too_long_is_named_with_its_limit() {
        let guard = Guard::new(instant() + Duration::from_secs(600));
        guard.expect("the list of references", 10);
        assert!(guard.spend(6).is_ok());
        let told = guard.spend(5).unwrap_err().to_string();
        assert_eq!(told, "the list of references has more than 10 bytes");
        guard.expect("the pack", 5);
        assert!(guard.spend(5).is_ok(), "each answer has its own limit");
    }

    #[test]
    fn nothing_is_left_after_the_deadline() {
        let guard = Guard::new(instant());
        let told = guard.remaining().unwrap_err();
        assert_eq!(told.kind(), io::ErrorKind::TimedOut);
    }
}
