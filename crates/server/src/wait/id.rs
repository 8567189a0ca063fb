//! What somebody who waits has to bring along to go on with another connection, or another server.

use std::fmt;
use std::str::FromStr;

/// How far a wait was: `3`, or `3-01` if the second of two wishes has been carried by the path.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct WaitId {
    /// The generation that the owner had when the waiting began.
    pub(super) generation: i64,
    /// Which wishes have been carried by something on the path.
    pub(super) carried: Vec<bool>,
}

/// A text that no wait gave out.
#[derive(Debug, Eq, PartialEq)]
pub(super) struct NotAWait;

impl fmt::Display for WaitId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.generation)?;
        if !self.carried.contains(&true) {
            return Ok(());
        }
        let carried = self.carried.iter().map(|it| if *it { '1' } else { '0' });
        write!(f, "-{}", carried.collect::<String>())
    }
}

impl FromStr for WaitId {
    type Err = NotAWait;

    fn from_str(text: &str) -> Result<Self, NotAWait> {
        let (generation, carried) = text.split_once('-').unwrap_or((text, ""));
        let is_number = generation.bytes().all(|it| it.is_ascii_digit());
        let generation = generation.parse().ok().filter(|_| is_number);
        let carried = carried.chars().map(|it| match it {
            '0' => Ok(false),
            '1' => Ok(true),
            _ => Err(NotAWait),
        });
        Ok(Self {
            generation: generation.ok_or(NotAWait)?,
            carried: carried.collect::<Result<_, _>>()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mk_id(carried: &[bool]) -> WaitId {
        WaitId {
            generation: 3,
            carried: carried.to_vec(),
        }
    }

    #[test]
    fn id_is_read_as_it_was_written() {
        let id = mk_id(&[false, true]);
        assert_eq!(id.to_string(), "3-01");
        assert_eq!("3-01".parse(), Ok(id));
        assert_eq!(mk_id(&[false]).to_string(), "3", "nothing was learned");
        assert_eq!("3".parse(), Ok(mk_id(&[])));
    }

    #[test]
    fn what_no_wait_gave_out_is_refused() {
        for text in ["", "-1", "+3", "3-2", "3-0 ", "x", "99999999999999999999"] {
            assert_eq!(text.parse::<WaitId>(), Err(NotAWait), "{text}");
        }
    }
}
