//! Random histories, each of which can be repeated from its seed.

use std::fmt::Display;
use std::ops::AddAssign;

use crate::{is_nightly, seed};

/// Random histories of something that is checked while it happens: so many in every run of the tests, and so
/// many in a nightly one.
#[derive(Clone, Copy, Debug)]
pub struct Histories {
    /// The number that is always run.
    pub always: u64,
    /// The number that is run every night.
    pub nightly: u64,
}

impl Histories {
    /// Returns how many are run now.
    pub fn count(self) -> u64 {
        if is_nightly() {
            self.nightly
        } else {
            self.always
        }
    }

    /// Runs histories, from the [`seed`] of the test on, and returns the sum of what they count.
    ///
    /// # Panics
    ///
    /// If one of them fails: with its seed, and with its story, for which it is run once more.
    pub fn run<T: Default + AddAssign, F: Display>(
        self,
        test: &str,
        run: impl Fn(u64) -> Result<T, F>,
        story: impl Fn(u64) -> String,
    ) -> T {
        let first = seed(test);
        let mut sum = T::default();
        for seed in (0..self.count()).map(|it| first.wrapping_add(it)) {
            match run(seed) {
                Ok(counted) => sum += counted,
                Err(fault) => panic!("history {seed}: {fault}\n{}", story(seed)),
            }
        }
        sum
    }

    /// Tells whether one of the histories that are always run fails: what is broken on purpose has to be noticed
    /// every day.
    pub fn any_fails<T, F>(self, run: impl Fn(u64) -> Result<T, F>) -> bool {
        (0..self.always).any(|seed| run(seed).is_err())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEN: Histories = Histories {
        always: 10,
        nightly: 10,
    };

    #[test]
    fn failing_history_is_told_with_its_seed() {
        let first = seed("failing_history_is_told_with_its_seed");
        let fails = |seed: u64| {
            if seed == first + 3 {
                Err("wrong")
            } else {
                Ok(1)
            }
        };
        let run = || {
            TEN.run("failing_history_is_told_with_its_seed", fails, |_| {
                "story".into()
            })
        };
        let panicked = std::panic::catch_unwind(run).expect_err("one of them fails");
        let told = panicked.downcast_ref::<String>().expect("a message");
        assert_eq!(*told, format!("history {}: wrong\nstory", first + 3));
    }

    #[test]
    fn what_is_counted_is_summed_up() {
        let sum = TEN.run(
            "what_is_counted_is_summed_up",
            |_| Ok::<_, &str>(2),
            |_| String::new(),
        );
        assert_eq!(sum, 20);
        assert!(!TEN.any_fails(|_| Ok::<_, ()>(())));
        assert!(TEN.any_fails(|seed| if seed == 9 { Err(()) } else { Ok(()) }));
    }
}
