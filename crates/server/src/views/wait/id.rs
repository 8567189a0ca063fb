//! The state of a wait, with which it goes on over another connection or at another server.

use std::fmt;
use std::str::FromStr;

use sha2::{Digest, Sha256};

/// The bytes of a digest that tell two owners of one name apart.
const OWNER_BYTES: usize = 4;

/// The state of a wait: `3.c0ffee42`, or `3-01.c0ffee42` if the second of two things that are waited for has been carried
/// by the path; `0` before the owner was there.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct WaitId {
    /// The generation that the owner had when the waiting began.
    pub(super) generation: i64,
    /// The things waited for that have been carried by something on the path.
    pub(super) carried: Vec<bool>,
    /// The owner, as the [`digest`] of its uid, if it was there.
    pub(super) owner: Option<String>,
}

/// Returns what tells an owner from one that has its name later.
pub(super) fn digest(uid: &str) -> String {
    let digest = Sha256::digest(uid);
    let digest = digest.iter().take(OWNER_BYTES);
    digest.map(|byte| format!("{byte:02x}")).collect()
}

impl WaitId {
    /// Returns the id of a wait that has not seen the owner.
    pub(super) fn unmet() -> Self {
        Self {
            generation: 0,
            carried: Vec::new(),
            owner: None,
        }
    }
}

/// A text that no wait gave out.
#[derive(Debug, Eq, PartialEq)]
pub(crate) struct ParseWaitIdError;

impl fmt::Display for WaitId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.generation)?;
        if self.carried.contains(&true) {
            let carried = self.carried.iter().map(|it| if *it { '1' } else { '0' });
            write!(f, "-{}", carried.collect::<String>())?;
        }
        match &self.owner {
            Some(owner) => write!(f, ".{owner}"),
            None => Ok(()),
        }
    }
}

impl FromStr for WaitId {
    type Err = ParseWaitIdError;

    fn from_str(text: &str) -> Result<Self, ParseWaitIdError> {
        let (text, owner) = match text.split_once('.') {
            Some((text, owner)) => (text, Some(owner)),
            None => (text, None),
        };
        let is_digest = |it: &str| it.len() == 2 * OWNER_BYTES && it.bytes().all(is_hex_digit);
        if owner.is_some_and(|it| !is_digest(it)) {
            return Err(ParseWaitIdError);
        }
        let (generation, carried) = text.split_once('-').unwrap_or((text, ""));
        let is_number = generation.bytes().all(|it| it.is_ascii_digit());
        let generation = generation.parse().ok().filter(|_| is_number);
        let carried = carried.chars().map(|it| match it {
            '0' => Ok(false),
            '1' => Ok(true),
            _ => Err(ParseWaitIdError),
        });
        Ok(Self {
            generation: generation.ok_or(ParseWaitIdError)?,
            carried: carried.collect::<Result<_, _>>()?,
            owner: owner.map(str::to_owned),
        })
    }
}

fn is_hex_digit(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'a'..=b'f')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mk_id(carried: &[bool]) -> WaitId {
        WaitId {
            generation: 3,
            carried: carried.to_vec(),
            owner: None,
        }
    }

    #[test]
    fn id_is_read_as_it_was_written() {
        let id = mk_id(&[false, true]);
        assert_eq!(id.to_string(), "3-01");
        assert_eq!("3-01".parse(), Ok(id.clone()));
        assert_eq!(mk_id(&[false]).to_string(), "3", "nothing was learned");
        assert_eq!("3".parse(), Ok(mk_id(&[])));
        let id = WaitId {
            owner: Some(digest("a uid")),
            ..id
        };
        assert_eq!(id.to_string().parse(), Ok(id));
        assert_eq!("0".parse(), Ok(WaitId::unmet()));
    }

    #[test]
    fn what_no_wait_gave_out_is_refused() {
        for text in [
            "",
            "-1",
            "+3",
            "3-2",
            "3-0 ",
            "x",
            "3.",
            "3.c0ffee4",
            "3.C0FFEE42",
            "99999999999999999999",
        ] {
            assert_eq!(text.parse::<WaitId>(), Err(ParseWaitIdError), "{text}");
        }
    }
}
