//! Reachability and paths, held to brute force over all small owners.

#![expect(clippy::unwrap_used, reason = "a helper that fails fails its test")]

mod brute_force;
mod extremes;
mod findings;
mod seed;
