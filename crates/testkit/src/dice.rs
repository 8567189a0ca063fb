//! Randomness that can be repeated.

/// A sequence of random numbers, the same for the same seed (SplitMix64).
///
/// The seed comes from [`seed`](crate::seed), or is a constant where the content of a test must not change.
#[derive(Clone, Debug)]
pub struct Dice(u64);

impl Dice {
    /// Begins the sequence of a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns the next number.
    // Inlined, here and below, for the callers that are compiled with optimization to roll a billion times.
    #[inline]
    pub fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// Returns a number below a limit.
    #[inline]
    pub fn below(&mut self, limit: u64) -> u64 {
        self.roll() % limit
    }

    /// Returns an index of something that is so long.
    #[inline]
    pub fn index(&mut self, length: usize) -> usize {
        let index = self.below(length as u64);
        usize::try_from(index).expect("it is below a length")
    }

    /// Returns true in so many of a hundred cases.
    #[inline]
    pub fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// Returns one of several values.
    #[inline]
    pub fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.index(all.len())]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequence_is_that_of_splitmix64() {
        let mut dice = Dice::new(1_234_567);
        let rolled = [dice.roll(), dice.roll()];
        assert_eq!(
            rolled,
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973]
        );
    }
}
