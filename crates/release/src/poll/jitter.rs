//! Randomness that can be repeated.

use jiff::SignedDuration;
use sha2::{Digest, Sha256};

/// Random numbers for delays: a function of a seed, of who waits, and of how often it did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Jitter {
    seed: u64,
}

impl Jitter {
    /// Returns the numbers of a seed.
    pub const fn new(seed: u64) -> Self {
        Self { seed }
    }

    /// Returns a time between two others, both possible, for the n-th wait of somebody.
    pub fn between(
        self,
        (least, most): (SignedDuration, SignedDuration),
        who: &str,
        nth: u64,
    ) -> SignedDuration {
        let mut hash = Sha256::new();
        hash.update(self.seed.to_be_bytes());
        hash.update(nth.to_be_bytes());
        hash.update(who);
        let bits = hash
            .finalize()
            .iter()
            .take(8)
            .fold(0_u64, |bits, byte| bits << 8 | u64::from(*byte));
        let span = most.saturating_sub(least).as_millis().max(0);
        // With 63 bits the product fits, however long the times are.
        let drawn = (i128::from(bits >> 1) * (span + 1)) >> 63;
        least.saturating_add(SignedDuration::from_millis(
            i64::try_from(drawn).unwrap_or(i64::MAX),
        ))
    }
}
