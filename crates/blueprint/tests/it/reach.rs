//! Reachability and paths, held to brute force over all small owners.

mod brute_force;
mod extremes;
mod findings;
mod seed;
